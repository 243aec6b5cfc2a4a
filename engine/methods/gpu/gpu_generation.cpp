#include "methods/gpu/gpu_generation.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

Expected<std::vector<GpuGeneration>> readGenerations(std::string_view yaml, const std::string& file) {
    auto root = parseYaml(yaml, file);
    if (!root) return Unexpected(root.error());
    const YamlNode* list = root->find("generations");
    if (!list || !list->isMap()) {
        return fail("gpu.generation", "there is no table of generations", "`generations:` with one line each", {},
                    {file});
    }
    std::vector<GpuGeneration> out;
    const YamlNode* broken = nullptr;
    std::string key;
    for (const YamlNode& node : list->items) {
        const auto number = [&](std::string_view field) {
            const YamlNode* value = node.find(field);
            const auto got = value && value->isScalar() ? numberIn(value->scalar) : std::nullopt;
            if ((!got || *got < 0) && !broken) broken = &node, key = std::string(field);
            return got.value_or(0);
        };
        const auto whole = [&](std::string_view field) { return static_cast<int>(number(field)); };
        const auto yes = [&](std::string_view field) {
            const YamlNode* value = node.find(field);
            return value && (value->scalar == "yes" || value->scalar == "true");
        };
        GpuGeneration g;
        g.name = node.key;
        g.version = whole("version"), g.l1Bytes = 1024 * number("l1_kb"), g.banks = whole("banks");
        g.tensorLatency = whole("tensor"), g.specialLatency = whole("special");
        g.sharedLatency = number("shared"), g.l1Latency = number("l1"), g.l2Latency = number("l2"),
        g.dramLatency = number("dram");
        g.copiesPast = yes("copies"), g.matrixLoads = yes("matrix_loads"), g.groups = yes("groups");
        if (const YamlNode* carve = node.find("carve_kb")) {
            for (const YamlNode& each : carve->items) {
                if (const auto kb = wholeIn(each.scalar)) g.carveBytes.push_back(static_cast<int>(*kb) * 1024);
            }
        }
        out.push_back(std::move(g));
    }
    if (broken || out.empty()) {
        return fail("gpu.generation", fmt::format("`{}` is missing or no number", key), "a number of 0 or more", {},
                    {file, broken ? broken->line : 0});
    }
    return out;
}

}  // namespace

const Expected<std::vector<GpuGeneration>>& gpuGenerations() {
    static const Expected<std::vector<GpuGeneration>> read = [] {
        const std::string path = presetsFolder() + "/technology/gpu-multiprocessors.yaml";
        auto text = readFile(path);
        if (!text) return Expected<std::vector<GpuGeneration>>(Unexpected(text.error()));
        return readGenerations(*text, path);
    }();
    return read;
}

Expected<GpuGeneration> generationOf(const GpuView& gpu) {
    const auto& all = gpuGenerations();
    if (!all) return Unexpected(all.error());
    const bool stacked = gpu.dramTiming.starts_with("HBM") || (gpu.dramTiming.empty() && gpu.dramBandwidth > 1.3e12);
    const auto takes = [&](DType type) { return gpu.tensorPeak(type) > 0; };
    const std::string_view name = takes(DType::FP4)    ? (stacked ? "blackwell" : "blackwell-rtx")
                                  : takes(DType::FP8)  ? (stacked ? "hopper" : "ada")
                                  : takes(DType::BF16) ? (stacked ? "ampere" : "ampere-rtx")
                                  : takes(DType::I8)   ? "turing"
                                                       : "volta";
    const auto found = std::find_if(all->begin(), all->end(), [&](const auto& one) { return one.name == name; });
    if (found != all->end()) return *found;
    return fail("gpu.generation", fmt::format("the table of generations has no `{}`", name));
}

}  // namespace orrery
