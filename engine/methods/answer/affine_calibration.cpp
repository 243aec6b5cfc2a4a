#include "methods/answer/affine_calibration.h"

#include "base/unit.h"
#include "learning/fit_section.h"
#include "learning/section_price.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace orrery {

namespace {

constexpr std::string_view constantName = "launch constant", stretchName = "stretch", hostName = "framework launch";
constexpr double greatestConstant = 1e-3, leastStretch = 0.5, greatestStretch = 10;
constexpr double unmeasured = 2;  // a factor either way

double parameter(const CalibrationSection& section, std::string_view name, double fallback) {
    const auto found = section.parameters.find(name);
    return found != section.parameters.end() ? found->second : fallback;
}

class Fit {
public:
    Fit(std::span<const double> nominal, std::span<const double> measured, std::span<const std::size_t> rows)
        : nominal_(nominal), measured_(measured), rows_(rows) {}

    double error(const Affine& affine) const {
        double sum = 0;
        for (const std::size_t i : rows_) sum += std::abs(std::log(measured_[i] / affine(nominal_[i])));
        return sum;
    }
    // Least error over the constant: a coarse look over its decades, then golden section around the best.
    Affine bestConstant(double stretch) const {
        Affine best{0, stretch};
        double least = error(best);
        for (int i = 0; i <= 40; ++i) {
            const Affine next{1e-7 * std::pow(greatestConstant / 1e-7, i / 40.0), stretch};
            if (const double e = error(next); e < least) {
                least = e;
                best = next;
            }
        }
        double low = best.constant / 1.3, high = best.constant > 0 ? best.constant * 1.3 : 2e-7;
        const auto at = [&](double constant) { return error({constant, stretch}); };
        for (int i = 0; i < 24; ++i) {
            const double a = high - 0.618034 * (high - low), b = low + 0.618034 * (high - low);
            (at(a) < at(b) ? high : low) = at(a) < at(b) ? b : a;
        }
        const Affine refined{(low + high) / 2, stretch};
        return error(refined) < least ? refined : best;
    }

private:
    std::span<const double> nominal_, measured_;
    std::span<const std::size_t> rows_;
};

struct Group {
    std::vector<Kernel> kernels;
    std::vector<double> nominal, measured;
    std::vector<std::uint8_t> byHost;
    double launch = 0;  // s, as the device states it
    std::optional<DeviceFingerprint> device;
    std::vector<CalibrationSource> sources;
    std::vector<std::int32_t> deviceOfRow;
};

// What a host adds, from the rows that it timed; `affine` of the others, or of these where there are no others.
struct HostFit {
    Affine affine;
    double host = 0;
    bool ownConstant = true;  // false: the constant is what the device states
};
HostFit fitWithHost(const Group& group, std::span<const std::size_t> fitTo, bool fitStretch) {
    std::vector<std::size_t> device, host;
    for (const std::size_t i : fitTo) (group.byHost[i] != 0 ? host : device).push_back(i);
    HostFit fit;
    fit.affine = fitAffine(group.nominal, group.measured, device.empty() ? host : device, fitStretch);
    if (host.empty()) return fit;
    const Fit ofHost(group.nominal, group.measured, host);
    if (!device.empty()) {
        fit.host = std::max(0.0, ofHost.bestConstant(fit.affine.stretch).constant - fit.affine.constant);
    } else if (fit.affine.constant > group.launch) {
        fit.host = fit.affine.constant - group.launch;
        fit.affine.constant = group.launch;
        fit.ownConstant = false;
    }
    return fit;
}

}  // namespace

Affine fitAffine(std::span<const double> nominal, std::span<const double> measured, std::span<const std::size_t> fitTo,
                 bool fitStretch) {
    const Fit fit(nominal, measured, fitTo);
    if (!fitStretch) return fit.bestConstant(1);
    Affine best = fit.bestConstant(1);
    double least = fit.error(best);
    double low = leastStretch, high = greatestStretch;
    for (int round = 0; round < 3; ++round) {
        const double ratio = std::pow(high / low, 1.0 / 12);
        double centre = best.stretch;
        for (int i = 0; i <= 12; ++i) {
            const Affine next = fit.bestConstant(low * std::pow(ratio, i));
            if (const double e = fit.error(next); e < least) {
                least = e;
                best = next;
                centre = next.stretch;
            }
        }
        low = std::max(leastStretch, centre / ratio);
        high = std::min(greatestStretch, centre * ratio);
    }
    return best;
}

