#include "learning/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr double sameDevice = 0.01;  // ln
constexpr double likeDevice = 0.45;  // ln: no number of the two differs by more than a factor of 1.57
constexpr double spanRoom = 0.05;    // of what learned devices span in ln, beyond which a number is foreign
constexpr double anyDevice = 1;      // stands for "of no device in particular"

DType computeType(std::string_view variant) {
    const auto word = variant.substr(0, variant.find(' '));
    if (variant.ends_with("weights")) return DType::BF16;
    return dtype(word).value_or(DType::BF16);
}

std::string_view typeName(DType type) {
    return type == DType::F16 ? toText(DType::BF16) : toText(type);
}

}  // namespace

DeviceFingerprint fingerprint(const GpuView& gpu, DType type) {
    const auto peak = [&](bool matrix) {
        // The two 16-bit floats are one: a device may lack one of them.
        if (type != DType::F16 && type != DType::BF16) return gpu.peak(matrix, type);
        return std::max(gpu.peak(matrix, DType::F16), gpu.peak(matrix, DType::BF16));
    };
    return {{}, gpu.sms, gpu.clock, gpu.dramBandwidth, gpu.l2Bytes, peak(true), peak(false)};
}

double distance(const DeviceFingerprint& a, const DeviceFingerprint& b) {
    constexpr double unlike = 10;  // one of the two lacks it
    double largest = 0;
    for (const auto member :
         {&DeviceFingerprint::sms, &DeviceFingerprint::clock, &DeviceFingerprint::dramBandwidth,
          &DeviceFingerprint::l2Bytes, &DeviceFingerprint::matrixPeak, &DeviceFingerprint::vectorPeak}) {
        const double x = a.*member, y = b.*member;
        if (x > 0 && y > 0)
            largest = std::max(largest, std::abs(std::log(x / y)));
        else if (x > 0 || y > 0)
            largest = std::max(largest, unlike);
    }
    return largest;
}

DomainVerdict deviceVerdict(std::span<const DeviceFingerprint> learned, const DeviceFingerprint& device) {
    if (learned.empty()) return DomainVerdict::Inside;
    double nearest = std::numeric_limits<double>::infinity();
    for (const DeviceFingerprint& one : learned) nearest = std::min(nearest, distance(one, device));
    if (nearest <= sameDevice) return DomainVerdict::Inside;
    for (const auto member :
         {&DeviceFingerprint::sms, &DeviceFingerprint::clock, &DeviceFingerprint::dramBandwidth,
          &DeviceFingerprint::l2Bytes, &DeviceFingerprint::matrixPeak, &DeviceFingerprint::vectorPeak}) {
        double low = std::numeric_limits<double>::infinity(), high = 0;
        for (const DeviceFingerprint& one : learned) {
            low = std::min(low, one.*member);
            high = std::max(high, one.*member);
        }
        const double room = low > 0 ? std::exp(spanRoom * std::log(high / low)) * (1 + sameDevice) : 1 + sameDevice;
        if (device.*member > high * room || device.*member < low / room) return DomainVerdict::Outside;
    }
    return nearest <= likeDevice ? DomainVerdict::Edge : DomainVerdict::Outside;
}

DomainVerdict deviceVerdict(const CalibrationSection& section, const GpuView& gpu) {
    if (section.device) return DomainVerdict::Inside;
    return deviceVerdict(section.devices, fingerprint(gpu, computeType(section.variant)));
}

std::string kernelVariant(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::Gemm: {
            const auto block = kernel.scaleBlock > 0 ? fmt::format(" block {}", kernel.scaleBlock) : std::string();
            // Weights alone are narrower: how wide the activations are matters less.
            if (bits(kernel.weightType) < bits(kernel.type)) {
                return fmt::format("{}{} weights", toText(kernel.weightType), block);
            }
            // Vector units run one product and many small ones by different kernels.
            const bool simt = kernel.type == DType::F32 || kernel.type == DType::F64;
            return fmt::format("{}{}{}", typeName(kernel.type), block, simt && kernel.batch > 1 ? " batched" : "");
        }
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            // One query is few bytes: kernels for decoding differ by the cache's type, and take narrow queries as well.
            const bool narrowQuery = kernel.kind == KernelKind::DecodeAttention && bits(kernel.type) < 16;
            const DType type = narrowQuery ? DType::BF16 : kernel.type;
            if (bits(kernel.kvType) != bits(type)) {
                return fmt::format("{} {} kv", typeName(type), typeName(kernel.kvType));
            }
            return std::string(typeName(type));
        }
        case KernelKind::Collective:
            return "node";
        default:
            return std::string(typeName(kernel.type));
    }
}

void CalibrationSet::add(std::shared_ptr<const Calibration> calibration) {
    if (calibration) calibrations_.push_back(std::move(calibration));
}

bool CalibrationSet::has(std::string_view method) const {
    return std::any_of(calibrations_.begin(), calibrations_.end(),
                       [&](const auto& calibration) { return calibration->method == method; });
}

CalibrationSet::Found CalibrationSet::find(std::string_view method, KernelKind kind, std::string_view variant,
                                           const GpuView& gpu) const {
    const DeviceFingerprint here = fingerprint(gpu, computeType(variant));
    Found same{nullptr, std::numeric_limits<double>::infinity()}, any, nearest = same;
    for (auto calibration = calibrations_.rbegin(); calibration != calibrations_.rend(); ++calibration) {
        if ((*calibration)->method != method) continue;
        for (const CalibrationSection& section : (*calibration)->sections) {
            if (section.kind != kind || section.variant != variant) continue;
            if (!section.device) {
                if (!any.section) any = {&section, anyDevice};
                continue;
            }
            const double apart = distance(*section.device, here);
            if (apart <= sameDevice && !same.section) same = {&section, apart};
            if (apart < nearest.deviceDistance) nearest = {&section, apart};
        }
    }
    if (same.section) return same;
    // An edited copy, or a sibling with other memory, keeps what its model has learned: else dragging a bandwidth would
    // jump where the copy stops being the device.
    if (nearest.section && nearest.deviceDistance <= likeDevice) return nearest;
    if (any.section) return any;
    return nearest.section ? nearest : Found{};
}

}  // namespace orrery
