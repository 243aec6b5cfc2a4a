#pragma once

// A calibration: what a method has learned from references, readable and portable. One file (`*.json`, format
// "orrery-calibration", version 2) belongs to one method and holds sections, each for one family of kernels on one
// device, or on any.

#include "base/diagnostic.h"
#include "hardware/views/gpu_view.h"
#include "learning/domain.h"
#include "learning/regressor.h"
#include "workload/kernel.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// The device that a section speaks for, by what it is and not by its name alone: an edited copy is not the same.
struct DeviceFingerprint {
    std::string id;  ///< of the catalogue, for people
    double sms = 0, clock = 0, dramBandwidth = 0, l2Bytes = 0, matrixPeak = 0, vectorPeak = 0;
};
DeviceFingerprint fingerprint(const GpuView& gpu, DType type);
/// Largest |ln ratio| of two fingerprints' numbers; 0 for the same device.
double distance(const DeviceFingerprint& a, const DeviceFingerprint& b);

/// Quantiles of ln(measured ÷ predicted) on rows that were not fitted, by class of predicted time.
struct ResidualClass {
    double upperSeconds = 0;  ///< edge of the class; the last is infinite
    double p5 = 0, p50 = 0, p95 = 0;
    double meanAbsolute = 0;
    std::int64_t rows = 0;
};

struct CalibrationSource {
    std::string name, software, licence;
    std::string hash;  ///< of the rows used
    std::int64_t rows = 0;
};

struct CalibrationSection {
    KernelKind kind = KernelKind::Gemm;
    std::string variant;  ///< of the kind: `bf16`, `fp8 block 128`, `node`; as kernelVariant() gives
    std::optional<DeviceFingerprint> device;  ///< none: learned across devices, for any
    std::map<std::string, double, std::less<>> parameters;
    std::vector<std::string> features;       ///< names, in the order of the model's inputs; empty without a model
    std::shared_ptr<const Regressor> model;  ///< of ln(measured ÷ physical) or of ln(seconds), as the method says
    std::shared_ptr<const Domain> domain;    ///< over the same features; null: not checked
    std::vector<ResidualClass> residuals;    ///< shortest class first; empty: no interval known
    /// Of ln of how far off a row usually is, over the same features; then residuals are multiples of that. Null: they
    /// are plain.
    std::shared_ptr<const Regressor> spread;
    double widenEdge = 0, widenOutside = 0;  ///< of intervals there, as measured; 0: not measured
    std::vector<DeviceFingerprint> devices;  ///< that a section for any device was learned from
    double correlation = 0;                  ///< of residuals of different kernels of one model on one device, 0 to 1
    std::vector<CalibrationSource> sources;
    std::string split;  ///< how rows were held out, in words
};

/// 0 on a device that the section was learned from (within 1 %), else the distance of the nearest of them, at most
/// farthestDevice. 0 where a section for any device does not say.
double foreignDistance(const CalibrationSection& section, const GpuView& gpu);
inline constexpr double farthestDevice = 2.5;  ///< ln; a factor of 12

struct Calibration {
    std::string method, methodVersion;
    std::string date;  ///< ISO 8601 day
    std::string note;
    std::vector<CalibrationSection> sections;
};

/// Kernels that one section may cover. Products: `bf16` (fp16 too), `fp32`, `fp32 batched`, `fp8 block 128`,
/// `int4 weights`; attention:
/// `bf16`, `bf16 fp8 kv`; collectives: `node`, whatever they do; all others: the type alone, their function is a
/// feature.
std::string kernelVariant(const Kernel& kernel);
/// The same without touching the heap, for pricing.
struct VariantName {
    std::array<char, 64> text;
    std::size_t size = 0;
    std::string_view view() const { return {text.data(), size}; }
};
VariantName variantName(const Kernel& kernel);

inline constexpr int calibrationVersion = 2;  ///< of the format; what older ones meant: calibration_versions.h

/// Fails with `calibration.…`: not JSON, not a calibration, newer version, unknown kind, numbers that are not finite,
/// models that do not fit their features; with file and path inside it.
Expected<Calibration> readCalibration(const std::string& file);
Expected<Calibration> parseCalibration(std::string_view json, const std::string& name);
/// Numbers to six significant digits.
std::string writeCalibration(const Calibration& calibration);

/// Sections of several files for one method; later files win.
class CalibrationSet {
public:
    void add(std::shared_ptr<const Calibration> calibration);
    struct Found {
        const CalibrationSection* section = nullptr;
        double deviceDistance = 0;  ///< up to 0.01: of this very device; 1: of any; else of another
    };
    /// The section of this device (within 1 %), else of a like one (no number differs by more than 1.57 times), else
    /// that for any device, else of the nearest device; null if there is none for kind and variant (a section of
    /// another variant is not taken).
    Found find(std::string_view method, KernelKind kind, std::string_view variant, const GpuView& gpu) const;
    bool has(std::string_view method) const;
    std::span<const std::shared_ptr<const Calibration>> all() const { return calibrations_; }

private:
    std::vector<std::shared_ptr<const Calibration>> calibrations_;
};

/// presets/calibrations, read once; files that cannot be read are left out and named in `warnings`.
struct ShippedCalibrations {
    CalibrationSet set;
    Diagnostics warnings;
};
const ShippedCalibrations& shippedCalibrations();
/// All `*.json` of a folder, in the order of their names; nothing where there is no such folder.
ShippedCalibrations loadCalibrations(const std::string& folder);

}  // namespace orrery
