#include "base/text/json_file.h"
#include "base/text/read_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "simulation/dram/ruled/dram_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <optional>

namespace orrery {

namespace {

struct Family {
    std::string_view name, levels, timings;
};

// Levels above the row, and the order in which configurations list the timings.
constexpr Family families[] = {
    {"DDR4", "Channel Rank BankGroup Bank",
     "rate nBL nCL nRCD nRP nRAS nRC nWR nRTP nCWL nCCDS nCCDL nRRDS nRRDL nWTRS nWTRL nFAW nRFC nREFI nCS tCK_ps"},
    {"DDR5", "Channel Rank BankGroup Bank",
     "rate nBL nCL nRCD nRP nRAS nRC nWR nRTP nCWL nPPD nCCDS nCCDL nCCDS_WR nCCDL_WR nRRDS nRRDL nWTRS nWTRL nFAW "
     "nRFC nREFI nCS tCK_ps"},
    {"LPDDR5", "Channel Rank BankGroup Bank",
     "rate nBL_min nBL_max nCL nRCD nRP nRPab nRAS nRC nWR nRTP nCWL nPPD nCCDS nCCDL nCCDS_WR nCCDL_WR nRRDS nRRDL "
     "nWTRS nWTRL nFAW nRFC nRFCpb nREFI nREFIpb nWCKPST nCAS nAAD nCS tCK_ps nPBR2PBR nPBR2ACT"},
    {"GDDR6", "Channel BankGroup Bank",
     "rate nBL nCL nRCDRD nRCDWR nRP nRAS nRC nWR nRTP nCWL nCCDS nCCDL nRRDS nRRDL nWTRS nWTRL nFAW nRFCpb nRREFD "
     "nREFI tCK_ps nRFCab nPPD"},
    {"HBM2", "Channel PseudoChannel BankGroup Bank",
     "rate nBL nCL nRCDRD nRCDWR nRP nRAS nRC nWR nRTPL nCWL nCCDS nCCDL nRRDS nRRDL nWTRS nWTRL nFAW nRFC nRFCpb "
     "nRREFD nREFI nREFIpb tCK_ps"},
    {"HBM3", "Channel PseudoChannel Sid BankGroup Bank",
     "rate nBL nCL nRCDRD nRCDWR nRP nRAS nRC nWR nRTP nCWL nCCDS nCCDL nCCDR nRRDS nRRDL nWTRS nWTRL nRTW nFAW nPPD "
     "nRFC nRFCpb nRFMab nRFMpb nRREFD nREFI nREFIpb tCK_ps"},
    {"HBM4", "Channel PseudoChannel Sid BankGroup Bank",
     "rate nBL nCL nRCDRD nRCDWR nRP nRAS nRC nWR nRTP nCWL nCCDS nCCDL nCCDR nRRDS nRRDL nWTRS nWTRL nRTW nFAW nPPD "
     "nRFC nRFCpb nRFMab nRFMpb nRREFD nREFI nREFIpb tCK_ps"},
};

constexpr struct {
    std::string_view impl;
    RuledController controller;
} controllers[] = {{"GenericDDR", RuledController::OneBus},
                   {"HBM12", RuledController::SplitBus},
                   {"HBM34", RuledController::HalfClock},
                   {"LPDDR5", RuledController::WriteClock}};

std::vector<std::string> wordsOf(std::string_view text) {
    std::vector<std::string> out;
    for (const auto part : split(text, ' ')) out.emplace_back(part);
    return out;
}

class Reader {
public:
    explicit Reader(const std::string& path) : path_(path) {}

