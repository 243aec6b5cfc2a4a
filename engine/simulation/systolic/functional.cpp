#include "simulation/systolic/functional.h"

#include <fmt/format.h>

#include <utility>

namespace orrery::systolic {

namespace {

// A value on its way, with the step of the stream that it belongs to; -1: nothing.
struct Token {
    std::uint64_t value = 0;
    std::int64_t step = -1;
};

struct Grid {
    std::int64_t cols = 0;
    std::vector<Token> tokens;
    Grid(std::int64_t rows, std::int64_t columns) : cols(columns), tokens(static_cast<std::size_t>(rows * columns)) {}
    Token& at(std::int64_t row, std::int64_t col) { return tokens[static_cast<std::size_t>(row * cols + col)]; }
    void clear() { tokens.assign(tokens.size(), {}); }
};

class Machine {
public:
    Machine(const FoldPlan& plan, std::span<const std::int64_t> a, std::span<const std::int64_t> b)
        : plan_(plan),
          a_(a),
          b_(b),
          right_(plan.rows, plan.cols),
          down_(plan.rows, plan.cols),
          held_(plan.rows, plan.cols) {
        run_.z.assign(static_cast<std::size_t>(plan.product.m * plan.product.n), 0);
        run_.macsOfPe.assign(static_cast<std::size_t>(plan.rows * plan.cols), 0);
    }

    FunctionalRun run() {
        for (std::int64_t index = 0; index < plan_.folds(); ++index) {
            const Fold fold = plan_.fold(index);
            right_.clear();
            down_.clear();
            held_.clear();
            for (std::int64_t local = 0; local < plan_.foldCycles; ++local, ++run_.cycles) {
                const std::int64_t before = run_.macs;
                if (plan_.dataflow == Dataflow::OutputStationary)
                    outputStep(fold, local);
                else
                    weightStep(fold, local);
                if (run_.macs - before != plan_.activePes(fold, local)) run_.inStep = false;
            }
            if (plan_.dataflow == Dataflow::OutputStationary) collect(fold);
        }
        return std::move(run_);
    }

private:
    std::uint64_t a(std::int64_t m, std::int64_t k) const {
        return static_cast<std::uint64_t>(a_[static_cast<std::size_t>(m * plan_.product.k + k)]);
    }
    std::uint64_t b(std::int64_t k, std::int64_t n) const {
        return static_cast<std::uint64_t>(b_[static_cast<std::size_t>(k * plan_.product.n + n)]);
    }
    void add(std::int64_t m, std::int64_t n, std::uint64_t value) {
        auto& z = run_.z[static_cast<std::size_t>(m * plan_.product.n + n)];
        z = static_cast<std::int64_t>(static_cast<std::uint64_t>(z) + value);
    }
    void count(std::int64_t row, std::int64_t col) {
        ++run_.macs;
        ++run_.macsOfPe[static_cast<std::size_t>(row * plan_.cols + col)];
    }
    void shiftRight() {
        for (std::int64_t row = 0; row < plan_.rows; ++row) {
            for (std::int64_t col = plan_.cols - 1; col > 0; --col) right_.at(row, col) = right_.at(row, col - 1);
            right_.at(row, 0) = {};
        }
    }
    static void shiftDown(Grid& grid, std::int64_t rows) {
        for (std::int64_t row = rows - 1; row > 0; --row) {
            for (std::int64_t col = 0; col < grid.cols; ++col) grid.at(row, col) = grid.at(row - 1, col);
        }
        for (std::int64_t col = 0; col < grid.cols; ++col) grid.at(0, col) = {};
    }

