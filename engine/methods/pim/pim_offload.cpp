#include "methods/pim/pim_offload.h"

#include "methods/model/compose.h"
#include "methods/model/kernel_slot.h"
#include "methods/pim/pim_units.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

constexpr std::string_view pimOffloadId = "pim-offload";
// Commands and cycles of AttAcc's simulator are met within this in nearly all of 14,000 runs (tst_pim); nothing has
// been measured on silicon.
constexpr double pimSide = 0.1;

enum class PimPlacing : std::uint8_t { Cheaper, Attention, None };

class PimPricer final : public KernelPricer {
public:
    PimPricer(KernelPricerPtr host, std::string hostMethod, DeviceView device, PimUnits units, PimPlacing placing,
              bool turns)
        : host_(std::move(host)),
          hostMethod_(std::move(hostMethod)),
          device_(std::move(device)),
          units_(std::move(units)),
          placing_(placing),
          turns_(turns) {
        notes_ = host_ ? host_->notes() : std::vector<KernelNote>{};
        onUnits_ = static_cast<std::int8_t>(notes_.size());
        const std::string where = fmt::format("work on `{}` in `{}`", units_.view().unitName, units_.view().name);
        notes_.push_back({placing_ == PimPlacing::Cheaper
                              ? fmt::format("{}, where they take less than on `{}`", where, units_.view().device)
                              : where});
    }

    KernelPrice price(const Kernel& kernel) const override { return choose(kernel, onHost(kernel)); }
    KernelPrice price(const Kernel& kernel, KernelUse use) const override {
        const KernelPrice host = host_ ? host_->price(kernel, use) : rooflineOf(kernel);
        return use == KernelUse::Forward ? choose(kernel, host) : host;
    }
    KernelPrice priceByHost(const Kernel& kernel) const override {
        return choose(kernel, host_ ? host_->priceByHost(kernel) : rooflineOf(kernel));
    }
    bool tellsUses() const override { return host_ && host_->tellsUses(); }
    std::vector<std::string> leftOut(std::span<const std::pair<const Kernel*, KernelUse>> asked) const override {
        return host_ ? host_->leftOut(asked) : std::vector<std::string>{};
    }
    KernelStory explain(const Kernel& kernel) const override {
        const KernelPrice host = onHost(kernel);
        const auto there = units_.price(kernel);
        const bool chosen = there && goesThere(kernel, host, *there);
        KernelStory story = host_ && !chosen ? host_->explain(kernel) : KernelStory{};
        const auto seconds = [&](std::string name, double value, std::string meaning) {
            story.terms.push_back({std::move(name), value, Dimension::Time, {}, std::move(meaning)});
        };
        if (!there) return story;
        seconds("on the device", host.seconds, fmt::format("As `{}` prices it.", hostMethod_));
        seconds("on the memory's units", there->seconds,
                fmt::format("{}, {:.0f} % of it handing over.", chosen ? "Chosen" : "Not chosen",
                            there->seconds > 0 ? 100 * there->handedOver / there->seconds : 0));
        seconds("units at work", there->units, "Multiplying, opening rows, refresh and moves between units.");
        seconds("handed over", there->handedOver,
                "Operands and results between device and memory, what is not hidden.");
        return story;
    }
    double correlation(KernelKind kind) const override { return host_ ? host_->correlation(kind) : 0; }
    std::vector<std::string> assumptions() const override {
        std::vector<std::string> out = units_.assumptions();
        out.push_back(host_ ? fmt::format("What stays on `{}` is priced by `{}`", units_.view().device, hostMethod_)
                            : fmt::format("`{}` has no units of its own: other kernels stand at a roofline",
                                          units_.view().device));
        const auto more = host_ ? host_->assumptions() : std::vector<std::string>{};
        out.insert(out.end(), more.begin(), more.end());
        return out;
    }
    std::string basis() const override { return host_ ? host_->basis() : std::string(); }
    std::vector<std::string> levels() const override { return host_ ? host_->levels() : std::vector<std::string>{}; }
    PartsRead used() const override {
        PartsRead read = units_.view().used;
        if (host_) read.add(host_->used());
        return read;
    }
    bool launchInside() const override { return host_ && host_->launchInside(); }
    bool takesEpilogue() const override { return host_ && host_->takesEpilogue(); }
    bool takesAnyType() const override { return !host_ || host_->takesAnyType(); }
    std::vector<KernelNote> notes() const override { return notes_; }
    bool beside(const Kernel& kernel) const override {
        if (!turns_) return false;
        const auto there = units_.price(kernel);
        return there && goesThere(kernel, onHost(kernel), *there);
    }

private:
    KernelPrice rooflineOf(const Kernel& kernel) const {
        KernelPrice price = rooflinePrice(device_, kernel);
        price.priced = false;
        return price;
    }
    KernelPrice onHost(const Kernel& kernel) const { return host_ ? host_->price(kernel) : rooflineOf(kernel); }
    bool goesThere(const Kernel& kernel, const KernelPrice& host, const PimTime& there) const {
        if (placing_ == PimPlacing::None) return false;
        if (placing_ == PimPlacing::Attention || !host_) return kernel.kind == KernelKind::DecodeAttention || !host_;
        return there.seconds < host.seconds;
    }
    KernelPrice choose(const Kernel& kernel, const KernelPrice& host) const {
        const auto there = units_.price(kernel);
        if (!there || !goesThere(kernel, host, *there)) return host;
        KernelPrice price;
        price.seconds = there->seconds;
        price.low = (1 - pimSide) * there->seconds;
        price.high = (1 + pimSide) * there->seconds;
        price.errorKnown = false;
        price.bound = {BoundKind::Memory, 0};
        price.levelBytes[0] = static_cast<float>(there->busBytes);
        price.joules = there->joules;
        price.note = onUnits_;
        price.stands = true;  // of other units than those whose peaks bound the device's kernels
        return price;
    }

