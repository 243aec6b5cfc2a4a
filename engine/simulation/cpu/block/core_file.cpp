#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "hardware/files/catalogue.h"
#include "simulation/cpu/block/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace orrery::block {

namespace {

namespace fs = std::filesystem;

struct NumberKey {
    std::string_view key;
    double CoreRules::*number;
    double least, most;
};
struct WholeKey {
    std::string_view key;
    int CoreRules::*whole;
    int least, most;
};
struct TruthKey {
    std::string_view key;
    bool CoreRules::*truth;
};
struct PortKey {
    std::string_view key;
    std::uint16_t CoreRules::*mask;
};

constexpr std::array numberKeys{NumberKey{"issue_width", &CoreRules::issueWidth, 0.5, 64},
                                NumberKey{"microcode_switch", &CoreRules::microcodeSwitch, 0, 100},
                                NumberKey{"store_forward", &CoreRules::forward, 0, 100},
                                NumberKey{"store_forward_vector", &CoreRules::forwardVector, 0, 100},
                                NumberKey{"store_forward_blocked", &CoreRules::blocked, 0, 100},
                                NumberKey{"load_latency", &CoreRules::loadLatency, 1, 100},
                                NumberKey{"locked_latency", &CoreRules::locked, 0, 1000},
                                NumberKey{"short_block_share", &CoreRules::shortShare, 0, 1},
                                NumberKey{"load_latency_vector", &CoreRules::loadLatencyVector, 1, 100},
                                NumberKey{"pointer_chase_gain", &CoreRules::chaseGain, 0, 4}};
constexpr std::array wholeKeys{WholeKey{"predecode_width", &CoreRules::predecodeWidth, 0, 64},
                               WholeKey{"fetch_bytes", &CoreRules::fetchBytes, 1, 256},
                               WholeKey{"length_change_penalty", &CoreRules::lengthPenalty, 0, 100},
                               WholeKey{"decoders", &CoreRules::decoders, 0, 16},
                               WholeKey{"short_block_bytes", &CoreRules::shortBytes, 0, 4096},
                               WholeKey{"decoder_slots", &CoreRules::decoderSlots, 0, 64}};
constexpr std::array truthKeys{TruthKey{"fuses_in_last_decoder", &CoreRules::fusesLast},
                               TruthKey{"eliminates_general_moves", &CoreRules::eliminatesGeneral},
                               TruthKey{"eliminates_vector_moves", &CoreRules::eliminatesVector},
                               TruthKey{"splits_indexed", &CoreRules::splitsIndexed},
                               TruthKey{"splits_indexed_three_operands", &CoreRules::splitsIndexedThree},
                               TruthKey{"bank_conflicts", &CoreRules::bankConflicts}};
constexpr std::array portKeys{
    PortKey{"load", &CoreRules::loadPorts}, PortKey{"store_address", &CoreRules::storeAddressPorts},
    PortKey{"indexed_store_address", &CoreRules::indexedStorePorts}, PortKey{"store_data", &CoreRules::storeDataPorts},
    PortKey{"integer", &CoreRules::aluPorts}};

Unexpected wrong(const YamlNode& node, const std::string& file, std::string_view key, std::string expected) {
    return fail("block.core", fmt::format("`{}` of the core is wrong", key), std::move(expected), {},
                {.file = file, .line = node.line, .column = node.column});
}

Expected<void> readRules(const YamlNode& root, const std::string& file, CoreRules& rules, std::string& table,
                         std::string& source) {
    if (const YamlNode* title = root.find("title")) rules.title = title->scalar;
    const YamlNode* ports = root.find("ports");
    if (!ports || !ports->isSequence() || ports->items.empty() || ports->items.size() > mostPorts)
        return wrong(ports ? *ports : root, file, "ports", fmt::format("a list of 1 to {} names", mostPorts));
    for (const auto& port : ports->items) rules.portNames.push_back(port.scalar);
    for (const auto& [key, number, least, most] : numberKeys) {
        const YamlNode* node = root.find(key);
        if (!node) continue;
        const auto value = numberIn(node->scalar);
        if (!value || *value < least || *value > most)
            return wrong(*node, file, key, fmt::format("{} to {}", least, most));
        rules.*number = *value;
    }
    for (const auto& [key, whole, least, most] : wholeKeys) {
        const YamlNode* node = root.find(key);
        if (!node) continue;
        const auto value = wholeIn(node->scalar);
        if (!value || *value < least || *value > most)
            return wrong(*node, file, key, fmt::format("{} to {}", least, most));
        rules.*whole = static_cast<int>(*value);
    }
    for (const auto& [key, truth] : truthKeys) {
        const YamlNode* node = root.find(key);
        if (!node) continue;
        if (node->scalar != "true" && node->scalar != "false") return wrong(*node, file, key, "true or false");
        rules.*truth = node->scalar == "true";
    }
    if (const YamlNode* sets = root.find("port_sets")) {
        for (const auto& [key, mask] : portKeys) {
            const YamlNode* node = sets->find(key);
            if (!node) continue;
            for (const auto& port : node->items) {
                const auto at = std::find(rules.portNames.begin(), rules.portNames.end(), port.scalar);
                if (at == rules.portNames.end()) return wrong(port, file, key, "names of its ports");
                rules.*mask = static_cast<std::uint16_t>(rules.*mask | 1u << (at - rules.portNames.begin()));
            }
        }
    }
    if (const YamlNode* all = root.find("interval")) {
        static constexpr std::array<std::string_view, 5> bounds{"predecode", "decode", "issue", "ports", "dependence"};
        for (std::size_t b = 0; b < bounds.size(); ++b) {
            const YamlNode* pair = all->find(bounds[b]);
            if (!pair || pair->items.size() != 2)
                return wrong(*all, file, "interval", fmt::format("`{}: [low, high]`", bounds[b]));
            for (std::size_t i = 0; i < 2; ++i) {
                const auto value = numberIn(pair->items[i].scalar);
                if (!value || *value <= 0) return wrong(pair->items[i], file, "interval", "numbers above 0");
                rules.interval[b][i] = *value;
            }
        }
    }
    if (const YamlNode* node = root.find("table")) table = node->scalar;
    if (const YamlNode* node = root.find("source")) source = node->scalar;
    return {};
}

}  // namespace

