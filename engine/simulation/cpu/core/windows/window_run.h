#pragma once

// One window of a kernel on the pipeline itself, with what leads to it, and with its lines where the nest's reuse says
// that they stand: what a simulation of the whole would find there, at the cost of the window.

#include "simulation/cpu/core/pipeline.h"
#include "simulation/cpu/core/windows/window_flow.h"

namespace orrery::pipeline {

/// Operations of a kernel that tell for others.
struct WindowPlace {
    std::uint64_t begin = 0, length = 0;
    std::uint64_t turn = 0, reach = 0;    ///< of the loop that it is cut from; from its begin to the end of that loop
    std::uint64_t shift = 0, shifts = 0;  ///< the same come so many operations earlier, so often
};

class WindowRun {
public:
    struct Result {
        double cycles = 0, mispredicted = 0;  ///< per operation
    };
    WindowRun(const LoopNest& nest, const NestReuse& reuse, const std::vector<int>& nodeOf,
              const std::vector<BoundOp>& ops, const Machine& machine);
    /// From retirement to retirement; the mean of the phases. Prefetchers begin anew on each page: where lines stream
    /// from outside the first cache, turns are added until they take about a page, or else earlier ones are run too.
    /// `history`: operations before them whose branches pass through the predictor.
    Result run(const WindowPlace& place, std::uint64_t history);
    /// The whole kernel from its start on: what its classes took (class by static operation, −1: none).
    std::vector<Result> whole(const std::vector<int>& classOf, std::size_t classes, const KernelStart& start);

private:
    void lead(std::uint64_t begin, std::uint64_t history);
    void read(std::uint64_t end, OpChunk& into);
    void readMiddle(std::uint64_t end);
    Result phases();
    std::uint64_t pageLength() const;
    void settle(std::size_t phase);

    const LoopNest& nest_;
    const NestReuse& reuse_;
    const std::vector<int>& nodeOf_;
    const std::vector<BoundOp>& ops_;
    NestStream stream_;
    WindowLevels levels_;
    Pipeline core_;
    OpChunk lead_, tail_;
    std::vector<OpChunk> middle_;
    std::size_t chunks_ = 0;  ///< of the middle, that are in use
    Window stretch_;
};

}  // namespace orrery::pipeline
