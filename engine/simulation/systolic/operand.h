#pragma once

// Where the elements of an operand matrix lie in memory, and in which order an SRAM fetches them. A convolution's input
// matrix (im2col) names the same word in several places; buffers must know that, because a word that is there already
// is not fetched again. Operands without such repetition are `distinct`: for them everything follows from positions.

#include "simulation/systolic/folds.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery::systolic {

/// A run through the input matrix: element i is A[m + i·dm][k + i·dk], each step -1, 0 or 1.
struct InputRun {
    std::int64_t m = 0, k = 0;
    std::int64_t dm = 0, dk = 0;
    std::int64_t count = 0;
};

/// Elements of a run whose words follow each other, upwards (step 1) or downwards (step -1).
struct Stretch {
    std::size_t lowest = 0, first = 0;  ///< addresses
    std::int64_t count = 0;
    int step = 1;
    std::int64_t at = 0;                                ///< of the first one in its run
    std::size_t lowestOf(std::int64_t leading) const {  ///< of so many from the first on
        return step > 0 ? first : first - static_cast<std::size_t>(leading - 1);
    }
};

/// Word addresses of the input matrix A[m][k] of a layer with at most 2^28 input words.
///
/// The lanes of a cycle go along a diagonal of A: one window back, one tap on. Words are therefore numbered askew: a
/// block of channels lies so that the word of the next channel, one window earlier, is the next number. Most of a
/// cycle's words then follow each other, and whoever remembers something per word reads and writes it in one sweep.
class InputWords {
public:
    InputWords() = default;
    enum class Numbers : std::uint8_t { Askew, AsAddresses };
    /// AsAddresses: in the order [height][width][channels], also where all are distinct.
    InputWords(const Layer& layer, const FoldPlan& plan, Numbers numbers = Numbers::Askew);

    bool distinct() const { return distinct_; }
    std::int64_t numbers() const { return numbers_; }  ///< numbers that words are given: at least as many as words
    /// Calls visit(stretch) for the elements of a run, in order, while it returns true. Words that hang over the edge
    /// are left out.
    template <class Visit>
    void sweep(const InputRun& run, Visit visit) const {
        if (overhangs_ || run.dm * run.dk != -1) return sweepWords(run, visit);
        const bool rises = run.dk > 0;
        const auto& windowsOn = rises ? windowsBefore_ : windowsAfter_;
        const auto& tapsOn = rises ? tapsAfter_ : tapsBefore_;
        auto m = static_cast<std::size_t>(run.m), k = static_cast<std::size_t>(run.k);
        for (std::int64_t at = 0; at < run.count;) {
            Stretch stretch{.first = static_cast<std::size_t>(windowBase_[m] + tapOffset_[k]),
                            .count = std::min<std::int64_t>(run.count - at, std::min(windowsOn[m], tapsOn[k])),
                            .step = rises ? 1 : -1,
                            .at = at};
            stretch.lowest = stretch.lowestOf(stretch.count);
            if (!visit(stretch)) return;
            at += stretch.count;
            m += static_cast<std::size_t>(run.dm * stretch.count);
            k += static_cast<std::size_t>(run.dk * stretch.count);
        }
    }

private:
    struct Corner {
        std::int32_t row, col;
    };
    /// Word by word: where nothing is known to follow, or some hang over the edge.
    template <class Visit>
    void sweepWords(const InputRun& run, Visit visit) const {
        const std::int32_t* window = windowBase_.data() + run.m;
        const std::int32_t* tap = tapOffset_.data() + run.k;
        for (std::int64_t i = 0; i < run.count; ++i, window += run.dm, tap += run.dk) {
            if (overhangs_) {
                const Corner& from = windowCorner_[static_cast<std::size_t>(run.m + i * run.dm)];
                const Corner& by = tapCorner_[static_cast<std::size_t>(run.k + i * run.dk)];
                if (from.row + by.row >= height_ || from.col + by.col >= width_) continue;
            }
            const auto address = static_cast<std::size_t>(*window + *tap);
            if (!visit(Stretch{address, address, 1, 1, i})) return;
        }
    }
    void findStretches(std::int64_t windowStep, std::int64_t tapStep);

