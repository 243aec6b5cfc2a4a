#include "evaluation/drift/drift_repair.h"

#include "learning/cholesky.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

namespace orrery {

namespace {

// One choice: deviations of the constant, of the smooth part and of the noise, in natural logarithms.
struct Model {
    double constant = 0, smooth = 0, length = 1, noise = 0.05;
    int inputs = -1;  // -1: all; else the column alone
    double weight = 0;
};
constexpr std::array noises{0.01, 0.03, 0.08, 0.2, 0.5};
constexpr std::array constants{0.05, 0.2, 0.7};
constexpr std::array smooths{0.08, 0.25, 0.7};
constexpr std::array lengths{0.25, 0.8};

// A third of the weight to each kind before a row is seen; over all inputs, and over what was believed, as much as over
// all other single inputs together.
std::vector<Model> choices(std::size_t columns) {
    std::vector<Model> all;
    for (const double noise : noises) all.push_back({0, 0, 1, noise, -1, 1.0 / noises.size()});
    for (const double c : constants)
        for (const double noise : noises)
            all.push_back({c, 0, 1, noise, -1, 1.0 / static_cast<double>(constants.size() * noises.size())});
    const auto smoothWeight = [](double share) {
        return share / static_cast<double>(constants.size() * smooths.size() * lengths.size() * noises.size());
    };
    for (int input = -1; input < static_cast<int>(columns); ++input) {
        const double share = columns == 1 ? 0.5 : input <= 0 ? 1.0 / 3 : 1.0 / 3 / static_cast<double>(columns - 1);
        for (const double c : constants)
            for (const double s : smooths)
                for (const double l : lengths)
                    for (const double noise : noises) all.push_back({c, s, l, noise, input, smoothWeight(share)});
    }
    return all;
}

double squaredDistance(const LaterInputs& inputs, std::size_t a, std::size_t b, int column) {
    const auto x = inputs.row(a), y = inputs.row(b);
    if (column >= 0) {
        const double d = x[static_cast<std::size_t>(column)] - y[static_cast<std::size_t>(column)];
        return d * d;
    }
    double sum = 0;
    for (std::size_t c = 0; c < x.size(); ++c) sum += (x[c] - y[c]) * (x[c] - y[c]);
    return sum;
}

// Matérn of order 3/2: changes of tiles and kernels are not smooth.
double likeness(const Model& model, double squared) {
    const double r = std::sqrt(3 * squared) / model.length;
    return model.constant * model.constant + model.smooth * model.smooth * (1 + r) * std::exp(-r);
}

// A model that has seen the known rows.
struct Seen {
    Model model;
    double evidence = 0;  // ln of weight × density of the known rows
    std::vector<double> lower, weights;
};

Seen seen(const Model& model, const LaterInputs& inputs, std::span<const std::size_t> known,
          std::span<const double> target) {
    const std::size_t n = known.size();
    Seen one{model, -std::numeric_limits<double>::infinity(), {}, {}};
    std::vector<double> k(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            const double value = likeness(model, squaredDistance(inputs, known[i], known[j], model.inputs));
            k[i * n + j] = k[j * n + i] = value + (i == j ? model.noise * model.noise : 0);
        }
    auto lower = cholesky(k, n);
    if (!lower) return one;
    one.weights = choleskySolve(*lower, {target.begin(), target.end()});
    double fit = 0, determinant = 0;
    for (std::size_t i = 0; i < n; ++i) {
        fit += target[i] * one.weights[i];
        determinant += std::log((*lower)[i * n + i]);
    }
    one.evidence = std::log(model.weight) - 0.5 * fit - determinant -
                   0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi);
    one.lower = std::move(*lower);
    return one;
}

struct Part {
    double weight = 0, mean = 0, deviation = 0;
};

double below(double x, std::span<const Part> parts) {
    double share = 0;
    for (const Part& p : parts) share += p.weight * 0.5 * std::erfc((p.mean - x) / (p.deviation * std::numbers::sqrt2));
    return share;
}

double quantile(double share, std::span<const Part> parts) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Part& p : parts) {
        low = std::min(low, p.mean - 6 * p.deviation);
        high = std::max(high, p.mean + 6 * p.deviation);
    }
    for (int step = 0; step < 16; ++step) {
        const double middle = 0.5 * (low + high);
        (below(middle, parts) < share ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

Part answer(const Seen& one, const LaterInputs& inputs, std::span<const std::size_t> known, std::size_t row,
            std::vector<double>& cross) {
    const std::size_t n = known.size();
    Part part{0, 0, 0};
    for (std::size_t i = 0; i < n; ++i) {
        cross[i] = likeness(one.model, squaredDistance(inputs, known[i], row, one.model.inputs));
        part.mean += cross[i] * one.weights[i];
    }
    double variance = likeness(one.model, 0) + one.model.noise * one.model.noise;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) cross[i] -= one.lower[i * n + k] * cross[k];
        cross[i] /= one.lower[i * n + i];
        variance -= cross[i] * cross[i];
    }
    part.deviation = std::sqrt(std::max(variance, one.model.noise * one.model.noise));
    return part;
}

