#include "methods/gpu/gpu_generation.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/power_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

namespace {

using TensorPowers = std::map<std::string, TensorPower, std::less<>>;

Expected<TensorPowers> readTensorPowers() {
    const std::string path = presetsFolder() + "/technology/gpu-generations.yaml";
    const auto text = readFile(path);
    if (!text) return Unexpected(text.error());
    const auto root = parseYaml(*text, path);
    if (!root) return Unexpected(root.error());
    TensorPowers out;
    const YamlNode* all = root->find("generations");
    const YamlNode* sources = root->find("sources");
    for (const YamlNode& generation : all ? all->items : std::vector<YamlNode>{}) {
        const YamlNode* map = generation.find("tensor_power");
        if (!map) continue;
        const auto number = [&](std::string_view key) {
            const YamlNode* node = map->find(key);
            const auto value = node && node->isScalar() ? numberIn(node->scalar) : std::nullopt;
            return value && *value > 0 && *value < 1e5 ? *value : 0.0;
        };
        const YamlNode* source = map->find("source");
        const TensorPower power{number("pj") * 1e-12, number("watts_per_sm"), number("memory_pj") * 1e-12,
                                number("mhz") * 1e6};
        if (power.joulesPerOperation <= 0 || power.wattsPerSm <= 0 || power.joulesPerByte <= 0 || power.clock <= 0 ||
            !source || !sources || !sources->find(source->scalar)) {
            return fail("gpu.generation", fmt::format("`{}.tensor_power` is incomplete", generation.key),
                        "`pj`, `watts_per_sm`, `memory_pj` and `mhz` above 0, and `source`, a key of `sources`", "",
                        {path, map->line, 0, {}});
        }
        out.emplace(generation.key, power);
    }
    return out;
}

}  // namespace

Expected<gpusim::GpuGeneration> generationOf(const GpuView& gpu) {
    const auto& all = gpusim::gpuGenerations();
    if (!all) return Unexpected(all.error());
    const bool stacked = gpu.dramTiming.starts_with("HBM") || (gpu.dramTiming.empty() && gpu.dramBandwidth > 1.3e12);
    const auto takes = [&](DType type) { return gpu.tensorPeak(type) > 0; };
    const std::string_view name = gpu.warpSize == 64   ? (takes(DType::FP8) ? "cdna3" : "cdna2")
                                  : takes(DType::FP4)  ? (stacked ? "blackwell" : "blackwell-rtx")
                                  : takes(DType::FP8)  ? (stacked ? "hopper" : "ada")
                                  : takes(DType::BF16) ? (stacked ? "ampere" : "ampere-ga10x")
                                  : takes(DType::I8)   ? "turing"
                                                       : "volta";
    if (const auto* found = gpusim::generationOf(name)) return *found;
    return fail("gpu.generation", fmt::format("the table of generations has no `{}`", name));
}

Expected<std::optional<TensorPower>> tensorPowerOf(std::string_view generation) {
    static const Expected<TensorPowers> read = readTensorPowers();
    if (!read) return Unexpected(read.error());
    const auto found = read->find(generation);
    return found == read->end() ? std::nullopt : std::optional(found->second);
}

double clockShareOf(const TensorPower& power, const GpuView& gpu, DType type, double operations, double bytes,
                    double seconds) {
    if (gpu.powerCap <= 0 || seconds <= 0 || gpu.clock <= 0) return 1;
    const double voltage = voltageAt(gpu.clock / power.clock);
    const double always = power.wattsPerSm * gpu.sms + power.joulesPerByte * bytes / seconds;
    const double units = power.joulesPerOperation * bits(type) / 16 * voltage * voltage * operations / seconds;
    const double share = clockUnderPower(gpu.powerCap, std::min(always, gpu.powerCap), units);
    return gpu.sustained < 1 ? std::max(share, gpu.sustained) : share;
}

}  // namespace orrery