std::vector<std::string> coreIds() {
    std::vector<std::string> ids;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::path(presetsFolder()) / "cores", ignored)) {
        if (entry.path().extension() == ".yaml") ids.push_back(entry.path().stem().string());
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

Expected<std::shared_ptr<const Core>> loadCore(const std::string& id, const std::string& table) {
    const bool file = id.find('/') != std::string::npos || id.ends_with(".yaml");
    const std::string path = file ? id : (fs::path(presetsFolder()) / "cores" / (id + ".yaml")).string();
    std::error_code ignored;
    if (!file && !fs::exists(path, ignored)) {
        std::string known;
        for (const auto& each : coreIds()) known += (known.empty() ? "" : ", ") + each;
        return fail("block.unknown-core", fmt::format("there is no core `{}`", id), known,
                    "a file of your own ends in .yaml");
    }
    const auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    const auto root = parseYaml(*text, path);
    if (!root) return tl::unexpected(root.error());
    const YamlNode* kind = root->find("orrery");
    if (!kind || kind->scalar != "core/1") {
        return fail("block.core", "this file describes no core", "`orrery: core/1`", {},
                    {.file = path, .line = root->line});
    }
    auto core = std::make_shared<Core>();
    core->rules.id = fs::path(path).stem().string();
    core->rules.title = core->rules.id;
    std::string named;
    if (auto read = readRules(*root, path, core->rules, named, core->source); !read)
        return tl::unexpected(read.error());
    const std::string at = !table.empty()  ? table
                           : named.empty() ? ""
                                           : (fs::path(path).parent_path() / named).string();
    if (const YamlNode* mixes = root->find("mixes")) {
        const YamlNode* rows = mixes->find("table");
        if (!rows) return wrong(*mixes, path, "mixes", "a map with `table`");
        auto read = readMixTable((fs::path(path).parent_path() / rows->scalar).string());
        if (!read) return tl::unexpected(read.error());
        core->mixes = std::move(*read);
        const YamlNode* norm = mixes->find("norm");
        const YamlNode* interval = mixes->find("interval");
        if (norm) core->mixes.norm = std::max(1.0, numberIn(norm->scalar).value_or(16));
        if (interval && interval->items.size() == 2) {
            core->mixes.low = numberIn(interval->items[0].scalar).value_or(1);
            core->mixes.high = numberIn(interval->items[1].scalar).value_or(1);
        }
    }
    if (at.empty()) {
        if (!core->mixes.empty()) return core;
        return fail("block.no-table", fmt::format("no port table of {} comes with Orrery", core->rules.title),
                    "--uops FILE, a table in the columns of uops.info");
    }
    if (!table.empty()) core->source = table;
    if (auto read = readPortTable(at, *core); !read) return tl::unexpected(read.error());
    return core;
}

}  // namespace orrery::block
