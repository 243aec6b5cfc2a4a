#pragma once

// What a graph network makes of networks of a search space, learned from the latencies of known devices: the class of
// BRP-NAS (Dudziak et al., NeurIPS 2020) and NASFLAT (Akhauri and Abdelfattah, MLSys 2024). Operators are nodes with
// their word alone; convolutions over the graph go with its edges and against them; the mean over nodes is a vector of
// a few numbers of which every known device's latency is a linear function. A device is then its coefficients over that
// vector, and a new one's are conditioned on its samples under the known ones' (device_prior.h), as those of counts
// are.

#include "learning/edge/device_prior.h"
#include "learning/networks/tape.h"

#include <stop_token>
#include <string>
#include <string_view>

namespace orrery {

struct GraphTraining {
    std::uint64_t seed = 1;
    std::size_t most = 1500;  ///< networks, spread over the table
    int rounds = 40;          ///< over them
    std::stop_token stop = {};
};

class GraphFeatures {
public:
    static constexpr std::size_t learned = 12;  ///< numbers that the graph network makes of one graph
    /// `codes` of `space` (`nasbench201` or `fbnet`), `latencies[d]` a value per code, NaN where not measured. Fails
    /// with `edge.no-graph` for another space, with `edge.no-devices` where no device has DevicePrior::leastRows of
    /// them, with `edge.bad-network`, with `edge.stopped`.
    static Expected<GraphFeatures> learn(std::string_view space, std::span<const std::string> codes,
                                         std::span<const std::vector<double>> latencies, const GraphTraining& training);
    /// Rows of 1, the space's first four counts (those of simple models) and what the network makes of each code, in
    /// both halves where there are two: of the network as written, and with its constants folded. `counts` are rows of
    /// space_features.h. Fails with `edge.bad-network`.
    Expected<FeatureRows> rows(std::span<const std::string> codes, const FeatureRows& counts) const;

private:
    std::string space_;
    TapeParameters<float> parameters_;
    DenseLayer embed_, out_;
    struct Convolution {
        DenseLayer own, before, after;
    };
    std::vector<Convolution> layers_;
    Tape<float>::Node on(Tape<float>& tape, std::span<const float> nodes, const Neighbours& before,
                         const Neighbours& after, const Neighbours& sets) const;
};

}  // namespace orrery