    Expected<DramRules> read(const YamlNode& root) {
        rules_.file = path_;
        const YamlNode* system = need(root, "memory_system", "");
        const YamlNode* list = system ? need(*system, "controllers", "memory_system.") : nullptr;
        if (list && (!list->isSequence() || list->items.empty()))
            refuse(*list, "memory_system.controllers", "there is no controller", "a list of one controller");
        if (problem_) return tl::unexpected(*problem_);
        controller(list->items.front());
        if (problem_) return tl::unexpected(*problem_);
        return std::move(rules_);
    }

private:
    void refuse(const YamlNode& at, std::string path, std::string message, std::string expected,
                std::string hint = "compare with a fully expanded configuration of Ramulator 2.1",
                std::string code = "dram.file") {
        if (problem_) return;
        Diagnostic d;
        d.code = std::move(code), d.message = std::move(message), d.expected = std::move(expected);
        d.hint = std::move(hint);
        d.place = {path_, at.line, at.column, std::move(path)};
        problem_ = std::move(d);
    }
    const YamlNode* need(const YamlNode& map, std::string_view key, std::string_view prefix) {
        const YamlNode* found = map.isMap() ? map.find(key) : nullptr;
        if (!found)
            refuse(map, fmt::format("{}{}", prefix, key), fmt::format("'{}' is missing", key), "a key of that name");
        return found;
    }
    double number(const YamlNode& map, std::string_view key, double low, double high,
                  std::optional<double> fallback = {}) {
        const YamlNode* node = map.find(key);
        if (!node && fallback) return *fallback;
        if (!node) return need(map, key, ""), low;
        return numberAt(*node, key, low, high);
    }
    double numberAt(const YamlNode& node, std::string_view what, double low, double high) {
        const auto value = node.isScalar() ? numberIn(trimmed(node.scalar)) : std::nullopt;
        if (!value || *value < low || *value > high) {
            refuse(node, std::string(what),
                   fmt::format("'{}' is {}", what, node.isScalar() ? node.scalar : std::string(node.typeText())),
                   fmt::format("a number from {:g} to {:g}", low, high));
            return low;
        }
        return *value;
    }
    std::int64_t wholeAt(const YamlNode& node, std::string_view what, double low, double high) {
        const double value = numberAt(node, what, low, high);
        if (value != std::floor(value))
            refuse(node, std::string(what), fmt::format("'{}' is {}", what, node.scalar), "a whole number");
        return static_cast<std::int64_t>(value);
    }
    std::vector<std::int64_t> wholes(const YamlNode* node, std::string_view what, double low, double high) {
        std::vector<std::int64_t> out;
        if (!node) return out;
        if (!node->isSequence())
            refuse(*node, std::string(what), fmt::format("'{}' is {}", what, node->typeText()),
                   "a list of whole numbers");
        for (const auto& item : node->items) out.push_back(wholeAt(item, what, low, high));
        return out;
    }
    static std::string implOf(const YamlNode* node) {
        if (!node || !node->isMap()) return {};
        const YamlNode* impl = node->find("impl");
        return impl && impl->isScalar() ? impl->scalar : std::string{};
    }

    void controller(const YamlNode& node) {
        const std::string impl = implOf(&node);
        bool known = false;
        std::string all;
        for (const auto& one : controllers) {
            if (one.impl == impl) rules_.controller = one.controller, known = true;
            all += (all.empty() ? "" : ", ") + std::string(one.impl);
        }
        if (!known)
            return refuse(node, "controllers.impl", fmt::format("there is no controller '{}'", impl), "one of " + all);
        rules_.drainBelow = number(node, "wr_low_watermark", 0, 1, 0.2);
        rules_.drainAbove = number(node, "wr_high_watermark", 0, 1, 0.8);
        rules_.readBuffer = static_cast<int>(number(node, "read_buffer_size", 1, 4096, 32));
        rules_.writeBuffer = static_cast<int>(number(node, "write_buffer_size", 1, 4096, 32));
        if (const std::string scheduler = implOf(node.find("scheduler")); !scheduler.empty() && scheduler != "FRFCFS")
            return refuse(*node.find("scheduler"), "scheduler.impl",
                          fmt::format("scheduler '{}' is not known", scheduler), "FRFCFS");
        if (const std::string policy = implOf(node.find("row_policy")); !policy.empty() && policy != "Open")
            return refuse(*node.find("row_policy"), "row_policy.impl",
                          fmt::format("row policy '{}' is not known", policy), "Open",
                          "`--page closed` closes rows with their last access");
        rules_.mapping = implOf(node.find("addr_mapper"));
        if (const YamlNode* dram = need(node, "dram", "controllers.")) device(*dram, node);
    }

