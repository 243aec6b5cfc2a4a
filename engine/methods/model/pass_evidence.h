#pragma once

// What passes that were measured whole say of a method where its kernels were not learned: evidence by class of work,
// on devices that nothing was fitted to. Residuals of learned kernels say nothing of kernels of another kind that are
// priced like them (a convolution as a product), and nothing of what software adds around them.

#include "methods/model/compose.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery {

/// What most floating-point operations of a forward pass in 16-bit floats are of.
enum class PassClass : std::uint8_t {
    Convolutions,  ///< in groups too
    Products,      ///< with attention over the pass's own tokens; no cache, no experts, not bound by weights
};
std::string_view toText(PassClass value);  ///< `convolutions`, `matrix products`
/// Nothing where most operations are of another type or kind, or where a KV cache or experts are read.
std::optional<PassClass> passClass(const LaunchList& launches);

/// Of a method and a class: mean |ln(measured ÷ predicted)| of whole passes, each device counted once. No price of the
/// class was fitted to these devices, nor to the software. Intervals were: wholeOtherSoftware (whole_error.h) is from
/// some of these passes. Passes are timm's, 16 bits, eager and compiled, on RTX 3090,
/// 4090 and 5090 (huggingface/pytorch-image-models @ aa4b5850) and NVIDIA's on V100 and T4 (DeepLearningExamples @
/// 729963dd), of at least 32 images or of BERT; tst_whole_passes measures them again and leaves each device out.
/// gpu-interval's take minutes, so that it does so only with ORRERY_SLOW.
struct PassEvidence {
    std::string_view method;
    PassClass what;
    double error;
    int passes, devices;
};
const PassEvidence* passEvidence(std::string_view method, PassClass what);

/// Support of a pass whose device was partly or not at all learned: kernels of the class count as far as their sections
/// are worth here (faithAt() of the device; another engine widens their sides already), passes for the rest. That much
/// of the time stands at the edge, be its kernels outside or not. Leaves `support` alone where there is no such
/// evidence.
void weighPasses(Support& support, const Composition& c, std::string_view method, const CalibrationSet& calibrations);

}  // namespace orrery
