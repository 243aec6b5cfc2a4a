#include "learning/tree_contributions.h"

#include <array>
#include <cassert>
#include <cmath>

namespace orrery {

namespace {

constexpr std::size_t deepest = 64;

// a! b! ÷ (a + b + 1)!: the share of orders in which one feature stands behind `a` others and before `b`.
struct OrderShares {
    std::array<std::array<double, deepest>, deepest> shares{};
    OrderShares() {
        for (std::size_t a = 0; a < deepest; ++a)
            for (std::size_t b = 0; b < deepest; ++b)
                shares[a][b] =
                    std::exp(std::lgamma(double(a) + 1) + std::lgamma(double(b) + 1) - std::lgamma(double(a + b) + 2));
    }
};

// One tree on one pair of rows. Where both go the same way nothing is decided; where they part, the feature is the
// row's on one way and the other's on the other.
class RowPair {
public:
    RowPair(const TreeNodes& tree, std::span<const float> row, std::span<const float> other, std::vector<double>& out)
        : tree_(tree), row_(row), other_(other), out_(out) {}

    void walk(std::size_t node) {
        if (tree_.left[node] < 0) return reach(double(tree_.value[node]));
        const auto feature = static_cast<std::size_t>(tree_.feature[node]);
        const std::size_t own = childOf(node, row_[feature]), others = childOf(node, other_[feature]);
        if (own == others) return walk(own);
        if (const Side side = sideOf(feature); side != Side::None) return walk(side == Side::Row ? own : others);
        assert(fromRow_ + fromOther_ < deepest);
        step(own, feature, rows_, fromRow_);
        step(others, feature, ofOthers_, fromOther_);
    }

private:
    enum class Side { None, Row, Other };
    using Features = std::array<std::size_t, deepest>;

    std::size_t childOf(std::size_t node, float value) const {
        const bool left = std::isnan(value) ? tree_.missing[node] != 0 : value < tree_.value[node];
        return static_cast<std::size_t>(left ? tree_.left[node] : tree_.right[node]);
    }
    Side sideOf(std::size_t feature) const {
        for (std::size_t i = 0; i < fromRow_; ++i)
            if (rows_[i] == feature) return Side::Row;
        for (std::size_t i = 0; i < fromOther_; ++i)
            if (ofOthers_[i] == feature) return Side::Other;
        return Side::None;
    }
    void step(std::size_t child, std::size_t feature, Features& features, std::size_t& count) {
        features[count++] = feature;
        walk(child);
        --count;
    }
    // The leaf counts for those sets of the row's features that hold all of `rows_` and none of `ofOthers_`.
    void reach(double leaf) {
        static const OrderShares orders;
        for (std::size_t i = 0; i < fromRow_; ++i) out_[rows_[i]] += leaf * orders.shares[fromRow_ - 1][fromOther_];
        for (std::size_t i = 0; i < fromOther_; ++i)
            out_[ofOthers_[i]] -= leaf * orders.shares[fromRow_][fromOther_ - 1];
    }

    const TreeNodes& tree_;
    std::span<const float> row_, other_;
    std::vector<double>& out_;
    Features rows_{}, ofOthers_{};
    std::size_t fromRow_ = 0, fromOther_ = 0;
};

}  // namespace

std::vector<double> contributionsOf(const Trees& trees, std::span<const double> row, std::span<const double> others,
                                    const std::stop_token& stop) {
    const std::size_t inputs = trees.inputs(), count = others.size() / inputs;
    assert(row.size() == inputs && count > 0);
    const std::vector<float> own(row.begin(), row.end()), all(others.begin(), others.end());
    std::vector<double> sum(inputs, 0);
    for (const TreeNodes& tree : trees.unpack()) {
        if (stop.stop_requested()) return std::vector<double>(inputs, 0);
        for (std::size_t i = 0; i < count; ++i) {
            RowPair(tree, own, std::span(all).subspan(i * inputs, inputs), sum).walk(0);
        }
    }
    for (double& each : sum) each /= double(count);
    return sum;
}

}  // namespace orrery
