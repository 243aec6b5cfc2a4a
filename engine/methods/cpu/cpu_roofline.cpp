#include "methods/cpu/cpu_roofline.h"

#include "hardware/views/even_share.h"
#include "learning/fit_section.h"
#include "methods/answer/vector_functions.h"
#include "methods/cpu/cpu_fit.h"
#include "methods/cpu/cpu_framework.h"
#include "methods/cpu/cpu_pages.h"
#include "methods/cpu/cpu_view.h"
#include "workload/kernel_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr std::string_view cpuRooflineId = "cpu-roofline", cpuRooflineVersion = "1.4.0";

// How much of the registers' lanes and of the cores a product's extents leave idle, as a factor of time: columns fill
// whole registers, and cores share rows or columns, whichever are more.
double raggedness(const GpuView& cpu, double rows, double columns, double batch) {
    constexpr double lanes = 16;
    const double padded = std::ceil(columns / lanes) * lanes / columns;
    const double pieces = batch * std::max(rows, std::ceil(columns / lanes));
    return padded * std::ceil(pieces / cpu.sms) * cpu.sms / pieces;
}

// What stays where the kernel before left it.
double activationBytes(const Kernel& kernel, double weights) {
    return std::max(0.0, kernel.bytes() - weights);
}

// The innermost level with a bandwidth that holds so many bytes; main memory if none does.
std::int16_t levelFor(const DeviceView& device, double bytes) {
    std::int16_t found = 0;
    for (std::size_t i = 1; i < device.levels.size(); ++i) {
        const MemoryLevel& level = device.levels[i];
        if (level.bandwidth.value > 0 && level.capacity.value >= bytes) found = static_cast<std::int16_t>(i);
    }
    return found;
}

double computeSeconds(const GpuView& cpu, const Kernel& kernel) {
    double operations = kernel.flops, ragged = 1;
    bool matrix = true;
    switch (kernel.kind) {
        case KernelKind::Gemm:
            ragged = raggedness(cpu, double(kernel.m), double(kernel.n), std::max(1.0, double(kernel.batch)));
            break;
        case KernelKind::Convolution: {
            const ConvolutionShape& c = kernel.convolution;
            // Depthwise: channels lie side by side in a register, each with its own weights.
            const bool depthwise = c.groups > 1 && c.groups == c.inChannels;
            ragged = raggedness(
                cpu, double(c.batch * c.outHeight * c.outWidth),
                depthwise ? double(c.outChannels) : double(c.outChannels) / std::max(1.0, double(c.groups)), 1);
            break;
        }
        case KernelKind::PrefillAttention:
        case KernelKind::DecodeAttention: {
            const AttentionShape& a = kernel.attention;
            ragged = raggedness(cpu, double(a.queries), double(a.headDim), double(a.batch * a.heads));
            break;
        }
        case KernelKind::Elementwise:
        case KernelKind::Softmax:
        case KernelKind::Normalization: {
            constexpr double exponential = 10;  // operations of a polynomial with its scaling
            const VectorWork work = vectorWork(kernel);
            const double elements = double(kernel.m) * double(kernel.n);
            operations = elements * (work.operations + exponential * work.exponentials);
            matrix = false;
            break;
        }
        default:
            matrix = false;
            break;
    }
    // What no unit takes runs as fp32 after a conversion.
    const double peak = std::max(cpu.peak(matrix, kernel.type), matrix ? 0.0 : cpu.peak(false, DType::F32));
    return peak > 0 ? operations * ragged / peak : 0;
}

class CpuPricer final : public KernelPricer {
public:
    CpuPricer(const GpuView& cpu, const CalibrationSet& calibrations, bool framework, double even)
        : cpu_(cpu), calibrations_(calibrations), framework_(framework), even_(even) {
        usual_.constant = cpu.device.launchOverhead.value;
        for (const auto& calibration : calibrations_.all()) {
            if (calibration->method != cpuRooflineId) continue;
            for (const CalibrationSection& section : calibration->sections) {
                if (bindingOf(section.kind, section.variant)) continue;
                const auto found = calibrations_.find(cpuRooflineId, section.kind, section.variant, cpu_);
                if (found.section)
                    bindings_.push_back(
                        {found.section, distanceAbroad(calibrations_, cpuRooflineId, *found.section, cpu_)});
            }
        }
    }