AffineSections::AffineSections(std::string_view method, const CalibrationSet& calibrations, const GpuView& gpu)
    : keep_(calibrations), launch_(gpu.device.launchOverhead.value) {
    for (const auto& calibration : keep_.all()) {
        if (calibration->method != method) continue;
        for (const CalibrationSection& section : calibration->sections) {
            const auto found = keep_.find(method, section.kind, section.variant, gpu);
            if (!found.section) continue;
            const bool known = std::any_of(entries_.begin(), entries_.end(),
                                           [&](const Entry& entry) { return entry.section == found.section; });
            if (!known) entries_.push_back({found.section, distanceAbroad(keep_, method, *found.section, gpu)});
        }
    }
}

const AffineSections::Entry* AffineSections::entry(const Kernel& kernel) const {
    if (entries_.empty()) return nullptr;
    const std::string variant = kernelVariant(kernel);
    for (const Entry& each : entries_) {
        if (each.section->kind == kernel.kind && each.section->variant == variant) return &each;
    }
    return nullptr;
}

const CalibrationSection* AffineSections::find(const Kernel& kernel) const {
    const Entry* found = entry(kernel);
    return found ? found->section : nullptr;
}

Affine AffineSections::of(const Kernel& kernel) const {
    const Entry* found = entry(kernel);
    if (!found) return {launch_, 1};
    return {parameter(*found->section, constantName, launch_), parameter(*found->section, stretchName, 1)};
}

double AffineSections::hostLaunch(const Kernel& kernel) const {
    const Entry* found = entry(kernel);
    return found ? parameter(*found->section, hostName, 0) : 0;
}

KernelPrice AffineSections::priced(const Entry* found, double seconds, Bound bound) const {
    KernelPrice price;
    price.bound = bound;
    const SectionPrice section =
        found ? priceWith(*found->section, seconds, {}, 0, found->distance) : unfittedPrice(seconds);
    price.seconds = section.seconds, price.low = section.low, price.high = section.high;
    price.domain = section.domain;
    price.errorKnown = section.errorKnown;
    return price;
}

double AffineSections::correlation(KernelKind kind) const {
    for (const Entry& each : entries_) {
        if (each.section->kind == kind) return correlationAbroad(*each.section, each.distance);
    }
    return 0;
}

KernelPrice AffineSections::priceByHost(const Kernel& kernel, double nominalSeconds, Bound bound) const {
    const Affine affine = of(kernel);
    const double host = hostLaunch(kernel);
    if (affine.constant + host > affine.stretch * nominalSeconds) bound = {BoundKind::Overhead, -1};
    return priced(entry(kernel), affine(nominalSeconds) + host, bound);
}

KernelPrice AffineSections::price(const Kernel& kernel, double nominalSeconds, Bound bound) const {
    const Entry* found = entry(kernel);
    const Affine affine = of(kernel);
    const double host = hostLaunch(kernel), seconds = affine(nominalSeconds);
    if (affine.constant > affine.stretch * nominalSeconds) bound = {BoundKind::Overhead, -1};
    KernelPrice price = priced(found, seconds + host, bound);
    if (host <= 0) return price;
    const double below = price.seconds - price.low, above = price.high - price.seconds;
    price.seconds = seconds;
    price.low = seconds - std::min(seconds / unmeasured, below);
    price.high = seconds + std::min(seconds * (unmeasured - 1), above + host);
    price.domain = std::max(price.domain, DomainVerdict::Edge);
    return price;
}

