#include "learning/edge/graph_features.h"

#include "learning/edge/space_features.h"
#include "learning/networks/adam.h"
#include "workload/spaces/spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

constexpr std::size_t width = 24, layers = 3, together = 32, counted = 5;
constexpr double rate = 5e-3;
constexpr float decay = 1e-4f;
constexpr double softly = 0.2;  // of a device's mean, beside a latency: how far small ones count more

// Nodes of graphs: which word each is, and its edges.
struct Graphs {
    std::size_t words = 0;
    std::vector<float> nodes;  // × words
    Neighbours before, after, sets;

    explicit Graphs(std::size_t all) : words(all) {}
    std::size_t rows() const { return nodes.size() / words; }
    void node(std::size_t word) {
        nodes.resize(nodes.size() + words);
        nodes[nodes.size() - words + word] = 1;
    }
    void clear() {
        nodes.clear();
        before = after = sets = {};
    }
};

// The input, six operators, the output. An operator of the edge i → j stands before those of j → k.
constexpr std::size_t cellWords = 7;
void addCell(const NasBench201Cell& cell, Graphs& graphs) {
    using Cell = NasBench201Cell;
    const std::size_t first = graphs.rows();
    graphs.node(5);
    for (const Cell::Op op : cell.edges) graphs.node(op);
    graphs.node(6);
    const auto from = [&](std::size_t n) { return n == 0 ? 0 : n == 7 ? 3 : Cell::from[n - 1]; };
    const auto to = [&](std::size_t n) { return n == 0 ? 0 : n == 7 ? 4 : Cell::to[n - 1]; };
    for (std::size_t a = 0; a < 8; ++a) {
        for (std::size_t b = 0; b < 8; ++b) {
            if (b < a && to(b) == from(a)) graphs.before.add(static_cast<std::uint32_t>(first + b));
            if (b > a && to(a) == from(b)) graphs.after.add(static_cast<std::uint32_t>(first + b));
        }
        graphs.before.close();
        graphs.after.close();
    }
    graphs.sets.addRange(first, 8);
}

// A chain of blocks; a node's word is its block at its place, for a place has its extents.
constexpr std::size_t chainWords = FbnetBlocks::places + FbnetBlocks::choices;
void addChain(const FbnetBlocks& blocks, Graphs& graphs) {
    const std::size_t first = graphs.rows();
    for (std::size_t place = 0; place < FbnetBlocks::places; ++place) {
        graphs.node(place);
        graphs.nodes[graphs.nodes.size() - chainWords + FbnetBlocks::places + blocks.ids[place]] = 1;
        if (place > 0) graphs.before.add(static_cast<std::uint32_t>(first + place - 1));
        if (place + 1 < FbnetBlocks::places) graphs.after.add(static_cast<std::uint32_t>(first + place + 1));
        graphs.before.close();
        graphs.after.close();
    }
    graphs.sets.addRange(first, FbnetBlocks::places);
}

std::size_t wordsOf(std::string_view space) {
    return space == "nasbench201" ? cellWords : space == "fbnet" ? chainWords : 0;
}

// As it is written, and where the space has dead code with its constants folded.
std::size_t formsOf(std::string_view space) {
    return space == "nasbench201" ? 2 : 1;
}

Expected<void> addGraphs(std::string_view space, std::string_view code, Graphs& graphs) {
    if (space == "nasbench201") {
        const auto cell = readNasBench201(code);
        if (!cell) return Unexpected(cell.error());
        addCell(*cell, graphs);
        addCell(foldedCell(*cell), graphs);
    } else {
        const auto blocks = readFbnet(code);
        if (!blocks) return Unexpected(blocks.error());
        addChain(*blocks, graphs);
    }
    return {};
}

bool thereIs(double value) {
    return std::isfinite(value) && value > 0;
}

}  // namespace

Tape<float>::Node GraphFeatures::on(Tape<float>& tape, std::span<const float> nodes, const Neighbours& before,
                                    const Neighbours& after, const Neighbours& sets) const {
    auto x = tape.rectified(tape.dense(tape.rows(embed_.inputs, nodes), embed_));
    for (const Convolution& each : layers_) {
        const auto next = tape.sum(tape.dense(x, each.own), tape.sum(tape.dense(tape.gathered(x, before), each.before),
                                                                     tape.dense(tape.gathered(x, after), each.after)));
        x = tape.sum(x, tape.normalised(tape.rectified(next)));
    }
    return tape.dense(tape.gathered(x, sets), out_);
}