    KernelPrice price(const Kernel& kernel) const override {
        const Binding* binding = bindingOf(kernel.kind, variantName(kernel).view());
        const CoresTime time = timeOf(kernel, binding);
        CoresShares shares = sharesFor(binding, kernel);
        if (framework_ && !binding) shares.constant += frameworkSeconds(frameworkTimes, cpu_, kernel);
        KernelPrice price;
        price.seconds = price.low = price.high = shares(time);
        const double compute = shares.compute * time.compute, memory = shares.memory * time.memory;
        price.bound = shares.constant > std::max(compute, memory) ? Bound{BoundKind::Overhead, -1}
                      : compute >= memory                         ? Bound{BoundKind::Compute, -1}
                                                                  : Bound{BoundKind::Memory, time.slowest};
        if (!binding) {
            // Of other kernels it has learned, of these not; and nobody prices a collective by cores.
            price.domain = bindings_.empty() ? DomainVerdict::Inside : DomainVerdict::Outside;
            price.priced = kernel.kind != KernelKind::Collective;
            return price;
        }
        const SectionPrice section = priceWith(*binding->section, price.seconds, {}, 0, binding->distance);
        price.low = section.low;
        price.high = section.high;
        price.domain = section.domain;
        return price;
    }
    KernelStory explain(const Kernel& kernel) const override {
        KernelStory story;
        const Binding* binding = bindingOf(kernel.kind, variantName(kernel).view());
        const CoresTime time = timeOf(kernel, binding);
        const CoresShares shares = sharesFor(binding, kernel);
        const auto seconds = [&](std::string name, double value, std::string meaning) {
            story.terms.push_back({std::move(name), value, Dimension::Time, {}, std::move(meaning)});
        };
        seconds("launch constant", shares.constant,
                binding ? "Of one call, fitted." : "The device's launch overhead; nothing has been fitted.");
        if (framework_ && !binding)
            seconds("framework", frameworkSeconds(frameworkTimes, cpu_, kernel),
                    "A call through the framework, weights packed anew, a product of one row on one core.");
        seconds("compute", shares.compute * time.compute,
                fmt::format("Operations on whole registers by all cores, at the peak of the type, times {:.3f}{}.",
                            shares.compute, binding ? ", fitted" : ""));
        seconds(
            "memory", shares.memory * time.memory,
            fmt::format("Weights from {}, activations from {}, times {:.3f}{}.", cpu_.device.main().name,
                        cpu_.device.levels[std::size_t(time.level)].name, shares.memory, binding ? ", fitted" : ""));
        return story;
    }
    double correlation(KernelKind kind) const override {
        for (const Binding& binding : bindings_) {
            if (binding.section->kind == kind) return binding.section->correlation;
        }
        return 0;
    }
    std::vector<std::string> levels() const override {
        std::vector<std::string> names;
        for (const MemoryLevel& level : cpu_.device.levels) names.push_back(level.name);
        return names;
    }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> out = cpu_.assumptions;
        out.push_back("Weights come from main memory, activations from the innermost cache that holds them.");
        if (even_ < 1)
            out.push_back(
                fmt::format("Cores differ and take equal work: they wait for the slowest, which leaves {:.0f} "
                            "% of the peak.",
                            100 * even_));
        if (framework_) out.push_back("A framework calls each kernel and packs weights anew each time.");
        if (bindings_.empty()) {
            out.push_back("Nothing has been measured on this machine: peaks of the drawing and its launch overhead.");
        }
        return out;
    }
    PartsRead used() const override { return cpu_.device.used; }
    // A call of a library is all that there is: no graph takes its start away.
    bool launchInside() const override { return true; }

private:
    struct Binding;
    // A calibration was fitted to the drawn peaks, so that it holds for them.
    CoresTime timeOf(const Kernel& kernel, const Binding* binding) const {
        CoresTime time = coresSeconds(cpu_, kernel);
        if (!binding) time.compute /= even_;
        return time;
    }
    struct Binding {
        const CalibrationSection* section;
        double distance;  ///< as distanceAbroad() says
    };
    const Binding* bindingOf(KernelKind kind, std::string_view variant) const {
        for (const Binding& binding : bindings_) {
            if (binding.section->kind == kind && binding.section->variant == variant) return &binding;
        }
        return nullptr;
    }
    CoresShares sharesFor(const Binding* binding, const Kernel& kernel) const {
        return binding ? sharesOf(binding->section->parameters, kernel.function, usual_) : usual_;
    }

    GpuView cpu_;
    CalibrationSet calibrations_;  // keeps the sections alive
    std::vector<Binding> bindings_;
    CoresShares usual_;
    bool framework_ = false;
    double even_ = 1;  ///< as evenShare()
};

