// Boosting through libxgboost's C interface with slopes of our own, so that every loss is minimised alike and the
// learning rate holds for all of them (XGBoost 1.7 ignores it for reg:absoluteerror). A forest is boosting whose slopes
// never move. Thresholds are then set between two neighbouring values of the data, where few digits do.

#include "learning/trainers.h"
#include "learning/trees.h"

#include <fmt/format.h>
#include <xgboost/c_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

namespace orrery {

namespace {

constexpr double usualRate = 0.1;

struct FreeMatrix {
    void operator()(void* matrix) const { XGDMatrixFree(matrix); }
};
struct FreeBooster {
    void operator()(void* booster) const { XGBoosterFree(booster); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

Unexpected trouble() {
    return fail("learning.xgboost", fmt::format("XGBoost refused: {}", XGBGetLastError()));
}

Expected<Matrix> matrixOf(const TrainingData& data) {
    const std::vector<float> values(data.features.begin(), data.features.end());
    DMatrixHandle handle = nullptr;
    if (XGDMatrixCreateFromMat(values.data(), data.rows(), data.columns(), std::numeric_limits<float>::quiet_NaN(),
                               &handle) != 0) {
        return trouble();
    }
    return Matrix(handle);
}

Expected<std::span<const float>> predictions(void* booster, void* matrix, bool training) {
    bst_ulong size = 0;
    const float* values = nullptr;
    if (XGBoosterPredict(booster, matrix, 0, 0, training ? 1 : 0, &size, &values) != 0) return trouble();
    return std::span(values, size);
}

double meanAbsolute(std::span<const float> predicted, const TrainingData& data, double scale, double base) {
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < data.rows(); ++i) {
        const double weight = data.weight.empty() ? 1 : data.weight[i];
        sum += weight * std::abs(base + scale * double(predicted[i]) - data.target[i]);
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
}

// Sorted different values of each feature, as floats.
std::vector<std::vector<float>> valuesOf(const TrainingData& data) {
    std::vector<std::vector<float>> values(data.columns());
    for (std::size_t c = 0; c < data.columns(); ++c) {
        auto& column = values[c];
        column.resize(data.rows());
        for (std::size_t r = 0; r < data.rows(); ++r) column[r] = float(data.features[r * data.columns() + c]);
        std::sort(column.begin(), column.end());
        column.erase(std::unique(column.begin(), column.end()), column.end());
    }
    return values;
}

// The first `rounds` trees with leaves × scale; their numbers made short where that changes no training row.
Expected<RegressorPtr> thinned(void* booster, const TrainingData& data, int rounds, double scale, double base,
                               bool forest, bool compact) {
    bst_ulong size = 0;
    const char* text = nullptr;
    if (XGBoosterSaveModelToBuffer(booster, R"({"format":"json"})", &size, &text) != 0) return trouble();
    JsonCursor json(std::string_view(text, size), {}, "learning");
    std::vector<TreeNodes> trees = readTreeFile(json).trees;
    if (!json.ok()) return tl::unexpected(json.problem());
    trees.resize(std::min(trees.size(), std::size_t(rounds)));
    const auto values = valuesOf(data);
    // Compact: all leaves to the same decimal place, the fifth of the largest.
    double place = 0;
    for (const TreeNodes& tree : trees) {
        for (std::size_t i = 0; compact && i < tree.size(); ++i) {
            if (tree.left[i] < 0) place = std::max(place, std::abs(double(tree.value[i]) * scale));
        }
    }
    if (place > 0) place = std::pow(10, 4 - std::floor(std::log10(place)));
    for (TreeNodes& tree : trees) {
        for (std::size_t i = 0; i < tree.size(); ++i) {
            if (tree.left[i] < 0) {
                const double leaf = double(tree.value[i]) * scale;
                tree.value[i] = float(place > 0 ? std::round(leaf * place) / place : rounded(leaf));
                continue;
            }
            const auto& column = values[std::size_t(tree.feature[i])];
            const auto above = std::lower_bound(column.begin(), column.end(), tree.value[i]);
            if (above != column.begin() && above != column.end()) tree.value[i] = shortBetween(above[-1], *above);
        }
    }
    return std::make_shared<Trees>(data.columns(), base, trees, forest ? std::max(1, int(trees.size())) : 1, compact);
}

Expected<Booster> makeBooster(const std::vector<DMatrixHandle>& matrices, const TrainingOptions& options, bool forest) {
    BoosterHandle handle = nullptr;
    if (XGBoosterCreate(matrices.data(), matrices.size(), &handle) != 0) return trouble();
    Booster booster(handle);
    std::string monotone;
    for (const int way : options.monotone) monotone += fmt::format("{}{}", monotone.empty() ? "(" : ",", way);
    if (!monotone.empty()) monotone += ")";
    // One thread unless asked: XGBoost's own spin on a busy machine, and models are small. Results do not depend on it.
    const std::vector<std::pair<const char*, std::string>> parameters{
        {"tree_method", "hist"},
        {"objective", "reg:squarederror"},
        {"base_score", "0"},
        {"verbosity", "0"},
        {"nthread", fmt::format("{}", std::max(1, options.threads))},
        // Not per iteration: with slopes of our own XGBoost calls every iteration the first.
        {"seed", fmt::format("{}", options.seed & 0x7FFFFFFFu)},
        {"eta", fmt::format("{}", forest             ? 1.0
                                  : options.rate > 0 ? options.rate
                                                     : usualRate)},
        {"max_depth", fmt::format("{}", options.depth)},
        {"max_leaves", fmt::format("{}", options.leaves)},
        {"grow_policy", options.leaves > 0 ? "lossguide" : "depthwise"},
        {"min_child_weight", fmt::format("{}", options.minimumLeaf)},
        {"lambda", fmt::format("{}", options.ridge)},
        {"subsample", fmt::format("{}", options.subsample)},
        {forest ? "colsample_bynode" : "colsample_bytree", fmt::format("{}", options.featureShare)},
        {"monotone_constraints", monotone},
    };
    for (const auto& [name, value] : parameters) {
        if (!value.empty() && XGBoosterSetParam(booster.get(), name, value.c_str()) != 0) return trouble();
    }
    return booster;
}

// RankNet's slopes (Burges et al., "Learning to rank using gradient descent", ICML 2005): of each two rows with unlike
// targets the logistic loss of the difference of their scores. A pair weighs 2 / (rows − 1) by the weights of both, so
// that a row of weight 1 among others of 1 has pairs of 2 in all, however many rows there are.
void pairwiseSlopes(std::span<const float> scores, const TrainingData& data, std::vector<float>& slope,
                    std::vector<float>& curvature) {
    const std::size_t rows = data.rows();
    std::vector<double> pull(rows, 0), bend(rows, 0);
    const double each = rows > 1 ? 2.0 / static_cast<double>(rows - 1) : 0;
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (data.target[i] == data.target[j]) continue;
            const std::size_t high = data.target[i] > data.target[j] ? i : j, low = i + j - high;
            const double wrong = 1 / (1 + std::exp(double(scores[high]) - double(scores[low])));
            const double weight = data.weight.empty() ? each : each * data.weight[i] * data.weight[j];
            pull[high] -= weight * wrong, pull[low] += weight * wrong;
            bend[high] += weight * wrong * (1 - wrong), bend[low] += weight * wrong * (1 - wrong);
        }
    }
    for (std::size_t i = 0; i < rows; ++i) {
        slope[i] = float(pull[i]);
        curvature[i] = float(std::max(bend[i], 1e-6));
    }
}

// Of the pairs with unlike targets the share whose scores stand the other way round, by weight; equal scores count
// half.
double pairsInWrongOrder(std::span<const float> scores, const TrainingData& data) {
    double wrong = 0, all = 0;
    for (std::size_t i = 0; i < data.rows(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (data.target[i] == data.target[j]) continue;
            const double weight = data.weight.empty() ? 1 : data.weight[i] * data.weight[j];
            all += weight;
            if (scores[i] == scores[j])
                wrong += weight / 2;
            else if ((scores[i] > scores[j]) != (data.target[i] > data.target[j]))
                wrong += weight;
        }
    }
    return all > 0 ? wrong / all : 0;
}

}  // namespace

Expected<RegressorPtr> trainTrees(const TrainingData& data, const TrainingData* validation,
                                  const TrainingOptions& options) {
    const bool forest = options.kind == "forest";
    auto matrix = matrixOf(data);
    if (!matrix) return tl::unexpected(matrix.error());
    std::vector<DMatrixHandle> matrices{matrix->get()};
    Matrix unseen;
    if (validation) {
        auto made = matrixOf(*validation);
        if (!made) return tl::unexpected(made.error());
        unseen = std::move(*made);
        matrices.push_back(unseen.get());
    }
    auto booster = makeBooster(matrices, options, forest);
    if (!booster) return tl::unexpected(booster.error());

    const std::size_t rows = data.rows();
    const bool pairs = options.loss == "pairwise";
    const double base = pairs ? 0 : rounded(weightedMedian(data.target, data.weight));
    std::vector<float> slope(rows), curvature(rows);
    std::vector<double> sizes(rows);
    const auto start = std::chrono::steady_clock::now();
    int done = 0, best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (; done < options.steps && !options.stop.stop_requested(); ++done) {
        auto predicted = predictions(booster->get(), matrix->get(), true);
        if (!predicted) return tl::unexpected(predicted.error());
        const auto residual = [&](std::size_t i) {
            return (forest ? 0.0 : double((*predicted)[i])) + base - data.target[i];
        };
        for (std::size_t i = 0; i < rows; ++i) sizes[i] = std::abs(residual(i));
        const double scale = weightedMedian(sizes, {});
        if (pairs) pairwiseSlopes(*predicted, data, slope, curvature);
        for (std::size_t i = 0; i < rows && !pairs; ++i) {
            const double r = residual(i), weight = data.weight.empty() ? 1 : data.weight[i];
            const double pull = weight * lossWeight(options.loss, r, scale);
            slope[i] = float(pull * r);
            curvature[i] = float(pull);
        }
        if (XGBoosterBoostOneIter(booster->get(), matrix->get(), slope.data(), curvature.data(), rows) != 0) {
            return trouble();
        }
        const bool choose = validation && options.keepBest && !forest;
        if (!options.onStep && !choose) continue;
        TrainingPoint point{done + 1};
        const double share = forest ? 1.0 / (done + 1) : 1.0;
        predicted = predictions(booster->get(), matrix->get(), true);
        if (!predicted) return tl::unexpected(predicted.error());
        const auto error = [&](std::span<const float> scores, const TrainingData& of) {
            return pairs ? pairsInWrongOrder(scores, of) : meanAbsolute(scores, of, share, base);
        };
        point.training = error(*predicted, data);
        if (validation) {
            predicted = predictions(booster->get(), unseen.get(), false);
            if (!predicted) return tl::unexpected(predicted.error());
            point.validation = error(*predicted, *validation);
            if (choose && point.validation < least) {
                least = point.validation;
                best = done + 1;
            }
        }
        point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (options.onStep) options.onStep(point);
    }
    return thinned(booster->get(), data, best > 0 ? best : done, forest && done > 0 ? 1.0 / done : 1.0, base, forest,
                   options.kind == "compact-trees");
}

}  // namespace orrery
