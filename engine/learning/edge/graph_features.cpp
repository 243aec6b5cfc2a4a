#include "learning/edge/graph_features.h"

#include "learning/edge/space_features.h"
#include "learning/networks/adam.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace orrery {
namespace {

constexpr std::size_t width = 24, together = 32, plain = 5, heads = 2;
constexpr std::size_t layersOfWords = 3, layersOfOperators = 1, usualBatches = 16;
constexpr double rateOfWords = 5e-3, rateOfOperators = 1e-2;
constexpr float decay = 1e-4f;
constexpr double softly = 0.2;  // of a device's mean, beside a latency: how far small ones count more

bool thereIs(double value) {
    return std::isfinite(value) && value > 0;
}

}  // namespace

// Graphs side by side.
struct GraphFeatures::Batch {
    std::vector<float> nodes, amounts;
    Neighbours before, after, sets;
    std::size_t rows = 0;
    void clear() {
        nodes.clear();
        amounts.clear();
        before = after = sets = {};
        rows = 0;
    }
};

Expected<NetworkGraphs> graphsOfCodes(std::string_view space, std::string_view input,
                                      std::span<const std::string> codes, GraphForm form, const std::stop_token& stop) {
    NetworkGraphs out{form, graphShape(space, form), graphsOfEach(space), {}};
    for (const std::string& code : codes) {
        if (stop.stop_requested()) return fail("edge.stopped", "stopped");
        for (std::size_t f = 0; f < out.each; ++f) {
            auto graph = graphOfCode(space, input, code, form, f == 1);
            if (!graph) return Unexpected(graph.error());
            out.graphs.push_back(std::move(*graph));
        }
    }
    return out;
}

void GraphFeatures::build(RandomStream& random) {
    embed_ = parameters_.dense(shape_.columns, width, random);
    const bool words = form_ == GraphForm::Words;
    for (std::size_t l = 0; l < (words ? layersOfWords : layersOfOperators) && edges_ != GraphEdges::None; ++l) {
        Convolution one;
        for (DenseLayer* each : {&one.own, &one.before, &one.after}) *each = parameters_.dense(width, width, random);
        layers_.push_back(one);
    }
    out_ = parameters_.dense(width, learned, random);
}

void GraphFeatures::add(const NetworkGraph& graph, Batch& batch) const {
    const std::size_t first = batch.rows, columns = shape_.columns;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        batch.nodes.push_back((graph.nodes[i] - centre_[i % columns]) * spread_[i % columns]);
    // A number follows each amount in turn.
    for (std::size_t n = 0; n < graph.rows && shape_.amounts > 0; ++n)
        for (std::size_t c = 0, a = 0; c < learned; ++c, a = (a + 1) % shape_.amounts)
            batch.amounts.push_back(graph.amounts[n * shape_.amounts + a] / usual_[a]);
    std::vector<std::vector<std::uint32_t>> before(graph.rows), after(graph.rows);
    for (const auto& [from, to] : graph.edges) {
        before[to].push_back(static_cast<std::uint32_t>(first + from));
        after[from].push_back(static_cast<std::uint32_t>(first + to));
    }
    for (std::size_t n = 0; n < graph.rows; ++n) {
        for (const std::uint32_t each : before[n]) batch.before.add(each);
        for (const std::uint32_t each : after[n]) batch.after.add(each);
        batch.before.close();
        batch.after.close();
    }
    batch.sets.addRange(first, graph.rows);
    batch.rows += graph.rows;
}

Tape<float>::Node GraphFeatures::on(Tape<float>& tape, const Batch& batch) const {
    auto x = tape.rectified(tape.dense(tape.rows(embed_.inputs, batch.nodes), embed_));
    for (const Convolution& each : layers_) {
        const auto own = tape.dense(x, each.own);
        Tape<float>::Node before, after;
        if (edges_ == GraphEdges::Attention) {
            // The same queries and keys both ways; what is seen is what each node says of itself.
            const auto queries = tape.dense(x, each.before), keys = tape.dense(x, each.after);
            before = tape.attended(queries, keys, own, batch.before, heads);
            after = tape.attended(queries, keys, own, batch.after, heads);
        } else {
            before = tape.dense(tape.gathered(x, batch.before), each.before);
            after = tape.dense(tape.gathered(x, batch.after), each.after);
        }
        const auto next = tape.sum(own, tape.sum(before, after));
        x = tape.sum(x, tape.normalised(tape.rectified(next)));
    }
    if (form_ == GraphForm::Words) return tape.dense(tape.gathered(x, batch.sets), out_);
    return tape.totalled(tape.scaled(tape.rectified(tape.dense(x, out_)), batch.amounts), batch.sets);
}

