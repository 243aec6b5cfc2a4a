#pragma once

// Kernel methods price one kernel on one GPU. A model method (methods/model/) composes any of them over a graph;
// evaluation asks them row by row; calibration fits what they leave open.

#include "base/progress.h"
#include "hardware/views/gpu_view.h"
#include "learning/calibration.h"
#include "learning/training.h"
#include "methods/estimate.h"
#include "workload/kernel.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct KernelPrice {
    double seconds = 0;        ///< of one launch, with its launch gap as the calibration's data has it
    double low = 0, high = 0;  ///< 90 % of measured values; both equal `seconds` where nothing is known
    Bound bound;               ///< level as in GpuPricer::levels()
    DomainVerdict domain = DomainVerdict::Inside;
    bool priced = true;  ///< false: the method does not cover this kernel, `seconds` is a roofline
};

/// One line of "why this number", in the order in which they make the price.
struct KernelTerm {
    std::string name;  ///< `tile 128×256×64`, `waves`, `DRAM time`, `learned correction`
    double value = 0;
    Dimension dimension = Dimension::Number;
    std::string unit;     ///< of a Number
    std::string meaning;  ///< one sentence
};
/// Cycles by cause (interval analysis), outermost sum first.
struct StackPart {
    std::string name;  ///< `base`, `memory data`, `memory queue`, `math pipe`, `idle`
    double cycles = 0;
};
struct KernelStory {
    std::vector<KernelTerm> terms;
    std::vector<StackPart> stack;  ///< empty where the method has none
    double tileM = 0, tileN = 0, tileK = 0, blocks = 0, blocksPerWave = 0, waves = 0;  ///< 0 where it has no tiles
};

/// Bound to one device; immutable; price() is thread-safe and allocates nothing.
class KernelPricer {
public:
    virtual ~KernelPricer() = default;
    virtual KernelPrice price(const Kernel& kernel) const = 0;
    virtual KernelStory explain(const Kernel& kernel) const = 0;
    /// Correlation of residuals between kernels of `kind`, for composition; 0 to 1.
    virtual double correlation(KernelKind) const { return 0; }
    /// Sentences that hold for all its prices.
    virtual std::vector<std::string> assumptions() const { return {}; }
    /// As a host sees it that calls a framework and waits for the end: with the launch that a captured graph, or a host
    /// that runs ahead, hides. price() itself where the method does not tell them apart.
    virtual KernelPrice priceByHost(const Kernel& kernel) const { return price(kernel); }
};
using KernelPricerPtr = std::shared_ptr<const KernelPricer>;

/// Measured kernels of one device, as fitting sees them.
struct KernelRows {
    GpuView gpu;
    std::string deviceId;  ///< of the catalogue
    CalibrationSource source;
    std::vector<Kernel> kernels;
    std::vector<double> seconds;
    std::vector<std::uint8_t> byHost;  ///< per kernel, 1: a host timed it, its launch is inside; empty: none
};

struct FitOptions {
    bool acrossDevices = false;  ///< one section for any device instead of one per device
    std::uint64_t seed = 1;
    std::stop_token stop;
    std::function<void(const TrainingPoint&, std::string_view family)> onStep;
    std::string split;  ///< in words, kept in the file
};

struct KernelMethod {
    std::string_view id;  ///< that of the Method which composes it
    std::string_view version;
    /// Fails naming what the device lacks. Without a fitting section it prices with nominal parameters.
    Expected<KernelPricerPtr> (*bind)(const GpuView&, const CalibrationSet&);
    /// Fits sections to rows of one or more devices; residuals come from folds inside these rows. Null: nothing to fit.
    Expected<Calibration> (*fit)(std::span<const KernelRows>, const FitOptions&);
};

/// In the order of builtinMethods(): kernel_methods.cpp.
std::span<const KernelMethod> kernelMethods();
const KernelMethod* findKernelMethod(std::string_view id);

}  // namespace orrery
