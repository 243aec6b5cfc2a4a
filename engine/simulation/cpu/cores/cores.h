#pragma once

// Cores of a chip in one clock. Of all that have work left, the one whose time is least goes on by some dozens of
// operations, of equals the first: the same order in every run. Entries, slots, channels and links are taken for times
// and not in turns, so that being a few operations ahead gives no core what another has asked for.

#include "simulation/cpu/core/pipeline.h"
#include "simulation/cpu/cores/beyond.h"
#include "simulation/cpu/cores/split.h"

#include <functional>
#include <stop_token>

namespace orrery::pipeline {

/// What became of one core.
struct CoreResult {
    int core = 0;                                   ///< of the chip
    Counters counters;                              ///< `memory` with what it asked of shared caches and of memories
    std::array<SharedCounts, mostCaches> shared{};  ///< by level; 0 for its own caches
    MemoryLines use;
};

class Cores {
public:
    /// One for each of `places` (cores of the chip, ascending), which runs operations of `ops`; these must outlive it.
    Cores(const Chip& chip, const std::vector<int>& places, const std::vector<const std::vector<BoundOp>*>& ops);
    ~Cores();
    Cores(const Cores&) = delete;

    std::size_t size() const { return cores_.size(); }
    Pipeline& at(std::size_t index) { return cores_[index]; }
    using Advanced = std::function<void(std::uint64_t operations)>;
    /// Is told what the first core ran, and when each operation was where.
    using Watched = std::function<void(const OpChunk& chunk, const std::vector<Passage>& passages)>;
    /// Runs each core's stream to its end, or until stopped; `advanced` is told of operations that have run.
    void run(std::vector<NestStream>& streams, const std::stop_token& stop = {}, const Advanced& advanced = {},
             const Watched& watched = {});
    /// Runs the same operations on all, at addresses that are `shifts` of the operation further for each core. Where
    /// `passages` are given, adds one for each operation with the mean over the cores of when it retired.
    void run(const OpChunk& chunk, const std::vector<std::vector<std::uint64_t>>& shifts,
             std::vector<Passage>* passages);
    /// The same, contents only.
    void warm(const OpChunk& chunk, const std::vector<std::vector<std::uint64_t>>& shifts);

    /// All go on from the cycle in which the last of them is done with what has run.
    void align();

    CoreResult result(std::size_t index) const;

private:
    std::size_t least(const std::vector<bool>& done, bool comeBack);

    OthersPassed others_;
    std::unique_ptr<Memories> memories_;
    std::vector<std::vector<std::unique_ptr<SharedCache>>> shared_;  ///< by level and instance; none runs, none is
    std::vector<int> sharedBy_, places_;
    std::vector<Pipeline> cores_;
    OpChunk chunk_;
};

/// The parts of a kernel on cores of a chip: their nests at the addresses that they share, and what ran.
struct SplitRun {
    std::vector<KernelPart> parts;  ///< fewer than cores that were asked, where there is less to divide
    std::vector<CoreResult> cores;  ///< one for each part
    std::uint64_t operations = 0;   ///< of all parts; more than ran where it was stopped or cut

    std::uint64_t cycles() const;  ///< of the core that ended last
    /// Mean of the cores; with `idle`, for which those that were done waited for the last, they sum to cycles().
    std::array<double, causeCount> stack(double& idle) const;
    double bytesMoved() const;  ///< between the memories and the cores
};
struct SplitOptions {
    std::uint64_t longest = 0;  ///< operations of all cores together after which the run is cut; 0: never
    std::stop_token stop;
    std::function<void(std::uint64_t done, std::uint64_t all)> advanced;
    /// As Cores::Watched, with the nest of the first core.
    std::function<void(const LoopNest& nest, const OpChunk& chunk, const std::vector<Passage>& passages)> watched;
};
/// On at most so many cores, one for each part, bound as far from or as close to each other as `binding` says. Fails
/// with the codes of check(Chip) and nestOf().
Expected<SplitRun> runSplit(const KernelSpec& kernel, const Chip& chip, int cores, Binding binding,
                            const SplitOptions& options = {});
/// On these cores, ascending; of those that no part is left for, none runs.
Expected<SplitRun> runSplit(const KernelSpec& kernel, const Chip& chip, const std::vector<int>& places,
                            const SplitOptions& options = {});

}  // namespace orrery::pipeline
