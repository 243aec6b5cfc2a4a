#include "simulation/power/power_table.h"

#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "base/unit.h"
#include "hardware/files/catalogue.h"

#include <fmt/format.h>

#include <optional>

namespace orrery {

namespace {

constexpr std::array<std::string_view, gpuMixes> mixNames{
    "int",           "int_add", "int_multiply", "int_fp", "int_fp_dp", "int_fp_sfu", "int_fp_texture",
    "int_fp_tensor", "several", "light",        "l1",     "shared",    "l2"};

// Reads numbers of 0 or more and remembers the first that is none.
class PowerNumbers {
public:
    explicit PowerNumbers(std::string_view file) : file_(file) {}
    double operator()(const YamlNode* node, const std::string& path) {
        if (const YamlNode* value = node && node->isMap() ? node->find("value") : nullptr) node = value;
        if (node && node->isScalar()) {
            if (const auto number = numberIn(node->scalar); number && *number >= 0) return *number;
        }
        complain(node, path, "a number of 0 or more");
        return 0;
    }
    void complain(const YamlNode* node, const std::string& path, std::string_view expected) {
        if (problem_) return;
        problem_ = fail("power.number", fmt::format("`{}` is missing or wrong", path), std::string(expected), "",
                        {std::string(file_), node ? node->line : 0})
                       .value();
    }
    const std::optional<Diagnostic>& problem() const { return problem_; }

private:
    std::string_view file_;
    std::optional<Diagnostic> problem_;
};

const YamlNode* childOf(const YamlNode* node, std::string_view key) {
    return node ? node->find(key) : nullptr;
}

}  // namespace

Expected<GpuPowerTable> readGpuPowerTable(std::string_view yaml, std::string_view file) {
    auto root = parseYaml(yaml, file);
    if (!root) return Unexpected(root.error());
    const YamlNode* kind = root->find("orrery");
    if (!kind || kind->scalar != "gpu-power/1") {
        return fail("power.kind", "this is no table of a GPU's power", "`orrery: gpu-power/1`", "",
                    {std::string(file)});
    }
    GpuPowerTable table;
    if (const YamlNode* name = root->find("name")) table.name = name->scalar;
    PowerNumbers number(file);
    table.sms = static_cast<int>(number(root->find("sms"), "sms"));
    table.voltage = number(root->find("voltage"), "voltage");
    const YamlNode* clock = root->find("clock");
    const auto hertz = parseMeasure(clock ? clock->scalar : "", Dimension::Frequency);
    if (!hertz) number.complain(clock, "clock", "a frequency, as `1.132 GHz`");
    table.clock = hertz ? hertz->si : 0;
    table.constant = number(root->find("constant_w"), "constant_w");
    table.idleSm = number(root->find("idle_sm_w"), "idle_sm_w");
    table.memoryControllers = number(root->find("memory_controllers_w"), "memory_controllers_w");
    const YamlNode* energies = root->find("events_pj");
    for (std::size_t i = 0; i < gpuEvents; ++i) {
        table.energies[i] =
            1e-12 * number(childOf(energies, gpuEventNames[i]), fmt::format("events_pj.{}", gpuEventNames[i]));
    }
    const YamlNode* leakage = root->find("static_w");
    for (std::size_t i = 0; i < gpuMixes; ++i) {
        const YamlNode* pair = childOf(leakage, mixNames[i]);
        const std::string path = fmt::format("static_w.{}", mixNames[i]);
        if (!pair || pair->items.size() != 2) {
            number.complain(pair, path, "two numbers: watts of the first lane, and of each lane more");
            continue;
        }
        table.leakage[i] = {number(&pair->items[0], path), number(&pair->items[1], path)};
    }
    const YamlNode* measured = root->find("measured");
    table.measured = {number(childOf(measured, "active_w"), "measured.active_w"),
                      number(childOf(measured, "pipeline_w"), "measured.pipeline_w"),
                      number(childOf(measured, "memory_share"), "measured.memory_share")};
    if (number.problem()) return Unexpected(*number.problem());
    if (table.sms < 1 || !(table.voltage > 0)) {
        return fail("power.number", "`sms` or `voltage` is 0", "numbers above 0", "", {std::string(file)});
    }
    return table;
}

const Expected<GpuPowerTable>& voltaPower() {
    static const Expected<GpuPowerTable> read = [] {
        const std::string path = presetsFolder() + "/technology/gpu-power-volta.yaml";
        auto text = readFile(path);
        if (!text) return Expected<GpuPowerTable>(Unexpected(text.error()));
        return readGpuPowerTable(*text, path);
    }();
    return read;
}

}  // namespace orrery
