#include "app/cli/train_trace.h"

#include "app/cli/output.h"
#include "base/text/words.h"
#include "simulation/cluster/trace_job.h"
#include "workload/traces/read_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

namespace orrery::cli {

namespace {

Unexpected wrongTrainOption(std::string_view option, std::string_view value, std::string expected) {
    return fail("usage.value", fmt::format("--{} `{}` makes no sense", option, value), std::move(expected));
}

/// Numbers of a list with commas; none where the option is absent.
Expected<std::vector<double>> listOption(const Arguments& arguments, std::string_view name, double least, double most) {
    std::vector<double> numbers;
    const auto given = arguments.value(name);
    if (!given) return numbers;
    for (const std::string_view part : splitTrimmed(*given, ',')) {
        const auto number = numberIn(part);
        if (!number || *number < least || *number > most)
            return wrongTrainOption(name, *given,
                                    fmt::format("numbers from {} to {}, one for each dimension", least, most));
        numbers.push_back(*number);
    }
    return numbers;
}

/// Of dimension d: the last one for those beyond.
template <class T>
T ofDimension(const std::vector<T>& list, std::size_t d, T fallback) {
    return list.empty() ? fallback : list[std::min(d, list.size() - 1)];
}

/// As validated for eight H100 behind switches: 400 GB/s each way, 936.25 ns, rings, four chunks.
Expected<ClusterSettings> networkOptions(const Arguments& arguments, const std::vector<double>& sizes) {
    ClusterSettings settings;
    settings.endpointDelay = 10;
    settings.activeChunks = 2;
    settings.splits = 4;
    settings.memoryBandwidth = 3350e9;
    std::vector<TopologyShape> shapes;
    const std::string topology = arguments.value("topology").value_or("Switch");
    for (const std::string_view word : splitTrimmed(topology, ',')) {
        const std::string shape = lower(word);
        if (shape == "ring")
            shapes.push_back(TopologyShape::Ring);
        else if (shape == "switch")
            shapes.push_back(TopologyShape::Switch);
        else if (shape == "fullyconnected")
            shapes.push_back(TopologyShape::FullyConnected);
        else
            return wrongTrainOption("topology", topology, "Ring, Switch or FullyConnected, one for each dimension");
    }
    const auto bandwidth = listOption(arguments, "bandwidth", 1e-6, 1e9),
               latency = listOption(arguments, "latency", 0, 1e12);
    if (!bandwidth) return Unexpected(bandwidth.error());
    if (!latency) return Unexpected(latency.error());
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] < 2) continue;  // nobody to reach
        settings.network.dimensions.push_back(
            {ofDimension(shapes, d, TopologyShape::Switch), static_cast<std::int64_t>(sizes[d]),
             ofDimension(*bandwidth, d, 400.0) * 1e9, ofDimension(*latency, d, 936.25)});
    }
    return settings;
}

}  // namespace

Expected<TraceCase> readTraceCase(const Arguments& arguments, bool congestion) {
    const std::string path = *arguments.value("trace"), order = arguments.value("order").value_or("blocking");
    if (order != "blocking" && order != "overlap") return wrongTrainOption("order", order, "blocking or overlap");
    auto sizes = listOption(arguments, "ranks", 1, 1 << 24);
    if (!sizes) return Unexpected(sizes.error());
    TraceReading how;
    how.order = order == "overlap" ? LayerOrder::Overlap : LayerOrder::Blocking;
    how.timeline = arguments.value("kineto").value_or("");
    if (!sizes->empty()) {
        double all = 1;
        for (const double size : *sizes) all *= size;
        const bool whole =
            std::all_of(sizes->begin(), sizes->end(), [](double size) { return size == std::floor(size); });
        if (all > 1 << 24 || !whole)
            return wrongTrainOption("ranks", *arguments.value("ranks"), "whole numbers, 16 million ranks in all");
        how.ranks = static_cast<std::int64_t>(all);
    }
    auto read = readTrace(path, how);
    if (!read) return Unexpected(std::move(read.error()));
    TraceCase made;
    made.form = read->form;
    made.totals = totals(read->trace);
    for (const TraceNode& node : read->trace.nodes) {
        if (node.work == TraceWork::Compute && node.onHost) made.hostMicroseconds += node.microseconds;
        if (node.work != TraceWork::Collective) continue;
        ++made.collectives[static_cast<std::size_t>(node.collective)];
        made.bytes[static_cast<std::size_t>(node.collective)] += static_cast<double>(node.bytes);
    }
    if (sizes->empty()) sizes->push_back(read->trace.ranks > 0 ? static_cast<double>(read->trace.ranks) : 8);
    for (const double size : *sizes) made.devices *= static_cast<std::size_t>(size);
    auto settings = networkOptions(arguments, *sizes);
    if (!settings) return Unexpected(std::move(settings.error()));
    settings->network.congestion = congestion;
    made.run.name = std::filesystem::path(path).filename().string();
    made.run.warnings = std::move(read->trace.warnings);
    auto job = jobOfTrace(std::move(read->trace), *settings);
    if (!job) return Unexpected(std::move(job.error()));
    made.run.job = std::move(job->job);
    settings->network = std::move(job->network);
    made.run.settings = std::move(*settings);
    made.run.warnings.insert(made.run.warnings.end(), job->warnings.begin(), job->warnings.end());
    return made;
}

void unfold(const TraceCase& given, ClusterOutcome& outcome) {
    const std::size_t run = outcome.ranks.size();
    if (run >= given.devices) return;
    outcome.messages *= given.devices / run;
    outcome.ranks.resize(given.devices);
    for (std::size_t r = run; r < given.devices; ++r) outcome.ranks[r] = outcome.ranks[r % run];
}

std::string totalsText(const TraceCase& given) {
    const TraceTotals& all = given.totals;
    std::string text =
        fmt::format("{}: {}, {} nodes\n", given.run.name, given.form, count(static_cast<double>(all.nodes)));
    Table table({"of each rank", "nodes", "us recorded", "MB"}, {false, true, true, true});
    table.add({"computations", count(static_cast<double>(all.computes)),
               fmt::format("{:.3f}", all.microseconds + given.hostMicroseconds), ""});
    if (given.hostMicroseconds > 0) table.add({"  of the host", "", fmt::format("{:.3f}", given.hostMicroseconds), ""});
    for (std::size_t op = 0; op < given.collectives.size(); ++op) {
        if (given.collectives[op] == 0) continue;
        table.add({std::string(toText(static_cast<TraceCollective>(op))),
                   count(static_cast<double>(given.collectives[op])), "",
                   fmt::format("{:.3f}", given.bytes[op] / 1e6)});
    }
    if (all.messages > 0)
        table.add(
            {"messages", count(static_cast<double>(all.messages)), "", fmt::format("{:.3f}", all.messageBytes / 1e6)});
    return text + table.text() + "\n";
}

}  // namespace orrery::cli
