#pragma once

// Kernel methods price one kernel on one device: GPU, array, NPU. They fill the slot `compute` of the model method
// (methods/model/), which composes them over a graph; evaluation asks them row by row; calibration fits what they leave
// open; serving prices iterations with them.

#include "base/executor.h"
#include "base/progress.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/gpu_view.h"
#include "hardware/views/parts_read.h"
#include "learning/calibration.h"
#include "learning/training.h"
#include "methods/estimate.h"
#include "methods/method.h"
#include "workload/kernel.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace orrery {

/// Memory levels of which a price may say the traffic.
inline constexpr std::size_t mostPricedLevels = 6;

struct KernelPrice {
    double seconds = 0;        ///< of one launch, with its launch gap as the calibration's data has it
    double low = 0, high = 0;  ///< 90 % of measured values; both equal `seconds` where nothing is known
    bool errorKnown = true;    ///< false: no error of such kernels is known, the sides are a guess
    Bound bound;               ///< level as in KernelPricer::levels()
    DomainVerdict domain = DomainVerdict::Inside;
    bool priced = true;  ///< false: the method does not cover this kernel, `seconds` is a roofline
    double joules = -1;  ///< of one launch; below 0: the method does not say
    /// Past each of KernelPricer::levels(), of one launch; the first below 0: as the kernel's operands, each once.
    std::array<float, mostPricedLevels> levelBytes{-1};
    float busy = -1;        ///< share of the time in which arrays multiply; below 0: the method does not say
    std::int8_t note = -1;  ///< which of KernelPricer::notes() holds for this kernel; below 0: none
    /// `seconds` stands also where it is less than the device's peak rates allow: it was measured, or is of another
    /// program or of units whose peaks those are not.
    bool stands = false;
};

/// What a kernel is for in a training step: backward products and convolutions have shapes of forward ones.
enum class KernelUse : std::uint8_t { Forward, Loss, Backward, WeightGradient, Optimizer };

/// A sentence about some kernels: the composition says of how many operators, and of which types.
struct KernelNote {
    std::string text;       ///< `no loop nest: priced by their roofline`
    std::string code = {};  ///< of a warning: `npu.by-bytes`; empty: an assumption
    std::string hint = {};  ///< of a warning
};

/// What an earlier kernel left on the chip for this one, and what this one leaves there for the next.
struct Staying {
    bool operand = false, result = false;
    bool any() const { return operand || result; }
};
/// Bytes of the memory next to main memory, over the device.
struct ChipRoom {
    double capacity = 0;
    double held = 0;  ///< by the kernel's own tiles while it runs
};

/// A span of a launch on one of KernelPricer::rows(), in seconds from its start.
struct KernelSpan {
    std::int32_t row = 0;
    double start = 0, end = 0;
};

