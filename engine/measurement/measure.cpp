#include "measurement/measure.h"

#include "measurement/machine_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace orrery {

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// Shorter samples drown in the clock's own cost and resolution.
constexpr double leastSample = 20e-6;

Expected<KernelRunnerPtr> runnerFor(const Kernel& kernel, std::span<const KernelLibraryPtr> libraries, double coldBytes,
                                    std::string& library) {
    Expected<KernelRunnerPtr> made = fail("measure.no-library", "there is no library of kernels");
    for (const auto& each : libraries) {
        auto next = each->make(kernel, coldBytes);
        if (!next) {
            // What the first, most able one says is what a person wants to read.
            if (&each == &libraries.front()) made = Unexpected(std::move(next.error()));
            continue;
        }
        library = each->name();
        return next;
    }
    return made;
}

/// `seconds(first, runs)`: what so many runs take.
template <class Run>
Expected<Timing> timed(const MeasureOptions& options, Run&& seconds) {
    std::size_t number = 0;
    double once = 1;
    for (int i = 0; i < std::max(1, options.warmUps); ++i) {
        const Expected<double> took = seconds(number++, 1);
        if (!took) return tl::unexpected(took.error());
        once = std::min(once, *took);
    }
    const auto group = static_cast<std::size_t>(std::clamp(std::ceil(leastSample / std::max(once, 1e-9)), 1.0, 1000.0));
    std::vector<double> samples;
    const auto begin = Clock::now();
    while (static_cast<int>(samples.size()) < options.mostRepeats &&
           (static_cast<int>(samples.size()) < options.leastRepeats || since(begin) < options.secondsPerKernel)) {
        if (options.stop.stop_requested()) break;
        const Expected<double> took = seconds(number, group);
        if (!took) return tl::unexpected(took.error());
        number += group;
        samples.push_back(*took / static_cast<double>(group));
    }
    return timingOf(std::move(samples));
}

Unexpected cancelled() {
    return fail("study.cancelled", "the measurement was stopped");
}

}  // namespace

Expected<double> KernelRunner::seconds(std::size_t first, std::size_t runs) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < runs; ++i) run(first + i);
    return since(start);
}

double KernelLibrary::clock() const {
    return clockByAdditions();
}

Timing timingOf(std::vector<double> samples) {
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double share) {
        const double place = share * static_cast<double>(samples.size() - 1);
        const auto low = static_cast<std::size_t>(place);
        const auto high = std::min(low + 1, samples.size() - 1);
        return samples[low] + (place - static_cast<double>(low)) * (samples[high] - samples[low]);
    };
    constexpr double quartilesPerSigma = 1.349;  // of a normal distribution
    Timing timing{at(0.5), samples.front(), 0, static_cast<int>(samples.size())};
    if (timing.median > 0) timing.spread = (at(0.75) - at(0.25)) / quartilesPerSigma / timing.median;
    return timing;
}

std::string Measurement::software() const {
    std::vector<std::string> names;
    for (const auto& row : rows) {
        if (std::find(names.begin(), names.end(), row.library) == names.end()) names.push_back(row.library);
    }
    return fmt::format("{}", fmt::join(names, " + "));
}

std::vector<KernelLibraryPtr> kernelLibraries(Diagnostics& notes) {
    std::vector<KernelLibraryPtr> all;
    for (const auto load : {&loadOneDnn, &loadOpenBlas}) {
        if (auto library = load()) {
            all.push_back(std::move(*library));
        } else {
            notes.push_back(warning(library.error().code, library.error().message, library.error().hint));
        }
    }
    all.push_back(ownKernels());
    return all;
}

Expected<Measurement> measureKernels(std::span<const Kernel> kernels, std::span<const KernelLibraryPtr> libraries,
                                     const MeasureOptions& options) {
    Measurement measurement;
    if (options.progress) options.progress->setTotal(kernels.size());
    std::size_t refused = 0;
    for (const Kernel& kernel : kernels) {
        if (options.stop.stop_requested()) return cancelled();
        std::string library;
        auto runner = runnerFor(kernel, libraries, options.coldBytes, library);
        if (runner) {
            const auto timing =
                timed(options, [&](std::size_t first, std::size_t runs) { return (*runner)->seconds(first, runs); });
            if (options.stop.stop_requested()) return cancelled();
            if (!timing) return tl::unexpected(timing.error());
            // The first kernels wake a device whose clock rests: it is read once they ran.
            if (measurement.rows.empty()) measurement.clockBefore = libraries.front()->clock();
            measurement.rows.push_back({kernel, *timing, std::move(library)});
        } else if (++refused == 1) {
            measurement.warnings.push_back(warning(runner.error().code, runner.error().message, runner.error().hint));
        }
        if (options.progress) options.progress->advance();
    }
    if (measurement.rows.empty()) {
        return fail("measure.nothing", fmt::format("none of the {} kernels can be run here", kernels.size()),
                    "kinds and types that an installed library has",
                    measurement.warnings.empty() ? "" : measurement.warnings.front().message);
    }
    if (refused > 0) {
        measurement.warnings.back().message += fmt::format("; {} of {} kernels were left out", refused, kernels.size());
    }
    measurement.clockAfter = libraries.front()->clock();
    const bool known = measurement.clockBefore > 0 && measurement.clockAfter > 0;
    if (known && std::abs(measurement.clockAfter / measurement.clockBefore - 1) > 0.05) {
        measurement.warnings.push_back(
            warning("measure.clock",
                    fmt::format("the clock moved from {:.2f} to {:.2f} GHz while it was measured",
                                measurement.clockBefore / 1e9, measurement.clockAfter / 1e9),
                    "let the machine cool, fix its clock, or stop what else runs, and measure again"));
    }
    return measurement;
}

Expected<Timing> measurePass(std::span<const Kernel> kernels, std::span<const KernelLibraryPtr> libraries,
                             const MeasureOptions& options) {
    std::vector<KernelRunnerPtr> runners;
    for (const Kernel& kernel : kernels) {
        std::string library;
        // Weights of other layers push these out of the caches, as in the model itself: one copy is enough.
        auto runner = runnerFor(kernel, libraries, 0, library);
        if (!runner) return Unexpected(std::move(runner.error()));
        runners.push_back(std::move(*runner));
        if (options.stop.stop_requested()) return cancelled();
    }
    auto timing = timed(options, [&](std::size_t first, std::size_t runs) -> Expected<double> {
        const auto start = Clock::now();
        for (std::size_t i = 0; i < runs; ++i)
            for (auto& runner : runners) runner->run(first + i);
        return since(start);
    });
    if (options.stop.stop_requested()) return cancelled();
    return timing;
}

}  // namespace orrery