    void outputStep(const Fold& fold, std::int64_t local) {
        shiftRight();
        shiftDown(down_, plan_.rows);
        const Lanes in = plan_.ifmap(fold).at(local);
        for (std::int64_t lane = in.lo; lane <= in.hi; ++lane) {
            right_.at(lane, 0) = {a(fold.row * plan_.rows + lane, in.step - lane), in.step - lane};
        }
        const Lanes weights = plan_.filter(fold).at(local);
        for (std::int64_t lane = weights.lo; lane <= weights.hi; ++lane) {
            down_.at(0, lane) = {b(weights.step - lane, fold.col * plan_.cols + lane), weights.step - lane};
        }
        for (std::int64_t row = 0; row < plan_.rows; ++row) {
            for (std::int64_t col = 0; col < plan_.cols; ++col) {
                const Token& x = right_.at(row, col);
                const Token& y = down_.at(row, col);
                if (x.step < 0 || y.step < 0) continue;
                if (x.step != y.step) run_.inStep = false;
                held_.at(row, col).value += x.value * y.value;
                count(row, col);
            }
        }
    }
    void collect(const Fold& fold) {
        for (std::int64_t row = 0; row < fold.usedRows; ++row) {
            for (std::int64_t col = 0; col < fold.usedCols; ++col)
                add(fold.row * plan_.rows + row, fold.col * plan_.cols + col, held_.at(row, col).value);
        }
    }

    // Weights stay, or inputs do: what is loaded is pushed down, what streams goes right, sums go down.
    void weightStep(const Fold& fold, std::int64_t local) {
        const bool weightsStay = plan_.loadsFilter();
        const std::int64_t firstRow = fold.row * plan_.rows;
        const std::int64_t firstCol = fold.col * plan_.cols;
        if (local < plan_.rows) {
            shiftDown(held_, plan_.rows);
            const Lanes load = weightsStay ? plan_.filter(fold).at(local) : plan_.ifmap(fold).at(local);
            for (std::int64_t lane = load.lo; lane <= load.hi; ++lane) {
                const std::int64_t k = firstRow + load.step;
                held_.at(0, lane) = {weightsStay ? b(k, firstCol + lane) : a(firstCol + lane, k), load.step};
            }
        }
        shiftRight();
        shiftDown(down_, plan_.rows);
        const Lanes in = weightsStay ? plan_.ifmap(fold).at(local) : plan_.filter(fold).at(local);
        for (std::int64_t lane = in.lo; lane <= in.hi; ++lane) {
            const std::int64_t t = in.step - lane;
            right_.at(lane, 0) = {weightsStay ? a(t, firstRow + lane) : b(firstRow + lane, t), t};
        }
        std::int64_t results = 0;
        for (std::int64_t row = 0; row < plan_.rows; ++row) {
            for (std::int64_t col = 0; col < plan_.cols; ++col) {
                Token& sum = down_.at(row, col);
                const Token& x = right_.at(row, col);
                const Token& w = held_.at(row, col);
                if (x.step >= 0 && w.step >= 0 && local >= plan_.rows) {
                    if (w.step != row || (row > 0 && sum.step != x.step)) run_.inStep = false;
                    sum = {sum.value + x.value * w.value, x.step};
                    count(row, col);
                }
                if (row + 1 < plan_.rows || sum.step < 0) continue;
                ++results;
                if (weightsStay)
                    add(sum.step, firstCol + col, sum.value);
                else
                    add(firstCol + col, sum.step, sum.value);
            }
        }
        if (results != plan_.ofmap(fold).at(local).count()) run_.inStep = false;
    }

    const FoldPlan& plan_;
    std::span<const std::int64_t> a_, b_;
    Grid right_, down_, held_;
    FunctionalRun run_;
};

}  // namespace

Expected<FunctionalRun> multiply(const FoldPlan& plan, std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                 double mostPeCycles) {
    const Product& p = plan.product;
    if (static_cast<std::int64_t>(a.size()) != p.m * p.k || static_cast<std::int64_t>(b.size()) != p.k * p.n) {
        return fail("systolic.operand", fmt::format("the operands have {} and {} elements", a.size(), b.size()),
                    fmt::format("{} × {} and {} × {}", p.m, p.k, p.k, p.n));
    }
    const double work = static_cast<double>(plan.cycles()) * static_cast<double>(plan.rows * plan.cols);
    if (work > mostPeCycles) {
        return fail("systolic.too-long", fmt::format("{:.3g} steps of processing elements", work),
                    fmt::format("at most {:.3g}", mostPeCycles), "take a smaller product");
    }
    return Machine(plan, a, b).run();
}

}  // namespace orrery::systolic
