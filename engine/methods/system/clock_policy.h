#pragma once

// The clock of a replica, iteration by iteration. Decoding is bound by memory, so that a slower clock costs little time
// and saves much power; a prompt is bound by arithmetic and keeps the nominal clock.

#include "methods/model/kernel_iteration.h"
#include "serving/serving_scenario.h"

namespace orrery {

/// Clock shares that are tried, highest first: from the nominal clock down in steps of 5 % to 40 %.
inline constexpr double lowestClockShare = 0.4, clockStep = 0.05;

/// The lowest share at which an iteration of decodes, host included, lasts no longer than `tokenSeconds`; the nominal
/// clock if none does, and for iterations with prompts. Above it never less energy than at the share that needs least.
double lowestClock(const KernelIterationTime& kernels, const IterationWork& work, double tokenSeconds);

/// `time` under the pool's policy (throttLL'eM: Kakolyris et al., HPCA 2025, choose the lowest frequency that keeps the
/// promise, and resize engines: up to 43.8 % less energy; without resizing, this policy saves about half of that:
/// resources/handbook/serving.md). Only kernels can be asked at another clock: tables and laws stay as they were
/// measured.
IterationTimePtr applyClock(const IterationTimePtr& time, const std::shared_ptr<const KernelIterationTime>& kernels,
                            const PoolSpec& pool, const ServiceLevel& promise);

}  // namespace orrery
