#include "simulation/cpu/cores/sample_cores.h"

namespace orrery::pipeline {

CoresRunner::CoresRunner(const LoopNest& nest, const Chip& chip, const std::vector<std::vector<std::int64_t>>& copies)
    : ops_(boundOps(chip.core, nest.ops)),
      cores_(chip, placesOf(chip, static_cast<int>(copies.size()), Binding::Close), {copies.size(), &ops_}) {
    const std::uint64_t apart = copyBytes({&nest});
    for (const auto& each : copies) shifts_.push_back(shiftsOf(nest, each, apart));
}

Counters CoresRunner::counters() const {
    Counters mean = cores_.result(0).counters;
    std::uint64_t cycles = 0;
    for (std::size_t i = 0; i < cores_.size(); ++i) cycles += cores_.result(i).counters.cycles;
    mean.cycles = cycles / cores_.size();
    return mean;
}

}  // namespace orrery::pipeline
