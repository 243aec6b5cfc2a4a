#pragma once

// A convolution or a product in tiles that fit an accelerator's scratchpads, and what of its tensors a processor copies
// for that: after SMAUG (Xi et al., ACM TACO 17(4), 2020, section 3), which tiles images by rows and channels. Tensors
// lie with channels innermost (NHWC), weights as outputs × window × inputs.

#include "hardware/views/soc_view.h"
#include "workload/kernel.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace orrery {

/// The extents of a kernel that counts for tiles. A product of m × n × k is an image of m rows and one column with k
/// channels in and n out, and a window of one.
struct TileProblem {
    std::int64_t products = 1;               ///< with weights of their own
    std::int64_t images = 1;                 ///< with the same weights
    std::int64_t rows = 1, columns = 1;      ///< of an image of results
    std::int64_t inRows = 1, inColumns = 1;  ///< of an image of inputs
    std::int64_t windowRows = 1, windowColumns = 1, stride = 1, dilation = 1;
    std::int64_t inputs = 1, outputs = 1;                     ///< channels
    double inputBytes = 1, weightBytes = 1, outputBytes = 1;  ///< of one element
    bool weightsByInput = false;                              ///< a product's second operand lies as inputs × outputs

    bool operator==(const TileProblem&) const = default;
};
/// Nothing for kernels of other kinds, for convolutions in groups, and for extents below 1.
std::optional<TileProblem> tileProblem(const Kernel& kernel);

/// Extents of results, and channels in; those at the far ends are smaller.
struct ImageTile {
    std::int64_t rows = 1, columns = 1, inputs = 1, outputs = 1;
    bool operator==(const ImageTile&) const = default;
};

/// Bytes that lie side by side in the tensor and are copied at once.
struct CopyRuns {
    double count = 0, bytes = 0;
    double pitch = 0;  ///< bytes in the tensor from the beginning of one to that of the next
};

/// What becomes of one operand, over the whole kernel.
struct TiledOperand {
    double tiles = 0;            ///< distinct ones
    double bytes = 0;            ///< of all of them, each once; rows that tiles share (the halo) count in both
    double sent = 0;             ///< bytes over the way, tiles that are sent again counted again
    std::vector<CopyRuns> runs;  ///< by which the processor makes or gathers them; empty: sent from where it lies
};

struct Tiling {
    TileProblem problem;
    ImageTile tile;
    std::int64_t rowTiles = 1, columnTiles = 1, inputTiles = 1, outputTiles = 1;
    TiledOperand input, weights, output;  ///< sent: with one accelerator
    double invocations = 0;               ///< of the accelerator
    double transfers = 0;                 ///< over the way
};

/// Rows of inputs that results `first` … `first + count - 1` of one side read, without the padding: [begin, end).
struct InputSpan {
    std::int64_t begin = 0, end = 0;
    std::int64_t length() const { return end - begin; }
};
/// Padding is what windows hang over on both sides together, the larger half of it in front (padding of equal sides).
InputSpan inputSpan(std::int64_t first, std::int64_t count, std::int64_t results, std::int64_t extent,
                    std::int64_t window, std::int64_t stride, std::int64_t dilation);

/// Whether its tiles of all three operands fit, each `copies` times; without padding.
bool tileFits(const TileProblem& problem, const ImageTile& tile, std::span<const SocBuffer> buffers, int copies);
/// Counts of one tiling.
Tiling tilingOf(const TileProblem& problem, const ImageTile& tile);
/// Of the tiles that fit, the one by which the fewest bytes are sent and copied, where each run costs a line of
/// `line` bytes beside its own; channels in steps of the array's lanes. Columns are cut only where no single row fits.
/// Nothing where no tile fits, where any needs more than `mostInvocations`, and once it is to stop.
/// O(√inputs · √outputs · (log rows + window ÷ stride)).
std::optional<Tiling> chooseTiling(const TileProblem& problem, std::span<const SocBuffer> buffers, int copies,
                                   std::int64_t inputLanes, std::int64_t outputLanes, double line,
                                   const std::stop_token& stop = {});
/// Kernels of more are left to the processor.
inline constexpr double mostInvocations = 2e7;
/// Fewer than any tiling needs whose tiles of results and of weights fit.
double leastInvocations(const TileProblem& problem, std::span<const SocBuffer> buffers, int copies);

}  // namespace orrery
