#include "evaluation/stack_solver.h"

#include "learning/cholesky.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

enum StackNumber : std::size_t {
    Kernels,
    Attention,
    Experts,
    Overlap,
    Exchanges,
    HiddenTensor,
    HiddenGather,
    Host,
    HostExperts
};

constexpr std::size_t number_count = stackNumberCount;
constexpr double scatter = 0.05;   // ln, of steps that nothing more would explain
constexpr double huberEdge = 1.5;  // scatters
constexpr StackNumbers least{-1.5, -1, -1.5, 0, -1, 0, 0, 0, 0}, most{2, 1.5, 2.5, 8, 4, 0.95, 0.95, 20, 40};
constexpr StackNumbers apart{0.01, 0.01, 0.01, 0.02, 0.02, 0.02, 0.02, 0.05, 0.1};  // for slopes

double thousandths(double value) {
    return std::round(1000 * value) / 1000;
}

StackOnGeneration rowOf(const StackNumbers& x) {
    StackOnGeneration row;
    row.kernels = thousandths(std::exp(x[Kernels]));
    row.attention = thousandths(std::exp(x[Kernels] + x[Attention]));
    row.experts = thousandths(std::exp(x[Kernels] + x[Experts]));
    row.overlap = thousandths(x[Overlap]);
    row.exchanges = thousandths(std::exp(x[Exchanges]));
    row.hiddenTensor = thousandths(x[HiddenTensor]);
    row.hiddenGather = thousandths(x[HiddenGather]);
    row.hostLayer = thousandths(x[Host]) * 1e-3;
    row.hostExperts = thousandths(x[HostExperts]) * 1e-3;
    return row;
}
// Not rounded, so that slopes are smooth.
StackOnGeneration smoothRow(const StackNumbers& x) {
    StackOnGeneration row;
    row.kernels = std::exp(x[Kernels]);
    row.attention = std::exp(x[Kernels] + x[Attention]);
    row.experts = std::exp(x[Kernels] + x[Experts]);
    row.overlap = x[Overlap];
    row.exchanges = std::exp(x[Exchanges]);
    row.hiddenTensor = x[HiddenTensor];
    row.hiddenGather = x[HiddenGather];
    row.hostLayer = x[Host] * 1e-3;
    row.hostExperts = x[HostExperts] * 1e-3;
    return row;
}

StackNumbers within(StackNumbers x) {
    for (std::size_t k = 0; k < number_count; ++k) x[k] = std::clamp(x[k], least[k], most[k]);
    return x;
}

std::vector<double> residualsOf(const StackProblem& problem, const StackOnGeneration& row) {
    std::vector<double> residuals;
    for (std::size_t i = 0; i < problem.measured.size(); ++i) {
        const double seconds = problem.answer(row, i);
        residuals.push_back(seconds > 0 ? std::log(problem.measured[i] / seconds) : 0);
    }
    return residuals;
}

double lossOf(const StackProblem& problem, const std::vector<double>& residuals, const StackPrior& prior,
              const StackNumbers& x) {
    double loss = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const double size = std::abs(residuals[i]) / scatter;
        loss += problem.weights[i] * (size < huberEdge ? size * size : huberEdge * (2 * size - huberEdge));
    }
    for (std::size_t k = 0; k < number_count; ++k) loss += std::pow((x[k] - prior.mean[k]) / prior.deviation[k], 2);
    return loss;
}

/// Normal equations at x: rows' slopes, weights of the loss, and their products.
struct Slopes {
    std::vector<StackNumbers> rows;
    std::vector<double> weights, products;  ///< products: number_count × number_count, without the prior
};
Slopes slopesAt(const StackProblem& problem, const StackNumbers& x, const std::vector<double>& residuals) {
    Slopes slopes;
    slopes.rows.resize(residuals.size());
    for (std::size_t k = 0; k < number_count; ++k) {
        StackNumbers moved = x;
        const double step = x[k] + apart[k] > most[k] ? -apart[k] : apart[k];
        moved[k] += step;
        const auto there = residualsOf(problem, smoothRow(moved));
        for (std::size_t i = 0; i < residuals.size(); ++i) slopes.rows[i][k] = (residuals[i] - there[i]) / step;
    }
    slopes.products.assign(number_count * number_count, 0.0);
    for (std::size_t i = 0; i < residuals.size(); ++i) {
        const double size = std::abs(residuals[i]) / scatter;
        slopes.weights.push_back(problem.weights[i] * (size < huberEdge ? 1 : huberEdge / size) / (scatter * scatter));
        for (std::size_t a = 0; a < number_count; ++a)
            for (std::size_t b = 0; b < number_count; ++b)
                slopes.products[a * number_count + b] += slopes.weights[i] * slopes.rows[i][a] * slopes.rows[i][b];
    }
    return slopes;
}

