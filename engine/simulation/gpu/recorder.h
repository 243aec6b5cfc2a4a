#pragma once

// What one SM does, cycle by cycle: every warp's state from the opening of the kernel on, as spans, until a bound of
// memory is reached; and, over the whole run, what every instruction cost and how busy units and memory were. Nothing
// of the simulation depends on it: cycles with and without are the same. Times are core cycles since the first block
// could start (the launch is over).

#include "simulation/gpu/counters.h"
#include "simulation/gpu/trace.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::gpusim {

/// What a warp does in one cycle. Of those that do not issue the first cause that holds, as Sm::issue looks at them.
enum class WarpState : std::uint8_t {
    Absent,       ///< no warp in this place
    Issue,        ///< its next instruction is issued
    NotSelected,  ///< it could, and its scheduler took another
    Unit,         ///< it could, but for the unit in front, which is taken
    Memory,       ///< an operand comes from global or local memory
    Shared,       ///< an operand comes from shared memory
    Arithmetic,   ///< an operand comes from a unit
    Barrier,      ///< waits for other warps of its block
    Copies,       ///< waits for groups of copies into shared memory
    Atomic,       ///< waits for its atomics
    Fence,        ///< waits at a memory fence
    Fetch,        ///< its buffer of instructions is empty
    Code,         ///< its next instruction is not in the instruction caches yet
    Constant,     ///< an operand comes from constant memory
    Done,         ///< has ended, results are under way
};
constexpr std::size_t warpStateCount = 15;
std::string_view toText(WarpState state);

/// What a scheduler does in one cycle; the causes are those of `Counters`.
enum class SchedulerState : std::uint8_t { Absent, Issue, NoInstruction, Dependence, Unit, Code, Constant };
constexpr std::size_t schedulerStateCount = 7;
std::string_view toText(SchedulerState state);

/// From `begin` to the next span's.
struct WarpSpan {
    std::uint32_t begin = 0;
    WarpState state = WarpState::Absent;
    std::uint32_t instruction = 0;  ///< issued, waiting, or waited at; index of `Recording::instructions`
};
struct SchedulerSpan {
    std::uint32_t begin = 0;
    SchedulerState state = SchedulerState::Absent;
};

/// All executions of one instruction by the warps of the SM, over the whole run.
struct RecordedInstruction {
    InstructionText text;
    Unit unit = Unit::Int;
    std::uint64_t issues = 0, lanes = 0;
    std::array<std::uint64_t, warpStateCount> warpCycles{};  ///< while it was a warp's next, or what it waited at
    std::uint64_t awaited = 0;                               ///< warp cycles in which others waited for its result
    std::uint64_t stalls() const;                            ///< of `warpCycles` those that neither issue nor are done
};

/// A stretch of the run, of `Recording::binCycles`. The SM's own but for L2 and DRAM, which are the machine's.
struct RecordedBin {
    std::array<std::uint32_t, unitCount> issues{}, unitCycles{};  ///< `unitCycles`: × initiation; of Mem: taken
    std::array<std::uint32_t, schedulerStateCount> schedulers{};
    std::array<std::uint32_t, warpStateCount> warps{};
    std::uint32_t sharedPasses = 0, sharedConflictCycles = 0, l1BankCycles = 0;
    std::uint32_t l1 = 0, l1Hits = 0, l2 = 0, l2Hits = 0, dram = 0;  ///< sectors
};

struct Recording {
    int sm = 0, schedulers = 0;
    int lanes = 32;              ///< of a warp
    std::uint64_t cycles = 0;    ///< of the run since its launch
    std::uint64_t recorded = 0;  ///< until where the spans reach
    std::vector<RecordedInstruction> instructions;
    std::vector<std::vector<WarpSpan>> warps;  ///< by place; warp w is of scheduler w mod `schedulers`
    std::vector<std::vector<SchedulerSpan>> schedulerSpans;
    std::uint32_t binCycles = 1;
    std::vector<RecordedBin> bins;
    std::array<std::uint64_t, schedulerStateCount> schedulerCycles{};  ///< over the whole run, as those below
    std::array<std::uint64_t, warpStateCount> warpCycles{};
    /// What each could do at most in a cycle, in the units of `RecordedBin`.
    std::array<double, unitCount> unitPeak{};
    double l1Peak = 0, l2Peak = 0, dramPeak = 0;
    /// The stretch of `length` recorded cycles with the most issues; its first cycle.
    std::uint64_t busiest(std::uint64_t length) const;
    std::size_t bytes() const;
    /// Cycles per instruction of a scheduler, by cause; the parts sum to scheduler cycles ÷ instructions. Cycles in
    /// which a scheduler had no instruction to issue, or only some that wait, are split as its warps waited meanwhile.
    std::array<double, warpStateCount> stack() const;
};

struct RecordOptions {
    int sm = 0;                         ///< blocks are placed from 0 on
    std::uint64_t from = 0;             ///< first cycle of the spans
    std::size_t mostSpans = 1'500'000;  ///< 12 bytes each
    std::size_t mostBins = 512;         ///< twice as wide when they are full
};

/// One run of one kernel. The simulator calls it; who asked takes the recording when the run is over.
class Recorder {
public:
    explicit Recorder(RecordOptions options = {}) : options_(options) {}
    int sm() const { return options_.sm; }
    Recording take();

    void begin(const Machine& machine, const KernelSource& kernel, std::uint64_t opens);
    /// In one cycle of the SM: each warp of a scheduler as it stands at the scheduler's turn, what was issued, and the
    /// end. `operand`: its register under way of the kind that takes longest, −1: none.
    void warp(unsigned id, unsigned scheduler, WarpState state, std::uint32_t instruction, int operand = -1);
    void scheduler(unsigned id, SchedulerState state) { nowSchedulers_[id] = state; }
    void issued(unsigned id, unsigned scheduler, const Executed& what);
    void endCycle(std::uint64_t now, const Counters& counts, bool loadStoreBusy);
    /// The cycles between the last one and `now`, in which nothing changed.
    void slept(std::uint64_t cycles, const Counters& counts);
    void end(std::uint64_t now);
    /// Of the whole machine.
    void memory(std::uint64_t now, const Counters& counts);
    /// What a warp waits for that waits for a register: Memory, Shared or Arithmetic.
    WarpState producerOf(unsigned id, unsigned reg) const;

private:
    struct Now {
        WarpState state = WarpState::Absent;
        std::uint32_t instruction = 0;
        std::uint8_t scheduler = 0;
        std::int16_t operand = -1;
    };
    void add(std::uint64_t from, std::uint64_t cycles);
    void count(const Counters& counts, std::uint64_t now);
    void leave(std::uint64_t at);
    void draw(std::uint32_t at);
    RecordedBin& bin(std::uint64_t at);
    std::uint64_t time(std::uint64_t now) const { return now > opens_ ? now - opens_ : 0; }

    RecordOptions options_;
    Recording out_;
    const std::vector<StaticInstruction>* statics_ = nullptr;
    const KernelSource* kernel_ = nullptr;
    std::uint64_t opens_ = 0, last_ = 0;
    std::array<Now, 64> now_{};
    std::array<SchedulerState, 8> nowSchedulers_{};
    std::array<bool, 64> seen_{};
    std::vector<std::array<std::uint32_t, 256>> producers_;
    Counters before_, memoryBefore_;
    std::size_t spans_ = 0;
    bool full_ = false, loadStoreBusy_ = false;
};

}  // namespace orrery::gpusim