// Of each known row: what a model says of it that has seen the others (Rasmussen and Williams, Gaussian Processes for
// Machine Learning, MIT Press 2006, equation 5.12).
void addLeftOut(const Seen& one, std::span<const double> target, std::span<double> into) {
    const std::size_t n = target.size();
    std::vector<double> column(n), inverse(n, 0);  // diagonal of the inverse
    for (std::size_t at = 0; at < n; ++at) {
        for (std::size_t i = at; i < n; ++i) {
            double value = i == at ? 1 : 0;
            for (std::size_t k = at; k < i; ++k) value -= one.lower[i * n + k] * column[k];
            column[i] = value / one.lower[i * n + i];
            inverse[at] += column[i] * column[i];
        }
    }
    for (std::size_t i = 0; i < n; ++i) into[i] += one.model.weight * (target[i] - one.weights[i] / inverse[i]);
}

// ln of the median ratio, and of it without each row.
double middle(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

// The simplest of nothing, one factor (ln) and the mixture (no value) that is not told apart from the best by the known
// rows, each foretold by the others: within one standard error of the paired difference (Breiman, Friedman, Olshen and
// Stone, Classification and Regression Trees, 1984, section 3.4.3).
std::optional<double> simplerAnswer(const std::vector<Seen>& models, const std::vector<double>& target) {
    const std::size_t n = target.size();
    if (n < 3) return std::nullopt;
    std::vector<double> mixed(n, 0), others;
    for (const Seen& one : models) addLeftOut(one, target, mixed);
    std::array<std::vector<double>, 3> off;  // nothing, factor, mixture
    for (std::size_t i = 0; i < n; ++i) {
        others = target;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        const std::array told{0.0, middle(others), mixed[i]};
        for (std::size_t k = 0; k < off.size(); ++k) off[k].push_back(std::abs(std::expm1(told[k] - target[i])));
    }
    const auto sum = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0);
    };
    std::size_t best = 0;
    for (std::size_t k = 1; k < off.size(); ++k)
        if (sum(off[k]) < sum(off[best])) best = k;
    const auto apart = [&](std::size_t simpler) {
        double mean = 0, squares = 0;
        for (std::size_t i = 0; i < n; ++i) mean += (off[simpler][i] - off[best][i]) / static_cast<double>(n);
        for (std::size_t i = 0; i < n; ++i) squares += std::pow(off[simpler][i] - off[best][i] - mean, 2);
        return mean > std::sqrt(squares / static_cast<double>(n * (n - 1)));
    };
    std::size_t chosen = 0;
    while (chosen < best && apart(chosen)) ++chosen;
    if (chosen == 0) return 0;
    return chosen == 1 ? std::optional(middle(target)) : std::nullopt;
}

}  // namespace

double medianFactor(const LaterRows& rows, std::span<const std::size_t> known) {
    if (known.empty()) return 1;
    std::vector<double> ratios;
    for (const std::size_t i : known) ratios.push_back(std::log(rows.measured[i] / rows.believed[i]));
    return std::exp(middle(std::move(ratios)));
}

DriftRepair repair(const LaterRows& rows, const LaterInputs& inputs, std::span<const std::size_t> given,
                   std::span<const std::size_t> asked) {
    std::vector<std::size_t> known;
    const std::size_t most = std::min(given.size(), mostRepairRows);
    for (std::size_t i = 0; i < most; ++i) known.push_back(given[i * given.size() / most]);
    std::vector<double> target;
    for (const std::size_t i : known) target.push_back(std::log(rows.measured[i] / rows.believed[i]));

    std::vector<Seen> models;
    double best = -std::numeric_limits<double>::infinity();
    for (const Model& model : choices(inputs.columns)) {
        models.push_back(seen(model, inputs, known, target));
        best = std::max(best, models.back().evidence);
    }
    // The last fiftieth of the weight is of hundreds of models that change no figure that is shown.
    std::stable_sort(models.begin(), models.end(),
                     [](const Seen& a, const Seen& b) { return a.evidence > b.evidence; });
    double all = 0;
    for (Seen& one : models) all += one.model.weight = std::exp(one.evidence - best);
    double sum = 0;
    std::size_t kept = 0;
    while (kept < models.size() && sum < 0.98 * all) sum += models[kept++].model.weight;
    models.resize(kept);
    DriftRepair result;
    for (Seen& one : models) {
        one.model.weight /= sum;
        (one.model.smooth > 0     ? result.shares.smooth
         : one.model.constant > 0 ? result.shares.factor
                                  : result.shares.nothing) += one.model.weight;
    }
    // The mixture's noise is normal; of rows that are not, less may tell more.
    const std::optional<double> simpler = simplerAnswer(models, target);
    std::vector<double> cross(known.size());
    std::vector<Part> parts(models.size());
    for (const std::size_t row : asked) {
        double mean = 0;
        for (std::size_t m = 0; m < models.size(); ++m) {
            parts[m] = answer(models[m], inputs, known, row, cross);
            parts[m].weight = models[m].model.weight;
            mean += parts[m].weight * parts[m].mean;
        }
        const double believed = rows.believed[row], told = simpler.value_or(mean), shift = told - mean;
        result.rows.push_back({believed * std::exp(told), believed * std::exp(quantile(0.05, parts) + shift),
                               believed * std::exp(quantile(0.95, parts) + shift)});
    }
    return result;
}

}  // namespace orrery
