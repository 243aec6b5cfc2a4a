#pragma once

// Where the elements of an operand matrix lie in memory, and in which order an SRAM fetches them. A convolution's input
// matrix (im2col) names the same word in several places; buffers must know that, because a word that is there already
// is not fetched again. Operands without such repetition are `distinct`: for them everything follows from positions.

#include "simulation/systolic/folds.h"

#include <cstdint>
#include <vector>

namespace orrery::systolic {

/// A run through the input matrix: element i is A[m + i·dm][k + i·dk], each step -1, 0 or 1.
struct InputRun {
    std::int64_t m = 0, k = 0;
    std::int64_t dm = 0, dk = 0;
    std::int64_t count = 0;
};

/// Word addresses of the input matrix A[m][k] of a layer with at most 2^31 input words.
class InputWords {
public:
    InputWords() = default;
    InputWords(const Layer& layer, const Product& product);

    bool distinct() const { return distinct_; }
    std::int64_t words() const { return words_; }  ///< of the whole input
    /// Calls visit(address) for the elements of a run that do not hang over the edge, in order, while it returns true.
    template <class Visit>
    void visit(const InputRun& run, Visit visit) const {
        const std::int32_t* window = windowBase_.data() + run.m;
        const std::int32_t* tap = tapOffset_.data() + run.k;
        if (!overhangs_) {
            for (std::int64_t i = 0; i < run.count; ++i, window += run.dm, tap += run.dk) {
                if (!visit(static_cast<std::size_t>(*window + *tap))) return;
            }
            return;
        }
        for (std::int64_t i = 0; i < run.count; ++i, window += run.dm, tap += run.dk) {
            const Corner& from = windowCorner_[static_cast<std::size_t>(run.m + i * run.dm)];
            const Corner& by = tapCorner_[static_cast<std::size_t>(run.k + i * run.dk)];
            if (from.row + by.row >= height_ || from.col + by.col >= width_) continue;
            if (!visit(static_cast<std::size_t>(*window + *tap))) return;
        }
    }

private:
    struct Corner {
        std::int32_t row, col;
    };
    std::vector<std::int32_t> windowBase_, tapOffset_;  ///< by m and by k of the weights kept; empty where distinct
    std::vector<Corner> windowCorner_, tapCorner_;      ///< only where windows hang over
    std::int64_t height_ = 0, width_ = 0, words_ = 0;
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
            break;
    }
    // A tile that is loaded is one fold: (column fold, row fold).
    return {tile / plan.rowFolds * plan.cols + lanes.lo, tile % plan.rowFolds * plan.rows + lanes.step, 1, 0,
            lanes.count()};
}

}  // namespace orrery::systolic
