#include "learning/section_price.h"

#include "learning/software_version.h"
#include "learning/spread.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace orrery {

namespace {

const double widest = std::log(4.0);  // of what is widened; residuals themselves may be wider
const double flaggedFrom = std::log(flaggedFactor), flaggedHere = std::log(flaggedAtHome);
constexpr double mostOwn = 0.5;  // ln: what is off by more at home is off for reasons of single kernels
constexpr double perBeyond = 0.2, farthestBeyond = 2;
constexpr double perExcess = 1.5, usualOwn = 0.2, mostExcess = 0.3;
constexpr double perHalfWidth = 2.06;  // of a normal error: 90 % half-width ÷ mean absolute value
constexpr double plainRate = 1.2;      // of prices that nothing scales to the device
const double unfittedLow = std::log(0.75), unfittedHigh = std::log(2.7);

// 90 % in ln per unit of distance, over A100, H100, L40S and B200, each asked with the sections of the others. Kernels
// of narrow operands or caches differ more between generations; whoever decodes splits a cache as he likes.
double rateOf(KernelKind kind, std::string_view variant) {
    const auto has = [&](std::string_view word) { return variant.find(word) != variant.npos; };
    const bool narrow = has("fp8") || has("fp4") || has("int");
    switch (kind) {
        case KernelKind::Gemm:
            return has("block") ? 0.45 : narrow ? 0.33 : 0.17;
        case KernelKind::PrefillAttention:
            return narrow ? 0.3 : 0.22;
        case KernelKind::DecodeAttention:
            return narrow ? 0.5 : 0.38;
        case KernelKind::Collective:
            return 0.2;
        default:
            return 0.35;  // as experts: too few devices were measured of others
    }
}

// The same, upwards alone. What widens an expert's weights while it multiplies them has no kernel in common between
// Hopper and Blackwell: each is slower than the other's numbers say, by up to a factor of three, and hardly faster.
double slowdownOf(KernelKind kind, std::string_view variant) {
    return kind == KernelKind::Experts && variant.ends_with("weights") ? 1 : 0;
}

// Bytes of memory per multiprocessor and clock; 0 where a device does not say.
double balanceOf(const DeviceFingerprint& device) {
    const double clocks = device.sms * device.clock;
    return clocks > 0 ? device.dramBandwidth / clocks : 0;
}

// 90 % in ln between engines on one device: TensorRT-LLM's sections asked about kernels of vLLM and SGLang on A100,
// H100 and L40S (aiconfigurator).
double stackRateOf(const Kernel& kernel) {
    const bool narrow = bits(kernel.type) < 16 || bits(kernel.weightType) < 16 || kernel.scaleBlock > 0;
    switch (kernel.kind) {
        case KernelKind::Gemm:
        case KernelKind::Convolution:
            return narrow ? 0.8 : 0.2;
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention:
            return 0.8;
        default:
            return 0.5;  // as collectives
    }
}

std::vector<std::string> namesOf(std::string_view software) {
    std::vector<std::string> names;
    for (SoftwareVersion& part : softwareParts(software)) names.push_back(std::move(part.name));
    return names;
}

double widened(double own, double wider) {
    return std::max(own, std::min(own * wider, widest));
}

double reach(const SectionPrice& price) {
    return std::max(std::log(price.high / price.seconds), std::log(price.seconds / price.low));
}

void judgeAbroad(SectionPrice& price) {
    price.domain = reach(price) >= flaggedFrom ? DomainVerdict::Outside : DomainVerdict::Edge;
}

}  // namespace

double distanceAbroad(const CalibrationSet& calibrations, std::string_view method, const CalibrationSection& section,
                      const GpuView& gpu) {
    const double apart = foreignDistance(section, gpu);
    const double here = balanceOf(fingerprint(gpu, DType::BF16));
    if (apart <= 0 || section.kind == KernelKind::Collective || here <= 0) return apart;
    double least = INFINITY, most = 0;
    const auto see = [&](const DeviceFingerprint& device) {
        const double balance = balanceOf(device);
        if (balance > 0) least = std::min(least, balance), most = std::max(most, balance);
    };
    for (const auto& calibration : calibrations.all()) {
        if (calibration->method != method) continue;
        for (const CalibrationSection& one : calibration->sections) {
            if (one.kind != section.kind || one.variant != section.variant) continue;
            if (one.device) see(*one.device);
            for (const DeviceFingerprint& device : one.devices) see(device);
        }
    }
    if (most <= 0) return apart;
    const double beyond = std::clamp(std::max(std::log(here / most), std::log(least / here)), 0.0, farthestBeyond);
    return apart + perBeyond * beyond * beyond;
}

double deviceShift(const CalibrationSection& section, double own, double distance) {
    const double excess = perExcess * std::clamp(own - usualOwn, 0.0, mostExcess);
    return distance * std::hypot(rateOf(section.kind, section.variant), excess);
}

void goAbroad(SectionPrice& price, const CalibrationSection& section, double distance, bool physics) {
    if (distance <= 0 || !(price.low > 0)) return;
    const double below = std::log(price.seconds / price.low), above = std::log(price.high / price.seconds);
    const double shift = physics ? deviceShift(section, std::max(below, above), distance) : plainRate * distance;
    const double slower = std::max(shift, distance * slowdownOf(section.kind, section.variant));
    price.low = price.seconds * std::exp(-std::hypot(below, shift));
    price.high = price.seconds * std::exp(std::hypot(above, slower));
    judgeAbroad(price);
}

