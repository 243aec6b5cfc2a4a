#include "measurement/cuda_driver.h"

#include <fmt/format.h>

#include <array>

namespace orrery {

namespace {

Unexpected incomplete(const DynamicLibrary& library, const char* function) {
    return fail("measure.no-library", fmt::format("{} has no {}", library.name(), function), "CUDA 11.4 or later",
                "update NVIDIA's driver and CUDA");
}

}  // namespace

Expected<CudaDriver> CudaDriver::open() {
    constexpr std::array<std::string_view, 1> names{"libcuda.so.1"};
    auto library = DynamicLibrary::open(names);
    if (!library) {
        return fail("measure.no-library", "libcuda.so.1 is not here, so no NVIDIA GPU can be measured",
                    "NVIDIA's driver", "install the driver, or measure the processor");
    }
    CudaDriver d;
    d.library = std::move(*library);
    const char* missing = nullptr;
    const auto load = [&](auto& function, const char* name) {
        if (!d.library.load(function, name) && !missing) missing = name;
    };
    load(d.init, "cuInit");
    load(d.errorText, "cuGetErrorString");
    load(d.deviceCount, "cuDeviceGetCount");
    load(d.device, "cuDeviceGet");
    load(d.deviceName, "cuDeviceGetName");
    load(d.deviceAttribute, "cuDeviceGetAttribute");
    load(d.deviceBus, "cuDeviceGetPCIBusId");
    load(d.retainContext, "cuDevicePrimaryCtxRetain");
    load(d.releaseContext, "cuDevicePrimaryCtxRelease_v2");
    load(d.useContext, "cuCtxSetCurrent");
    load(d.memory, "cuMemGetInfo_v2");
    load(d.allocate, "cuMemAlloc_v2");
    load(d.release, "cuMemFree_v2");
    load(d.upload, "cuMemcpyHtoD_v2");
    load(d.makeStream, "cuStreamCreate");
    load(d.endStream, "cuStreamDestroy_v2");
    load(d.makeEvent, "cuEventCreate");
    load(d.recordEvent, "cuEventRecord");
    load(d.awaitEvent, "cuEventSynchronize");
    // The first form is deprecated since CUDA 12.8.
    if (!d.library.load(d.elapsed, "cuEventElapsedTime_v2")) load(d.elapsed, "cuEventElapsedTime");
    load(d.endEvent, "cuEventDestroy_v2");
    load(d.beginCapture, "cuStreamBeginCapture_v2");
    load(d.endCapture, "cuStreamEndCapture");
    load(d.makeGraph, "cuGraphInstantiateWithFlags");
    load(d.launchGraph, "cuGraphLaunch");
    load(d.endGraph, "cuGraphExecDestroy");
    load(d.forgetCapture, "cuGraphDestroy");
    if (missing) return incomplete(d.library, missing);
    return d;
}

std::string CudaDriver::text(int error) const {
    const char* words = nullptr;
    if (errorText(error, &words) != 0 || !words) return fmt::format("error {}", error);
    return fmt::format("{} ({})", words, error);
}

Expected<Cublas> Cublas::open() {
    constexpr std::array<std::string_view, 3> names{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
    auto library = DynamicLibrary::open(names);
    if (!library) {
        return fail("measure.no-library", library.error().message, "cuBLAS",
                    "install CUDA, or name the folder that holds libcublas in LD_LIBRARY_PATH");
    }
    Cublas b;
    b.library = std::move(*library);
    const char* missing = nullptr;
    const auto load = [&](auto& function, const char* name) {
        if (!b.library.load(function, name) && !missing) missing = name;
    };
    load(b.create, "cublasCreate_v2");
    load(b.destroy, "cublasDestroy_v2");
    load(b.version, "cublasGetVersion_v2");
    load(b.useStream, "cublasSetStream_v2");
    load(b.product, "cublasGemmEx");
    load(b.products, "cublasGemmStridedBatchedEx");
    if (missing) return incomplete(b.library, missing);
    return b;
}

NvmlWatch::NvmlWatch(const char* bus) {
    constexpr std::array<std::string_view, 1> names{"libnvidia-ml.so.1"};
    auto library = DynamicLibrary::open(names);
    if (!library) return;
    int (*init)() = nullptr;
    int (*byBus)(const char*, void**) = nullptr;
    if (!library->load(init, "nvmlInit_v2") || !library->load(byBus, "nvmlDeviceGetHandleByPciBusId_v2")) return;
    if (init() != 0 || byBus(bus, &device_) != 0) {
        device_ = nullptr;
        return;
    }
    library_ = std::move(*library);
    library_.load(clock_, "nvmlDeviceGetClockInfo");
    library_.load(use_, "nvmlDeviceGetUtilizationRates");
}

double NvmlWatch::clock() const {
    constexpr int multiprocessors = 1;
    unsigned megahertz = 0;
    return device_ && clock_ && clock_(device_, multiprocessors, &megahertz) == 0 ? 1e6 * megahertz : 0;
}

double NvmlWatch::busy() const {
    struct {
        unsigned kernels, memory;
    } percent{};
    return device_ && use_ && use_(device_, &percent) == 0 ? percent.kernels / 100.0 : 0;
}

}  // namespace orrery
