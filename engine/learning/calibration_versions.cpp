#include "learning/calibration_versions.h"

#include "hardware/views/power_limit.h"

#include <array>
#include <string_view>
#include <utility>

namespace orrery::detail {

namespace {

// The share that each was fitted beside in version 1.
constexpr std::array<std::pair<std::string_view, double>, 2> firstShares{
    {{"switched energy", 0.15}, {"arithmetic energy", 0.2}}};

// Blocks of decode attention were stated in seconds of the device that they were fitted on; now at one clock.
void stateBlocksInCycles(CalibrationSection& section) {
    auto& values = section.parameters;
    if (!section.device || !values.contains("grouped block") || values.contains("detached gain")) return;
    constexpr double referenceClock = 1.8e9, wideUnit = 6000, gain = 2.5;
    const DeviceFingerprint& device = *section.device;
    if (device.clock <= 0 || device.sms <= 0) return;
    const double speed = device.clock / referenceClock;
    for (const char* time : {"grouped block", "head block"}) values[time] *= speed;
    for (const char* rate : {"grouped rate", "head rate"}) values[rate] /= speed;
    // A device that has the gain had it in its numbers already.
    values["detached gain"] = device.matrixPeak / (device.sms * device.clock) > wideUnit ? 1 : gain;
}

// Version 1 of the tile methods priced attention over narrow caches alike on all devices. Who has a kernel of its own
// for it (Hopper) had the gain in its numbers; who widens the cache had half the rates, of the units and of the stream,
// that were reckoned with.
void keepNarrowCachesAsFitted(CalibrationSection& section) {
    // Operations of a multiprocessor's tensor units in a cycle: above Ada's, Ampere's and Hopper's.
    constexpr double slowUnit = 1500, fetchingUnit = 3000, wideUnit = 6000;
    if (!section.device || section.variant.find(" kv") == section.variant.npos) return;
    auto& values = section.parameters;
    const auto scale = [&](const char* name, double by) {
        if (const auto found = values.find(name); found != values.end()) found->second *= by;
    };
    const DeviceFingerprint& device = *section.device;
    const double rate = device.sms * device.clock > 0 ? device.matrixPeak / (device.sms * device.clock) : 0;
    if (section.kind == KernelKind::PrefillAttention && rate < slowUnit) scale("tensor share", 2);
    if (!values.contains("grouped block")) return;
    if (rate < fetchingUnit) scale("grouped rate", 2), scale("head rate", 2);
    if (rate > fetchingUnit && rate < wideUnit) values["fetching gain"] = 1;
}

// Launches, tiles and blocks of prefill, and launches of experts, were stated in seconds of the device that they were
// fitted on; now at one clock. What a power cap, a cache of one piece and units that fetch no operands do was in those
// numbers.
void keepCapsAndCachesAsFitted(CalibrationSection& section) {
    auto& values = section.parameters;
    constexpr double referenceClock = 1.8e9, nothing = 1e-15, few = 1e-6;
    const double speed = section.device && section.device->clock > 0 ? section.device->clock / referenceClock : 1;
    const bool prefill = values.contains("per tile") && !values.contains("fragment share");
    const bool decode = values.contains("grouped block"), experts = values.contains("expert block");
    if (values.contains("whole cache") || !(prefill || decode || experts)) return;
    values["whole cache"] = 1;
    const auto scale = [&](const char* name) {
        if (const auto found = values.find(name); found != values.end()) found->second *= speed;
    };
    if (!decode) scale("launch"), values["switched energy"] = nothing;
    if (prefill) {
        scale("per tile"), scale("per block");
        values["fetching launch"] = values["open block"] = 1, values["fragment share"] = few;
    }
    if (experts) scale("between products");
}

// Latencies of collectives were stated in seconds of the device that they were fitted on; now at one clock.
void stateLatenciesAtOneClock(CalibrationSection& section) {
    auto& values = section.parameters;
    if (!values.contains("ll128 step") || values.contains("late links")) return;
    constexpr double referenceClock = 1.8e9;
    const double speed = section.device && section.device->clock > 0 ? section.device->clock / referenceClock : 1;
    for (const char* time : {"launch", "ll step", "ll128 step", "simple start", "all-to-all start", "shot launch",
                             "shot step", "shot fill", "second shot"}) {
        if (const auto found = values.find(time); found != values.end()) found->second *= speed;
    }
    // What came since was in those numbers, or was not.
    values["late links"] = 1, values["bus step"] = 1, values["simple from"] = 1;
}

// Products fitted before caches of one piece and wide tensor units were told apart had both in their numbers.
void keepProductsAsFitted(CalibrationSection& section) {
    auto& values = section.parameters;
    if (!values.contains("switched energy") || values.contains("whole cache")) return;
    values["whole cache"] = 1, values["width saving"] = 0.001;
}

// Products fitted before kernels of narrow formats were told apart: physics knows them by the mark. A cache of one piece
// was stated by one of halves.
void keepProductKernelsAsFitted(CalibrationSection& section) {
    auto& values = section.parameters;
    if (!values.contains("step latency") || values.contains("scaled sum")) return;
    constexpr double mark = 0.001;  // gemmAnyKernel
    values["scaled sum"] = mark;
    if (const auto reach = values.find("cache reach"); reach != values.end() && values.contains("whole cache")) {
        values["whole cache"] *= reach->second;
    }
}

}  // namespace

void bringUpToDate(Calibration& calibration, int version) {
    for (CalibrationSection& section : calibration.sections) {
        stateBlocksInCycles(section);
        if (calibration.methodVersion == "1") keepNarrowCachesAsFitted(section);
        stateLatenciesAtOneClock(section);
        keepProductsAsFitted(section);
        keepProductKernelsAsFitted(section);
        keepCapsAndCachesAsFitted(section);
    }
    if (version > 1) return;
    for (CalibrationSection& section : calibration.sections) {
        for (const auto& [name, share] : firstShares) {
            const auto energy = section.parameters.find(name);
            if (energy != section.parameters.end()) energy->second *= (1 - staticShareOfCap) / (1 - share);
        }
    }
}

}  // namespace orrery::detail
