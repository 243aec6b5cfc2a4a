#pragma once

// A first-order interval model of the core over one functional pass (Karkhanis and Smith, ISCA 2004; Eyerman et al.,
// ACM TOCS 27, 2009): windows of half the reorder buffer proceed at the pace of widths and ports, wait for the values
// that they need and for the window before the last, and start anew behind wrong guesses.

#include "simulation/cpu/core/memory.h"
#include "simulation/cpu/core/predictor.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery::pipeline {

struct IntervalResult {
    double cycles = 0;
    std::uint64_t instructions = 0, operations = 0, mispredicted = 0, branches = 0;
    MemoryCounts memory;
};

class IntervalModel {
public:
    IntervalModel(const Machine& machine, const std::vector<BoundOp>& ops);
    void run(const OpChunk& chunk);
    IntervalResult result() const;

private:
    void closeWindow();

    Machine machine_;
    const std::vector<BoundOp>& ops_;
    Memory memory_;
    Predictor predictor_;
    std::array<double, 256> ready_{};
    std::array<double, mostPorts> load_{};
    std::array<double, mostCaches + 1> latency_{};
    double start_ = 0, end_ = 0, before_ = 0;  ///< of this window, and when all of the one before was done
    double slots_ = 0, missCycles_ = 0;
    double channelFree_ = 0;
    int size_;
    IntervalResult total_;
    std::uint64_t linesBefore_ = 0;
};

}  // namespace orrery::pipeline
