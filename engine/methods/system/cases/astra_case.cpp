#include "methods/system/cases/astra_case.h"

#include "base/hash.h"
#include "base/text/csv_stream.h"
#include "base/text/json_file.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "workload/traces/chakra.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <map>

namespace orrery {

namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

class AstraSystemReader {
public:
    AstraSystemReader(const JsonFile& file, AstraCase& out) : file_(file), out_(out) {}

    Expected<void> read() {
        ClusterSettings& s = out_.settings;
        const JsonNode& root = file_.root();
        s.endpointDelay = number("endpoint-delay", 0, 1e12, 10);
        s.activeChunks = whole("active-chunks-per-dimension", 1, 1);
        s.splits = whole("preferred-dataset-splits", 1, 1);
        s.memoryBandwidth = number("local-mem-bw", 0, 1e12, 0) * 1e9;
        if (number("roofline-enabled", 0, 1, 0) != 0) {
            if (root.given("peak-perf") == nullptr) refuse("peak-perf", "TFLOP/s of a device, for the roofline");
            s.peak = number("peak-perf", 1e-9, 1e12, 0) * 1e12;
        }
        if (whole("queues-per-dim", 1, 1) != 1 || whole("num-queues-per-dim", 1, 1) != 1)
            refuse("queues-per-dim", "one queue for each dimension");
        const std::string order = lower(word("scheduling-policy", "LIFO"));
        if (order == "fifo")
            s.order = CollectiveOrder::Fifo;
        else if (order == "explicit")
            s.order = CollectiveOrder::Explicit;
        else if (order != "lifo")
            refuse("scheduling-policy", "LIFO, FIFO or EXPLICIT");
        const std::string how = lower(word("collective-optimization", "baseline"));
        if (how != "baseline" && how != "localbwaware") refuse("collective-optimization", "baseline or localBWAware");
        s.bandwidthAware = how == "localbwaware";
        const char* keys[] = {"all-reduce-implementation", "all-gather-implementation", "reduce-scatter-implementation",
                              "all-to-all-implementation"};
        for (std::size_t op = 0; op < 4; ++op) algorithms(keys[op], root.given(keys[op]), s.algorithms[op]);
        for (const char* key : {"replay-only", "model-shared-bus", "rendezvous-protocol"}) {
            const JsonNode* node = root.given(key);
            if (node != nullptr && ((node->isNumber() && node->number != 0) || (node->isTruth() && node->truth)))
                out_.warnings.push_back(
                    warning("astra.ignored", fmt::format("`{}` is not simulated", key), {}, file_.place(key)));
        }
        if (problem_) return Unexpected(std::move(*problem_));
        return {};
    }

private:
    void refuse(const std::string& key, std::string expected) {
        if (problem_) return;
        const JsonNode* node = file_.root().given(key);
        problem_ = fail("astra.value", fmt::format("`{}` is {}", key, node == nullptr ? "missing" : node->shown()),
                        std::move(expected), {}, file_.place(key))
                       .value();
    }
    double number(const char* key, double low, double high, double fallback) {
        const JsonNode* node = file_.root().given(key);
        if (node == nullptr) return fallback;
        const double value = node->isNumber()  ? node->number
                             : node->isTruth() ? (node->truth ? 1 : 0)
                             : node->isText()  ? numberIn(trimmed(node->text)).value_or(-1)
                                               : -1;
        if (value >= low && value <= high) return value;
        refuse(key, fmt::format("a number from {} to {}", low, high));
        return fallback;
    }
    std::int64_t whole(const char* key, std::int64_t low, std::int64_t fallback) {
        const auto value =
            static_cast<std::int64_t>(number(key, static_cast<double>(low), 1e9, static_cast<double>(fallback)));
        const JsonNode* node = file_.root().given(key);
        if (node != nullptr && node->isNumber() && !node->isWhole()) refuse(key, "a whole number");
        return value;
    }
    std::string word(const char* key, const char* fallback) {
        const JsonNode* node = file_.root().given(key);
        if (node == nullptr) return fallback;
        if (!node->isText()) refuse(key, "a word");
        return node->text;
    }
    void algorithms(const char* key, const JsonNode* list, std::vector<AlgorithmChoice>& out) {
        if (list == nullptr) return;
        if (!list->isArray()) return refuse(key, "a list of algorithms, one for each dimension");
        for (const JsonNode& one : list->items) {
            if (!one.isText()) return refuse(key, "a list of algorithms, one for each dimension");
            auto choice = algorithmChoice(one.text);
            if (!choice) {
                if (!problem_) {
                    problem_ = std::move(choice.error());
                    problem_->place = file_.place(key);
                }
                return;
            }
            out.push_back(*choice);
        }
    }

