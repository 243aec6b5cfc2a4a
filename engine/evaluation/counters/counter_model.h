#pragma once

// Counters of GPU kernels that are predicted from code and device (code_features.h), learned from what our own
// simulators counted on kernels that were drawn by seed. Counts are learned as factors on what follows without
// learning, shares as they are; the file is that of surrogates (learning/surrogate.h), with its intervals.

#include "base/executor.h"
#include "base/progress.h"
#include "evaluation/counters/code_features.h"
#include "learning/surrogate.h"
#include "simulation/gpu/simulate.h"

#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

struct CounterSample {
    std::string device, kernel;
    KernelCode code;
    CounterValues counted{};
};

struct CounterDraw {
    std::size_t samples = 600;
    std::uint64_t seed = 1;
    std::vector<std::string> devices;  ///< ids; empty: counterDevices()
    bool cycles = false;               ///< counted by `gpu-cycle` (small kernels as a whole) instead of `gpu-interval`
    Executor* executor = nullptr;
    std::stop_token stop;
    Progress* progress = nullptr;
};
/// GPUs of the catalogue that samples are drawn for: warps of 32 lanes and one L2.
const std::vector<std::string>& counterDevices();
/// Products, attention, rows and elements with drawn extents and types. Kernels that do not run are drawn again. The
/// same seed gives the same samples, whatever the threads. Fails with `counters.devices`, `study.cancelled`.
Expected<std::vector<CounterSample>> drawCounters(const CounterDraw& draw);
/// What a simulator counts of one kernel.
Expected<CounterValues> countedBy(const KernelProgram& program, const gpusim::Machine& machine, bool cycles,
                                  const std::stop_token& stop);

/// Of one kernel that was simulated as a whole.
CounterValues countersOf(const gpusim::KernelResult& run, const gpusim::Machine& machine);

struct CounterAnswer {
    double value = 0, low = 0, high = 0;  ///< 90 %
};
using CounterAnswers = std::array<CounterAnswer, gpuCounters>;

class CounterModel {
public:
    /// Boosted trees, or where they are no better on a quarter of the samples, ridge. Fails as fitSurrogate().
    static Expected<CounterModel> fit(std::span<const CounterSample> samples, std::uint64_t seed,
                                      const std::stop_token& stop, Executor* executor = nullptr);
    /// Shares of issue slots that sum to more than 1 are scaled to it.
    CounterAnswers answer(const KernelCode& code) const;
    /// How far outside of what was seen: intervals are so many times as wide; 1: inside.
    double widening(const KernelCode& code) const;
    const Surrogate& surrogate() const { return surrogate_; }
    Surrogate& surrogate() { return surrogate_; }
    std::string text() const { return writeSurrogate(surrogate_); }
    /// `presets/counters/gpu-interval.json`, or another file. Fails with `surrogate.…`, and with `counters.model` for a
    /// surrogate of something else.
    static Expected<CounterModel> load(const std::string& path = {});

private:
    Surrogate surrogate_;
};

/// How good predictions are on samples that the model has not seen: of counts the mean, median and ninetieth percentile
/// of |said ÷ counted − 1|, of shares the same of |said − counted|.
struct CounterFigures {
    double mean = 0, median = 0, ninetieth = 0, coverage = 0;
};
struct CounterJudgement {
    std::string what;  ///< `unseen kernels`, or the device that was left out
    std::size_t samples = 0;
    std::array<CounterFigures, gpuCounters> learned, ridge, plain;
};
/// A fifth of the samples by a model of the others, and each of `leftOut` devices by a model of the other devices.
/// `ridge`: on the same features and rows.
Expected<std::vector<CounterJudgement>> judgeCounters(std::span<const CounterSample> samples, std::uint64_t seed,
                                                      std::span<const std::string> leftOut, const std::stop_token& stop,
                                                      Executor* executor = nullptr);

/// Of a model as it is, on samples that it was not learned from.
std::array<CounterFigures, gpuCounters> counterFigures(const CounterModel& model,
                                                       std::span<const CounterSample> samples);

}  // namespace orrery