Expected<GraphFeatures> GraphFeatures::learn(std::string_view space, std::span<const std::string> codes,
                                             std::span<const std::vector<double>> latencies,
                                             const GraphTraining& training) {
    GraphFeatures model;
    model.space_ = space;
    const std::size_t words = wordsOf(space);
    if (words == 0) {
        return fail("edge.no-graph", fmt::format("networks of “{}” are no graphs here", space), "nasbench201 or fbnet",
                    "the additive model answers for every space");
    }
    std::vector<std::size_t> devices;
    std::vector<double> means;
    for (std::size_t d = 0; d < latencies.size(); ++d) {
        double sum = 0, count = 0;
        for (const double each : latencies[d])
            if (thereIs(each)) sum += each, count += 1;
        if (count < DevicePrior::leastRows) continue;
        devices.push_back(d);
        means.push_back(sum / count);
    }
    if (devices.empty())
        return fail("edge.no-devices", "no known device has rows enough for a graph network",
                    fmt::format("{} networks measured on a device", DevicePrior::leastRows),
                    "without known devices the additive model answers");
    RandomStream random(training.seed, 6);
    model.embed_ = model.parameters_.dense(words, width, random);
    for (std::size_t l = 0; l < layers; ++l) {
        Convolution one;
        for (DenseLayer* each : {&one.own, &one.before, &one.after})
            *each = model.parameters_.dense(width, width, random);
        model.layers_.push_back(one);
    }
    model.out_ = model.parameters_.dense(width, learned, random);
    const std::size_t forms = formsOf(space);
    std::vector<DenseLayer> heads;
    for (std::size_t f = 0; f < forms; ++f) heads.push_back(model.parameters_.dense(learned, devices.size(), random));
    std::vector<Neighbours> form(forms);  // of a batch, which rows are of each

    const std::size_t used = std::min(training.most, codes.size());
    std::vector<std::size_t> rows(used);
    for (std::size_t i = 0; i < used; ++i) rows[i] = i * codes.size() / used;
    std::vector<float> gradient(model.parameters_.values.size()), slopes;
    Adam<float> adam;
    Tape<float> tape(model.parameters_);
    Graphs batch(words);
    const double steps = static_cast<double>(training.rounds) * std::ceil(static_cast<double>(used) / together);
    double done = 0;
    for (int round = 0; round < training.rounds; ++round) {
        for (std::size_t i = used; i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
        for (std::size_t begin = 0; begin < used; begin += together) {
            if (training.stop.stop_requested()) return fail("edge.stopped", "stopped");
            const auto some = std::span(rows).subspan(begin, std::min(together, used - begin));
            batch.clear();
            for (const std::size_t row : some)
                if (auto good = addGraphs(space, codes[row], batch); !good) return Unexpected(good.error());
            for (std::size_t f = 0; f < forms; ++f) {
                form[f] = {};
                for (std::size_t i = 0; i < some.size(); ++i) form[f].addRange(i * forms + f, 1);
            }
            tape.clear();
            const auto all = model.on(tape, batch.nodes, batch.before, batch.after, batch.sets);
            auto told = tape.dense(tape.gathered(all, form[0]), heads[0]);
            for (std::size_t f = 1; f < forms; ++f)
                told = tape.sum(told, tape.dense(tape.gathered(all, form[f]), heads[f]));
            const auto said = tape.valuesOf(told);
            slopes.assign(said.size(), 0);
            for (std::size_t i = 0; i < some.size(); ++i) {
                for (std::size_t d = 0; d < devices.size(); ++d) {
                    const double measured = latencies[devices[d]][some[i]];
                    if (!thereIs(measured)) continue;
                    const double share = measured / means[d], at = double(said[i * devices.size() + d]);
                    // The relative error squared, by halves of small ones.
                    slopes[i * devices.size() + d] = float((at - share) / std::pow(share + softly, 2));
                }
            }
            tape.backward(told, slopes, gradient);
            adam.step(model.parameters_.values, gradient, float(warmedAndCooled(rate, done / steps)), decay,
                      1.0f / float(some.size()));
            ++done;
        }
    }
    return model;
}

Expected<FeatureRows> GraphFeatures::rows(std::span<const std::string> codes, const FeatureRows& counts) const {
    const std::size_t forms = formsOf(space_), half = counts.half > 0 ? counts.half : counts.columns;
    // Behind both, the column of networks that fold to a constant.
    const std::size_t left = counts.nothing > 0 ? 1 : 0, each = counted + learned + left;
    FeatureRows out;
    out.columns = forms * each;
    out.core = counted + learned;
    if (counts.half > 0) out.half = each;
    if (left > 0) out.nothing = 2 * each - 1;
    Tape<float> tape(parameters_);
    Graphs batch(wordsOf(space_));
    for (std::size_t begin = 0; begin < codes.size(); begin += together) {
        const std::size_t count = std::min(together, codes.size() - begin);
        batch.clear();
        for (std::size_t i = 0; i < count; ++i)
            if (auto good = addGraphs(space_, codes[begin + i], batch); !good) return Unexpected(good.error());
        tape.clear();
        const auto said = tape.valuesOf(on(tape, batch.nodes, batch.before, batch.after, batch.sets));
        for (std::size_t i = 0; i < count; ++i) {
            const auto row = counts.row(begin + i);
            for (std::size_t f = 0; f < forms; ++f) {
                out.add(row.subspan(f * half, counted));
                for (std::size_t c = 0; c < learned; ++c)
                    out.values.push_back(double(said[(i * forms + f) * learned + c]));
                if (left > 0) out.values.push_back(row[f * half + counts.nothing - counts.half]);
            }
        }
    }
    return out;
}

}  // namespace orrery
