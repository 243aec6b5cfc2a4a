#include "evaluation/fit_cost.h"

#include "evaluation/assumptions.h"
#include "learning/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>

namespace orrery {

namespace {

struct StatedRate {
    std::string_view method;
    FitRate rate;
};
// One core of an AMD EPYC beside other work, November 2026; `orrery-cli methods ID --measure-fit presets/versions`
// repeats it (128 rows at most; booster and forest: the products of A100, 4,096 rows at most).
constexpr std::array statedRates{
    StatedRate{"booster", {5.4e-2, 1.06e-4}},      StatedRate{"forest", {1.0e-2, 6.5e-5}},
    StatedRate{"interval-analysis", {5e-4, 3e-4}}, StatedRate{"mapping-search", {6e-4, 6.5e-5}},
    StatedRate{"tile-hybrid", {0, 2e-3}},          StatedRate{"tile-wave", {6e-4, 9.7e-4}},
    StatedRate{"wave-scaling", {0, 2e-3}}};

constexpr std::size_t fewestRows = 16;

double cpuSeconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double logError(std::span<const FitSample> samples, const FitRate& rate) {
    double error = 0;
    for (const FitSample& each : samples)
        error += std::pow(std::log(rate.seconds(static_cast<double>(each.rows)) / each.seconds), 2);
    return error;
}

}  // namespace

// Both rates step by ever smaller factors; one of them may vanish.
FitRate fitRateOf(std::span<const FitSample> samples) {
    double fixed = HUGE_VAL, perRow = HUGE_VAL;
    for (const FitSample& each : samples) {
        fixed = std::min(fixed, each.seconds);
        perRow = std::min(perRow, each.seconds / static_cast<double>(each.rows));
    }
    FitRate rate{fixed / 2, perRow / 2};
    double error = logError(samples, rate);
    for (const double step : {4.0, 1.5, 1.1, 1.02, 1.005}) {
        for (bool better = true; better;) {
            better = false;
            for (double* each : {&rate.fixed, &rate.perRow}) {
                for (const double factor : {step, 1 / step}) {
                    const double before = *each;
                    *each *= factor;
                    const double now = logError(samples, rate);
                    if (now < error * (1 - 1e-6)) {
                        error = now;
                        better = true;
                    } else {
                        *each = before;
                    }
                }
            }
        }
    }
    return rate;
}

std::optional<FitRate> statedFitRate(std::string_view method) {
    const auto found = std::find_if(statedRates.begin(), statedRates.end(),
                                    [&](const StatedRate& each) { return each.method == method; });
    if (found == statedRates.end()) return std::nullopt;
    return found->rate;
}

std::optional<Seconds> fittingTime(const MethodCard& card, std::string_view asked,
                                   std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                   const CalibrationSet& calibrations) {
    double seconds = 0;
    for (const std::string& part : standsOn(card, asked, tables, rows)) {
        const auto sections = sectionsBehind(part, tables, rows, calibrations);
        if (sections.empty()) continue;
        const auto rate = statedFitRate(part);
        if (!rate) return std::nullopt;
        for (const CalibrationSection* section : sections) {
            std::int64_t fitted = 0;
            for (const CalibrationSource& source : section->sources) fitted += source.rows;
            seconds += rate->seconds(static_cast<double>(fitted));
        }
    }
    return Seconds(seconds);
}

Expected<MeasuredFit> measureFit(const KernelMethod& method, std::span<const ReferenceTable> tables,
                                 std::span<const RowRef> rows, std::stop_token stop) {
    if (!method.fit) {
        return fail("calibration.nothing-to-fit", fmt::format("{} has nothing to fit", method.id),
                    "a method with free parameters");
    }
    const auto& platforms = method.card.platforms;
    const bool cpus = std::find(platforms.begin(), platforms.end(), "CPU") != platforms.end();
    Diagnostics warnings;
    const auto devices = kernelRows(tables, rows, warnings, cpus);
    if (!devices) return tl::unexpected(devices.error());
    MeasuredFit measured;
    for (const KernelRows& device : *devices) {
        std::map<std::string, std::vector<std::size_t>> families;
        for (std::size_t i = 0; i < device.kernels.size(); ++i) {
            const Kernel& kernel = device.kernels[i];
            families[fmt::format("{} {} {}", device.deviceId, toText(kernel.kind), kernelVariant(kernel))].push_back(i);
        }
        for (const auto& [family, members] : families) {
            for (std::size_t count = fewestRows; count <= members.size(); count *= 2) {
                KernelRows part{device.gpu, device.deviceId, device.source, {}, {}, {}};
                for (std::size_t k = 0; k < count; ++k) {
                    const std::size_t i = members[k * members.size() / count];
                    part.kernels.push_back(device.kernels[i]);
                    part.seconds.push_back(device.seconds[i]);
                    if (!device.byHost.empty()) part.byHost.push_back(device.byHost[i]);
                }
                FitOptions options;
                options.stop = stop;
                const double begun = cpuSeconds();
                const auto fitted = method.fit(std::span(&part, 1), options);
                const double taken = cpuSeconds() - begun;
                if (stop.stop_requested()) return fail("study.cancelled", "stopped while it was measured");
                // Kinds that it has no physics for are not its own.
                if (fitted && !fitted->sections.empty())
                    measured.samples.push_back({family, static_cast<std::int64_t>(count), std::max(taken, 1e-6)});
            }
        }
    }
    if (measured.samples.empty()) {
        return fail("calibration.few-rows",
                    fmt::format("no family of these rows has {} that {} fits", fewestRows, method.id),
                    "more rows of one device, kind and variant");
    }
    measured.fitted = fitRateOf(measured.samples);
    return measured;
}

}  // namespace orrery
