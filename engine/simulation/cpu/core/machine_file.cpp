#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "base/unit.h"
#include "hardware/files/catalogue.h"
#include "simulation/cpu/core/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery::pipeline {

namespace {

namespace files = std::filesystem;

struct WholeField {
    std::string_view key;
    int Machine::*value;
};
constexpr std::array wholeFields{WholeField{"fetch_width", &Machine::fetchWidth},
                                 WholeField{"issue_width", &Machine::issueWidth},
                                 WholeField{"retire_width", &Machine::retireWidth},
                                 WholeField{"front_depth", &Machine::frontDepth},
                                 WholeField{"decode_queue", &Machine::decodeQueue},
                                 WholeField{"reorder_buffer", &Machine::reorderBuffer},
                                 WholeField{"scheduler", &Machine::scheduler},
                                 WholeField{"load_queue", &Machine::loadQueue},
                                 WholeField{"store_queue", &Machine::storeQueue},
                                 WholeField{"integer_registers", &Machine::integerRegisters},
                                 WholeField{"vector_registers", &Machine::vectorRegisters},
                                 WholeField{"vector_bytes", &Machine::vectorBytes},
                                 WholeField{"wide_bytes", &Machine::wideBytes},
                                 WholeField{"vector_load_extra", &Machine::vectorLoadExtra},
                                 WholeField{"store_forward", &Machine::forward},
                                 WholeField{"store_forward_blocked", &Machine::blocked},
                                 WholeField{"stores_per_cycle", &Machine::storesPerCycle},
                                 WholeField{"predictor_bits", &Machine::predictorBits}};
constexpr std::array<std::string_view, 4> predictorNames{"perfect", "taken", "gshare", "tage"};
constexpr std::array<std::string_view, 13> otherKeys{
    "orrery",     "title",      "source", "clock",  "predictor",        "ports",       "units",
    "wide_units", "store_data", "caches", "memory", "instruction_sets", "micro_fusion"};

// One file and how it is refused.
struct MachineReader {
    std::string file;

    Unexpected wrong(const YamlNode& node, std::string_view key, std::string expected) const {
        return fail("core.file", fmt::format("`{}` of the core is wrong", key), std::move(expected), {},
                    {.file = file, .line = node.line, .column = node.column});
    }
    Expected<int> whole(const YamlNode& node, std::string_view key) const {
        const auto value = wholeIn(node.scalar);
        if (!value || *value < 0 || *value > 1'000'000) return wrong(node, key, "a whole number");
        return static_cast<int>(*value);
    }
    Expected<double> measure(const YamlNode& node, std::string_view key, Dimension dimension) const {
        const auto value = parseMeasure(node.scalar, dimension);
        if (!value) return wrong(node, key, value.error().expected);
        return value->si;
    }
    Expected<std::uint16_t> ports(const YamlNode& node, std::string_view key, const Machine& machine) const {
        std::uint16_t mask = 0;
        for (const YamlNode& item : node.items) {
            const auto at = std::find(machine.portNames.begin(), machine.portNames.end(), item.scalar);
            if (at == machine.portNames.end()) return wrong(item, key, "names of its ports");
            mask = static_cast<std::uint16_t>(mask | 1u << (at - machine.portNames.begin()));
        }
        if (mask == 0) return wrong(node, key, "a list of its ports");
        return mask;
    }
    Expected<void> units(const YamlNode& node, std::array<UnitUse, opKindCount>& all, const Machine& machine) const;
    Expected<void> cache(const YamlNode& node, CacheSpec& spec) const;
    Expected<void> rest(const YamlNode& root, Machine& machine) const;
};

Expected<void> MachineReader::units(const YamlNode& node, std::array<UnitUse, opKindCount>& all,
                                    const Machine& machine) const {
    for (const YamlNode& one : node.items) {
        std::size_t kind = 1;
        while (kind < opKindCount && toText(static_cast<OpKind>(kind)) != one.key) ++kind;
        if (kind == opKindCount) return wrong(one, one.key, "a kind of operation: integer, fp_fma, load, …");
        const YamlNode* where = one.find("ports");
        if (!where) return wrong(one, one.key, "`{ports: […], latency: N}`");
        const auto mask = ports(*where, one.key, machine);
        if (!mask) return Unexpected(mask.error());
        all[kind].ports = *mask;
        for (const auto& [key, value] : {std::pair{"latency", &UnitUse::latency}, {"occupancy", &UnitUse::occupancy}}) {
            const YamlNode* item = one.find(key);
            if (!item) continue;
            const auto number = whole(*item, key);
            if (!number) return Unexpected(number.error());
            all[kind].*value = *number;
        }
    }
    return {};
}

Expected<void> MachineReader::cache(const YamlNode& node, CacheSpec& spec) const {
    if (const YamlNode* item = node.find("name")) spec.name = item->scalar;
    const YamlNode* capacity = node.find("capacity");
    if (!capacity) return wrong(node, "caches", "`capacity`, `ways`, `latency`, `misses`, `bytes_per_cycle`");
    const auto bytes = measure(*capacity, "capacity", Dimension::Data);
    if (!bytes) return Unexpected(bytes.error());
    spec.bytes = *bytes;
    for (const auto& [key, value] :
         {std::pair{"ways", &CacheSpec::ways}, {"latency", &CacheSpec::latency}, {"misses", &CacheSpec::misses}}) {
        const YamlNode* item = node.find(key);
        if (!item) continue;
        const auto number = whole(*item, key);
        if (!number) return Unexpected(number.error());
        spec.*value = *number;
    }
    if (const YamlNode* item = node.find("bytes_per_cycle")) {
        const auto number = numberIn(item->scalar);
        if (!number) return wrong(*item, "bytes_per_cycle", "a number");
        spec.bytesPerCycle = *number;
    }
    if (const YamlNode* list = node.find("prefetch")) {
        for (const YamlNode& item : list->items) {
            if (item.scalar == "next-line") {
                spec.nextLine = true;
            } else if (item.scalar == "stride") {
                spec.stride = true;
            } else if (item.scalar == "stream") {
                spec.stream = true;
            } else {
                return wrong(item, "prefetch", "next-line, stride, stream");
            }
        }
    }
    return {};
}

Expected<void> MachineReader::rest(const YamlNode& root, Machine& machine) const {
    if (const YamlNode* item = root.find("title")) machine.title = item->scalar;
    if (const YamlNode* item = root.find("source")) machine.source = item->scalar;
    if (const YamlNode* item = root.find("micro_fusion")) machine.fusesLoads = item->scalar == "true";
    if (const YamlNode* item = root.find("clock")) {
        const auto hertz = measure(*item, "clock", Dimension::Frequency);
        if (!hertz) return Unexpected(hertz.error());
        machine.clock = *hertz;
    }
    if (const YamlNode* item = root.find("predictor")) {
        const auto at = std::find(predictorNames.begin(), predictorNames.end(), item->scalar);
        if (at == predictorNames.end()) return wrong(*item, "predictor", "perfect, taken, gshare or tage");
        machine.predictor = static_cast<PredictorKind>(at - predictorNames.begin());
    }
    const YamlNode* names = root.find("ports");
    if (!names || names->items.empty() || names->items.size() > mostPorts)
        return wrong(names ? *names : root, "ports", fmt::format("a list of 1 to {} names", mostPorts));
    for (const YamlNode& item : names->items) machine.portNames.push_back(item.scalar);
    if (const YamlNode* item = root.find("units")) {
        if (auto read = units(*item, machine.units, machine); !read) return read;
    }
    if (const YamlNode* item = root.find("wide_units")) {
        if (auto read = units(*item, machine.wideUnits, machine); !read) return read;
    }
    if (const YamlNode* item = root.find("store_data")) {
        const auto mask = ports(*item, "store_data", machine);
        if (!mask) return Unexpected(mask.error());
        machine.storeDataPorts = *mask;
    }
    if (const YamlNode* list = root.find("instruction_sets")) {
        for (const YamlNode& item : list->items) machine.instructionSets.push_back(item.scalar);
    }
    if (const YamlNode* list = root.find("caches")) {
        for (const YamlNode& item : list->items) {
            if (auto read = cache(item, machine.caches.emplace_back()); !read) return read;
        }
    }
    if (const YamlNode* memory = root.find("memory")) {
        if (const YamlNode* item = memory->find("latency")) {
            const auto seconds = measure(*item, "latency", Dimension::Time);
            if (!seconds) return Unexpected(seconds.error());
            machine.memoryLatency = *seconds;
        }
        if (const YamlNode* item = memory->find("bandwidth")) {
            const auto rate = measure(*item, "bandwidth", Dimension::DataRate);
            if (!rate) return Unexpected(rate.error());
            machine.memoryBandwidth = *rate;
        }
    }
    return {};
}

}  // namespace

