#pragma once

// What a graph network makes of networks, learned from the latencies of known devices: the class of BRP-NAS (Dudziak et
// al., NeurIPS 2020) and NASFLAT (Akhauri and Abdelfattah, MLSys 2024). Nodes are told of their neighbours along the
// edges and against them, by their mean (a graph convolution) or by attention. Of words the mean over nodes is read
// out; of operators a sum, for latency is one: each node gives its amounts times rates that the network makes of it, as
// efficiencies are. Either way a network is a few numbers of which every known device's latency is a linear function. A
// device is then its coefficients over them, and a new one's are conditioned on its samples under the known ones'
// (device_prior.h), as those of counts are.

#include "learning/edge/device_prior.h"
#include "learning/edge/network_graph.h"
#include "learning/networks/tape.h"

#include <array>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace orrery {

/// What an operator is told of its neighbours. On published tables nothing was as good as either, and is
/// trained in half the time. It was chosen on those tables, whose figures are not blind (handbook, edge). Words are
/// always told of the mean.
enum class GraphEdges : std::uint8_t { None, Mean, Attention };

struct GraphTraining {
    GraphEdges edges = GraphEdges::None;  ///< of operators
    std::uint64_t seed = 1;
    std::size_t most = 1500;  ///< networks, spread over the table; of operators a third, for their graphs are large
    int rounds = 40;          ///< over them
    std::stop_token stop = {};
};

/// Networks in order, `each` graphs of every one (network_graph.h).
struct NetworkGraphs {
    GraphForm form = GraphForm::Words;
    GraphShape shape;
    std::size_t each = 1;
    std::vector<NetworkGraph> graphs;
    std::size_t networks() const { return graphs.size() / each; }
};
/// Fails as graphOfCode, with `edge.stopped`: each code of operators becomes a workload, and a table may have
/// thousands.
Expected<NetworkGraphs> graphsOfCodes(std::string_view space, std::string_view input,
                                      std::span<const std::string> codes, GraphForm form,
                                      const std::stop_token& stop = {});

class GraphFeatures {
public:
    static constexpr std::size_t learned = 12;  ///< numbers that the graph network makes of one graph
    /// `latencies[d]` a value per network, NaN where not measured. Fails with `edge.no-devices` where no device has
    /// DevicePrior::leastRows of them, with `edge.stopped`.
    static Expected<GraphFeatures> learn(const NetworkGraphs& networks, std::span<const std::vector<double>> latencies,
                                         const GraphTraining& training);
    /// Rows of 1, four plain numbers and what the network makes of each graph, in both halves where each network has
    /// two. Plain numbers are of words the space's first four counts, which `counts` have (space_features.h), and of
    /// operators the totals of their amounts. Without `counts` no network is one that folds to a constant.
    FeatureRows rows(const NetworkGraphs& networks, const FeatureRows* counts = nullptr) const;
    /// The row of one network more: a code of the space (with its space in front or without), or of operators whatever
    /// loadWorkload takes. Fails with `edge.no-graph` where words are asked about another network, and as both do.
    Expected<FeatureRows> row(std::string_view space, std::string_view input, const std::string& network) const;
    /// Of any workload, where operators are read; none of its operators leads nowhere.
    FeatureRows row(std::string_view space, const Workload& workload) const;
    GraphForm form() const { return form_; }
    std::size_t columns(std::string_view space) const;  ///< of such rows

private:
    friend struct GraphNumbers;
    GraphForm form_ = GraphForm::Words;
    GraphEdges edges_ = GraphEdges::Mean;
    GraphShape shape_;
    std::vector<float> centre_, spread_;  ///< of columns
    std::vector<float> usual_;            ///< of amounts: the mean network's total
    TapeParameters<float> parameters_;
    DenseLayer embed_, out_;
    struct Convolution {
        DenseLayer own, before, after;
    };
    std::vector<Convolution> layers_;
    struct Batch;
    void build(RandomStream& random);
    void measureColumns(const NetworkGraphs& networks, std::span<const std::size_t> rows);
    std::array<double, 5> totalsOf(const NetworkGraph& graph) const;
    void add(const NetworkGraph& graph, Batch& batch) const;
    Tape<float>::Node on(Tape<float>& tape, const Batch& batch) const;
};

/// All that a GraphFeatures is, as it stands in a file (device_file.h).
struct GraphNumbers {
    GraphForm form = GraphForm::Words;
    GraphEdges edges = GraphEdges::None;
    std::vector<float> centre, spread, usual, parameters;
    static GraphNumbers of(const GraphFeatures& model);
    /// Nothing where the lists do not fit each other and the space.
    std::optional<GraphFeatures> model(std::string_view space) const;
};

}  // namespace orrery