SectionPrice unfittedPrice(double seconds) {
    return {seconds,
            seconds * std::exp(unfittedLow),
            seconds * std::exp(unfittedHigh),
            DomainVerdict::Outside,
            DomainVerdict::Outside,
            false};
}

void doubtShape(SectionPrice& price) {
    if (!(price.low > 0)) return;
    const double below = std::log(price.seconds / price.low), above = std::log(price.high / price.seconds);
    price.low = price.seconds * std::exp(-widened(below, outsideWidening));
    price.high = price.seconds * std::exp(widened(above, outsideWidening));
    price.shape = price.domain = DomainVerdict::Outside;
}

bool sameStack(const CalibrationSection& section, std::string_view software) {
    const auto asked = namesOf(software);
    if (asked.empty()) return true;
    bool said = false;
    for (const CalibrationSource& source : section.sources) {
        for (const std::string& known : namesOf(source.software)) {
            said = true;
            if (std::find(asked.begin(), asked.end(), known) != asked.end()) return true;
        }
    }
    return !said;
}

void changeStack(SectionPrice& price, const Kernel& kernel) {
    if (!(price.low > 0)) return;
    const double shift = stackRateOf(kernel);
    price.low = price.seconds * std::exp(-std::hypot(std::log(price.seconds / price.low), shift));
    price.high = price.seconds * std::exp(std::hypot(std::log(price.high / price.seconds), shift));
    const auto verdict = reach(price) >= flaggedFrom ? DomainVerdict::Outside : DomainVerdict::Edge;
    price.domain = std::max(price.domain, verdict);
}

void changeVersion(SectionPrice& price, double factor) {
    if (!(price.low > 0) || !(factor > 1)) return;
    const double shift = std::log(factor);
    price.low = price.seconds * std::exp(-std::hypot(std::log(price.seconds / price.low), shift));
    price.high = price.seconds * std::exp(std::hypot(std::log(price.high / price.seconds), shift));
    const auto verdict = reach(price) >= flaggedFrom ? DomainVerdict::Outside : DomainVerdict::Edge;
    price.domain = std::max(price.domain, verdict);
}

double correlationAbroad(const CalibrationSection& section, double distance) {
    if (distance <= 0) return section.correlation;
    double rows = 0, error = 0;
    for (const ResidualClass& one : section.residuals) {
        rows += double(one.rows);
        error += double(one.rows) * one.meanAbsolute;
    }
    if (rows <= 0) return 1;
    // What is off by much at home is off abroad for reasons that its kernels share.
    const double own = perHalfWidth * error / rows;
    const double shift = std::hypot(deviceShift(section, own, distance), distance * std::min(own, mostOwn));
    // Of a section for any device the shift is part of its residuals.
    const double whole = section.device ? own * own + shift * shift : std::max(own * own, shift * shift);
    const double share = whole > 0 ? shift * shift / whole : 1;
    return section.correlation + (1 - section.correlation) * share;
}

SectionPrice priceWith(const CalibrationSection& section, double baselineSeconds, std::span<const double> features,
                       double doubt, double distance) {
    SectionPrice price{.seconds = baselineSeconds};
    const bool asked = features.size() == section.features.size();
    if (section.model && asked) price.seconds = baselineSeconds * std::exp(section.model->predict(features));
    if (section.domain && asked) price.shape = section.domain->check(features);
    price.domain = price.shape;
    price.low = price.high = price.seconds;
    const auto found = std::find_if(section.residuals.begin(), section.residuals.end(),
                                    [&](const ResidualClass& one) { return price.seconds <= one.upperSeconds; });
    if (found == section.residuals.end() || (section.spread && !asked)) {
        const SectionPrice guess = unfittedPrice(price.seconds);
        price.low = guess.low, price.high = guess.high, price.errorKnown = false;
        if (distance > 0) price.domain = DomainVerdict::Outside;
        return price;
    }
    const ResidualClass& one = *found;
    const bool said = section.widenOutside > 0;
    double wider = 1;
    if (price.shape == DomainVerdict::Edge) wider = said ? section.widenEdge : edgeWidening;
    if (price.shape == DomainVerdict::Outside) wider = said ? section.widenOutside : outsideWidening;
    // The device itself takes features out of a domain.
    if (distance > 0) wider = std::min(wider, edgeWidening);
    double scale = section.spread ? spreadScale(*section.spread, features, doubt) : 1;
    if (distance > 0 && !section.device) {
        // Its residuals are of devices that were left out, outside the others' domain all of them. Those of two devices
        // say less about a third (a mean of D drawings is off by 1 ⁄ √D of their spread).
        wider = 1;
        if (!section.spread && section.devices.size() < 3) scale = std::sqrt(1 + 1 / double(section.devices.size()));
    }
    const double below = std::max(0.0, widened(scale * (one.p50 - one.p5), wider) - scale * one.p50);
    const double above = std::max(0.0, widened(scale * (one.p95 - one.p50), wider) + scale * one.p50);
    price.low = price.seconds * std::exp(-below);
    price.high = price.seconds * std::exp(above);
    if (distance > 0) {
        if (section.device)
            goAbroad(price, section, distance);
        else
            judgeAbroad(price);
    } else if (reach(price) >= flaggedHere) {
        price.domain = DomainVerdict::Outside;
    }
    return price;
}

}  // namespace orrery