    KernelPricerPtr host_;
    std::string hostMethod_;
    DeviceView device_;
    PimUnits units_;
    PimPlacing placing_;
    bool turns_;
    std::vector<KernelNote> notes_;
    std::int8_t onUnits_ = 0;
};

struct HostPrices {
    KernelPricerPtr pricer;
    std::string method;
};

// By the chosen method; where that is the usual one and the device is a CPU, by the one of CPUs.
Expected<HostPrices> hostPrices(const DeviceRef& place, const BindContext& context) {
    constexpr std::string_view usual = "tile-hybrid";
    const std::string_view asked = optionOf(context, "compute", usual);
    const auto bound = [&](std::string_view text) -> Expected<HostPrices> {
        auto pricer = fillSlot(text, pimOffloadId, place, context);
        if (!pricer) return Unexpected(std::move(pricer.error()));
        if (!(*pricer)->instant())
            return fail("method.bad-option", fmt::format("`{}` takes its time for each kernel", text),
                        "a kernel method that answers at once, such as tile-hybrid");
        return HostPrices{std::move(*pricer), std::string(text)};
    };
    auto gpu = bound(asked);
    if (asked != usual || gpu || gpu.error().code != "method.not-applicable") return gpu;
    auto cpu = bound("cpu-roofline");
    if (cpu || cpu.error().code != "method.not-applicable") return cpu;
    return HostPrices{};
}

Expected<KernelPricerPtr> bindPimOffload(const DeviceRef& place, const BindContext& context) {
    auto view = pimView(place);
    if (!view) return Unexpected(std::move(view.error()));
    auto device = deviceView(place);
    if (!device) return Unexpected(std::move(device.error()));
    auto units = PimUnits::make(std::move(*view));
    if (!units) return Unexpected(std::move(units.error()));
    auto host = hostPrices(place, context);
    if (!host) return Unexpected(std::move(host.error()));
    const std::string_view placing = optionOf(context, "place", "cheaper");
    return KernelPricerPtr(std::make_shared<const PimPricer>(std::move(host->pricer), std::move(host->method),
                                                             std::move(*device), std::move(*units),
                                                             placing == "attention" ? PimPlacing::Attention
                                                             : placing == "none"    ? PimPlacing::None
                                                                                    : PimPlacing::Cheaper,
                                                             optionOf(context, "turns", "off") == "on"));
}

std::vector<MethodOption> pimOffloadOptions() {
    return {
        {.key = "compute",
         .title = "On the device",
         .choices = {"tile-hybrid", "tile-wave", "cpu-roofline"},
         .fallback = "tile-hybrid",
         .meaning = "Prices what stays on the device. On CPUs cpu-roofline stands in for tile-hybrid.",
         .slot = MethodLevel::Kernel},
        {.key = "place",
         .title = "On the memory's units",
         .choices = {"cheaper", "attention", "none"},
         .fallback = "cheaper",
         .meaning = "Which kernels go there: attention of decoding and products of few rows where they take less time, "
                    "attention always, or none."},
        {.key = "turns",
         .title = "Half batches in turns",
         .choices = {"off", "on"},
         .fallback = "off",
         .meaning = "While one half of the batch is on the memory's units, the other is on the device, as in NeuPIMs. "
                    "The memory must serve both at once (two row buffers per bank). Weights are read once per half."},
    };
}

MethodCard pimOffloadCard() {
    return {
        .title = "Memory that computes",
        .methodology = Methodology::Analytical,
        .summary =
            "Each kernel on the device or on units in its memory, whichever takes less: attention of decoding "
            "and products of few rows on HBM-PIM, AttAcc or UPMEM units as drawn. Ask it what such a memory "
            "brings.",
        .platforms = {"PIM"},
        .evidence = {{"attention of decoding", "HBM-PIM",
                      "cycles of AttAcc's simulator: 0.8 % (units at banks), 0.5 % (bank groups), 0.2 % (buffer die) "
                      "on average "
                      "of 14,000 runs; nothing measured on silicon"}},
        .needs = {"A memory with units inside (`per: bank`, `bank_group` or `channel`) and a timing standard",
                  "What the kernel method for the device needs", "Shapes of all tensors"},
        .failureMode =
            "Weights and caches are taken to lie as the units need them. Device and units do not work at the "
            "same time, but for the heads that hide handing over, unless half batches take turns.",
        .lineage = {"Park et al.: AttAcc! Unleashing the Power of PIM for Batched Transformer-based Generative Model "
                    "Inference, ASPLOS 2024",
                    "Heo et al.: NeuPIMs: NPU-PIM Heterogeneous Acceleration for Batched LLM Inferencing, ASPLOS 2024",
                    "Lee et al.: PAISE: PIM-Accelerated Inference Scheduling Engine, HPCA 2025",
                    "Gómez-Luna et al.: Benchmarking a New Paradigm (PrIM), IEEE Access 2022"},
        .cost = {.fixed = 5.0e-4, .perOperator = 5.0e-8, .perKernel = 3.0e-6},
        .live = true,
    };
}

}  // namespace

KernelMethod pimOffloadMethod() {
    return {.id = pimOffloadId,
            .version = "1.0.0",
            .binder = bindPimOffload,
            .options = pimOffloadOptions(),
            .card = pimOffloadCard()};
}

}  // namespace orrery