Expected<GraphFeatures> GraphFeatures::learn(const NetworkGraphs& networks,
                                             std::span<const std::vector<double>> latencies,
                                             const GraphTraining& training) {
    GraphFeatures model;
    model.form_ = networks.form;
    model.shape_ = networks.shape;
    model.edges_ = networks.form == GraphForm::Words ? GraphEdges::Mean : training.edges;
    const std::size_t forms = networks.each, all = networks.networks();
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
    const bool operators = networks.form == GraphForm::Operators;
    const double rate = operators ? rateOfOperators : rateOfWords;
    const std::size_t used = std::min(operators ? training.most / 3 : training.most, all);
    std::vector<std::size_t> rows(used);
    for (std::size_t i = 0; i < used; ++i) rows[i] = i * all / used;
    model.measureColumns(networks, rows);
    RandomStream random(training.seed, 6);
    model.build(random);
    const std::size_t own = model.parameters_.values.size();  // of networks; behind them devices'
    std::vector<DenseLayer> devicesOf;
    for (std::size_t f = 0; f < forms; ++f)
        devicesOf.push_back(model.parameters_.dense(learned, devices.size(), random));
    std::vector<Neighbours> form(forms);  // of a batch, which rows are of each

    std::vector<float> gradient(model.parameters_.values.size()), slopes;
    Adam<float> adam;
    Tape<float> tape(model.parameters_);
    Batch batch;
    // As many steps over few networks as over usual ones.
    const std::size_t batches = (used + together - 1) / together;
    const int rounds =
        training.rounds * static_cast<int>(operators ? std::max<std::size_t>(1, usualBatches / batches) : 1);
    const double steps = static_cast<double>(rounds) * static_cast<double>(batches);
    double done = 0;
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t i = used; i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
        for (std::size_t begin = 0; begin < used; begin += together) {
            if (training.stop.stop_requested()) return fail("edge.stopped", "stopped");
            const auto some = std::span(rows).subspan(begin, std::min(together, used - begin));
            batch.clear();
            for (const std::size_t row : some)
                for (std::size_t f = 0; f < forms; ++f) model.add(networks.graphs[row * forms + f], batch);
            for (std::size_t f = 0; f < forms; ++f) {
                form[f] = {};
                for (std::size_t i = 0; i < some.size(); ++i) form[f].addRange(i * forms + f, 1);
            }
            tape.clear();
            const auto every = model.on(tape, batch);
            auto told = tape.dense(tape.gathered(every, form[0]), devicesOf[0]);
            for (std::size_t f = 1; f < forms; ++f)
                told = tape.sum(told, tape.dense(tape.gathered(every, form[f]), devicesOf[f]));
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
    model.parameters_.values.resize(own);
    return model;
}

// Words stay as they are; logarithms in their spread over the nodes of these networks.
void GraphFeatures::measureColumns(const NetworkGraphs& networks, std::span<const std::size_t> rows) {
    centre_.assign(shape_.columns, 0);
    spread_.assign(shape_.columns, 1);
    usual_.assign(shape_.amounts, 1);
    if (form_ == GraphForm::Words) return;
    const std::size_t columns = shape_.columns;
    std::vector<double> sum(columns), squares(columns), totals(shape_.amounts);
    double nodes = 0;
    for (const std::size_t row : rows) {
        const NetworkGraph& graph = networks.graphs[row * networks.each];
        nodes += static_cast<double>(graph.rows);
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            const double each = double(graph.nodes[i]);
            sum[i % columns] += each;
            squares[i % columns] += each * each;
        }
        for (std::size_t i = 0; i < graph.amounts.size(); ++i)
            totals[i % shape_.amounts] += double(graph.amounts[i]) / static_cast<double>(rows.size());
    }
    for (std::size_t c = shape_.words; c < columns; ++c) {
        const double mean = sum[c] / std::max(1.0, nodes),
                     deviation = std::sqrt(std::max(0.0, squares[c] / std::max(1.0, nodes) - mean * mean));
        centre_[c] = float(mean);
        spread_[c] = deviation > 1e-6 ? float(1 / deviation) : 0.0f;
    }
    for (std::size_t a = 0; a < usual_.size(); ++a)
        if (totals[a] > 0) usual_[a] = float(totals[a]);
}

// 1, and its amounts in those of the usual network.
std::array<double, 5> GraphFeatures::totalsOf(const NetworkGraph& graph) const {
    std::array<double, plain> totals{1};
    for (std::size_t i = 0; i < graph.amounts.size(); ++i)
        totals[1 + i % shape_.amounts] += double(graph.amounts[i]) / double(usual_[i % shape_.amounts]);
    return totals;
}

