#pragma once

// What cores are told to do: one stream of instructions per core and engine (DMA in, arrays, vector unit, DMA out), in
// program order, tied together by the buffers that they fill and read. There are no other dependences: an instruction
// starts once the buffers that it reads are full and the one that it fills has room.

#include "simulation/npu/systolic_timing.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

enum class NpuEngine : std::uint8_t { Load, Array, Vector, Store };
inline constexpr int npuEngineCount = 4;

using BufferId = std::int32_t;
inline constexpr BufferId noBuffer = -1;

/// A piece of a core's scratchpad or accumulator: taken when its first instruction begins to fill it, given back when
/// the last that reads it is done.
struct NpuBuffer {
    std::int64_t bytes = 0;
    std::uint16_t core = 0;
    bool accumulator = false;
    std::int32_t fillers = 0;  ///< instructions that fill it
    std::int32_t readers = 0;
};

struct NpuInstruction {
    NpuEngine engine = NpuEngine::Load;
    bool preload = false;  ///< Array: brings weights
    std::uint16_t core = 0;
    BufferId fills = noBuffer;
    BufferId reserves = noBuffer;  ///< taken together with `fills`: room for what is made of it, so that operands that
                                   ///< are fetched ahead never leave results without room
    std::array<BufferId, 3> reads{noBuffer, noBuffer, noBuffer};
    std::int64_t bytes = 0;     ///< Load, Store
    std::uint64_t address = 0;  ///< Load, Store
    std::int64_t cycles = 0;    ///< Vector: busy. Array: from its first start to its last
    std::int64_t handover = 0;  ///< Array: from its last start to that of the next
    std::int64_t tail = 0;      ///< Array: from its last start to the result
};

struct NpuProgram {
    std::vector<NpuInstruction> instructions;
    std::vector<NpuBuffer> buffers;

    BufferId buffer(std::int64_t core, std::int64_t bytes, bool accumulator = false);
    void load(std::int64_t core, BufferId into, std::int64_t bytes, std::uint64_t address = 0,
              BufferId reserves = noBuffer);
    void store(std::int64_t core, BufferId from, std::int64_t bytes, std::uint64_t address = 0,
               BufferId also = noBuffer);
    void gemm(std::int64_t core, const BlockTiming& timing, BufferId rows, BufferId weights, BufferId into,
              BufferId also = noBuffer);
    void vector(std::int64_t core, std::int64_t cycles, BufferId from, BufferId into, BufferId also = noBuffer);
    void clear();

private:
    void fill(BufferId id);
    void read(BufferId id);
};

}  // namespace orrery
