#include "simulation/gpu/generations.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace orrery::gpusim {

namespace {

class GenerationReader {
public:
    GenerationReader(const YamlNode& generation, const YamlNode* sources, std::string_view file)
        : generation_(generation), sources_(sources), file_(file) {}
    std::optional<Diagnostic> problem;

    double number(std::string_view row, std::string_view key, double least, double most) {
        const YamlNode* map = generation_.find(row);
        const YamlNode* node = map && map->isMap() ? map->find(key) : nullptr;
        const auto value = node && node->isScalar() ? numberIn(node->scalar) : std::nullopt;
        if (!value || *value < least || *value > most) {
            complain(node ? node : map, fmt::format("`{}.{}.{}` is missing or wrong", generation_.key, row, key),
                     fmt::format("a number from {} to {}", least, most));
            return least;
        }
        const YamlNode* source = map->find("source");
        if (!source || !sources_ || !sources_->find(source->scalar))
            complain(map, fmt::format("`{}.{}` has no source", generation_.key, row), "a key of `sources`");
        return *value;
    }
    bool yes(std::string_view row, std::string_view key) {
        const YamlNode* map = generation_.find(row);
        const YamlNode* node = map && map->isMap() ? map->find(key) : nullptr;
        if (node && (node->scalar == "yes" || node->scalar == "no")) return node->scalar == "yes";
        complain(node ? node : map, fmt::format("`{}.{}.{}` is missing or wrong", generation_.key, row, key),
                 "yes or no");
        return false;
    }
    bool has(std::string_view row) const { return generation_.find(row) != nullptr; }
    GpuGeneration::LineCache cache(std::string_view row, std::string_view unit, double least) {
        if (!has(row)) return {};
        GpuGeneration::LineCache out;
        out.bytes = static_cast<int>(std::lround(number(row, unit, least, 4096) * (unit == "kb" ? 1024 : 1)));
        out.ways = whole(row, "ways", 1, 64);
        return out;
    }
    std::vector<int> kilobytes(std::string_view row, std::string_view key) {
        const YamlNode* map = generation_.find(row);
        const YamlNode* list = map && map->isMap() ? map->find(key) : nullptr;
        std::vector<int> out;
        for (const YamlNode& each : list ? list->items : std::vector<YamlNode>{}) {
            const auto value = each.isScalar() ? wholeIn(each.scalar) : std::nullopt;
            if (!value || *value < 0 || *value > 4096 || (!out.empty() && *value * 1024 <= out.back())) break;
            out.push_back(static_cast<int>(*value) * 1024);
        }
        if (!list || out.empty() || out.size() != list->items.size())
            complain(list ? list : map, fmt::format("`{}.{}.{}` is missing or wrong", generation_.key, row, key),
                     "a list of KB, upwards");
        return out;
    }
    int whole(std::string_view row, std::string_view key, int least, int most) {
        return static_cast<int>(std::lround(number(row, key, least, most)));
    }
    GpuGeneration::Pipe pipe(std::string_view row) {
        return {whole(row, "latency", 1, 512), whole(row, "initiation", 1, 512)};
    }
    GpuGeneration::Distance distance(std::string_view row, bool hasTime) {
        return {number(row, "cycles", 0, 1e4), hasTime ? number(row, "ns", 0, 1e4) : 0};
    }
    void complain(const YamlNode* node, std::string message, std::string expected) {
        if (problem) return;
        problem = fail("gpu.generation", std::move(message), std::move(expected), "",
                       {std::string(file_), node ? node->line : generation_.line, 0, {}})
                      .value();
    }

private:
    const YamlNode& generation_;
    const YamlNode* sources_;
    std::string_view file_;
};

}  // namespace

