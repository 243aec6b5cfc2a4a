#pragma once

// A systolic array of rows × cols processing elements between three double-buffered SRAMs, and the layers that run on
// it. The machine and its vocabulary are those of Samajdar et al., "A systematic methodology for characterizing
// scalability of DNN accelerators using SCALE-Sim", ISPASS 2020 (arXiv 1811.02883); version 3 of the tool is described
// in Raj et al., ISPASS 2025. One word holds one element.

#include "base/diagnostic.h"
#include "hardware/dataflow.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::systolic {

enum class SparseFormat : std::uint8_t { EllpackBlock, Csr, Csc };
std::string_view toText(SparseFormat format);

/// Banks of a read SRAM: they share its bandwidth, and each serves `ports` lines in a cycle.
struct Banks {
    std::int64_t count = 1, ports = 2;
};

/// How an operand lies in the lines of a banked SRAM. Every dimension is cut into tiles of `factors`; `order` names the
/// axes from the outermost in: 0 … n-1 the tiles of the n dimensions, n … 2n-1 the places within a tile. Words are put
/// into lines in that order, without gaps. Dimensions of an input: height, width, channels; of a filter: filters,
/// channels, height, width.
struct Layout {
    std::vector<std::int64_t> factors;  ///< empty: none
    std::vector<int> order;
};

struct Array {
    std::string name = "array";
    std::int64_t rows = 32, cols = 32;
    /// How products lie on it (M output pixels, K elements of the window, N filters):
    ///   output stationary   rows hold output pixels, columns filters; both operands stream
    ///   weight stationary   rows hold the reduction, columns filters; inputs stream
    ///   input stationary    rows hold the reduction, columns output pixels; weights stream
    /// A row-stationary array does not run in wavefronts: check() refuses it.
    Dataflow dataflow = Dataflow::OutputStationary;
    /// Both halves of each double buffer together, in words.
    std::int64_t ifmapWords = 64 * 1024, filterWords = 64 * 1024, ofmapWords = 64 * 1024;
    /// True: DRAM is asked for what is needed and always delivers in time (CALC). False: it delivers so many words per
    /// cycle and the array stalls until they have arrived (USER).
    bool idealBandwidth = true;
    std::int64_t ifmapBandwidth = 10, filterBandwidth = 10, ofmapBandwidth = 10;  ///< words per cycle
    /// Each wait for a read is counted twice, as in SCALE-Sim 3.0.0 and its golden files; false: once.
    bool waitsCountTwice = false;
    /// Set: this SRAM is banked and its words lie as each layer's layout says. Only with limited bandwidth, which is
    /// then the width of a line.
    std::optional<Banks> ifmapBanks, filterBanks;
    bool layouts() const { return ifmapBanks || filterBanks; }
    bool sparse = false;  ///< weights are stored and multiplied as N:M blocks, as each layer says
    SparseFormat sparseFormat = SparseFormat::EllpackBlock;
};

/// A convolution over an input that is padded already, or a matrix product written as one (`gemmLayer`). Of each block
/// of `sparseOf` weights along the reduction the first `sparseKept` are kept where the array is sparse.
struct Layer {
    std::string name;
    std::int64_t ifmapHeight = 1, ifmapWidth = 1;
    std::int64_t filterHeight = 1, filterWidth = 1;
    std::int64_t channels = 1, filters = 1;
    std::int64_t strideHeight = 1, strideWidth = 1;
    std::int64_t sparseKept = 1, sparseOf = 1;
    Layout ifmapLayout, filterLayout;  ///< where the array has banks

    /// Output pixels: the last window may hang over the edge where the stride does not divide.
    std::int64_t outHeight() const {
        return (ifmapHeight - filterHeight + strideHeight + strideHeight - 1) / strideHeight;
    }
    std::int64_t outWidth() const { return (ifmapWidth - filterWidth + strideWidth + strideWidth - 1) / strideWidth; }
};

/// [m×k]·[k×n].
Layer gemmLayer(std::string name, std::int64_t m, std::int64_t n, std::int64_t k);

/// The matrix product that a layer amounts to on an array: m output pixels, n filters, k of the reduction that are
/// multiplied (`denseK` before weights were dropped).
struct Product {
    std::int64_t m = 0, n = 0, k = 0, denseK = 0;
};
Product productOf(const Layer& layer, const Array& array);

/// Words of a stored filter of denseK × n weights: as it was, as it is kept with its index, and the index alone. A word
/// of an index is 32 bits; ellpack blocks spend ceil(log2 M) bits per weight kept.
struct FilterStorage {
    double original = 0, compressed = 0, metadata = 0;
};
FilterStorage filterStorage(const Layer& layer, const Array& array);

/// Fails with `systolic.array` or `systolic.layer` naming the quantity that is not positive, too large or too small.
Expected<void> check(const Array& array);  ///< codes `systolic.array`, `systolic.dataflow`
Expected<void> check(const Layer& layer);

}  // namespace orrery::systolic
