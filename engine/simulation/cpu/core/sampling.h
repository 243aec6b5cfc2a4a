#pragma once

// Sampled runs of a nest with an interval: units drawn one from each of equal strata (SMARTS: Wunderlich et al., ISCA
// 2003, with a random place in each stratum so that no period of the kernel can hide), or from clusters of alike
// intervals (SimPoint: Sherwood et al., ASPLOS 2002, with at least two drawn from each, so that a spread is known), or
// from the strata of the nest's own loops (strata.h), of which a rare one may take most of the time: a loop that packs.

#include "base/diagnostic.h"
#include "simulation/cpu/core/kernels/nest.h"
#include "simulation/cpu/core/pipeline.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace orrery::pipeline {

enum class SampleKind : std::uint8_t { Smarts, SimPoint, Loops };

struct SampleOptions {
    SampleKind kind = SampleKind::Smarts;
    std::uint64_t units = 200;      ///< measured
    std::uint64_t unit = 1000;      ///< operations of one
    std::uint64_t detailed = 1500;  ///< operations simulated before it
    std::uint64_t warmed = 250000;  ///< operations before those that pass through caches and predictor alone
    double confidence = 0.95;
    std::uint64_t seed = 1;
    KernelStart start = {};  ///< of a nest on one core; several cores begin with empty caches
    std::stop_token stop;
};

struct SampleResult {
    double cpi = 0, low = 0, high = 0;                   ///< cycles per operation
    std::uint64_t units = 0, simulated = 0, warmed = 0;  ///< operations, of the detailed and the functional model
    std::uint64_t operations = 0;                        ///< of the whole
    double instructionsPerOperation = 1;
    int clusters = 0;    ///< or strata
    bool whole = false;  ///< too short to be sampled: simulated from end to end
};

SampleResult sampled(const LoopNest& nest, const Machine& machine, const SampleOptions& options);

/// What runs the operations of a nest: a core, or several at once (../cores) of which the mean counts.
class SampleRunner {
public:
    virtual ~SampleRunner() = default;
    virtual void warm(const OpChunk& chunk) = 0;
    virtual void run(const OpChunk& chunk) = 0;
    /// Adds a passage for each operation.
    virtual void run(const OpChunk& chunk, std::vector<Passage>& passages) = 0;
    virtual Counters counters() const = 0;
};
/// `runner` has run nothing yet.
SampleResult sampled(const LoopNest& nest, SampleRunner& runner, const SampleOptions& options);

}  // namespace orrery::pipeline