    // The counter plugin of the configuration lists all commands in the order of their numbers.
    void commandNames(const YamlNode& controller) {
        const YamlNode* plugins = controller.find("controller_plugins");
        if (plugins && plugins->isSequence())
            for (const auto& plugin : plugins->items)
                if (const YamlNode* list = plugin.isMap() ? plugin.find("commands_to_count") : nullptr;
                    list && list->isSequence())
                    for (const auto& name : list->items) rules_.commands.push_back(name.scalar);
    }
    // names.json beside the file says what a family that is not built in calls its levels, commands and timings.
    void namesBeside() {
        namespace fs = std::filesystem;
        std::error_code error;
        const auto beside = fs::path(path_).parent_path() / "names.json";
        if (!fs::is_regular_file(beside, error)) return;
        const auto file = JsonFile::open(beside.string());
        if (!file) return;
        const JsonNode* family = file->root().find(rules_.family);
        if (!family) return;
        const auto take = [&](const char* key, std::vector<std::string>& into) {
            const JsonNode* list = family->find(key);
            if (!list || !list->isArray()) return;
            into.clear();
            for (const auto& item : list->items) into.push_back(item.text);
        };
        take("levels", rules_.levels);
        take("commands", rules_.commands);
        take("timings", rules_.timingNames);
    }

