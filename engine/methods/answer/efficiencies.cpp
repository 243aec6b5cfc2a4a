#include "methods/answer/efficiencies.h"

namespace orrery {

// Per device the median, then the geometric mean over A100 SXM and L40S. Products: bf16 rows of at least 1 ms at peak
// whose compute time is at least twice their memory time. Attention: causal bf16 rows of the same size. Memory: product
// rows of over 192 MB (twice the largest L2) that take at least four times as long to move as to compute.
Efficiencies efficienciesFor(Platform platform) {
    constexpr double compute = 0.678;
    constexpr double attention = 0.404;
    constexpr double memory = 0.786;
    if (platform == Platform::Gpu) {
        return {compute, attention, memory,
                "medians of TensorRT-LLM's kernels on A100 SXM and L40S (aiconfigurator, 2026-08)"};
    }
    return {
        compute, attention, memory,
        "no reference for this platform: medians of kernels on the GPUs A100 SXM and L40S (aiconfigurator, 2026-08)"};
}

}  // namespace orrery