    const JsonFile& file_;
    AstraCase& out_;
    std::optional<Diagnostic> problem_;
};

Expected<void> readNetwork(const std::string& path, AstraCase& out) {
    auto text = CsvStream::head(path, std::size_t{1} << 20);
    if (!text) return Unexpected(std::move(text.error()));
    auto root = parseYaml(*text, path);
    if (!root) return Unexpected(std::move(root.error()));
    const auto refuse = [&](std::string_view key, const YamlNode* node, std::string expected) {
        return fail("astra.value", fmt::format("`{}` makes no sense", key), std::move(expected), {},
                    {path, node ? node->line : 0, node ? node->column : 0, std::string(key)});
    };
    const YamlNode* shapes = root->find("topology");
    if (shapes == nullptr || !shapes->isSequence() || shapes->items.empty())
        return refuse("topology", shapes, "a list of Ring, FullyConnected and Switch");
    const std::size_t count = shapes->items.size();
    std::map<std::string_view, std::vector<double>> numbers;
    for (const std::string_view key : {"npus_count", "bandwidth", "latency"}) {
        const YamlNode* list = root->find(key);
        if (list == nullptr || !list->isSequence() || list->items.size() != count)
            return refuse(key, list, fmt::format("{} numbers, one for each dimension", count));
        for (const YamlNode& one : list->items) {
            const auto value = numberIn(trimmed(one.scalar));
            if (!value || *value < 0) return refuse(key, &one, "numbers from 0 on");
            numbers[key].push_back(*value);
        }
    }
    out.settings.network.dimensions.clear();
    for (std::size_t d = 0; d < count; ++d) {
        FabricDimension one;
        const std::string shape = lower(shapes->items[d].scalar);
        if (shape == "ring")
            one.shape = TopologyShape::Ring;
        else if (shape == "fullyconnected")
            one.shape = TopologyShape::FullyConnected;
        else if (shape == "switch")
            one.shape = TopologyShape::Switch;
        else
            return refuse("topology", &shapes->items[d], "Ring, FullyConnected or Switch");
        const double size = numbers["npus_count"][d];
        if (size < 2 || size > 1 << 24 || size != std::floor(size))
            return refuse("npus_count", root->find("npus_count"), "whole numbers from 2 to 16 million");
        one.size = static_cast<std::int64_t>(size);
        // Its GB are GiB.
        one.bandwidth = numbers["bandwidth"][d] * (out.settings.astraSim ? gibibyte : 1e9);
        one.latency = numbers["latency"][d];
        out.settings.network.dimensions.push_back(one);
    }
    return {};
}

Expected<void> readMemory(const std::string& path, AstraCase& out) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return {};
    auto file = JsonFile::open(path);
    if (!file) return Unexpected(std::move(file.error()));
    if (const JsonNode* type = file->root().given("memory-type");
        type != nullptr && type->text == "NO_MEMORY_EXPANSION")
        return {};
    for (const char* key : {"remote-mem-latency", "remote-mem-bw"}) {
        const JsonNode* node = file->root().given(key);
        if (node != nullptr && !(node->isNumber() && node->number >= 0))
            return fail("astra.value", fmt::format("`{}` is {}", key, node->shown()), "a number from 0 on", {},
                        file->place(key));
    }
    out.settings.remote.latency = file->root().numberOf("remote-mem-latency").value_or(0);
    out.settings.remote.bandwidth = file->root().numberOf("remote-mem-bw").value_or(0) * 1e9;
    return {};
}

Expected<void> readGroups(const std::string& path, AstraCase& out) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return {};
    auto file = JsonFile::open(path);
    if (!file) return Unexpected(std::move(file.error()));
    for (const JsonNode& group : file->root().items) {
        RankGroup one;
        one.name = group.key;
        if (!group.isArray() || group.items.empty())
            return fail("astra.value", fmt::format("group `{}` is {}", group.key, group.shown()), "a list of its ranks",
                        {}, file->place(group.key));
        for (const JsonNode& member : group.items) {
            if (!member.isWhole() || member.number < 0 || member.number > 1 << 24)
                return fail("astra.value", fmt::format("group `{}` holds {}", group.key, member.shown()), "ranks", {},
                            file->place(group.key));
            one.members.push_back(static_cast<std::int32_t>(member.number));
        }
        out.job.groups.push_back(std::move(one));
    }
    return {};
}

