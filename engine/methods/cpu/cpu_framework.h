#pragma once

// What a framework that compiles a model, but does not freeze its weights, adds to kernels on a processor:
// torch.compile as timm's tables of inference times have it (huggingface/pytorch-image-models, results/, batch 1,
// fp32).

#include "hardware/views/gpu_view.h"
#include "workload/kernel.h"

namespace orrery {

struct FrameworkTimes {
    double call = 0;  ///< s: of any kernel, threads woken and waited for
    double pack = 0;  ///< s per byte of weights: packed anew at each call, beside reading them from memory
    double row = 0;   ///< s per byte of weights of a product of one row: one core runs along them
};
/// The least mean of |predicted ÷ measured − 1| over 35 rows of i9-10940X and i7-12700H: the models whose names' MD5 is
/// even. The same three numbers hold for both machines. `tst_cpu_models` fits them again and judges the other models.
inline constexpr FrameworkTimes frameworkTimes{.call = 29e-6, .pack = 0.058e-9, .row = 0.194e-9};

/// Linear in the times. 0 for collectives.
double frameworkSeconds(const FrameworkTimes& times, const GpuView& cpu, const Kernel& kernel);

}  // namespace orrery