    void device(const YamlNode& node, const YamlNode& controller) {
        rules_.family = implOf(&node);
        const YamlNode* organisation = need(node, "org", "dram.");
        if (!organisation) return;
        rules_.count = wholes(need(*organisation, "count", "dram.org."), "dram.org.count", 1, 1 << 26);
        rules_.timing = wholes(need(node, "timing", "dram."), "dram.timing", 0, 1e9);
        rules_.channelWidth = static_cast<int>(number(node, "channel_width", 1, 8192));
        rules_.readLatency = static_cast<std::int64_t>(number(node, "read_latency", 1, 1e6));
        const auto pins = static_cast<int>(number(*organisation, "dq", 0, 8192, 0));
        if (problem_) return;
        const YamlNode& counts = *organisation->find("count");
        if (rules_.count.size() < 4 || rules_.count.size() > 10)
            return refuse(counts, "dram.org.count", fmt::format("{} levels", rules_.count.size()),
                          "channel, ranks or pseudo-channels, banks, rows, columns");
        if (rules_.banks() > 4096)
            return refuse(counts, "dram.org.count", fmt::format("{} banks", rules_.banks()), "at most 4096");
        for (const auto n : rules_.count)
            if (!std::has_single_bit(static_cast<std::uint64_t>(n)))
                return refuse(counts, "dram.org.count", fmt::format("{} is no power of two", n),
                              "powers of two, as address bits need them");
        commandNames(controller);
        for (const auto& family : families)
            if (family.name == rules_.family) {
                rules_.levels = wordsOf(family.levels);
                rules_.timingNames = wordsOf(family.timings);
                rules_.levels.insert(rules_.levels.end(), {"Row", "Column"});
            }
        if (rules_.timingNames.empty() || rules_.commands.empty()) namesBeside();
        rules_.devicePins = pins * rules_.dataBuses();
        const YamlNode& timing = *node.find("timing");
        if (rules_.timingNames.size() != rules_.timing.size())
            return refuse(timing, "dram.timing",
                          rules_.timingNames.empty()
                              ? fmt::format("the order of timings of '{}' is not known", rules_.family)
                              : fmt::format("{} timings of {}", rules_.timing.size(), rules_.family),
                          rules_.timingNames.empty()
                              ? "DDR4, DDR5, LPDDR5, GDDR6, HBM2, HBM3 or HBM4, or names.json beside the file"
                              : fmt::format("{}: {}", rules_.timingNames.size(), fmt::join(rules_.timingNames, " ")));
        if (rules_.levels.size() != rules_.count.size())
            return refuse(counts, "dram.org.count", fmt::format("{} levels of {}", rules_.count.size(), rules_.family),
                          fmt::format("{}: {}", rules_.levels.size(), fmt::join(rules_.levels, " ")));
        for (const char* name : {"rate", "nBL", "tCK_ps"})
            if (rules_.timingOf(name) <= 0)
                return refuse(timing, "dram.timing", fmt::format("{} is 0", name), "a positive number");
        if (rules_.commandOf("RD") < 0 || rules_.commandOf("WR") < 0 ||
            (rules_.commandOf("ACT") < 0 && rules_.commandOf("ACT1") < 0))
            return refuse(controller, "controller_plugins", "the commands have no names",
                          "commands_to_count with all commands in the order of their numbers");
        // Beats of a burst: rate × its duration, which the rounding of tCK leaves beside a power of two.
        const double beats = static_cast<double>(rules_.timingOf("rate")) * 1e6 * rules_.cycleSeconds() *
                             static_cast<double>(rules_.timingOf("nBL"));
        rules_.prefetch = 1 << std::max(0, static_cast<int>(std::lround(std::log2(beats))));
        if (rules_.prefetch > 128 || rules_.count.back() < rules_.prefetch || rules_.burstBytes() < 1)
            return refuse(timing, "dram.timing",
                          fmt::format("a burst has {:.1f} beats of {} columns", beats, rules_.count.back()),
                          "rate × tCK × nBL of 2 to 128 beats, no more than a row has columns",
                          "do rate, tCK and nBL belong together?", "dram.timing");
        constraints(node);
        if (!problem_) contradictions(timing);
    }

    void constraints(const YamlNode& node) {
        const YamlNode* list = need(node, "timing_constraints", "dram.");
        if (!list) return;
        if (!list->isSequence()) return refuse(*list, "dram.timing_constraints", "is no list", "a list of constraints");
        if (list->items.size() > 4000)
            return refuse(*list, "dram.timing_constraints", fmt::format("{} constraints", list->items.size()),
                          "at most 4000");
        const auto most = static_cast<double>(rules_.commands.size()) - 1;
        for (std::size_t i = 0; i < list->items.size() && !problem_; ++i) {
            const YamlNode& item = list->items[i];
            const std::string what = fmt::format("dram.timing_constraints[{}]", i);
            if (!item.isSequence() || item.items.size() < 4 || item.items.size() > 6)
                return refuse(item, what, "this is no constraint",
                              "[level, [commands before], [commands after], cycles, window, sibling]");
            DramRule rule;
            rule.line = item.line;
            rule.level = static_cast<int>(wholeAt(item.items[0], what, 0, rules_.bankLevel()));
            for (const auto c : wholes(&item.items[1], what, 0, most)) rule.before.push_back(static_cast<int>(c));
            for (const auto c : wholes(&item.items[2], what, 0, most)) rule.after.push_back(static_cast<int>(c));
            rule.cycles = wholeAt(item.items[3], what, -1e6, 1e9);
            if (item.items.size() > 4) rule.window = static_cast<int>(wholeAt(item.items[4], what, 1, 64));
            if (item.items.size() > 5) rule.sibling = lower(item.items[5].scalar) == "true";
            if (rule.sibling && rule.window > 1)
                return refuse(item, what, fmt::format("a window of {} commands acts on siblings", rule.window),
                              "a window of 1 with siblings, or a larger one without",
                              "a window counts the commands to the node that it holds back");
            rules_.rules.push_back(std::move(rule));
        }
    }