Expected<Calibration> fitAffineCalibration(std::string_view method, std::string_view version,
                                           std::span<const KernelRows> rows, const FitOptions& options, bool fitStretch,
                                           const std::function<NominalSeconds(const GpuView&)>& bound) {
    std::map<std::pair<int, std::string>, Group> groups;
    for (std::size_t d = 0; d < rows.size(); ++d) {
        const KernelRows& device = rows[d];
        const NominalSeconds nominal = bound(device.gpu);
        for (std::size_t i = 0; i < device.kernels.size(); ++i) {
            if (options.stop.stop_requested()) break;
            const Kernel& kernel = device.kernels[i];
            const double seconds = nominal(kernel);
            if (!(seconds > 0) || !(device.seconds[i] > 0)) continue;
            std::string key = kernelVariant(kernel);
            if (!options.acrossDevices) key += '\n' + std::to_string(d);
            Group& group = groups[{static_cast<int>(kernel.kind), key}];
            if (group.kernels.empty() && !options.acrossDevices) {
                group.device = fingerprint(device.gpu, kernel.type);
                group.device->id = device.deviceId;
            }
            if (group.deviceOfRow.empty() || group.deviceOfRow.back() != static_cast<std::int32_t>(d)) {
                group.sources.push_back(device.source);
            }
            group.kernels.push_back(kernel);
            group.nominal.push_back(seconds);
            group.measured.push_back(device.seconds[i]);
            group.byHost.push_back(i < device.byHost.size() ? device.byHost[i] : 0);
            group.launch = device.gpu.device.launchOverhead.value;
            group.deviceOfRow.push_back(static_cast<std::int32_t>(d));
        }
    }
    if (groups.empty()) {
        return fail("learning.no-rows", "no measured kernel is priced by this method", "rows of kernels that it covers",
                    "choose other references or another method");
    }
    Calibration calibration;
    calibration.method = method;
    calibration.methodVersion = version;
    for (const auto& [key, group] : groups) {
        if (options.stop.stop_requested()) break;
        SectionOptions section;
        section.kind = static_cast<KernelKind>(key.first);
        section.variant = key.second.substr(0, key.second.find('\n'));
        section.device = group.device;
        section.learn = false;
        section.sources = group.sources;
        section.split = options.split;
        section.candidates.front().seed = options.seed;
        section.candidates.front().stop = options.stop;
        const auto prepare = [&](std::span<const std::size_t> fitTo,
                                 std::map<std::string, double, std::less<>>& parameters) -> Expected<SectionRows> {
            const HostFit fit = fitWithHost(group, fitTo, fitStretch);
            parameters.clear();
            if (fit.ownConstant) parameters[std::string(constantName)] = fit.affine.constant;
            if (fit.host > 0) parameters[std::string(hostName)] = fit.host;
            if (fitStretch) parameters[std::string(stretchName)] = fit.affine.stretch;
            SectionRows out;
            out.measured = group.measured;
            out.baseline.reserve(group.nominal.size());
            for (std::size_t i = 0; i < group.nominal.size(); ++i) {
                out.baseline.push_back(fit.affine(group.nominal[i]) + (group.byHost[i] != 0 ? fit.host : 0));
            }
            if (options.acrossDevices) out.group = group.deviceOfRow;
            return out;
        };
        auto fitted = fitSection(group.nominal.size(), prepare, section);
        if (!fitted) return Unexpected(std::move(fitted.error()));
        calibration.sections.push_back(std::move(fitted->section));
    }
    return calibration;
}

void AffineSections::tellLaunch(const Kernel& kernel, KernelStory& story) const {
    const Entry* found = entry(kernel);
    const bool fitted = found && found->section->parameters.contains(constantName);
    story.terms.push_back({"launch constant",
                           of(kernel).constant,
                           Dimension::Time,
                           {},
                           fitted ? "Fitted to measured kernels of this kind."
                                  : "The device's launch overhead; nothing has been fitted."});
    if (const double host = hostLaunch(kernel); host > 0) {
        story.terms.push_back({"framework launch",
                               host,
                               Dimension::Time,
                               {},
                               "Of the host that measured these kernels; not in the price, only in its interval."});
    }
}

std::vector<std::string> AffineSections::assumptions() const {
    if (empty()) {
        return {
            fmt::format("No constant per launch has been measured for this device: its launch overhead of {} is taken.",
                        format(Seconds(launch_)))};
    }
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (const Entry& each : entries_) {
        const double host = parameter(*each.section, hostName, 0);
        if (host <= 0) continue;
        least = std::min(least, host);
        most = std::max(most, host);
    }
    if (most <= 0) return {};
    return {fmt::format(
        "The measured kernels include a framework's launch of {} to {} each, which is not included here. The part that "
        "remains in a captured graph was not measured, so the upper ends of the intervals include it.",
        format(Seconds(least)), format(Seconds(most)))};
}

}  // namespace orrery
