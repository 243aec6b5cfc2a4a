#include "app/cli/train_trace.h"

#include "app/cli/output.h"
#include "base/text/words.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/cluster_view.h"
#include "simulation/cluster/trace_job.h"
#include "simulation/network/drawn_fabric.h"
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

/// `mesh4x4`, `torus2x2x4`: a graph of so many devices; nothing for other words.
std::optional<Expected<FabricDimension>> gridOption(std::string_view word, double size, double bandwidth,
                                                    double latency) {
    TopologyDimension grid;
    if (word.starts_with("mesh"))
        grid.shape = TopologyShape::Mesh;
    else if (word.starts_with("torus"))
        grid.shape = TopologyShape::Torus;
    else
        return std::nullopt;
    grid.size = 1;
    for (const std::string_view side : splitTrimmed(word.substr(grid.shape == TopologyShape::Mesh ? 4 : 5), 'x')) {
        const auto number = wholeIn(side);
        if (!number || *number < 1 || *number > 4096) return wrongTrainOption("topology", word, "sides as in mesh4x4");
        grid.sides.push_back(*number);
        grid.size *= *number;
    }
    if (static_cast<double>(grid.size) != size)
        return wrongTrainOption("topology", word, fmt::format("sides whose product is {} ranks", size));
    const auto network = expandTopology({"network", {grid}});
    if (!network) return Unexpected(network.error());
    FabricGraph graph{static_cast<std::int32_t>(grid.size), static_cast<std::int32_t>(network->vertices.size()), {}};
    for (const ExpandedNetwork::Edge& edge : network->edges) graph.join(edge.a, edge.b, bandwidth, latency);
    auto routes = FabricRoutes::make(std::move(graph), true);
    if (!routes) return Unexpected(std::move(routes.error()));
    FabricDimension made;
    made.size = grid.size;
    made.routes = std::make_shared<const FabricRoutes>(std::move(*routes));
    return made;
}

/// Dimensions that options state.
Expected<std::vector<FabricDimension>> statedDimensions(const Arguments& arguments, const std::vector<double>& sizes) {
    const std::string topology = arguments.value("topology").value_or("Switch");
    const std::vector<std::string_view> words = splitTrimmed(topology, ',');
    const auto bandwidth = listOption(arguments, "bandwidth", 1e-6, 1e9),
               latency = listOption(arguments, "latency", 0, 1e12);
    if (!bandwidth) return Unexpected(bandwidth.error());
    if (!latency) return Unexpected(latency.error());
    std::vector<FabricDimension> made;
    for (std::size_t d = 0; d < sizes.size() || d < words.size(); ++d) {
        const std::string shape = lower(ofDimension(words, d, std::string_view("Switch")));
        const double size = d < sizes.size() ? sizes[d] : 1, rate = ofDimension(*bandwidth, d, 400.0) * 1e9,
                     wait = ofDimension(*latency, d, 936.25);
        if (auto grid = d < sizes.size() ? gridOption(shape, size, rate, wait) : std::nullopt) {
            if (!*grid) return Unexpected(std::move(grid->error()));
            made.push_back(std::move(**grid));
            continue;
        }
        TopologyShape known = TopologyShape::Switch;
        if (shape == "ring")
            known = TopologyShape::Ring;
        else if (shape == "fullyconnected")
            known = TopologyShape::FullyConnected;
        else if (shape != "switch" && !shape.starts_with("mesh") && !shape.starts_with("torus"))
            return wrongTrainOption("topology", topology,
                                    "Ring, Switch, FullyConnected, or sides as in mesh4x4 and torus4x4, one for each "
                                    "dimension");
        if (size < 2) continue;  // nobody to reach
        made.push_back({known, static_cast<std::int64_t>(size), rate, wait});
    }
    return made;
}

