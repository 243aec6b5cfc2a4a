#include "methods/interval/interval_analysis.h"

#include "methods/answer/affine_calibration.h"
#include "methods/answer/direct_convolution.h"
#include "workload/expert_routing.h"
#include "workload/kernel_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

constexpr std::string_view methodId = "interval-analysis", methodVersion = "1.0.0";

double sizeOf(DType type) {
    return bits(type) / 8.0;
}

// What the multiprocessor's own pipes take, shared memory's among them, counts as compute.
Bound boundOf(const CycleStack& stack) {
    const double memory = stack.memoryData + stack.memoryQueue;
    const double compute = stack.base + stack.mathPipe + stack.memoryPipe + stack.dependency;
    if (stack.launch > std::max({memory, compute, stack.idle})) return {BoundKind::Overhead, -1};
    return memory >= compute ? Bound{BoundKind::Memory, 0} : Bound{BoundKind::Compute, -1};
}

class IntervalPricer final : public KernelPricer {
public:
    IntervalPricer(const GpuView& gpu, const CalibrationSet& calibrations)
        : gpu_(gpu), machine_(intervalMachine(gpu)), sections_(methodId, calibrations, gpu) {}

    /// 0 where the kernel is not covered.
    double nominal(const Kernel& kernel) const {
        const IntervalPlan plan = planIntervals(machine_, kernel);
        return plan.covered ? plan.stack.total() / machine_.clock : 0;
    }

    KernelPrice price(const Kernel& kernel) const override {
        return fasterConvolution(kernel, gpu_, [&](const Kernel& each) { return priceAlone(each); });
    }

    KernelPrice priceByHost(const Kernel& kernel) const override {
        return fasterConvolution(kernel, gpu_, [&](const Kernel& each) {
            const IntervalPlan plan = planIntervals(machine_, each);
            if (!plan.covered) return priceAlone(each);
            return sections_.priceByHost(each, plan.stack.total() / machine_.clock, boundOf(plan.stack));
        });
    }

    std::vector<KernelNote> notes() const override { return directConvolutionNotes(); }

    KernelStory explain(const Kernel& kernel) const override {
        const auto alone = [&](const Kernel& each) { return priceAlone(each); };
        const auto direct = directConvolution(kernel, gpu_, alone);
        if (direct && direct->seconds < alone(kernel).seconds) return explain(*convolutionAsStream(kernel));
        KernelStory story;
        const IntervalPlan plan = planIntervals(machine_, kernel);
        if (!plan.covered) {
            story.terms.push_back({"roofline",
                                   fallback(kernel),
                                   Dimension::Time,
                                   {},
                                   "This kind of kernel is not covered: its bytes at the rate of links or memory."});
            return story;
        }
        const auto number = [&](std::string name, double value, std::string unit, std::string meaning) {
            story.terms.push_back({std::move(name), value, Dimension::Number, std::move(unit), std::move(meaning)});
        };
        const double resident = residentBlocks(machine_, plan.program);
        if (plan.tileM > 0) {
            number(fmt::format("tile {:.0f}×{:.0f}×{:.0f}", plan.tileM, plan.tileN, plan.tileK), plan.splits,
                   "splits of the reduction", "The fewest cycles of the usual tiles.");
        }
        number("blocks", plan.program.blocks, "", "Of the whole kernel.");
        number("warps per block", plan.program.warpsPerBlock, "", "");
        number("blocks per multiprocessor", resident, "", "By warps, registers and shared memory.");
        const double seconds = plan.stack.total() / machine_.clock;
        story.terms.push_back({"cycles",
                               seconds,
                               Dimension::Time,
                               {},
                               fmt::format("{:.0f} cycles at {:.0f} MHz, as the stack adds up.", plan.stack.total(),
                                           machine_.clock / 1e6)});
        const Affine affine = sections_.of(kernel);
        if (affine.stretch != 1) {
            story.terms.push_back({"stretch",
                                   (affine.stretch - 1) * seconds,
                                   Dimension::Time,
                                   {},
                                   fmt::format("{:.3f} of the cycles, fitted.", affine.stretch)});
        }
        sections_.tellLaunch(kernel, story);
        story.stack = stackParts(plan.stack);
        story.tileM = plan.tileM;
        story.tileN = plan.tileN;
        story.tileK = plan.tileK;
        story.blocks = plan.program.blocks;
        story.blocksPerWave = machine_.sms * resident;
        story.waves = story.blocks / story.blocksPerWave;
        return story;
    }

    double correlation(KernelKind kind) const override { return sections_.correlation(kind); }

    std::vector<std::string> assumptions() const override {
        std::vector<std::string> out = machine_.assumptions;
        out.push_back("Warps run programs from templates of usual kernels, not traces of the kernels themselves.");
        out.push_back("Data come from main memory unless a kernel itself has read them before.");
        for (std::string& sentence : sections_.assumptions()) out.push_back(std::move(sentence));
        return out;
    }

private:
    KernelPrice priceAlone(const Kernel& kernel) const {
        const IntervalPlan plan = planIntervals(machine_, kernel);
        if (plan.covered) {
            return sections_.price(kernel, plan.stack.total() / machine_.clock, boundOf(plan.stack));
        }
        KernelPrice price;
        price.seconds = price.low = price.high = gpu_.device.launchOverhead.value + fallback(kernel);
        const bool network = kernel.kind == KernelKind::Collective;
        price.bound = {network ? BoundKind::Network : BoundKind::Memory, static_cast<std::int16_t>(network ? -1 : 0)};
        price.priced = false;
        price.domain = DomainVerdict::Outside;
        return price;
    }

