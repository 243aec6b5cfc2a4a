// Are the C interfaces that engine/measurement/cuda_driver.h writes down those of NVIDIA's headers? Compiled only where
// these are installed. Handles are pointers there and here, enumerations integers.

#include "measurement/cuda_driver.h"

#include <cublas_v2.h>
#include <cuda.h>

#include <type_traits>

namespace {

template <class Ours, class Theirs>
constexpr bool sameArgument() {
    if constexpr (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>)
        return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
    else if constexpr (std::is_floating_point_v<Ours> || std::is_floating_point_v<Theirs>)
        return std::is_same_v<Ours, Theirs>;
    else
        return sizeof(Ours) == sizeof(Theirs);
}
template <class R, class... Ours, class S, class... Theirs>
constexpr bool same(R (*)(Ours...), S (*)(Theirs...)) {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs))
        return false;
    else
        return (sameArgument<Ours, Theirs>() && ...);
}
template <class Ours, class Theirs>
constexpr bool sameFunction = same(Ours(nullptr), Theirs(nullptr));

using orrery::Cublas;
using orrery::CudaDriver;
#define DRIVER(member, function) \
    static_assert(sameFunction<decltype(CudaDriver::member), decltype(&function)>, #function)
#define CUBLAS(member, function) static_assert(sameFunction<decltype(Cublas::member), decltype(&function)>, #function)

DRIVER(init, cuInit);
DRIVER(errorText, cuGetErrorString);
DRIVER(deviceCount, cuDeviceGetCount);
DRIVER(device, cuDeviceGet);
DRIVER(deviceName, cuDeviceGetName);
DRIVER(deviceAttribute, cuDeviceGetAttribute);
DRIVER(deviceBus, cuDeviceGetPCIBusId);
DRIVER(retainContext, cuDevicePrimaryCtxRetain);
DRIVER(releaseContext, cuDevicePrimaryCtxRelease);
DRIVER(useContext, cuCtxSetCurrent);
DRIVER(memory, cuMemGetInfo);
DRIVER(allocate, cuMemAlloc);
DRIVER(release, cuMemFree);
DRIVER(upload, cuMemcpyHtoD);
DRIVER(makeStream, cuStreamCreate);
DRIVER(endStream, cuStreamDestroy);
DRIVER(makeEvent, cuEventCreate);
DRIVER(recordEvent, cuEventRecord);
DRIVER(awaitEvent, cuEventSynchronize);
DRIVER(elapsed, cuEventElapsedTime);
DRIVER(endEvent, cuEventDestroy);
DRIVER(beginCapture, cuStreamBeginCapture);
DRIVER(endCapture, cuStreamEndCapture);
DRIVER(makeGraph, cuGraphInstantiateWithFlags);
DRIVER(launchGraph, cuGraphLaunch);
DRIVER(endGraph, cuGraphExecDestroy);
DRIVER(forgetCapture, cuGraphDestroy);
static_assert(CudaDriver::l2Bytes == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
static_assert(CudaDriver::streamByItself == CU_STREAM_NON_BLOCKING);
static_assert(CudaDriver::captureAnyCall == CU_STREAM_CAPTURE_MODE_RELAXED);

CUBLAS(create, cublasCreate_v2);
CUBLAS(destroy, cublasDestroy_v2);
CUBLAS(version, cublasGetVersion_v2);
CUBLAS(useStream, cublasSetStream_v2);
// These have other forms in C++.
using Product = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                   const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                                   cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
using Products = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                    const void*, cudaDataType, int, long long, const void*, cudaDataType, int,
                                    long long, const void*, void*, cudaDataType, int, long long, int,
                                    cublasComputeType_t, cublasGemmAlgo_t);
[[maybe_unused]] constexpr Product product = &cublasGemmEx;
[[maybe_unused]] constexpr Products products = &cublasGemmStridedBatchedEx;
static_assert(sameFunction<decltype(Cublas::product), Product>);
static_assert(sameFunction<decltype(Cublas::products), Products>);
static_assert(Cublas::turned == CUBLAS_OP_T && Cublas::asItIs == CUBLAS_OP_N);
static_assert(Cublas::anyAlgorithm == CUBLAS_GEMM_DEFAULT);
static_assert(Cublas::sumInFloat == CUBLAS_COMPUTE_32F && Cublas::sumInInt == CUBLAS_COMPUTE_32I);
static_assert(Cublas::float32 == CUDA_R_32F && Cublas::half == CUDA_R_16F && Cublas::bfloat == CUDA_R_16BF);
static_assert(Cublas::int8 == CUDA_R_8I && Cublas::int32 == CUDA_R_32I);

}  // namespace
