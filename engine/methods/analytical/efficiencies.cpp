#include "methods/analytical/efficiencies.h"

namespace orrery {

// Per device the median over bf16 matrix products, then the geometric mean of the devices A100 SXM (0.83, 0.75) and
// L40S (0.56, 0.78). Compute: rows of at least 1 ms at peak whose compute time is at least twice their memory time.
// Memory: rows of at least 30 us at full bandwidth, at least four times their compute time, and over twice the L2.
Efficiencies efficienciesFor(Platform platform) {
    constexpr double compute = 0.68;
    constexpr double memory = 0.765;
    if (platform == Platform::Gpu) {
        return {compute, memory,
                "medians over bf16 matrix products of TensorRT-LLM on A100 SXM and L40S (aiconfigurator, 2026-08)"};
    }
    return {compute, memory,
            "no reference for this platform: medians of GPUs (aiconfigurator, 2026-08), A100 SXM and L40S"};
}

}  // namespace orrery