std::vector<double> withPrior(const Slopes& slopes, const StackPrior& prior, double damping) {
    std::vector<double> sum = slopes.products;
    for (std::size_t k = 0; k < number_count; ++k) {
        double& diagonal = sum[k * number_count + k];
        diagonal += 1 / (prior.deviation[k] * prior.deviation[k]);
        diagonal *= 1 + damping;
    }
    return sum;
}

StackNumbers descend(const StackProblem& problem, const StackPrior& prior, StackNumbers x, double& loss) {
    auto residuals = residualsOf(problem, smoothRow(x));
    loss = lossOf(problem, residuals, prior, x);
    double damping = 1e-3;
    for (int turn = 0; turn < 40; ++turn) {
        const Slopes slopes = slopesAt(problem, x, residuals);
        bool better = false;
        double gained = 0;
        for (int attempt = 0; attempt < 8 && !better; ++attempt, damping *= 4) {
            const auto lower = cholesky(withPrior(slopes, prior, damping), number_count);
            if (!lower) continue;
            std::vector<double> downhill(number_count, 0.0);
            for (std::size_t k = 0; k < number_count; ++k) {
                for (std::size_t i = 0; i < residuals.size(); ++i)
                    downhill[k] += slopes.weights[i] * slopes.rows[i][k] * residuals[i];
                downhill[k] -= (x[k] - prior.mean[k]) / (prior.deviation[k] * prior.deviation[k]);
            }
            const auto step = choleskySolve(*lower, downhill);
            StackNumbers moved = x;
            for (std::size_t k = 0; k < number_count; ++k) moved[k] += step[k];
            moved = within(moved);
            const auto there = residualsOf(problem, smoothRow(moved));
            const double its = lossOf(problem, there, prior, moved);
            if (its >= loss) continue;
            better = true;
            gained = loss - its;
            x = moved, residuals = there, loss = its;
        }
        damping = std::max(1e-4, damping / 40);
        if (!better || gained < 1e-7 * loss) break;
    }
    return x;
}

}  // namespace

StackPrior firstPrior() {
    return {{0.12, 0, 0, 0.3, 0, 0.5, 0.5, 0, 0}, {0.3, 0.3, 0.4, 0.3, 0.5, 0.25, 0.25, 3, 8}};
}

StackSolution solveStack(const StackProblem& problem, const StackPrior& prior, const StackNumbers* from) {
    std::vector<StackNumbers> starts;
    if (from) starts.push_back(*from);
    // A host that is not waited for has no slope, and neither have exchanges that computing hides.
    for (const double host : {0.0, 2.0, 4.0})
        for (const double experts : {0.0, 8.0, 16.0})
            for (const double exchanges : {0.0, 2.0}) {
                if (from || (host > 0 && !problem.eager) || (experts > 0 && !problem.experts)) continue;
                StackNumbers& x = starts.emplace_back(prior.mean);
                x[Host] = host, x[HostExperts] += experts, x[Exchanges] += exchanges;
            }
    StackSolution best;
    double lowest = std::numeric_limits<double>::infinity();
    for (const StackNumbers& start : starts) {
        double loss = 0;
        const StackNumbers x = descend(problem, prior, within(start), loss);
        if (loss < lowest) best.numbers = x, lowest = loss;
    }
    best.row = rowOf(best.numbers);
    best.residuals = residualsOf(problem, best.row);
    const Slopes slopes = slopesAt(problem, best.numbers, residualsOf(problem, smoothRow(best.numbers)));
    const auto lower = cholesky(withPrior(slopes, prior, 0), number_count);
    for (std::size_t i = 0; i < best.residuals.size(); ++i) {
        const std::vector<double> slope(slopes.rows[i].begin(), slopes.rows[i].end());
        const auto solved = lower ? choleskySolve(*lower, slope) : std::vector<double>(number_count, 0.0);
        double leverage = 0;
        for (std::size_t k = 0; k < number_count; ++k) leverage += slopes.weights[i] * slope[k] * solved[k];
        best.leverages.push_back(std::clamp(leverage, 0.0, 0.9));
        best.decided += leverage;
    }
    for (std::size_t k = 0; k < number_count; ++k) {
        const double data = slopes.products[k * number_count + k],
                     drawn = 1 / (prior.deviation[k] * prior.deviation[k]);
        best.known[k] = data / (data + drawn);
    }
    return best;
}

StackPrior commonPrior(std::span<const StackSolution> stacks) {
    const StackPrior first = firstPrior();
    StackPrior common = first;
    for (std::size_t k = 0; k < number_count; ++k) {
        double sum = first.mean[k], weight = 1;
        for (const StackSolution& each : stacks) sum += each.known[k] * each.numbers[k], weight += each.known[k];
        // Whether the host is waited for, and what exchanges lack, is no habit of all.
        if (k != Host && k != Exchanges) common.mean[k] = sum / weight;
    }
    return common;
}

}  // namespace orrery
