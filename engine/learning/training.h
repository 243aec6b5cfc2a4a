#pragma once

// Fitting regressors, cancellable and deterministic for a seed.

#include "base/progress.h"
#include "learning/regressor.h"

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

/// Row-major features with one target and one weight per row.
struct TrainingData {
    std::vector<std::string> names;
    std::vector<double> features;
    std::vector<double> target, weight;  ///< weight may be empty: all 1
    std::size_t rows() const { return target.size(); }
    std::size_t columns() const { return names.size(); }
};

struct TrainingPoint {
    int step = 0;
    double training = 0, validation = 0;  ///< mean absolute error; of `pairwise` the share of pairs in wrong order
    double seconds = 0;
};

struct TrainingOptions {
    std::string kind =
        "trees";      ///< `trees`, `compact-trees`, `forest`, `network`, `linear`, `gaussian-process`, `blend` (some)
    int steps = 300;  ///< trees or epochs
    int depth = 6;    ///< of trees
    int leaves = 0;   ///< of a tree at most, best splits first; 0: as many as depth allows
    int width = 32, layers = 2;     ///< of networks
    int blendNetworks = 1;          ///< networks of a blend, from seeds of their own
    int blendBoosters = 1;          ///< ensembles of trees in a blend, from seeds of their own
    int blendTrees = 60;            ///< trees of one of them; a blend's `steps` are its network's, `rate` its trees'
    double rate = 0;                ///< learning rate; 0: 0.1 for trees, 0.004 for networks
    double subsample = 1;           ///< of rows per tree
    double minimumLeaf = 5;         ///< weight in a leaf
    double ridge = 1;               ///< L2 regularisation
    std::string loss = "absolute";  ///< `absolute`, `huber`, `squared`; of boosted trees `pairwise`: order alone counts
    double featureShare = 1;        ///< of features that a tree may split by
    std::vector<int> monotone;      ///< per feature −1, 0, 1 (trees); empty: none
    std::vector<double> scales;     ///< per feature, how far a Gaussian process looks; 0: it does not count
    bool keepBest = true;           ///< with validation rows: the step of their least error is kept
    std::uint64_t seed = 1;
    int threads = 0;  ///< of one training; 0: one (results do not depend on it)
    std::stop_token stop;
    std::function<void(const TrainingPoint&)> onStep;  ///< from the training thread
};

/// Cancelled: the best so far. Fails with `learning.…` for no rows, numbers that are not finite and options that make
/// no sense.
Expected<RegressorPtr> train(const TrainingData& data, const TrainingData* validation, const TrainingOptions& options);

/// Row numbers of a split, sorted.
struct Split {
    std::vector<std::size_t> training, test;
};
/// A share of the rows, drawn by seed.
Split splitFraction(std::size_t rows, double trainingShare, std::uint64_t seed);
/// `count` rows, drawn by seed, to train on.
Split splitCount(std::size_t rows, std::size_t count, std::uint64_t seed);
std::vector<Split> splitFolds(std::size_t rows, int folds, std::uint64_t seed);
/// One group left out of training.
Split splitGroup(std::span<const std::int32_t> groupOfRow, std::int32_t group);

}  // namespace orrery