std::vector<std::string> machineIds() {
    std::vector<std::string> ids;
    std::error_code ignored;
    for (const auto& entry : files::directory_iterator(files::path(presetsFolder()) / "pipelines", ignored)) {
        if (entry.path().extension() == ".yaml") ids.push_back(entry.path().stem().string());
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

Expected<Machine> loadMachine(const std::string& id) {
    const bool own = id.find('/') != std::string::npos || id.ends_with(".yaml");
    const std::string path = own ? id : (files::path(presetsFolder()) / "pipelines" / (id + ".yaml")).string();
    std::error_code ignored;
    if (!own && !files::exists(path, ignored)) {
        std::string known;
        for (const auto& each : machineIds()) known += (known.empty() ? "" : ", ") + each;
        return fail("core.unknown", fmt::format("there is no core `{}`", id), known,
                    "a file of your own ends in .yaml");
    }
    const auto text = readFile(path);
    if (!text) return Unexpected(text.error());
    const auto root = parseYaml(*text, path);
    if (!root) return Unexpected(root.error());
    const YamlNode* kind = root->find("orrery");
    if (!kind || kind->scalar != "pipeline/1") {
        return fail("core.file", "this file describes no pipeline of a core", "`orrery: pipeline/1`", {},
                    {.file = path, .line = root->line});
    }
    const MachineReader reader{path};
    Machine machine;
    machine.id = files::path(path).stem().string();
    machine.title = machine.id;
    for (const YamlNode& item : root->items) {
        const auto field = std::find_if(wholeFields.begin(), wholeFields.end(),
                                        [&](const WholeField& each) { return each.key == item.key; });
        if (field != wholeFields.end()) {
            const auto value = reader.whole(item, item.key);
            if (!value) return Unexpected(value.error());
            machine.*field->value = *value;
        } else if (std::find(otherKeys.begin(), otherKeys.end(), item.key) == otherKeys.end()) {
            return reader.wrong(item, item.key, "a key of a pipeline (presets/pipelines/README.md)");
        }
    }
    if (auto read = reader.rest(*root, machine); !read) return Unexpected(read.error());
    if (auto sound = check(machine); !sound) {
        sound.error().place.file = path;
        return Unexpected(sound.error());
    }
    return machine;
}

}  // namespace orrery::pipeline