using TraceFiles = std::map<std::int64_t, std::string>;  ///< rank → path

/// The one name of which there are traces, and the files of its ranks, 0 and on.
Expected<TraceFiles> traceFiles(const std::string& place, std::string& named) {
    std::map<std::string, TraceFiles> found;
    std::error_code error;
    auto entries = std::filesystem::directory_iterator(place, error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
        const std::filesystem::path& path = entries->path();
        std::string name = path.filename().string();
        if (name.ends_with(".gz")) name.resize(name.size() - 3);
        if (!name.ends_with(".et")) continue;
        name.resize(name.size() - 3);
        const auto dot = name.rfind('.');
        const auto rank = dot == std::string::npos ? std::nullopt : wholeIn(std::string_view(name).substr(dot + 1));
        if (rank && *rank >= 0) found[name.substr(0, dot)][*rank] = path.string();
    }
    if (found.empty())
        return fail("astra.missing", "there is no trace", "et/NAME.RANK.et", "generate the workload first",
                    {place, 0, 0, {}});
    if (found.size() > 1)
        return fail("astra.missing",
                    fmt::format("there are traces of {} names, as {} and {}", found.size(), found.begin()->first,
                                found.rbegin()->first),
                    "traces of one name", "remove the others", {place, 0, 0, {}});
    named = found.begin()->first;
    TraceFiles ranks = std::move(found.begin()->second);
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(ranks.size()); ++r)
        if (!ranks.contains(r))
            return fail("astra.missing", fmt::format("the trace of rank {} is missing", r),
                        fmt::format("ranks 0 to {}", ranks.size() - 1), {}, {place, 0, 0, {}});
    return ranks;
}

Expected<void> readTraces(const std::string& folder, AstraCase& out) {
    std::error_code error;
    std::string place = folder + "/et";
    if (!std::filesystem::is_directory(place, error)) place = folder;
    const auto files = traceFiles(place, out.name);
    if (!files) return Unexpected(files.error());
    std::map<std::pair<std::size_t, std::uint64_t>, TracePtr> known;  // by length and hash
    for (const auto& [rank, path] : *files) {
        const auto text = readTraceFile(path);
        if (!text) return Unexpected(text.error());
        TracePtr& same = known[{text->size(), Hash().add(*text).value()}];
        if (!same) {
            auto trace = parseChakra(*text, path);
            if (!trace) return Unexpected(std::move(trace.error()));
            for (const Diagnostic& one : trace->warnings) out.warnings.push_back(one);
            same = std::make_shared<const ExecutionTrace>(std::move(*trace));
        }
        out.job.traces.push_back(same);
    }
    for (const std::string& path :
         {place + "/" + out.name + ".json", folder + "/comm_group.json", folder + "/" + out.name + ".json"}) {
        if (auto read = readGroups(path, out); !read) return read;
        if (!out.job.groups.empty()) break;
    }
    return {};
}

}  // namespace

Expected<AstraCase> readAstraCase(const std::string& folder, bool congestion, bool ownSemantics) {
    AstraCase out;
    out.settings.astraSim = !ownSemantics;
    out.settings.network.congestion = congestion;
    out.settings.network.wholeNanoseconds = !ownSemantics;
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
        return fail("astra.unreadable", "there is no such folder",
                    "a folder with system.json, network.yml and et/NAME.RANK.et", {}, {folder, 0, 0, {}});
    auto system = JsonFile::open(folder + "/system.json");
    if (!system) return Unexpected(std::move(system.error()));
    if (auto read = AstraSystemReader(*system, out).read(); !read) return Unexpected(std::move(read.error()));
    if (auto read = readNetwork(folder + "/network.yml", out); !read) return Unexpected(std::move(read.error()));
    if (auto read = readMemory(folder + "/memory.json", out); !read) return Unexpected(std::move(read.error()));
    if (auto read = readTraces(folder, out); !read) return Unexpected(std::move(read.error()));
    return out;
}

}  // namespace orrery
