#pragma once

// Number formats as people name them: a type, and how its values share scales.

#include "base/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Which elements share one scale. Of weights these lie along the reduction of a product, of activations along a row.
enum class Scaling : std::uint8_t {
    Usual,   ///< of the type: none of 16 bits and more, one per tensor of 8 bits, groups of 128 of int4, MX of fp4 and
             ///< fp6
    Tensor,  ///< one of fp32 for all
    Row,     ///< one of fp32 per output column of weights, per row of activations
    Block,   ///< fp32: weights 128 × 128, activations 1 × 128 (DeepSeek-V3, arXiv:2412.19437, section 3.3)
    Mx,      ///< 8 bits per 32 (OCP Microscaling formats 1.0)
    Nv       ///< fp8 per 16, and one of fp32 per tensor (NVFP4)
};

struct NumberFormat {
    DType type = DType::F16;
    Scaling scaling = Scaling::Usual;
    bool operator==(const NumberFormat&) const = default;
};

/// `fp8`, `fp8-tensor`, `fp8-row`, `fp8-block`, `int8-tensor`, `int8-row`, `mxfp8`, `mxfp6`, `mxfp4`, `nvfp4`, and
/// every type by itself. In files, on the command line and in windows.
std::string toText(const NumberFormat& format);
std::optional<NumberFormat> numberFormat(std::string_view text);
/// Those with a scaling of their own, for lists of choices.
std::vector<std::string> scaledFormatNames();

/// Elements along the reduction that share a scale, as kernels have it (Kernel::scaleBlock): 0 where there is none, or
/// one per row or tensor. Nothing for Usual: the type says it.
std::optional<std::int32_t> scaleBlock(Scaling scaling);
/// Stored bytes of one weight with its share of scales; `reduction` weights share one of Row. 0: those of the type.
double storedBytesPerWeight(const NumberFormat& format, double reduction);

}  // namespace orrery
