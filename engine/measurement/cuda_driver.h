#pragma once

// What is used of NVIDIA's driver, cuBLAS and NVML, by the names and types of their C interfaces. They are loaded where
// they are; no header or library of theirs is needed to build.

#include "measurement/dynamic_library.h"

#include <cstddef>
#include <cstdint>

namespace orrery {

// A device pointer is an integer and a device a number; every other handle is opaque.
using CudaPointer = unsigned long long;

struct CudaDriver {
    DynamicLibrary library;

    int (*init)(unsigned) = nullptr;
    int (*errorText)(int, const char**) = nullptr;
    int (*deviceCount)(int*) = nullptr;
    int (*device)(int*, int) = nullptr;
    int (*deviceName)(char*, int, int) = nullptr;
    int (*deviceAttribute)(int*, int, int) = nullptr;
    int (*deviceBus)(char*, int, int) = nullptr;
    int (*retainContext)(void**, int) = nullptr;
    int (*releaseContext)(int) = nullptr;
    int (*useContext)(void*) = nullptr;
    int (*memory)(std::size_t*, std::size_t*) = nullptr;  ///< free, all
    int (*allocate)(CudaPointer*, std::size_t) = nullptr;
    int (*release)(CudaPointer) = nullptr;
    int (*upload)(CudaPointer, const void*, std::size_t) = nullptr;
    int (*makeStream)(void**, unsigned) = nullptr;
    int (*endStream)(void*) = nullptr;
    int (*makeEvent)(void**, unsigned) = nullptr;
    int (*recordEvent)(void*, void*) = nullptr;
    int (*awaitEvent)(void*) = nullptr;
    int (*elapsed)(float*, void*, void*) = nullptr;  ///< ms
    int (*endEvent)(void*) = nullptr;
    int (*beginCapture)(void*, int) = nullptr;
    int (*endCapture)(void*, void**) = nullptr;
    int (*makeGraph)(void**, void*, unsigned long long) = nullptr;
    int (*launchGraph)(void*, void*) = nullptr;
    int (*endGraph)(void*) = nullptr;
    int (*forgetCapture)(void*) = nullptr;

    static constexpr int l2Bytes = 38;  ///< attribute of a device
    static constexpr unsigned streamByItself = 1;
    static constexpr int captureAnyCall = 2;  ///< also calls that take memory, as cuBLAS may

    /// `libcuda.so.1`, which comes with the driver. Fails with `measure.no-library`.
    static Expected<CudaDriver> open();
    std::string text(int error) const;  ///< `out of memory (2)`
};

struct Cublas {
    DynamicLibrary library;

    int (*create)(void**) = nullptr;
    int (*destroy)(void*) = nullptr;
    int (*version)(void*, int*) = nullptr;
    int (*useStream)(void*, void*) = nullptr;
    /// Operations on A and B; m, n, k; alpha; A, its type and leading dimension; B likewise; beta; C likewise; type of
    /// the sum; algorithm. Columns lie side by side in memory.
    int (*product)(void*, int, int, int, int, int, const void*, const void*, int, int, const void*, int, int,
                   const void*, void*, int, int, int, int) = nullptr;
    /// The same with the step to the next after each leading dimension, and how many before the type of the sum.
    int (*products)(void*, int, int, int, int, int, const void*, const void*, int, int, long long, const void*, int,
                    int, long long, const void*, void*, int, int, long long, int, int, int) = nullptr;

    static constexpr int asItIs = 0, turned = 1, anyAlgorithm = -1;
    static constexpr int sumInFloat = 68, sumInInt = 72;
    static constexpr int float32 = 0, half = 2, bfloat = 14, int8 = 3, int32 = 10;

    /// cuBLAS 13 to 11. Fails with `measure.no-library`.
    static Expected<Cublas> open();
};

/// What NVIDIA's management library says of a device; zero and null where it is not there.
struct NvmlWatch {
    NvmlWatch() = default;
    explicit NvmlWatch(const char* bus);
    double clock() const;  ///< Hz of the multiprocessors now; 0: not known
    double busy() const;   ///< share of the last moments in which kernels ran; 0 where not known

private:
    DynamicLibrary library_;
    void* device_ = nullptr;
    int (*clock_)(void*, int, unsigned*) = nullptr;
    int (*use_)(void*, void*) = nullptr;
};

}  // namespace orrery