Expected<std::vector<GpuGeneration>> readGpuGenerations(std::string_view yaml, std::string_view file) {
    auto root = parseYaml(yaml, file);
    if (!root) return Unexpected(root.error());
    const YamlNode* kind = root->find("orrery");
    const YamlNode* all = root->find("generations");
    if (!kind || kind->scalar != "gpu-generations/1" || !all || !all->isMap()) {
        return fail("gpu.generation", "this is no table of generations of GPUs",
                    "`orrery: gpu-generations/1` and a map `generations`", "", {std::string(file), 0, 0, {}});
    }
    std::vector<GpuGeneration> out;
    for (const YamlNode& node : all->items) {
        GenerationReader read(node, root->find("sources"), file);
        GpuGeneration g;
        g.name = node.key;
        const YamlNode* capability = node.find("compute_capability");
        const auto version = capability ? wholeIn(capability->scalar) : std::nullopt;
        if (!version || *version < 10 || *version > 999)
            read.complain(capability, fmt::format("`{}.compute_capability` is missing or wrong", node.key),
                          "a whole number such as 80");
        else
            g.computeCapability = static_cast<int>(*version);
        for (const auto& [name, pipe] : namedPipes) g.*pipe = read.pipe(name);
        g.tensorLatency = read.whole("tensor", "latency", 1, 512);
        g.tensorMacs = read.number("tensor", "macs", 1, 1e6);
        g.shared = read.distance("shared", false), g.l1 = read.distance("l1", false);
        g.l2 = read.distance("l2", true), g.dram = read.distance("dram", true);
        g.l1Bytes = read.number("l1_bytes", "value", 1, 4096);
        g.l2Bytes = read.number("l2_bytes", "value", 1, 4096);
        g.launchCycles = read.number("launch_cycles", "value", 0, 1e6);
        // Where instructions and constants stand; without these rows they are always there.
        g.code.l0 = read.cache("code_l0", "kb", 1);
        if (read.has("code_l0")) {
            g.code.l1 = read.cache("code_l1", "kb", 1), g.code.l1.latency = read.whole("code_l1", "cycles", 1, 500);
            g.code.shared = read.cache("code_shared", "kb", 1);
            if (read.has("code_shared")) g.code.shared.latency = read.whole("code_shared", "cycles", 1, 500);
            g.code.l2Latency = read.whole("code_l2", "cycles", 1, 500);
            g.code.ahead = read.whole("code_l2", "ahead", 0, 64);
        }
        if (read.has("clusters")) {
            g.clusters.sms = read.number("clusters", "sms", 1, 256);
            g.clusters.most = read.whole("clusters", "most", 1, 16);
            g.clusters.barrier = read.whole("cluster_barrier", "cycles", 1, 500);
            g.clusters.pairLatency = read.whole("remote_shared", "pair", 1, 500);
            g.clusters.remoteLatency = read.whole("remote_shared", "cycles", 1, 500);
            g.clusters.bytes = read.number("remote_shared", "bytes", 4, 128);
        }
        if (read.has("constant_operands")) {
            g.constants.operands = read.cache("constant_operands", "bytes", 64);
            g.constants.operands.latency = read.whole("constant_operands", "miss", 1, 500);
        }
        if (read.has("constant_loads")) {
            g.constants.loads = read.cache("constant_loads", "bytes", 64);
            g.constants.loadLatency = read.whole("constant_loads", "cycles", 1, 200);
            g.constants.loads.latency = read.whole("constant_loads", "miss", 1, 500);
        }
        g.unifiedBytes = 1024 * read.whole("unified_kb", "value", 1, 4096);
        g.carveBytes = read.kilobytes("unified_kb", "carve");
        g.copiesPast = read.yes("instructions", "copies"), g.groups = read.yes("instructions", "groups");
        g.matrixLoads = read.yes("instructions", "matrix_loads");
        if (read.has("group_rows")) g.groupRows = read.whole("group_rows", "value", 64, 256);
        if (read.has("tensor_power")) {
            const auto of = [&](std::string_view key) { return read.number("tensor_power", key, 1e-3, 1e5); };
            g.tensorPower = {of("pj") * 1e-12, of("watts_per_sm"), of("memory_pj") * 1e-12, of("mhz") * 1e6};
        }
        if (read.has("last_level")) g.lastLevel = read.distance("last_level", true);
        if (read.has("wavefront")) {
            g.lanes = read.whole("wavefront", "lanes", 32, 64);
            g.issueEvery = read.whole("wavefront", "issue_every", 1, 16);
            g.ordersMemory = read.yes("wavefront", "ordered_memory"),
            g.fillsLines = read.yes("wavefront", "whole_lines");
            g.oldestFirst = true;
        }
        if (read.problem) return Unexpected(*read.problem);
        out.push_back(std::move(g));
    }
    return out;
}

const Expected<std::vector<GpuGeneration>>& gpuGenerations() {
    static const Expected<std::vector<GpuGeneration>> read = [] {
        const std::string path = presetsFolder() + "/technology/gpu-generations.yaml";
        auto text = readFile(path);
        if (!text) return Expected<std::vector<GpuGeneration>>(Unexpected(text.error()));
        return readGpuGenerations(*text, path);
    }();
    return read;
}

const GpuGeneration* generationOf(std::string_view name) {
    const auto& all = gpuGenerations();
    if (!all) return nullptr;
    for (const GpuGeneration& one : *all) {
        if (one.name == name) return &one;
    }
    return nullptr;
}

const GpuGeneration* generationOf(int computeCapability) {
    const auto& all = gpuGenerations();
    const GpuGeneration* best = nullptr;
    if (!all) return best;
    for (const GpuGeneration& one : *all) {
        if (one.computeCapability <= computeCapability && (!best || one.computeCapability > best->computeCapability))
            best = &one;
    }
    return best;
}

}  // namespace orrery::gpusim