    std::vector<std::int32_t> windowBase_, tapOffset_;  ///< by m and by k of the weights kept; empty where distinct
    /// Windows (taps) that follow each other as the diagonal wants it, itself among them: back from it and on from it.
    std::vector<std::int32_t> windowsBefore_, windowsAfter_, tapsBefore_, tapsAfter_;
    std::vector<Corner> windowCorner_, tapCorner_;  ///< only where windows hang over
    std::int64_t height_ = 0, width_ = 0, numbers_ = 0;
    bool overhangs_ = false, distinct_ = true;
};

/// True if no two elements of the input matrix are the same word and none hangs over the edge.
bool inputDistinct(const Layer& layer);

/// The order in which DRAM is asked for an operand: its tiles one below the other as a matrix `height` × `width`, read
/// along its diagonals where the operand streams (the order in which skewed demand arrives) and row by row where it is
/// loaded. The last tile may use fewer lanes; its other places are empty.
struct FetchOrder {
    bool diagonal = true;
    std::int64_t tileHeight = 0, tiles = 0, width = 0;
    std::int64_t lastLanes = 0;  ///< used by the last tile
    std::int64_t height() const { return tileHeight * tiles; }
    std::int64_t places() const { return height() * width; }  ///< empty ones too
    std::int64_t elements() const { return places() - tileHeight * (width - lastLanes); }
    /// Elements before the one in row `row` of a tile and a lane. The elements that one cycle demands follow each
    /// other.
    std::int64_t position(std::int64_t tile, std::int64_t row, std::int64_t lane) const;
};

FetchOrder ifmapOrder(const FoldPlan& plan);
FetchOrder filterOrder(const FoldPlan& plan);

/// The elements of the input matrix that a cycle demands: the lanes of a stream over a tile (`ifmapTile`).
inline InputRun inputRun(const FoldPlan& plan, std::int64_t tile, const Lanes& lanes) {
    switch (plan.dataflow) {
        case Dataflow::OutputStationary:
            return {tile * plan.rows + lanes.lo, lanes.step - lanes.lo, 1, -1, lanes.count()};
        case Dataflow::WeightStationary:
            return {lanes.step - lanes.lo, tile * plan.rows + lanes.lo, -1, 1, lanes.count()};
        case Dataflow::InputStationary:
        case Dataflow::RowStationary:
            break;
    }
    // A tile that is loaded is one fold: (column fold, row fold).
    return {tile / plan.rowFolds * plan.cols + lanes.lo, tile % plan.rowFolds * plan.rows + lanes.step, 1, 0,
            lanes.count()};
}

/// Calls visit(address) for the filter's elements that a cycle demands, in order of lanes; addresses count
/// [filters][elements of the window].
template <class Visit>
void visitFilter(const FoldPlan& plan, std::int64_t tile, const Lanes& lanes, Visit visit) {
    for (std::int64_t lane = lanes.lo; lane <= lanes.hi; ++lane) {
        std::int64_t n = 0, k = 0;
        switch (plan.dataflow) {
            case Dataflow::OutputStationary:
                n = tile * plan.cols + lane, k = lanes.step - lane;
                break;
            case Dataflow::WeightStationary:  // a tile that is loaded is one fold
                n = tile / plan.rowFolds * plan.cols + lane, k = tile % plan.rowFolds * plan.rows + lanes.step;
                break;
            case Dataflow::InputStationary:
                n = lanes.step - lane, k = tile * plan.rows + lane;
                break;
            case Dataflow::RowStationary:  // refused by check()
                break;
        }
        visit(n * plan.product.denseK + k);
    }
}

}  // namespace orrery::systolic
