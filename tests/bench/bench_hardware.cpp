#include "hardware/network/links.h"
#include "hardware/network/topology.h"
#include "hardware/check/validate.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

// 50 nodes beside each other with devices of cores and memories, linked in rings inside and to a switch outside.
Hardware design(int components) {
    const Measure rate{25e9, false, "25 GB/s"};
    const auto link = [&rate](std::string from, std::string to, std::string name) {
        Component made{ComponentKind::Link, std::move(name)};
        made.attributes = {
            {"from", std::move(from), {}, {}}, {"to", std::move(to), {}, {}}, {"bandwidth", rate, {}, {}}};
        return made;
    };
    Hardware hardware;
    hardware.root.children.push_back({ComponentKind::Switch, "spine"});
    const int nodes = 50, dies = components / nodes / 10;
    for (int n = 0; n < nodes; ++n) {
        Component node{ComponentKind::Node, "node" + std::to_string(n)};
        for (int d = 0; d < dies; ++d) {
            Component die{ComponentKind::Die, "die" + std::to_string(d)};
            for (int c = 0; c < 7; ++c) die.children.push_back({ComponentKind::Core, "core" + std::to_string(c)});
            Component dram{ComponentKind::Dram, "hbm"};
            dram.attributes = {{"capacity", Measure{80e9, false, "80 GB"}, {}, {}}, {"bandwidth", rate, {}, {}}};
            die.children.push_back(std::move(dram));
            node.children.push_back(std::move(die));
        }
        for (int d = 0; d < dies; ++d) {
            node.children.push_back(
                link("die" + std::to_string(d), "die" + std::to_string((d + 1) % dies), "l" + std::to_string(d)));
        }
        hardware.root.children.push_back(std::move(node));
        hardware.root.children.push_back(link("node" + std::to_string(n) + "/die0", "spine", "up" + std::to_string(n)));
    }
    return hardware;
}

void validateDesign(benchmark::State& state) {
    const Hardware hardware = design(static_cast<int>(state.range(0)));
    for (auto _ : state) {
        auto found = validate(hardware);
        if (!found.empty()) state.SkipWithError(found.front().message.c_str());
        benchmark::DoNotOptimize(found);
    }
}
BENCHMARK(validateDesign)->Arg(1000)->Arg(10000)->Arg(50000)->Unit(benchmark::kMillisecond);

void endsOfLinks(benchmark::State& state) {
    const Hardware hardware = design(50000);
    for (auto _ : state) benchmark::DoNotOptimize(linkEnds(hardware.root));
}
BENCHMARK(endsOfLinks)->Unit(benchmark::kMillisecond);

TopologySpec fatTree(std::int64_t size) {
    TopologyDimension dimension;
    dimension.shape = TopologyShape::FatTree;
    dimension.size = size;
    dimension.radix = 64;
    return {"net", {dimension}};
}
void expandFatTree(benchmark::State& state) {
    const TopologySpec spec = fatTree(16384);
    for (auto _ : state) benchmark::DoNotOptimize(expandTopology(spec));
}
BENCHMARK(expandFatTree)->Unit(benchmark::kMillisecond);
void factsOfFatTree(benchmark::State& state) {
    const TopologySpec spec = fatTree(1000000);
    for (auto _ : state) benchmark::DoNotOptimize(topologyFacts(spec));
}
BENCHMARK(factsOfFatTree)->Unit(benchmark::kMicrosecond);

}  // namespace
