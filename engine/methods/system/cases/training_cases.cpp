#include "methods/system/cases/training_cases.h"

#include "base/text/csv_stream.h"
#include "base/text/words.h"
#include "base/text/yaml_node.h"
#include "simulation/cluster/trace_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr double bytesOfGibibyte = 1024.0 * 1024.0 * 1024.0;

class TrainingCasesReader {
public:
    TrainingCasesReader(const std::string& path, TrainingCases& out) : path_(path), out_(out) {}

    Expected<void> read(const YamlNode& root) {
        out_.name = word(root, "name", {});
        out_.description = word(root, "description", "");
        out_.source = word(root, "source", "");
        out_.tool = word(root, "tool", "another tool");
        machine(root.find("machine"));
        layers(root.find("layers"));
        const YamlNode* runs = root.find("runs");
        if (!runs || !runs->isSequence() || runs->items.empty()) {
            refuse(root, "runs", "a list of runs");
        } else {
            for (const YamlNode& each : runs->items) run(each);
        }
        if (problem_) return Unexpected(std::move(*problem_));
        return {};
    }

private:
    void refuse(const YamlNode& at, std::string_view key, std::string expected) {
        if (problem_) return;
        const YamlNode* value = at.find(key);
        const YamlNode& place = value ? *value : at;
        problem_ = Diagnostic{Severity::Error,
                              value ? "cases.value" : "cases.missing",
                              value ? fmt::format("`{}` makes no sense", key) : fmt::format("there is no `{}`", key),
                              std::move(expected),
                              {},
                              {path_, place.line, place.column, std::string(key)}};
    }
    std::string word(const YamlNode& map, std::string_view key, std::optional<std::string> fallback) {
        const YamlNode* value = map.find(key);
        if (value && value->isScalar()) return value->scalar;
        if (value || !fallback) refuse(map, key, "a text");
        return fallback.value_or("");
    }
    double number(const YamlNode& map, std::string_view key, double low, double high, std::optional<double> fallback) {
        const YamlNode* value = map.find(key);
        if (!value && fallback) return *fallback;
        const auto given = value && value->isScalar() ? orrery::numberIn(trimmed(value->scalar)) : std::nullopt;
        if (given && *given >= low && *given <= high) return *given;
        refuse(map, key, fmt::format("a number from {} to {}", low, high));
        return low;
    }
    std::int64_t whole(const YamlNode& map, std::string_view key, double low, double high,
                       std::optional<double> fallback) {
        const double value = number(map, key, low, high, fallback);
        if (value != std::floor(value)) refuse(map, key, "a whole number");
        return static_cast<std::int64_t>(value);
    }

    void machine(const YamlNode* map) {
        static const YamlNode none{.type = YamlNode::Type::Map};
        const YamlNode& from = map && map->isMap() ? *map : none;
        ClusterSettings& s = out_.machine;
        s.endpointDelay = number(from, "endpoint_delay", 0, 1e12, 0);
        s.activeChunks = whole(from, "active_chunks", 1, 1e6, 1);
        s.splits = whole(from, "chunks", 1, 1e6, 1);
        s.memoryBandwidth = number(from, "memory_bandwidth", 0, 1e12, 0) * 1e9;
        const auto choice = algorithmChoice(word(from, "algorithm", "ring"));
        if (!choice) return refuse(from, "algorithm", "ring, direct, halvingDoubling or doubleBinaryTree");
        for (auto& each : s.algorithms) each = {*choice};
    }

    void layers(const YamlNode* map) {
        if (!map) return;
        const YamlNode* rows = map->find("rows");
        if (!rows || !rows->isSequence()) return refuse(*map, "rows", "a list of layers");
        for (const YamlNode& row : rows->items) {
            TextLayer layer;
            double values[4] = {};
            bool good = row.isSequence() && row.items.size() == 5 && row.items[0].isScalar();
            for (std::size_t i = 0; good && i < 4; ++i) {
                const auto value = orrery::numberIn(trimmed(row.items[i + 1].scalar));
                good = value && *value >= 0 && *value < 1e15;
                if (good) values[i] = *value;
            }
            if (!good) {
                if (!problem_)
                    problem_ = Diagnostic{Severity::Error,
                                          "cases.value",
                                          "a layer makes no sense",
                                          "[name, forward, input gradient, weight gradient, bytes], times in us",
                                          {},
                                          {path_, row.line, row.column, "layers"}};
                return;
            }
            layer.name = row.items[0].scalar;
            layer.forward.microseconds = values[0];
            layer.input.microseconds = values[1];
            layer.weight.microseconds = values[2];
            layer.weight.exchanges = values[3] > 0;
            layer.weight.bytes = static_cast<std::int64_t>(values[3]);
            out_.layers.layers.push_back(std::move(layer));
        }
    }