/// What a price that takes its time needs beside the kernel.
struct PriceContext {
    Executor& executor;
    std::stop_token stop = {};
    Progress* progress = nullptr;
    /// Takes what the parts of KernelPricer::rows() do during the launch, sorted by row; null: nobody asks.
    std::vector<KernelSpan>* spans = nullptr;
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

/// Bound to one device; immutable and thread-safe.
class KernelPricer {
public:
    virtual ~KernelPricer() = default;
    /// At once: allocates nothing and never fails. A pricer that takes its time (SlowPricer) does all its work here,
    /// and what it refuses comes back not priced.
    virtual KernelPrice price(const Kernel& kernel) const = 0;
    /// The same for one that may take long: polls the stop token at least every 50 ms. Fails with `study.cancelled`.
    virtual Expected<KernelPrice> price(const Kernel& kernel, PriceContext&) const { return price(kernel); }
    /// True: ask with the use, launch by launch.
    virtual bool tellsUses() const { return false; }
    virtual KernelPrice price(const Kernel& kernel, KernelUse) const { return price(kernel); }
    /// What a composition of just these kernels leaves out of what is known, as sentences. Where tellsUses().
    virtual std::vector<std::string> leftOut(std::span<const std::pair<const Kernel*, KernelUse>>) const { return {}; }
    /// False: ask with a context, distinct kernels side by side.
    virtual bool instant() const { return true; }
    virtual KernelStory explain(const Kernel&) const { return {}; }
    /// Correlation of residuals between kernels of `kind`, for composition; 0 to 1.
    virtual double correlation(KernelKind) const { return 0; }
    /// Sentences that hold for all its prices.
    virtual std::vector<std::string> assumptions() const { return {}; }
    /// Where the sides of its prices come from, one sentence; empty: residuals of its calibration.
    virtual std::string basis() const { return {}; }
    /// Memory levels that `Bound::level` and `levelBytes` speak of, outermost first; empty: main memory alone.
    virtual std::vector<std::string> levels() const { return {}; }
    /// What of the drawing its view read, beside what every device's view reads.
    virtual PartsRead used() const { return {}; }
    /// Every price holds its own launch: no graph and no host adds one.
    virtual bool launchInside() const { return false; }
    /// As a host sees it that calls a framework and waits for the end: with the launch that a captured graph, or a host
    /// that runs ahead, hides. price() itself where the method does not tell them apart.
    virtual KernelPrice priceByHost(const Kernel& kernel) const { return price(kernel); }
    /// Its prices hold Kernel::epilogue; else the composition adds the epilogue's bytes at the memory's bandwidth.
    virtual bool takesEpilogue() const { return false; }
    /// False: a product of a type in which the device has no matrix peak is refused with `hardware.missing-peak`.
    virtual bool takesAnyType() const { return true; }
    /// What KernelPrice::note counts into.
    virtual std::vector<KernelNote> notes() const { return {}; }
    /// Runs on units beside the device, which is free for other work meanwhile: two half batches may take turns.
    virtual bool beside(const Kernel&) const { return false; }
    /// Room for an activation beside the kernel's own tiles; nothing where a price never leaves one on the chip.
    virtual std::optional<ChipRoom> room(const Kernel&) const { return std::nullopt; }
    /// The price with its first operand, its result or both on the chip. Of pricers with room() alone.
    virtual Expected<KernelPrice> price(const Kernel& kernel, Staying, PriceContext& context) const {
        return price(kernel, context);
    }
    /// Parts of the device that a timeline shows one by one (`DMA in`, `arrays`); empty: a launch is one span.
    virtual std::vector<std::string> rows() const { return {}; }
};

/// One that searches or simulates.
class SlowPricer : public KernelPricer {
public:
    bool instant() const final { return false; }
    using KernelPricer::price;
    KernelPrice price(const Kernel& kernel) const final;
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const override = 0;
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

/// What binding may read beside the device.
struct BindContext {
    const CalibrationSet& calibrations;
    OptionValues options = {};  ///< of KernelMethod::options; what is not named stands at its fallback
    std::uint64_t seed = 0;
};

/// A method asks for the view that it needs: binders fail naming what the device lacks, with `method.not-applicable`
/// for a device of another kind. Without a fitting section a method prices with nominal parameters.
using GpuBinder = Expected<KernelPricerPtr> (*)(const GpuView&, const CalibrationSet&);
using DeviceBinder = Expected<KernelPricerPtr> (*)(const DeviceRef&, const BindContext&);

struct KernelMethod {
    std::string_view id;  ///< that of the Method which composes it
    std::string_view version;
    std::variant<GpuBinder, DeviceBinder> binder;
    /// Fits sections to rows of one or more devices; residuals come from folds inside these rows. Null: nothing to fit.
    Expected<Calibration> (*fit)(std::span<const KernelRows>, const FitOptions&) = nullptr;
    std::vector<MethodOption> options = {};  ///< of the prices; composition has its own (methods/model/)
    /// What the method says of itself; id, version, level, options and tasks are filled in by the composition, and
    /// platforms and needs, where they are empty, as for GPUs.
    MethodCard card = {};

    Expected<KernelPricerPtr> bind(const DeviceRef& device, const BindContext& context) const;
    /// Of a view that is there already. Fails with `method.not-applicable` for a method that is not of GPUs.
    Expected<KernelPricerPtr> bind(const GpuView& gpu, const CalibrationSet& calibrations) const;
};

/// In the order of builtinMethods(): kernel_methods.cpp.
std::span<const KernelMethod> kernelMethods();
const KernelMethod* findKernelMethod(std::string_view id);

}  // namespace orrery
