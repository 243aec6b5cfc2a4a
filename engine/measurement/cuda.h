#pragma once

// NVIDIA GPUs of this machine: products by cuBLAS, timed on the device.

#include "measurement/kernel_runner.h"

namespace orrery {

struct GpuLibrary {
    KernelLibraryPtr library;
    std::string device;  ///< as the driver calls it: `NVIDIA H100 80GB HBM3`
    double l2Bytes = 0;
    double busy = 0;  ///< share of the last moments in which somebody's kernels ran; 0 where NVML is not there
};

/// Device number `ordinal` as CUDA counts them, with NVIDIA's driver and cuBLAS as they are installed. A sample is a
/// graph of products that walk over the copies of their weights, between two events: the host's calls are not in it.
/// Fails with `measure.no-library`, `measure.device` where there is no such device, `measure.cuda`.
Expected<GpuLibrary> loadCuda(int ordinal);

/// `measure.busy` where more than a tenth of the device's time is taken.
Expected<void> refuseBusyGpu(const GpuLibrary& gpu);

}  // namespace orrery
