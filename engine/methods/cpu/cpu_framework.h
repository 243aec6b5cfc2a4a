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
    /// s per fresh page, not fitted: the least of 100 first touches of anonymous pages, 1,842 cycles at 3.2 GHz (Linux
    /// 6.6, Core i7 of the 11th generation; ddumbying.vercel.app/experiments/pagefault-latency).
    double page = 575e-9;
};
/// The least mean of |predicted ÷ measured − 1| over 35 rows of i9-10940X and i7-12700H: the models whose names' MD5 is
/// even. The same three numbers hold for both machines. `tst_cpu_models` fits them again and judges the other models.
inline constexpr FrameworkTimes frameworkTimes{.call = 32.1e-6, .pack = 0.0545e-9, .row = 0.194e-9};

/// Weights of convolutions are laid out into a new block at each call. The C library gives blocks of more than 32 MiB
/// back to the system when they are freed (mallopt(3), M_MMAP_THRESHOLD: dynamic, with that maximum), so their pages of
/// 4 KiB are fresh each time, and the system clears and maps each when it is first written. Smaller blocks are used
/// again.
double freshPageSeconds(const FrameworkTimes& times, const Kernel& kernel);
/// Linear in the times; fresh pages are among them. 0 for collectives.
double frameworkSeconds(const FrameworkTimes& times, const GpuView& cpu, const Kernel& kernel);

}  // namespace orrery
