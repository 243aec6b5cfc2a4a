#include "evaluation/edge/edge_shares.h"

#include "base/maths.h"
#include "learning/cholesky.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace orrery {
namespace {

constexpr std::size_t totals = 4, least = 6;
constexpr double ninetyOfMiddle = 2.4387;  // half-widths of a normal's 90 % and of its middle half
constexpr int rounds = 30;                 // of levels of devices and of networks in turn

// 1, and logarithms of a network's amounts.
using Totals = std::array<double, totals + 1>;
Totals totalsOf(const NetworkGraph& graph) {
    Totals out{};
    for (std::size_t i = 0; i < graph.amounts.size(); ++i) out[1 + i % totals] += double(graph.amounts[i]);
    for (std::size_t c = 1; c < out.size(); ++c) out[c] = std::log1p(out[c]);
    out[0] = 1;
    return out;
}

// Latency of each network in logarithms beside its device's level; nothing of one that no device has.
std::map<std::string, double> levelsOf(const EdgeTable& known, std::span<const std::string> devices) {
    std::vector<std::size_t> columns;
    for (const std::string& each : devices)
        if (known.target(each) < known.targets.size()) columns.push_back(known.target(each));
    std::vector<double> network(known.networks.size(), 0), device(columns.size(), 0), count(known.networks.size(), 0);
    const auto there = [](double value) { return std::isfinite(value) && value > 0; };
    for (int round = 0; round < rounds; ++round) {
        std::vector<double> next(network.size(), 0);
        std::fill(count.begin(), count.end(), 0.0);
        for (std::size_t d = 0; d < columns.size(); ++d) {
            const auto& values = known.values[columns[d]];
            double sum = 0, rows = 0;
            for (std::size_t n = 0; n < values.size(); ++n)
                if (there(values[n])) sum += std::log(values[n]) - network[n], rows += 1;
            device[d] = rows > 0 ? sum / rows : 0;
            for (std::size_t n = 0; n < values.size(); ++n)
                if (there(values[n])) next[n] += std::log(values[n]) - device[d], count[n] += 1;
        }
        for (std::size_t n = 0; n < network.size(); ++n) network[n] = count[n] > 0 ? next[n] / count[n] : 0;
    }
    std::map<std::string, double> out;
    for (std::size_t n = 0; n < network.size(); ++n)
        if (count[n] > 0) out.emplace(known.networks[n], network[n]);
    return out;
}

struct Ridge {
    Totals centre{}, spread{}, weights{};
    double off = 0;  // middle of |log|, of networks left out one at a time
    double at(const Totals& row) const {
        double sum = weights[0];
        for (std::size_t c = 1; c < row.size(); ++c) sum += weights[c] * (row[c] - centre[c]) * spread[c];
        return sum;
    }
};

std::optional<Ridge> ridgeOver(const std::vector<Totals>& rows, const std::vector<double>& levels) {
    constexpr std::size_t p = totals + 1;
    const double n = static_cast<double>(rows.size());
    Ridge out;
    for (std::size_t c = 1; c < p; ++c) {
        double squares = 0;
        for (const Totals& row : rows) out.centre[c] += row[c] / n;
        for (const Totals& row : rows) squares += std::pow(row[c] - out.centre[c], 2) / n;
        out.spread[c] = squares > 1e-12 ? 1 / std::sqrt(squares) : 0;
    }
    std::vector<double> a(p * p, 0), b(p, 0);
    const auto standard = [&](const Totals& row) {
        std::vector<double> x(p, 1);
        for (std::size_t c = 1; c < p; ++c) x[c] = (row[c] - out.centre[c]) * out.spread[c];
        return x;
    };
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto x = standard(rows[r]);
        for (std::size_t i = 0; i < p; ++i) {
            b[i] += x[i] * levels[r];
            for (std::size_t j = 0; j < p; ++j) a[i * p + j] += x[i] * x[j];
        }
    }
    for (std::size_t c = 1; c < p; ++c) a[c * p + c] += 1;
    const auto l = cholesky(a, p);
    if (!l) return std::nullopt;
    const auto w = choleskySolve(*l, b);
    std::copy(w.begin(), w.end(), out.weights.begin());
    std::vector<double> errors;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto x = standard(rows[r]), pulled = choleskySolve(*l, x);
        double pull = 0;
        for (std::size_t c = 0; c < p; ++c) pull += x[c] * pulled[c];
        errors.push_back(std::abs(levels[r] - out.at(rows[r])) / std::max(0.1, 1 - pull));
    }
    out.off = quantileType7(errors, 0.5);
    return out;
}

}  // namespace

Expected<EdgeShares> edgeShares(const EdgeTable& table, const EdgeTable& known, std::span<const std::string> devices) {
    const auto levels = levelsOf(known, devices);
    std::vector<Totals> rows;
    std::vector<double> found;
    for (std::size_t n = 0; n < known.graphs.size(); ++n) {
        const auto level = levels.find(known.networks[n]);
        if (known.graphs[n].rows == 0 || level == levels.end()) continue;
        rows.push_back(totalsOf(known.graphs[n]));
        found.push_back(level->second);
    }
    const auto ridge = rows.size() >= least ? ridgeOver(rows, found) : std::nullopt;
    if (!ridge) {
        return fail("edge.no-graph", fmt::format("{} names its networks, and a name is no graph", known.path),
                    fmt::format("codes of a search space, or topologies of {} networks", least),
                    "--topologies FOLDER has NAME.param or NAME.onnx", Place{.file = known.path});
    }
    EdgeShares out;
    out.table = {.path = table.path, .targets = table.targets, .described = table.described, .groups = table.groups};
    out.table.besides = table.besides;
    out.table.values.resize(table.values.size());
    out.graphs = {GraphForm::Operators, graphShape({}, GraphForm::Operators), 1, {}};
    for (std::size_t n = 0; n < table.graphs.size(); ++n) {
        if (table.graphs[n].rows == 0) continue;
        const auto level = levels.find(table.networks[n]);
        const bool isNew = level == levels.end();
        const double usual = std::exp(isNew ? ridge->at(totalsOf(table.graphs[n])) : level->second);
        out.reach.push_back(isNew ? ninetyOfMiddle * ridge->off : 0);
        out.usual.push_back(usual);
        out.table.networks.push_back(table.networks[n]);
        out.table.index.push_back(table.index[n]);
        for (std::size_t t = 0; t < table.values.size(); ++t) out.table.values[t].push_back(table.values[t][n] / usual);
        out.graphs.graphs.push_back(table.graphs[n]);
        for (float& each : out.graphs.graphs.back().amounts) each /= static_cast<float>(usual);
    }
    return out;
}

Predicted EdgeShares::inUnits(std::size_t network, const Predicted& share) const {
    const double by = usual[network], own = reach[network];
    Predicted out{by * share.mean, by * share.low, by * share.high};
    if (own == 0) return out;
    out.low = out.mean * std::exp(-std::hypot(std::log(share.mean / share.low), own));
    out.high = out.mean * std::exp(std::hypot(std::log(share.high / share.mean), own));
    return out;
}

}  // namespace orrery
