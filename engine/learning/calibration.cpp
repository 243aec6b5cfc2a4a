#include "learning/calibration.h"

#include "workload/kernel_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

constexpr double sameDevice = 0.01;  // ln
constexpr double likeDevice = 0.45;  // ln: no number of the two differs by more than a factor of 1.57
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

double foreignDistance(const CalibrationSection& section, const GpuView& gpu) {
    const DeviceFingerprint here = fingerprint(gpu, computeType(section.variant));
    double nearest = std::numeric_limits<double>::infinity();
    if (section.device) {
        nearest = distance(*section.device, here);
    } else {
        if (section.devices.empty()) return 0;
        for (const DeviceFingerprint& one : section.devices) nearest = std::min(nearest, distance(one, here));
    }
    return nearest <= sameDevice ? 0 : std::min(nearest, farthestDevice);
}

namespace {

void append(VariantName& name, std::string_view text) {
    const std::size_t room = std::min(text.size(), name.text.size() - name.size);
    std::copy_n(text.begin(), room, name.text.begin() + std::ptrdiff_t(name.size));
    name.size += room;
}

void append(VariantName& name, std::int64_t value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    append(name, std::string_view(digits, std::size_t(end - digits)));
}

}  // namespace

VariantName variantName(const Kernel& kernel) {
    VariantName name;
    switch (kernel.kind) {
        case KernelKind::Experts:
        case KernelKind::Gemm: {
            // Weights alone are narrower: how wide the activations are matters less.
            const bool weights = bits(kernel.weightType) < bits(kernel.type);
            // Experts of 8-bit activations multiply as such, whatever their weights are stored in.
            const bool both = weights && kernel.kind == KernelKind::Experts && bits(kernel.type) <= 8;
            if (both) append(name, typeName(kernel.type)), append(name, " with ");
            append(name, weights ? toText(kernel.weightType) : typeName(kernel.type));
            if (kernel.scaleBlock > 0) append(name, " block "), append(name, std::int64_t(kernel.scaleBlock));
            // Vector units run one product and many small ones by different kernels.
            const bool simt = kernel.type == DType::F32 || kernel.type == DType::F64;
            if (both)
                break;
            else if (weights)
                append(name, " weights");
            else if (simt && kernel.batch > 1)
                append(name, " batched");
            break;
        }
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            // One query is few bytes: kernels for decoding differ by the cache's type, and take narrow queries as well.
            const bool narrowQuery = kernel.kind == KernelKind::DecodeAttention && bits(kernel.type) < 16;
            const DType type = narrowQuery ? DType::BF16 : kernel.type;
            append(name, typeName(type));
            if (bits(kernel.kvType) != bits(type))
                append(name, " "), append(name, typeName(kernel.kvType)), append(name, " kv");
            // DeepSeek's latent attention has kernels of its own, absorbed or with keys and values expanded.
            if (latentAttention(kernel.attention)) append(name, " latent");
            break;
        }
        case KernelKind::Collective:
            append(name, "node");
            break;
        default:
            append(name, typeName(kernel.type));
            break;
    }
    return name;
}

std::string kernelVariant(const Kernel& kernel) {
    return std::string(variantName(kernel).view());
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
