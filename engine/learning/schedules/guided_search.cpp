#include "learning/schedules/guided_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {
namespace {

constexpr double trialNoise = 0.05;  // of a share: the same schedule, tried again

// Features in units of their spread; those of one value are nothing.
std::vector<double> spreadOf(const SearchCandidates& candidates) {
    const std::size_t n = candidates.believed.size(), columns = candidates.columns;
    std::vector<double> out(candidates.features);
    for (std::size_t c = 0; c < columns; ++c) {
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < n; ++i) sum += out[i * columns + c];
        const double mean = sum / static_cast<double>(n);
        for (std::size_t i = 0; i < n; ++i) squares += std::pow(out[i * columns + c] - mean, 2);
        const double deviation = std::sqrt(squares / static_cast<double>(n));
        for (std::size_t i = 0; i < n; ++i) {
            double& cell = out[i * columns + c];
            cell = deviation > 1e-9 * (1 + std::abs(mean)) ? (cell - mean) / deviation : 0;
        }
    }
    return out;
}

// Posterior of a Gaussian process by one trial after another: each adds a column of the Cholesky factor over all.
class Beliefs {
public:
    Beliefs(const SearchCandidates& candidates, double unsure)
        : n_(candidates.believed.size()),
          columns_(candidates.columns),
          features_(spreadOf(candidates)),
          variance_(n_, unsure * unsure),
          unsure_(unsure) {
        double live = 0;
        for (std::size_t c = 0; c < columns_; ++c) {
            bool any = false;
            for (std::size_t i = 0; i < n_ && !any; ++i) any = features_[i * columns_ + c] != 0;
            live += any ? 1 : 0;
        }
        reach_ = std::max(1.0, live);
    }

    void tried(std::size_t at) {
        std::vector<double> column(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            double square = 0;
            for (std::size_t c = 0; c < columns_; ++c)
                square += std::pow(features_[i * columns_ + c] - features_[at * columns_ + c], 2);
            column[i] = unsure_ * unsure_ * std::exp(-square / reach_);
        }
        for (const std::vector<double>& before : factor_)
            for (std::size_t i = 0; i < n_; ++i) column[i] -= before[i] * before[at];
        const double root = std::sqrt(std::max(column[at], 0.0) + trialNoise * trialNoise);
        for (std::size_t i = 0; i < n_; ++i) {
            column[i] /= root;
            variance_[i] = std::max(0.0, variance_[i] - column[i] * column[i]);
        }
        factor_.push_back(std::move(column));
        roots_.push_back(root);
        order_.push_back(at);
    }

    // `off`: what each trial was beside its belief.
    std::vector<double> moved(std::span<const double> off) const {
        std::vector<double> out(n_, 0);
        std::vector<double> solved;
        for (std::size_t t = 0; t < factor_.size(); ++t) {
            double left = off[t];
            for (std::size_t s = 0; s < t; ++s) left -= factor_[s][order_[t]] * solved[s];
            solved.push_back(left / roots_[t]);
            for (std::size_t i = 0; i < n_; ++i) out[i] += factor_[t][i] * solved[t];
        }
        return out;
    }

    double deviation(std::size_t i) const { return std::sqrt(variance_[i]); }

private:
    std::size_t n_, columns_;
    std::vector<double> features_, variance_;
    double unsure_, reach_ = 1;
    std::vector<std::vector<double>> factor_;
    std::vector<double> roots_;
    std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> searchGuided(const SearchCandidates& candidates,
                                      const std::function<double(std::size_t)>& seconds, const GuidedSearch& options) {
    const std::size_t n = candidates.believed.size();
    std::vector<std::size_t> order;
    if (n == 0 || candidates.features.size() != n * candidates.columns) return order;
    Beliefs beliefs(candidates, options.unsure);
    std::vector<char> tried(n, 0);
    std::vector<double> times;
    double best = std::numeric_limits<double>::infinity();
    std::vector<double> moved(n, 0);
    while (order.size() < std::min(options.trials, n) && !options.stop.stop_requested()) {
        std::size_t next = n;
        double highest = -std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < n; ++i) {
            const double score = candidates.believed[i] + moved[i] + options.curiosity * beliefs.deviation(i);
            if (!tried[i] && score > highest) highest = score, next = i;
        }
        tried[next] = 1;
        order.push_back(next);
        times.push_back(seconds(next));
        if (times.back() > 0) best = std::min(best, times.back());
        beliefs.tried(next);
        // Shares of the best so far, in the measure of what was believed of the best: the true best is not known.
        double top = 0;
        for (std::size_t t = 0; t < order.size(); ++t)
            if (times[t] == best) top = std::max(top, candidates.believed[order[t]]);
        std::vector<double> off;
        for (std::size_t t = 0; t < order.size(); ++t) {
            const double share = times[t] > 0 ? best / times[t] : 0;
            off.push_back(std::max(top, 0.5) * share - candidates.believed[order[t]]);
        }
        moved = beliefs.moved(off);
    }
    return order;
}

double trialsByChance(std::size_t all, std::size_t good) {
    return (static_cast<double>(all) + 1) / (static_cast<double>(good) + 1);
}

}  // namespace orrery