Expected<KernelPricerPtr> bindCpuRoofline(const DeviceRef& place, const BindContext& context) {
    auto view = cpuView(place);
    if (!view) return Unexpected(std::move(view.error()));
    const auto pages = context.options.find("pages");
    const auto lie = pagesOf(pages == context.options.end() ? std::string_view() : pages->second);
    if (!lie) return Unexpected(lie.error());
    const auto memories = memoryNodes(place);
    if (!memories) return Unexpected(memories.error());
    if (auto placed = placePages(*view, *memories, *lie); !placed) return Unexpected(placed.error());
    const auto library = context.options.find("library");
    const bool framework = library != context.options.end() && library->second == "framework";
    return KernelPricerPtr(std::make_shared<const CpuPricer>(*view, context.calibrations, framework, evenShare(place)));
}

Expected<Calibration> fitCpuRoofline(std::span<const KernelRows> rows, const FitOptions& options) {
    return fitCores(cpuRooflineId, cpuRooflineVersion, rows, options);
}

MethodCard cpuRooflineCard() {
    return {
        .title = "CPU roofline",
        .methodology = Methodology::Analytical,
        .summary =
            "Models kernels on the cores of a CPU: arithmetic, memory traffic and a constant per call, with factors "
            "for each kind of kernel, fitted to kernels measured on the machine.",
        .platforms = {"CPU"},
        .evidence =
            {{"matrix products, softmax, layer normalisation, element-wise", "CPU",
              "fp32 on one core of a Zen 5 server, oneDNN 2.6.3: median error 7 %, mean 14 % on 167 kernels after "
              "fitting 36 others (roofline 48 %); perceptrons of batch 16 to 256 -4 to 43 %"},
             {"ResNet-18 to -152, Wide ResNet-50, VGG, ViT, DeiT, MobileNetV2 and V3, EfficientNet-B0, Swin-T", "CPU",
              "library=framework, fusion=compile: 6.0 % mean of 6 fp32 rows on i7-12700H and 10.6 % of 12 on "
              "i9-10940X (timm, torch.compile, batch 1), of models that set none of its three fitted times; 5.7 % of 9 "
              "and 9.5 % of 16 with Wide ResNet-50 and Swin-T, which the rules of fresh pages and of norms that are "
              "written out were made for; of all 60 rows 4.9 and 10.2 %, median 4.3 and 5.3 %; as an engine 27 and "
              "69 %"}},
        .needs = {"Peak rates of the cores", "Bandwidths of caches and main memory", "Shapes of all tensors",
                  "A calibration of the machine; without it a call takes the stated launch overhead"},
        .failureMode =
            "Libraries that pack or convert operands for some shapes and not for others; threads that wait "
            "for each other; other programs on the machine.",
        .lineage = {"Ilic, Pratas, Sousa: Cache-aware Roofline Model, IEEE CAL 2014"},
        .cost = {.fixed = 1.4e-5, .perOperator = 5.0e-8, .perKernel = 4.0e-7},
        .live = true,
    };
}

}  // namespace

double coreWeightBytes(const Kernel& kernel) {
    if (kernel.kind == KernelKind::Gemm && kernel.batch <= 1) {
        return double(kernel.n) * double(kernel.k) * weightBytesPerElement(kernel.weightType, kernel.scaleBlock);
    }
    if (kernel.kind == KernelKind::Convolution) {
        const ConvolutionShape& c = kernel.convolution;
        return double(c.outChannels) * double(c.inChannels) / std::max(1.0, double(c.groups)) *
               double(c.kernelHeight * c.kernelWidth) * weightBytesPerElement(kernel.weightType, kernel.scaleBlock);
    }
    return 0;
}

CoresTime coresSeconds(const GpuView& cpu, const Kernel& kernel) {
    CoresTime time;
    if (kernel.kind == KernelKind::Collective) return time;
    const DeviceView& device = cpu.device;
    const double weights = coreWeightBytes(kernel), activations = activationBytes(kernel, weights);
    time.compute = computeSeconds(cpu, kernel);
    time.level = levelFor(device, activations);
    const double ofWeights = weights / cpu.dramBandwidth;
    const double ofActivations =
        activations / (time.level > 0 ? device.levels[std::size_t(time.level)].bandwidth.value : cpu.dramBandwidth);
    time.memory = ofWeights + ofActivations;
    time.slowest = ofWeights > ofActivations ? std::int16_t{0} : time.level;
    return time;
}

KernelMethod cpuRooflineMethod() {
    return {
        .id = cpuRooflineId,
        .version = cpuRooflineVersion,
        .binder = bindCpuRoofline,
        .fit = fitCpuRoofline,
        .options = {{.key = "library",
                     .title = "Called by",
                     .choices = {"engine", "framework"},
                     .fallback = "engine",
                     .meaning = "An engine that keeps weights packed and calls kernels directly, or a framework that "
                                "dispatches each kernel and packs weights again (torch.compile without freezing)."},
                    pagesOption()},
        .card = cpuRooflineCard()};
}

}  // namespace orrery