FeatureRows GraphFeatures::rows(const NetworkGraphs& networks, const FeatureRows* counts) const {
    const std::size_t forms = networks.each;
    // Behind both, the column of networks that fold to a constant.
    const std::size_t left = forms > 1 ? 1 : 0, each = plain + learned + left;
    FeatureRows out;
    out.columns = forms * each;
    out.core = plain + learned;
    if (forms > 1) out.half = each;
    if (left > 0) out.nothing = 2 * each - 1;
    Tape<float> tape(parameters_);
    Batch batch;
    const std::size_t all = networks.networks();
    for (std::size_t begin = 0; begin < all; begin += together) {
        const std::size_t count = std::min(together, all - begin);
        batch.clear();
        for (std::size_t i = 0; i < count * forms; ++i) add(networks.graphs[begin * forms + i], batch);
        tape.clear();
        const auto said = tape.valuesOf(on(tape, batch));
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t f = 0; f < forms; ++f) {
                const std::size_t at = i * forms + f;
                if (form_ == GraphForm::Words)
                    out.add(counts->row(begin + i).subspan(f * counts->half, plain));
                else
                    out.add(totalsOf(networks.graphs[begin * forms + at]));
                for (std::size_t c = 0; c < learned; ++c) out.values.push_back(double(said[at * learned + c]));
                if (left == 0) continue;
                out.values.push_back(counts ? counts->row(begin + i)[f * counts->half + counts->nothing - counts->half]
                                            : 0);
            }
        }
    }
    return out;
}

Expected<FeatureRows> GraphFeatures::row(std::string_view space, std::string_view input,
                                         const std::string& network) const {
    const std::string_view own = input.empty() ? space : input;
    const auto colon = network.find(':');
    const bool inFront = colon != std::string::npos && network.substr(0, colon) == own;
    const std::string code = inFront ? network.substr(colon + 1) : network;
    const auto features = spaceFeatures(space);
    FeatureRows counts;
    // A slip in a code is told as one, and not as a file that is not there.
    if (features && (inFront || (colon == std::string::npos && spaceOfCode(code) == space))) {
        counts = {features->names.size(), {}, features->core, features->half, features->nothing};
        if (auto read = appendFeatures(*features, code, counts.values); !read) return Unexpected(read.error());
        const auto graphs = graphsOfCodes(space, input, std::span(&code, 1), form_);
        if (!graphs) return Unexpected(graphs.error());
        return rows(*graphs, &counts);
    }
    if (form_ == GraphForm::Words)
        return fail("edge.no-graph", fmt::format("“{}” is no code of {}", network.substr(0, 80), own),
                    fmt::format("a code of {}", own), "a model that reads operators tells other networks too");
    const auto workload = loadWorkload({.source = network, .options = {}, .whatIfs = {}});
    if (!workload) return Unexpected(workload.error());
    return row(space, **workload);
}

FeatureRows GraphFeatures::row(std::string_view space, const Workload& workload) const {
    NetworkGraphs graphs{form_, shape_, graphsOfEach(space), {}};
    graphs.graphs.assign(graphs.each, operatorGraph(workload));
    return rows(graphs);
}

std::size_t GraphFeatures::columns(std::string_view space) const {
    const std::size_t each = graphsOfEach(space);
    return each * (plain + learned + (each > 1 ? 1 : 0));
}

GraphNumbers GraphNumbers::of(const GraphFeatures& model) {
    return {model.form_, model.edges_, model.centre_, model.spread_, model.usual_, model.parameters_.values};
}

std::optional<GraphFeatures> GraphNumbers::model(std::string_view space) const {
    GraphFeatures made;
    made.form_ = form;
    made.edges_ = edges;
    made.shape_ = graphShape(space, form);
    made.centre_ = centre;
    made.spread_ = spread;
    made.usual_ = usual;
    RandomStream random(1);
    if (made.shape_.columns > 0) made.build(random);
    const auto isNumber = [](float each) { return std::isfinite(each); };
    for (const std::vector<float>* each : {&centre, &spread, &usual, &parameters})
        if (!std::all_of(each->begin(), each->end(), isNumber)) return std::nullopt;
    const bool fits = made.shape_.columns > 0 && centre.size() == made.shape_.columns &&
                      spread.size() == made.shape_.columns && usual.size() == made.shape_.amounts &&
                      parameters.size() == made.parameters_.values.size() &&
                      std::all_of(usual.begin(), usual.end(), [](float each) { return each > 0; });
    if (!fits) return std::nullopt;
    made.parameters_.values = parameters;
    return made;
}

}  // namespace orrery
