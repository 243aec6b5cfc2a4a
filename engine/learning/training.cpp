#include "learning/trainers.h"
#include "learning/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace orrery {

namespace {

bool finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::abs(v) < 1e30; });
}

// Of rows that training or its watching would read.
Expected<void> check(const TrainingData& data, const char* what) {
    if (data.rows() == 0) return fail("learning.no-rows", fmt::format("no {} rows", what), "at least one row");
    if (data.columns() == 0 || data.columns() > largestInputs) {
        return fail("learning.features", fmt::format("{} features", data.columns()),
                    fmt::format("1 to {} features", largestInputs));
    }
    if (data.features.size() != data.rows() * data.columns() ||
        (!data.weight.empty() && data.weight.size() != data.rows())) {
        return fail("learning.shape",
                    fmt::format("{} numbers and {} weights for {} rows of {} features", data.features.size(),
                                data.weight.size(), data.rows(), data.columns()),
                    "one number per row and feature, one weight per row or none");
    }
    for (std::size_t i = 0; i < data.features.size(); ++i) {
        if (!(std::abs(data.features[i]) < 1e30)) {
            return fail("learning.not-finite",
                        fmt::format("feature '{}' of {} row {} is not finite", data.names[i % data.columns()], what,
                                    i / data.columns() + 1),
                        "finite numbers");
        }
    }
    if (!finite(data.target)) return fail("learning.not-finite", "a target is not finite", "finite numbers");
    if (!finite(data.weight) || std::any_of(data.weight.begin(), data.weight.end(), [](double w) { return w < 0; }) ||
        (!data.weight.empty() && std::accumulate(data.weight.begin(), data.weight.end(), 0.0) <= 0)) {
        return fail("learning.weight", "weights are negative, all zero or not finite", "weights of 0 or more");
    }
    return {};
}

Expected<void> check(const TrainingOptions& options, std::size_t columns) {
    const auto bad = [](std::string_view name, auto value, std::string_view expected) {
        return fail("learning.option", fmt::format("{} is {}", name, value), std::string(expected));
    };
    if (options.steps < 1 || options.steps > 100'000) return bad("steps", options.steps, "1 to 100000");
    if (options.depth < 1 || options.depth > 16) return bad("depth", options.depth, "1 to 16");
    if (options.leaves < 0 || options.leaves > 65'536) return bad("leaves", options.leaves, "0 to 65536");
    if (options.width < 1 || options.width > 256) return bad("width", options.width, "1 to 256");
    if (options.blendTrees < 1 || options.blendTrees > 100'000)
        return bad("blendTrees", options.blendTrees, "1 to 100000");
    if (options.blendNetworks < 0 || options.blendNetworks > 8)
        return bad("blendNetworks", options.blendNetworks, "0 to 8");
    if (options.blendBoosters < 0 || options.blendBoosters > 7 ||
        (options.kind == "blend" && options.blendNetworks + options.blendBoosters == 0))
        return bad("blendBoosters", options.blendBoosters, "0 to 7, and a blend of something");
    if (options.layers < 1 || options.layers > 8) return bad("layers", options.layers, "1 to 8");
    if (!(options.rate >= 0 && options.rate <= 1)) return bad("rate", options.rate, "0 to 1");
    if (!(options.subsample > 0 && options.subsample <= 1))
        return bad("subsample", options.subsample, "above 0, at most 1");
    if (!(options.featureShare > 0 && options.featureShare <= 1)) {
        return bad("featureShare", options.featureShare, "above 0, at most 1");
    }
    if (!(options.minimumLeaf >= 0 && options.minimumLeaf < 1e12))
        return bad("minimumLeaf", options.minimumLeaf, "0 or more");
    if (!(options.ridge >= 0 && options.ridge < 1e12)) return bad("ridge", options.ridge, "0 or more");
    const bool pairs = options.loss == "pairwise" && (options.kind == "trees" || options.kind == "compact-trees");
    if (options.loss != "absolute" && options.loss != "huber" && options.loss != "squared" && !pairs) {
        return bad("loss", options.loss, "absolute, huber or squared; of boosted trees also pairwise");
    }
    if (!options.monotone.empty() && options.monotone.size() != columns) {
        return bad("the number of monotone", options.monotone.size(), "one of -1, 0, 1 per feature, or none");
    }
    if (std::any_of(options.scales.begin(), options.scales.end(), [](double s) { return !(s >= 0 && s < 1e12); })) {
        return fail("learning.option", "a scale is below 0 or not finite", "0 or more per feature");
    }
    for (const int way : options.monotone) {
        if (way < -1 || way > 1) return bad("monotone", way, "-1, 0 or 1");
    }
    return {};
}

}  // namespace

Expected<RegressorPtr> train(const TrainingData& data, const TrainingData* validation, const TrainingOptions& options) {
    if (auto good = check(data, "training"); !good) return tl::unexpected(good.error());
    if (auto good = check(options, data.columns()); !good) return tl::unexpected(good.error());
    if (validation && validation->rows() == 0) validation = nullptr;
    if (validation) {
        if (auto good = check(*validation, "validation"); !good) return tl::unexpected(good.error());
        if (validation->columns() != data.columns()) {
            return fail("learning.shape", "training and validation rows have different features");
        }
    }
    if (options.kind == "trees" || options.kind == "compact-trees" || options.kind == "forest") {
        return trainTrees(data, validation, options);
    }
    if (options.kind == "network") return trainNetwork(data, validation, options);
    if (options.kind == "linear") return trainLinear(data, options);
    if (options.kind == "gaussian-process") return trainGaussianProcess(data, options);
    if (options.kind == "blend") return trainBlend(data, validation, options);
    return fail("learning.unknown-kind", fmt::format("there is no kind of model '{}'", options.kind),
                "trees, compact-trees, forest, network, linear, gaussian-process or blend");
}

double weightedMedian(std::span<const double> values, std::span<const double> weights) {
    if (weights.empty()) {
        std::vector<double> sorted(values.begin(), values.end());
        const auto middle = sorted.begin() + std::ptrdiff_t(sorted.size() / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        return *middle;
    }
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
    const double half = std::accumulate(weights.begin(), weights.end(), 0.0) / 2;
    double sum = 0;
    for (const auto i : order) {
        if ((sum += weights[i]) >= half) return values[i];
    }
    return values[order.back()];
}

double lossWeight(std::string_view loss, double residual, double scale) {
    if (loss == "squared" || !(scale > 0)) return 1;
    const double size = std::abs(residual);
    if (loss == "huber") return size <= 2 * scale ? 1 : 2 * scale / size;
    return scale / std::max(size, 0.1 * scale);
}

double rounded(double value) {
    char text[32];
    const auto end = fmt::format_to(text, "{:.5g}", value);
    std::from_chars(text, end, value);
    return value;
}

float shortBetween(float low, float high) {
    const double middle = (double(low) + double(high)) / 2, inset = 0.1 * (double(high) - double(low));
    for (int digits = 1; digits <= 9; ++digits) {
        char text[40];
        const auto end = fmt::format_to(text, "{:.{}g}", middle, digits);
        float value = 0;
        std::from_chars(text, end, value);
        if (value > low && value <= high && double(value) >= low + inset && double(value) <= high - inset) return value;
    }
    return high;
}

}  // namespace orrery
