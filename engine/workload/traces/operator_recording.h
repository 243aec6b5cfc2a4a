#pragma once

// Operators of one device as a profiler recorded them: name, shapes of what they read and wrote, time on the device.
// Read from TrioSim's pair of tables (sarchlab/triosim: operators with ids of tensors, and the tensors beside them), or
// from a PyTorch execution trace with the timeline of its kernels (recorded_torch.cpp), or from the Chakra trace that a
// converter made of the two (recorded_chakra.cpp).

#include "base/diagnostic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class RecordedStage : std::uint8_t { Forward, Backward, Optimizer };
std::string_view toText(RecordedStage stage);  ///< `forward`, `backward`, `optimizer`

struct RecordedTensor {
    std::vector<std::int64_t> shape;  ///< empty: a scalar
    double bytesPerElement = 4;
    double elements() const;
};

struct RecordedOperator {
    std::string name;  ///< `aten::conv2d`, `ConvolutionBackward0`: without `autograd::engine::evaluate_function: `
    RecordedStage stage = RecordedStage::Forward;
    double microseconds = 0;  ///< of the device, from its first kernel to the end of its last
    double idle = 0;          ///< of them, in which none of its kernels ran; 0 where nobody says
    int line = 0;             ///< of its file; 0: none
    std::vector<RecordedTensor> inputs, outputs;
};

struct OperatorRecording {
    std::string file, form;                   ///< form, for people: `TrioSim tables`
    std::string device;                       ///< as the file names it; empty: it does not
    double unlinked = 0;                      ///< us of kernels that no operator asked for, left out
    std::vector<RecordedOperator> operators;  ///< in the order of the file
    double microseconds(RecordedStage stage) const;
};

/// `beside`: the table of tensors (empty: the file beside it with `_tensor_` for `_trace_` in its name), or the
/// timeline. Plain or gzipped. Fails with `recording.form` (neither form), `recording.timeline` (none),
/// `recording.tensors` (no table of tensors, or a tensor that it lacks), `trace.syntax`, `trace.value`, `trace.empty`
/// with the line, and as files that cannot be read.
Expected<OperatorRecording> readOperatorRecording(const std::string& path, const std::string& beside = {});

/// A Chakra trace that a converter made of both: kernels count for the operator of the host that they wait for. Of
/// exchanges nothing is taken.
Expected<OperatorRecording> chakraRecording(std::string_view text, const std::string& path);

/// A PyTorch execution trace with its timeline: times of kernels count for the operator that asked for them.
Expected<OperatorRecording> torchRecording(std::string_view trace, const std::string& path,
                                           const std::string& timeline);

/// Without what autograd's engine puts before it.
std::string_view plainOperatorName(std::string_view name);

}  // namespace orrery