    // Timings that no device can have together.
    void contradictions(const YamlNode& at) {
        const auto t = [&](const char* name) { return rules_.timingOf(name); };
        const auto wrong = [&](std::string message, std::string expected) {
            refuse(at, "dram.timing", std::move(message), std::move(expected), "compare with the data sheet",
                   "dram.timing");
        };
        if (t("nRC") > 0 && t("nRAS") > t("nRC"))
            wrong(fmt::format("nRAS is {} and nRC {}", t("nRAS"), t("nRC")), "nRAS + nRP = nRC, so nRAS ≤ nRC");
        if (t("nFAW") > 0 && t("nRRDS") > t("nFAW"))
            wrong(fmt::format("nRRDS is {} and nFAW {}", t("nRRDS"), t("nFAW")), "nRRDS ≤ nFAW");
        if (t("nCCDL") > 0 && t("nCCDS") > t("nCCDL"))
            wrong(fmt::format("nCCDS is {} and nCCDL {}", t("nCCDS"), t("nCCDL")), "nCCDS ≤ nCCDL");
        const auto rfc = std::max(t("nRFC"), t("nRFCab"));
        if (t("nREFI") > 0 && rfc >= t("nREFI"))
            wrong(fmt::format("a refresh takes {} cycles and one is due every {}", rfc, t("nREFI")), "nRFC < nREFI");
        if (rules_.controller == RuledController::HalfClock && t("nREFIpb") > 0) bankRefreshes(t("nREFIpb"), wrong);
        if (rules_.readLatency < t("nCL"))
            wrong(fmt::format("read_latency is {} and nCL {}", rules_.readLatency, t("nCL")),
                  "read_latency = nCL + nBL");
    }

    // One bank of each pseudo-channel every so many cycles, in turn: the queue must become empty in between, and a bank
    // must be over with its refresh before it is its turn again.
    void bankRefreshes(std::int64_t interval, const auto& wrong) {
        const std::int64_t channels = rules_.count[1], turn = rules_.banks() / channels * interval;
        const int refresh = rules_.commandOf("REFpb"), activate = rules_.commandOf("ACT");
        std::int64_t apart = 2 * channels, busy = rules_.timingOf("nRFCpb");  // a row command every other half clock
        for (const DramRule& rule : rules_.rules) {
            if (rule.sibling || rule.window > 1 || std::ranges::count(rule.before, refresh) == 0) continue;
            const bool again = std::ranges::count(rule.after, refresh) > 0;
            if (rule.level == rules_.bankLevel() && (again || std::ranges::count(rule.after, activate) > 0))
                busy = std::max(busy, rule.cycles);
            if (again && rule.level == 0) apart = std::max(apart, rule.cycles * channels);
            if (again && rule.level == 1) apart = std::max(apart, rule.cycles);
        }
        if (interval <= apart)
            wrong(fmt::format("a bank is to be refreshed every {} cycles, and refreshes are {} apart", interval, apart),
                  fmt::format("nREFIpb > {}", apart));
        if (turn <= busy)
            wrong(fmt::format("a bank's refresh takes {} cycles, and its next is due after {}", busy, turn),
                  "nRFCpb < nREFIpb × banks of a pseudo-channel");
    }

    const std::string& path_;
    DramRules rules_;
    std::optional<Diagnostic> problem_;
};

}  // namespace

Expected<DramRules> readDramRules(std::string_view yaml, const std::string& path) {
    auto root = parseYaml(yaml, path);
    if (!root) return tl::unexpected(root.error());
    return Reader(path).read(*root);
}

Expected<DramRules> readDramRules(const std::string& path) {
    auto text = readFile(path);
    if (!text) return tl::unexpected(text.error());
    return readDramRules(std::string_view(*text), path);
}

}  // namespace orrery
