#include "simulation/cpu/cores/sample_cores.h"

#include <utility>

namespace orrery::pipeline {

CoresRunner::CoresRunner(const LoopNest& nest, const Chip& chip, const std::vector<std::vector<std::int64_t>>& copies)
    : ops_(boundOps(chip.core, nest.ops)),
      cores_(chip, placesOf(chip, static_cast<int>(copies.size()), Binding::Close), {copies.size(), &ops_}) {
    const std::uint64_t apart = copyBytes({&nest});
    for (const auto& each : copies) shifts_.push_back(shiftsOf(nest, each, apart));
}

void CoresRunner::warm(const OpChunk& chunk) {
    cores_.warm(chunk, shifts_);
    apart_ = true;
}

void CoresRunner::run(const OpChunk& chunk) {
    if (std::exchange(apart_, false)) cores_.align();
    cores_.run(chunk, shifts_, nullptr);
}

void CoresRunner::run(const OpChunk& chunk, std::vector<Passage>& passages) {
    if (std::exchange(apart_, false)) cores_.align();
    cores_.run(chunk, shifts_, &passages);
}

Counters CoresRunner::counters() const {
    Counters mean = cores_.result(0).counters;
    std::uint64_t cycles = 0;
    for (std::size_t i = 0; i < cores_.size(); ++i) cycles += cores_.result(i).counters.cycles;
    mean.cycles = cycles / cores_.size();
    return mean;
}

}  // namespace orrery::pipeline