    void run(const YamlNode& map) {
        TrainingCaseRun made;
        made.name = word(map, "name", {});
        made.ranks = whole(map, "ranks", 2, 1 << 20, {});
        made.bandwidth = number(map, "bandwidth", 1e-6, 1e9, {});
        made.latency = number(map, "latency", 0, 1e12, {});
        const std::string shape = lower(word(map, "shape", "switch"));
        if (shape == "ring")
            made.shape = TopologyShape::Ring;
        else if (shape == "fullyconnected")
            made.shape = TopologyShape::FullyConnected;
        else if (shape != "switch")
            refuse(map, "shape", "Ring, Switch or FullyConnected");
        if (map.find("layers")) {
            made.layers = true;
            const std::string order = word(map, "layers", {});
            if (order != "blocking" && order != "overlap") refuse(map, "layers", "blocking or overlap");
            made.order = order == "overlap" ? LayerOrder::Overlap : LayerOrder::Blocking;
            if (out_.layers.layers.empty()) refuse(map, "layers", "a file with `layers`");
        } else {
            const std::string op = word(map, "collective", {});
            constexpr TraceCollective ops[] = {TraceCollective::AllReduce, TraceCollective::AllGather,
                                               TraceCollective::ReduceScatter, TraceCollective::AllToAll};
            const auto known = std::ranges::find_if(ops, [&](TraceCollective each) { return toText(each) == op; });
            if (known == std::end(ops))
                refuse(map, "collective", "all-reduce, all-gather, reduce-scatter or all-to-all");
            else
                made.op = *known;
            made.bytes = whole(map, "bytes", 1, 1e15, {});
        }
        made.exposed = map.find("recorded_exposed") != nullptr;
        const char* key = made.exposed ? "recorded_exposed" : "recorded";
        if (map.find(key)) made.recorded = number(map, key, 0, 1e18, {});
        out_.runs.push_back(std::move(made));
    }

    const std::string& path_;
    TrainingCases& out_;
    std::optional<Diagnostic> problem_;
};

Expected<ExecutionTrace> traceOfCase(const TrainingCases& cases, const TrainingCaseRun& run) {
    if (run.layers) return layerTrace(cases.layers, run.order, run.ranks, cases.name);
    TraceBuilder builder;
    TraceNode node;
    node.id = 1;
    node.work = TraceWork::Collective;
    node.collective = run.op;
    node.bytes = run.bytes;
    builder.add(node, run.name, {});
    return builder.finish(cases.name);
}

}  // namespace

Expected<TrainingCases> readTrainingCases(const std::string& path) {
    auto text = CsvStream::head(path, std::size_t{1} << 22);
    if (!text) return Unexpected(std::move(text.error()));
    auto root = parseYaml(*text, path);
    if (!root) return Unexpected(std::move(root.error()));
    const YamlNode* kind = root->isMap() ? root->find("orrery") : nullptr;
    if (!kind || kind->scalar != "training-cases/1")
        return fail("cases.kind", "this is no file of training cases", "`orrery: training-cases/1`", {}, Place{path});
    TrainingCases cases;
    if (auto good = TrainingCasesReader(path, cases).read(*root); !good) return Unexpected(std::move(good.error()));
    return cases;
}

Expected<TrainingCaseAnswer> runTrainingCase(const TrainingCases& cases, std::size_t run, bool ownSemantics,
                                             const std::stop_token& stop) {
    const TrainingCaseRun& asked = cases.runs.at(run);
    ClusterSettings settings = cases.machine;
    settings.astraSim = settings.network.wholeNanoseconds = !ownSemantics;
    settings.network.dimensions = {
        {asked.shape, asked.ranks, asked.bandwidth * (ownSemantics ? 1e9 : bytesOfGibibyte), asked.latency}};
    auto trace = traceOfCase(cases, asked);
    if (!trace) return Unexpected(std::move(trace.error()));
    auto job = jobOfTrace(std::move(*trace), settings);
    if (!job) return Unexpected(std::move(job.error()));
    settings.network = std::move(job->network);
    const auto outcome = runCluster(std::move(job->job), settings, false, stop);
    if (!outcome) return Unexpected(outcome.error());
    TrainingCaseAnswer answer;
    constexpr double cycle = 1000;  // ps
    for (const RankResult& rank : outcome->ranks) {
        if (static_cast<double>(rank.finish) / cycle < answer.cycles) continue;
        answer.cycles = static_cast<double>(rank.finish) / cycle;
        answer.exposed = static_cast<double>(rank.finish - rank.compute) / cycle;
        answer.waiting = static_cast<double>(rank.exposed) / cycle;
    }
    return answer;
}

}  // namespace orrery
