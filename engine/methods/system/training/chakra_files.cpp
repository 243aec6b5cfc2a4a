#include "methods/system/training/chakra_files.h"

#include "workload/traces/chakra.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace orrery {

namespace {

std::string networkText(const std::vector<NetworkTier>& tiers, std::int64_t ranks) {
    constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;
    std::string shapes, sizes, rates, latencies;
    const auto add = [&](std::string_view shape, std::int64_t size, const NetworkTier& tier) {
        const char* comma = shapes.empty() ? "" : ", ";
        shapes += fmt::format("{}{}", comma, shape);
        sizes += fmt::format("{}{}", comma, size);
        rates += fmt::format("{}{:.6g}", comma, tier.perDevice().value / gibibyte);
        latencies += fmt::format("{}{:.6g}", comma, tier.latency.value * 1e9);
    };
    std::int64_t left = ranks;
    for (const NetworkTier& tier : tiers) {
        const std::int64_t size = std::gcd(left, tier.size);
        const bool last = &tier == &tiers.back();
        if (size < 2 && !(last && left > 1)) continue;
        const bool ring = tier.shape == TopologyShape::Ring, full = tier.shape == TopologyShape::FullyConnected;
        add(ring ? "Ring" : full ? "FullyConnected" : "Switch", last ? left : size, tier);
        left /= last ? left : size;
    }
    return fmt::format(
        "topology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ {} ]  # GiB/s of a device\nlatency: [ {} ]  # ns\n", shapes,
        sizes, rates, latencies);
}

std::string systemText(std::size_t dimensions) {
    const std::vector<std::string> rings(dimensions, "ring");
    nlohmann::ordered_json json{{"scheduling-policy", "LIFO"},
                                {"endpoint-delay", 10},
                                {"active-chunks-per-dimension", 1},
                                {"preferred-dataset-splits", 4},
                                {"all-reduce-implementation", rings},
                                {"all-gather-implementation", rings},
                                {"reduce-scatter-implementation", rings},
                                {"all-to-all-implementation", rings},
                                {"collective-optimization", "localBWAware"},
                                {"local-mem-bw", 1600},
                                {"boost-mode", 0}};
    return json.dump(2) + "\n";
}

}  // namespace

std::vector<ChakraFile> chakraFiles(const StepTraces& traces, const std::string& name) {
    nlohmann::ordered_json groups = nlohmann::ordered_json::object();
    for (const RankGroup& group : traces.job.groups) groups[group.name] = group.members;
    const std::string network = networkText(traces.tiers, static_cast<std::int64_t>(traces.job.traces.size()));
    const auto dimensions = static_cast<std::size_t>(
        1 + std::count(network.begin(), network.begin() + static_cast<std::ptrdiff_t>(network.find('\n')), ','));
    std::vector<ChakraFile> files{{"network.yml", network},
                                  {"system.json", systemText(dimensions)},
                                  {"memory.json", "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}\n"},
                                  {"et/" + name + ".json", groups.dump() + "\n"}};
    for (std::size_t r = 0; r < traces.job.traces.size(); ++r)
        files.push_back({fmt::format("et/{}.{}.et", name, r), chakraText(*traces.job.traces[r])});
    return files;
}

}  // namespace orrery
