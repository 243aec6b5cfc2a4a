// Every kernel method, in the order of builtinMethods(): one line each, with the include of its header above.

#include "methods/adapter/adapter_method.h"
#include "methods/array/data_centric.h"
#include "methods/array/loop_nest.h"
#include "methods/array/systolic.h"
#include "methods/cpu/core_kernels.h"
#include "methods/cpu/cpu_roofline.h"
#include "methods/gpu/gpu_cycle.h"
#include "methods/interval/interval_analysis.h"
#include "methods/kernel_method.h"
#include "methods/learned/booster.h"
#include "methods/learned/forest.h"
#include "methods/npu/npu_tile.h"
#include "methods/pim/pim_offload.h"
#include "methods/search/mapping_search.h"
#include "methods/soc/soc_offload.h"
#include "methods/tile/tile_hybrid.h"
#include "methods/tile/tile_wave.h"
#include "methods/tile/wave_scaling.h"
#include "methods/trace/recorded.h"

#include <fmt/format.h>

#include <limits>
#include <vector>

namespace orrery {

KernelPrice SlowPricer::price(const Kernel& kernel) const {
    const auto serial = makeSerialExecutor();
    PriceContext context{*serial};
    auto priced = price(kernel, context);
    return priced ? *priced
                  : KernelPrice{.seconds = std::numeric_limits<double>::quiet_NaN(),
                                .domain = DomainVerdict::Outside,
                                .priced = false};
}

Expected<KernelPricerPtr> KernelMethod::bind(const DeviceRef& device, const BindContext& context) const {
    if (const auto* ofDevice = std::get_if<DeviceBinder>(&binder)) {
        if (*ofDevice != &bindAdapter || id == "adapter") return (*ofDevice)(device, context);
        BindContext named = context;  // one binder for all adapters: it is told which
        named.options.insert_or_assign("adapter", std::string(id));
        return (*ofDevice)(device, named);
    }
    auto gpu = gpuView(device);
    if (!gpu) return Unexpected(std::move(gpu.error()));
    return std::get<GpuBinder>(binder)(*gpu, context.calibrations);
}

Expected<KernelPricerPtr> KernelMethod::bind(const GpuView& gpu, const CalibrationSet& calibrations) const {
    if (const auto* ofGpu = std::get_if<GpuBinder>(&binder)) return (*ofGpu)(gpu, calibrations);
    return fail("method.not-applicable", fmt::format("`{}` prices kernels of arrays, not of GPUs", id),
                "a device with an array", "choose a kernel method for GPUs");
}

std::span<const KernelMethod> kernelMethods() {
    static const std::vector<KernelMethod> methods{
        // clang-format off: one line each
        loopNestKernels(),      dataCentricKernels(),        npuTileKernels(),
        systolicCycleKernels(), systolicClosedFormKernels(), tileWaveKernels(),
        tileHybridKernels(),    waveScalingKernels(),        forestKernels(),
        boosterKernels(),       intervalAnalysisMethod(),    mappingSearchMethod(),
        recordedKernels(),      cpuRooflineMethod(),         pimOffloadMethod(),
        gpuCycleKernels(),      gpuIntervalKernels(),        coreWindowKernels(),
        coreCycleKernels(),     socOffloadMethod(),
        // clang-format on
    };
    return methods;
}

const KernelMethod* findKernelMethod(std::string_view id) {
    for (const KernelMethod& method : kernelMethods()) {
        if (method.id == id) return &method;
    }
    return findAdapterKernels(id);
}

}  // namespace orrery