/// The network of a drawing, over all of its first kind of device.
Expected<std::vector<FabricDimension>> drawnDimensions(const std::string& hardware) {
    const auto found = loadHardware(hardware);
    if (!found) return Unexpected(found.error());
    const auto cluster = clusterView(found->hardware);
    if (!cluster) return Unexpected(cluster.error());
    auto fabric = drawnFabric(cluster->groups.front().tiers);
    if (!fabric) return Unexpected(std::move(fabric.error()));
    if (fabric->dimensions.empty())
        return wrongTrainOption("hardware", hardware, "a design of two devices or more with a network between them");
    return std::move(fabric->dimensions);
}

/// Every dimension's algorithm; what it cannot do goes in rings, an all-to-all directly.
Expected<void> algorithmOption(const Arguments& arguments, ClusterSettings& settings) {
    const auto given = arguments.value("algorithm");
    if (!given) return {};
    using enum StepAlgorithm;
    for (const std::string_view word : splitTrimmed(*given, ',')) {
        const auto choice = algorithmChoice(word);
        if (!choice) return wrongTrainOption("algorithm", *given, choice.error().expected);
        const StepAlgorithm its = choice->algorithm;
        settings.algorithms[0].push_back(*choice);
        for (const std::size_t half : {1, 2})
            settings.algorithms[half].push_back(its == DoubleBinaryTree ? AlgorithmChoice{} : *choice);
        settings.algorithms[3].push_back(its == Ring || its == Direct ? *choice : AlgorithmChoice{Direct, 0});
    }
    return {};
}

Expected<void> payloadOption(const Arguments& arguments, PacketSettings& packets) {
    const auto given = arguments.value("payload");
    if (!given) return {};
    const auto number = wholeIn(*given);
    if (!number || *number < 256 || *number > 65'000)
        return wrongTrainOption("payload", *given, "bytes of a packet, from 256 to 65000");
    packets.payload = static_cast<double>(*number);
    return {};
}

/// As validated for eight H100 behind switches: 400 GB/s each way, 936.25 ns, rings, four chunks.
Expected<ClusterSettings> networkOptions(const Arguments& arguments, const std::vector<double>& sizes) {
    ClusterSettings settings;
    settings.endpointDelay = 10;
    settings.activeChunks = 2;
    settings.splits = 4;
    settings.memoryBandwidth = 3350e9;
    if (const auto carrying = linksOption(arguments); !carrying)
        return Unexpected(carrying.error());
    else
        settings.network.carrying = *carrying;
    if (auto good = payloadOption(arguments, settings.network.packets); !good) return Unexpected(good.error());
    const std::string order = arguments.value("dimension-order").value_or("inner-first");
    if (order != "inner-first" && order != "themis")
        return wrongTrainOption("dimension-order", order, "inner-first or themis");
    if (order == "themis") settings.dimensionOrder = DimensionOrder::Themis;
    if (auto good = algorithmOption(arguments, settings); !good) return Unexpected(std::move(good.error()));
    const auto hardware = arguments.value("hardware");
    auto dimensions = hardware ? drawnDimensions(*hardware) : statedDimensions(arguments, sizes);
    if (!dimensions) return Unexpected(std::move(dimensions.error()));
    settings.network.dimensions = std::move(*dimensions);
    return settings;
}

}  // namespace

Expected<LinkCarrying> linksOption(const Arguments& arguments) {
    const std::string links = arguments.value("links").value_or("store-and-forward");
    for (const LinkCarrying one :
         {LinkCarrying::StoreAndForward, LinkCarrying::Fluid, LinkCarrying::Packets, LinkCarrying::Ns3})
        if (toText(one) == links) return one;
    return wrongTrainOption("links", links, "store-and-forward, fluid, packets or ns3");
}

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
    if (const auto hardware = arguments.value("hardware")) {
        for (const char* other : {"ranks", "topology", "bandwidth", "latency"})
            if (arguments.has(other))
                return wrongTrainOption(other, *arguments.value(other), "no --hardware beside it");
        const auto drawn = drawnDimensions(*hardware);
        if (!drawn) return Unexpected(drawn.error());
        sizes->clear();
        how.ranks = 1;
        for (const FabricDimension& one : *drawn) {
            sizes->push_back(static_cast<double>(one.size));
            how.ranks *= one.size;
        }
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
