#pragma once

// Runs a program on a machine: event-driven, in cycles of the core's clock. Each core has four engines that work side
// by side, each in the order of its stream:
//
//   Load, Store   cut a transfer into bursts, keep enough of them under way to cover the latency, and share their
//                 core's port to the on-chip network and, with all cores, the memory
//   Array         starts a block when its operands are there (systolic_timing.h)
//   Vector        one instruction at a time
//
// Buffers are taken from scratchpad and accumulator as they are filled and given back after their last reader, so that
// what double buffering hides follows from capacity.

#include "base/diagnostic.h"
#include "simulation/event_kernel.h"
#include "simulation/npu/machine.h"
#include "simulation/npu/memory_model.h"
#include "simulation/npu/program.h"

#include <array>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace orrery {

struct NpuSpan {
    std::int64_t start = 0, end = 0;  ///< cycles
    std::uint16_t core = 0;
    NpuEngine engine = NpuEngine::Load;
};

struct NpuRun {
    std::int64_t cycles = 0;                               ///< until the last instruction is done; without the launch
    std::int64_t loaded = 0, stored = 0;                   ///< bytes
    std::array<std::int64_t, npuEngineCount> busy{};       ///< cycles, all cores together
    std::int64_t peakScratchpad = 0, peakAccumulator = 0;  ///< bytes, of the fullest core
    std::int64_t events = 0;
    std::vector<NpuSpan> spans;  ///< only if asked for; neighbours without a gap are one
};

struct NpuRunOptions {
    bool spans = false;
    std::size_t spanLimit = 4096;  ///< beyond it an engine's next spans and the gaps between them become one
    std::stop_token stop;
};

/// Its memory is kept from run to run.
class NpuSimulation {
public:
    NpuSimulation(const NpuMachine& machine, MemoryModel& memory);

    /// Fails with `npu.does-not-fit` if a program waits for room that nothing will give back, and `study.cancelled`.
    Expected<NpuRun> run(const NpuProgram& program, const NpuRunOptions& options = {});

private:
    struct Engine {
        std::size_t begin = 0, end = 0;  // of its stream in order_
        std::size_t head = 0;
        bool busy = false;                                 // Vector, Array: until its next may begin
        std::int64_t left = 0;                             // Load, Store: bytes of the head that are not yet submitted
        bool open = false;                                 // Load, Store: the head has begun
        int outstanding = 0;                               // bursts
        SimTime finish = -1, lastStart = 0, handover = 0;  // Array: of the newest block
        std::int64_t since = -1;                           // Load, Store: start of the present span
        int active = 0;                                    // Load, Store: instructions under way
        std::size_t span = 0;                              // its newest in run_.spans, plus one
    };
    struct Core {
        std::array<Engine, npuEngineCount> engines;
        std::int64_t scratchpad = 0, accumulator = 0;  // bytes taken
        double portFree = 0;
    };

    void begin(const NpuProgram& program);
    void wake(std::size_t core);
    bool issueTransfer(std::size_t core, NpuEngine kind);
    bool issueArray(std::size_t core);
    bool issueVector(std::size_t core);
    bool readable(const NpuInstruction& instruction) const;
    bool take(const NpuInstruction& instruction);
    void done(std::size_t index);
    void burstDone(std::uint32_t tag);
    void note(std::size_t core, NpuEngine engine, SimTime start, SimTime end);

    NpuMachine machine_;
    MemoryModel& memory_;
    EventQueue queue_;
    const NpuProgram* program_ = nullptr;
    const NpuRunOptions* options_ = nullptr;
    NpuRun run_;
    std::vector<std::uint32_t> order_;  // instructions by core and engine, in program order
    std::vector<std::int32_t> bursts_;  // per instruction: submitted and not yet complete
    std::vector<std::int32_t> fillers_, readers_;
    std::vector<std::uint8_t> taken_;
    std::vector<Core> cores_;
    std::vector<MemoryCompletion> completions_;
    std::size_t remaining_ = 0;
    std::int64_t burstBytes_ = 4096;
    int window_ = 4;
};

}  // namespace orrery
