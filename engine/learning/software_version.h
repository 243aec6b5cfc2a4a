#pragma once

// Versions of software as tables write them: `vLLM 0.14.0`, `trtllm-1.3.0rc20`, `sglang-0.5.6.post2`.

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct SoftwareVersion {
    std::string name;     ///< `vLLM`
    std::string version;  ///< `0.14.0`; empty: the text names none
};

/// The version begins with the first digit that stands after a space, a dash or an underscore.
SoftwareVersion softwareVersion(std::string_view software);

/// By what an engine or library is called: `trtllm` of `TensorRT-LLM 1.3.0`, `nccl` of `nccl-2.27.3`, the letters
/// before the first number.
std::string engineName(std::string_view text);
/// `nccl-2.27.3 + trtllm-1.0.0` taken apart, names as engineName() has them.
std::vector<SoftwareVersion> softwareParts(std::string_view software);

/// Numbers as numbers; a release is younger than its own `dev`, `a`, `b` and `rc`, and older than its `post`.
bool olderVersion(std::string_view a, std::string_view b);

}  // namespace orrery