    double fallback(const Kernel& kernel) const {
        if (kernel.kind == KernelKind::Collective && gpu_.linkBandwidth > 0) {
            return kernel.messageBytes / gpu_.linkBandwidth;
        }
        return kernel.bytes() / gpu_.dramBandwidth;
    }

    GpuView gpu_;
    IntervalMachine machine_;
    AffineSections sections_;
};

Expected<KernelPricerPtr> bindIntervals(const GpuView& gpu, const CalibrationSet& calibrations) {
    if (gpu.dramBandwidth <= 0 || gpu.sms < 1 || gpu.clock <= 0 || gpu.vectorPeak(DType::F32) <= 0) {
        return fail("hardware.missing-attribute",
                    fmt::format("`{}` lacks what the cycles of a warp are counted with", gpu.device.name),
                    "multiprocessors with vector units for fp32, a clock and a main memory with a bandwidth",
                    "complete the design", Place{{}, 0, 0, gpu.device.path});
    }
    return std::make_shared<const IntervalPricer>(gpu, calibrations);
}

Expected<Calibration> fitIntervals(std::span<const KernelRows> rows, const FitOptions& options) {
    return fitAffineCalibration(methodId, methodVersion, rows, options, true, [](const GpuView& gpu) {
        auto pricer = std::make_shared<const IntervalPricer>(gpu, CalibrationSet());
        return [pricer](const Kernel& kernel) { return pricer->nominal(kernel); };
    });
}

}  // namespace

IntervalProduct intervalProductOf(const Kernel& kernel) {
    IntervalProduct product;
    product.type = kernel.type;
    product.aBytes = sizeOf(kernel.type);
    product.bBytes = weightBytesPerElement(kernel.weightType, kernel.scaleBlock);
    product.cBytes = sizeOf(wideType(kernel.type));
    if (kernel.kind == KernelKind::Convolution) {
        const ConvolutionShape& c = kernel.convolution;
        const double groups = std::max(1.0, static_cast<double>(c.groups));
        product.batch = groups;
        product.m = static_cast<double>(c.batch) * static_cast<double>(c.outHeight * c.outWidth);
        product.n = static_cast<double>(c.outChannels) / groups;
        product.k = static_cast<double>(c.inChannels) / groups * static_cast<double>(c.kernelHeight * c.kernelWidth);
        product.aBytesRead = std::min(product.batch * product.m * product.k,
                                      static_cast<double>(c.batch) * static_cast<double>(c.inChannels) *
                                          static_cast<double>(c.height * c.width)) *
                             product.aBytes;
        return product;
    }
    product.batch = std::max(1.0, static_cast<double>(kernel.batch));
    product.m = static_cast<double>(kernel.m);
    product.n = static_cast<double>(kernel.n);
    product.k = static_cast<double>(kernel.k);
    return product;
}

IntervalPlan planIntervals(const IntervalMachine& machine, const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::Gemm:
        case KernelKind::Convolution:
            return planProduct(machine, intervalProductOf(kernel));
        case KernelKind::Experts:
            return planProduct(machine, intervalProductOf(expertsAsProduct(kernel)));
        case KernelKind::PrefillAttention:
            return planPrefill(machine, kernel);
        case KernelKind::DecodeAttention:
            return planDecode(machine, kernel);
        case KernelKind::Softmax:
        case KernelKind::Normalization:
            return planRows(machine, kernel);
        case KernelKind::Elementwise:
        case KernelKind::Movement:
        case KernelKind::Other:
            return planElements(machine, kernel);
        case KernelKind::Collective:
            break;
    }
    return {};
}

std::vector<StackPart> stackParts(const CycleStack& stack) {
    std::vector<StackPart> out;
    for (const auto& [name, cycles] : stack.parts()) out.push_back({std::string(name), cycles});
    return out;
}

namespace {

// Findings are those of `orrery-cli evaluate` and of tests/methods/tst_model_end_to_end.cpp.
MethodCard intervalAnalysisCard() {
    return {
        .title = "Interval analysis",
        .methodology = Methodology::Analytical,
        .summary =
            "Models the instructions of a representative warp between stalls: issue, pipes, memory latency and queues, "
            "as a stack of cycles that adds up to the total.",
        .evidence = {{"matrix products", "GPU",
                      "bf16 on A100 (aiconfigurator, every 20th row): 20.3 % as it stands, 11.5 % after fitting two "
                      "numbers to a fifth of them; fp32 on seven GPUs (NeuSight): 8 to 35 %, fitted 7 to 19 %. AMALI's "
                      "authors report 17.8 % on A100"},
                     {"vector operators", "GPU",
                      "fp32 on seven GPUs (NeuSight, every 10th row): 9 to 27 % as it stands, 3 to 14 % after fitting "
                      "two numbers to a fifth of them"},
                     {"whole transformers", "GPU",
                      "MAPE 13.1 %, 41 of 41 inside the interval: fp32 transformers on one A100, V100, P100 or P4 "
                      "(NeuSight 6945927d)"}},
        .failureMode =
            "Kernels unlike its templates; operands that an earlier kernel left in the L2 cache; clocks that drop "
            "under load.",
        .lineage = {"Lee et al.: GCoM, ISCA 2022", "Wang et al.: MDM, MICRO 2020", "Cao et al.: AMALI, ISCA 2025"},
        .cost = {.fixed = 2.5e-5, .perOperator = 4.3e-8, .perKernel = 1.1e-6},
        .live = true,
    };
}

}  // namespace

KernelMethod intervalAnalysisMethod() {
    return {.id = methodId,
            .version = methodVersion,
            .binder = bindIntervals,
            .fit = fitIntervals,
            .card = intervalAnalysisCard()};
}

}  // namespace orrery
