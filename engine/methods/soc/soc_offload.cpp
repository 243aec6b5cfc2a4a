#include "methods/soc/soc_offload.h"

#include "base/text/words.h"
#include "hardware/views/device_view.h"
#include "methods/answer/compute_rates.h"
#include "methods/model/kernel_slot.h"
#include "methods/soc/soc_pricer.h"

#include <fmt/format.h>

namespace orrery {

namespace {

constexpr std::string_view socOffloadId = "soc-offload";
constexpr std::string_view usualHost = "cpu-roofline", usualAccelerator = "systolic-closed-form";

// The design as the accelerator sees it while its tiles are in the scratchpads: its main memory takes no time.
Expected<DeviceRef> withTilesInside(const DeviceRef& accelerator) {
    const auto device = deviceView(accelerator);
    if (!device) return Unexpected(device.error());
    auto design = std::make_shared<Hardware>(*accelerator.design);
    Component& memory = *componentAt(design->root, device->main().place);
    for (const auto& [attribute, value] : {std::pair{"bandwidth", "1000000 GB/s"}, std::pair{"latency", "0.1 ns"}})
        if (auto set = setAttribute(memory, attribute, value); !set) return Unexpected(std::move(set.error()));
    return DeviceRef{std::move(design), accelerator.path};
}

Expected<std::int64_t> threadsOf(std::string_view text, const SocView& view, std::int64_t cores) {
    if (text == "all") return cores;
    const auto threads = wholeIn(text);
    if (threads && *threads >= 1 && *threads <= cores) return *threads;
    return fail("soc.threads",
                fmt::format("`threads` is `{}`, and `{}` has {} cores of a kind", text, view.processorName, cores),
                fmt::format("1 to {}, or `all`", cores), "ask for fewer threads, or draw more cores",
                Place{{}, 0, 0, pathText(view.processor)});
}

Expected<void> checkPort(const SocView& view) {
    const Place place{{}, 0, 0, pathText(view.processor)};
    if (!view.coherent)
        return fail("soc.no-port",
                    fmt::format("no link is drawn between `{}` and `{}`", view.acceleratorName, view.processorName),
                    "a `link` with a bandwidth from the accelerator to the processor or one of its caches",
                    "draw the coherent port, or ask with transfer=dma", place);
    if (view.cache.value <= 0)
        return fail("soc.no-cache", fmt::format("`{}` has no last cache for a coherent port", view.processorName),
                    "a `cache` with a capacity that its cores share", "draw the cache, or ask with transfer=dma",
                    place);
    return {};
}

Expected<KernelPricerPtr> bindSocOffload(const DeviceRef& place, const BindContext& context) {
    auto view = socView(place);
    if (!view) return Unexpected(std::move(view.error()));
    if (view->accelerators > mostAccelerators)
        return fail("soc.accelerators",
                    fmt::format("`{}` stands {} times beside `{}`", view->acceleratorName, view->accelerators,
                                view->processorName),
                    fmt::format("{} at most", mostAccelerators), "draw fewer accelerators",
                    Place{{}, 0, 0, pathText(view->accelerator)});
    auto host = fillSlot(optionOf(context, "compute", usualHost), socOffloadId, place, context);
    if (!host) return host;
    const std::string_view placing = optionOf(context, "place", "products");
    if (placing == "none") return host;
    SocSettings settings;
    settings.cheaper = placing == "cheaper";
    settings.coherent = optionOf(context, "transfer", "dma") == "coherent";
    settings.buffers = optionOf(context, "buffers", "one") == "two" ? TileBuffers::Two : TileBuffers::One;
    settings.weightsAhead = optionOf(context, "weights", "each-pass") == "ahead";
    settings.hostLayout = optionOf(context, "layout", "accelerator") == "processor";
    if (settings.coherent)
        if (auto port = checkPort(*view); !port) return Unexpected(std::move(port.error()));
    auto copies = CopyTimes::make(place, optionOf(context, socCopiesKey, "windows") == socCopiesFlow);
    if (!copies) return Unexpected(std::move(copies.error()));
    const auto threads = threadsOf(optionOf(context, "threads", "1"), *view, (*copies)->cores());
    if (!threads) return Unexpected(threads.error());
    settings.threads = *threads;
    const auto inside = withTilesInside(view->accelerator);
    if (!inside) return Unexpected(inside.error());
    const auto array = deviceView(*inside);
    if (!array) return Unexpected(array.error());
    // A device without vector units computes on its multipliers, behind which nothing passes results through them
    // again.
    for (std::size_t type = 0; type < dtypeCount && view->vectors; ++type)
        settings.vectorRates[type] = array->peaks[static_cast<std::size_t>(UnitKind::Vector)][type].value;
    for (std::size_t type = 0; type < dtypeCount; ++type)
        settings.multiplies[type] = array->peaks[static_cast<std::size_t>(UnitKind::Tensor)][type].value > 0;
    settings.own = ownType(*array);
    const std::string_view method = optionOf(context, "accelerator", usualAccelerator);
    auto accelerator = fillSlot(method, socOffloadId, *inside, context);
    if (!accelerator) {
        // That the chosen method is not for this array is the user's choice, not a reason to look at another device.
        auto& why = accelerator.error();
        if (why.code == "method.not-applicable") why.code = "soc.accelerator-method";
        return accelerator;
    }
    return KernelPricerPtr(std::make_shared<const SocPricer>(std::move(*view), std::move(*host),
                                                             std::move(*accelerator), std::move(*copies), settings,
                                                             std::string(method)));
}

std::vector<MethodOption> socOffloadOptions() {
    return {
        {.key = "compute",
         .title = "On the processor",
         .choices = {"cpu-roofline", "core-windows", "core-cycle"},
         .fallback = usualHost,
         .meaning = "Prices what stays on the processor.",
         .slot = MethodLevel::Kernel},
        {.key = "accelerator",
         .title = "On the accelerator",
         .choices = {"systolic-closed-form", "systolic-cycle", "npu-tile", "loop-nest", "data-centric"},
         .fallback = usualAccelerator,
         .meaning = "Prices each tile while its operands are in the scratchpads.",
         .slot = MethodLevel::Kernel},
        {.key = "place",
         .title = "Kernels for the accelerator",
         .choices = {"products", "cheaper", "none"},
         .fallback = "products",
         .meaning = "All products and convolutions, those that take less there than on the processor, or none."},
        {.key = "transfer",
         .title = "Transfers",
         .choices = {"dma", "coherent"},
         .fallback = "dma",
         .meaning =
             "By DMA past the caches, for which the processor writes lines back, or over a coherent port through "
             "its last cache."},
        {.key = "buffers",
         .title = "Buffers of a scratchpad",
         .choices = {"one", "two"},
         .fallback = "one",
         .meaning = "One tile at a time, all tiles prepared before and gathered after; or double buffering, where that "
                    "takes less: the next tile is prepared and loaded while one is computed."},
        {.key = "threads",
         .title = "Threads that prepare data",
         .choices = {"1", "2", "4", "8", "16", "all"},
         .fallback = "1",
         .meaning = "Cores that copy tensors into tiles and back, and lay them out anew."},
        {.key = socCopiesKey,
         .title = "Timing of copies",
         .choices = {"windows", socCopiesFlow},
         .fallback = "windows",
         .meaning = "By windows of the core's pipeline, or by a first order of them that answers on every edit."},
        {.key = "weights",
         .title = "Tiles of weights",
         .choices = {"each-pass", "ahead"},
         .fallback = "each-pass",
         .meaning = "Made in every pass, as SMAUG does, or once before."},
        {.key = "layout",
         .title = "Layout of the processor's operators",
         .choices = {"accelerator", "processor"},
         .fallback = "accelerator",
         .meaning = "Channels innermost as on the accelerator, or outermost, so that images are laid out anew wherever "
                    "they cross."},
    };
}

MethodCard socOffloadCard() {
    return {
        .title = "CPU and accelerator",
        .methodology = Methodology::Analytical,
        .summary =
            "A processor that feeds accelerators: products and convolutions tile by tile on these, everything else "
            "on the processor, with the copies, transfers and new layouts in between. Ask it which share of the "
            "time is the accelerator's.",
        .platforms = {"CPU", "Accelerator", "NPU"},
        .evidence =
            {{"convolutional networks", "SoC",
              "computing takes 13 to 24 % of AlexNet, VGG-16, ResNet-50 and MobileNetV2 by DMA and 34 to 49 % "
              "over a coherent port, 10 to 23 % and 25 to 47 % where no operator is fused; SMAUG's abstract states 25 "
              "to 40 % of other networks; nothing was fitted"}},
        .needs = {"A CPU whose core names its microarchitecture", "An accelerator with an array and scratchpads",
                  "A memory that both share, or a link between them", "Shapes of all tensors"},
        .failureMode =
            "Nothing around the accelerator has been measured. Copies find cold caches; a runtime's own work for each "
            "operator, address translation and interrupts are left out; convolutions in groups, attention, pooling and "
            "element-wise operators that are not fused stay on the processor, and operators follow one another.",
        .lineage =
            {"Xi et al.: SMAUG: End-to-End Full-Stack Simulation Infrastructure for Deep Learning Workloads, ACM "
             "TACO 2020",
             "Shao et al.: Co-Designing Accelerators and SoC Interfaces using gem5-Aladdin, MICRO 2016",
             "Shao et al.: Aladdin: A Pre-RTL, Power-Performance Accelerator Simulator, ISCA 2014"},
        .cost = {.fixed = 1.0e-3, .perOperator = 5.0e-8, .perKernel = 2.0e-3},
        .live = false,
    };
}

}  // namespace

KernelMethod socOffloadMethod() {
    return {.id = socOffloadId,
            .version = "1.0.0",
            .binder = bindSocOffload,
            .options = socOffloadOptions(),
            .card = socOffloadCard()};
}

}  // namespace orrery
