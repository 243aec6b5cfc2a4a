#pragma once

// From a kernel to a program. Two ways of tiling products: by an explicit mapping (lowerMapped), as machines with
// accumulators of their own are driven, and with one operand kept (lowerProduct), as machines with one large scratchpad
// are. Bytes are those that move through the memory's pins: padded layouts and words included.

#include "base/diagnostic.h"
#include "simulation/npu/machine.h"
#include "simulation/npu/program.h"
#include "simulation/npu/tile_mapping.h"

#include <compare>
#include <cstdint>
#include <vector>

namespace orrery {

/// One or more products of equal shape: rows × (taps · channels) × columns. Convolutions run tap by tap, as the arrays
/// of TPUs and Gemmini do: an instruction covers the channels of one filter tap.
struct ProductSpec {
    std::int64_t batch = 1;                ///< products with operands of their own
    std::int64_t lines = 1, lineRows = 1;  ///< rows = lines × lineRows; an output row of an image is a line
    std::int64_t taps = 1, channels = 1, columns = 1;
    std::int64_t haloLines = 0;  ///< lines of the moving operand that a tile needs beside its own
    // Bytes of one of the batch
    std::int64_t movingBytes = 0, keptBytes = 0, resultBytes = 0;
    std::int64_t extraBytes = 0;  ///< further inputs of the epilogue, such as a residual
    // Elementary vector operations of one of the batch
    std::int64_t prologueOps = 0;  ///< on the moving operand before the product
    std::int64_t epilogueOps = 0;  ///< on the result before it is stored

    std::int64_t rows() const { return lines * lineRows; }
    double macs() const {
        return static_cast<double>(batch) * static_cast<double>(rows()) * static_cast<double>(taps) *
               static_cast<double>(channels) * static_cast<double>(columns);
    }
    auto operator<=>(const ProductSpec&) const = default;
};

/// One sweep over data: read, work on, write.
struct VectorSpec {
    std::int64_t readBytes = 0, writeBytes = 0, ops = 0;
    auto operator<=>(const VectorSpec&) const = default;
};

/// Attention that keeps its scores on the chip (Dao et al.: FlashAttention, 2022): per batch and key-value head.
struct FlashSpec {
    std::int64_t batch = 1;  ///< sequences × key-value heads
    std::int64_t group = 1;  ///< query heads that share one of keys and values
    std::int64_t queries = 1, keys = 1, headDim = 1, valueDim = 1;
    bool causal = false;
    // Bytes of one of the batch
    std::int64_t queryBytes = 0, keyBytes = 0, valueBytes = 0, resultBytes = 0;
    std::int64_t opsPerScore = 5;
    auto operator<=>(const FlashSpec&) const = default;
};

/// What an explicit mapping leaves open.
struct MappedLayer {
    std::int64_t element = 1;  ///< bytes of an operand's or result's element
    std::int64_t stride = 1;
    bool convolution = false;  ///< else N, C, M are the rows, depth and columns of a product
    auto operator<=>(const MappedLayer&) const = default;
};

/// Appends to `program`. Keeps the smaller share of the operands that fits half of the scratchpad and moves rows past
/// it, double buffered, in the smallest tiles whose passage hides the loading of weights into the arrays.
void lowerProduct(const ProductSpec& spec, const NpuMachine& machine, NpuProgram& program);
void lowerVector(const VectorSpec& spec, const NpuMachine& machine, NpuProgram& program);
void lowerFlash(const FlashSpec& spec, const NpuMachine& machine, NpuProgram& program);
/// Tiles in ONNXim's order (N, P, Q, M, S, R, C; output tiles dealt to the cores in turn), each loading its operands.
/// Within a tile the longer side of its pixels runs through the array. Fails with `mapping.capacity` if a tile does
/// not fit.
Expected<void> lowerMapped(const TileMapping& mapping, const MappedLayer& layer, const NpuMachine& machine,
                           NpuProgram& program);
/// The output tiles [begin, end) of that order alone.
Expected<void> lowerMapped(const TileMapping& mapping, const MappedLayer& layer, const NpuMachine& machine,
                           NpuProgram& program, std::int64_t begin, std::int64_t end);
/// What the output tiles take one by one, in that order: the longer of their blocks in the arrays and of their bytes,
/// in cycles; what waits for what is not in it. Tiles of equal work are alike.
std::vector<double> mappedWork(const TileMapping& mapping, const MappedLayer& layer, const NpuMachine& machine);

/// Of a whole cut into `parts` shares that add up: all before number `index`. For parts and index below 2^31.
constexpr std::int64_t before(std::int64_t whole, std::int64_t index, std::int64_t parts) {
    return whole / parts * index + whole % parts * index / parts;
}
/// The shares [first, end).
constexpr std::int64_t shares(std::int64_t whole, std::int64_t first, std::int64_t end, std::int64_t parts) {
    return before(whole, end, parts) - before(whole, first, parts);
}
constexpr std::int64_t share(std::int64_t whole, std::int64_t index, std::int64_t parts) {
    return shares(whole, index, index + 1, parts);
}

}  // namespace orrery
