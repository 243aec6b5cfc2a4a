#pragma once

#include "base/quantity.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery {

enum class DType : std::uint8_t { F64, F32, TF32, BF16, F16, FP8, FP6, FP4, I64, I32, I16, I8, I4, I1, Bool, String };
inline constexpr int dtypeCount = 16;

int bits(DType type);                 ///< storage bits: TF32 is stored as 32, Bool as 8; String as 0
std::string_view toText(DType type);  ///< `bf16`, `fp16`, `fp32`, `int8`
/// Accepts the usual spellings: fp16/float16/half/f16, fp8/e4m3/e5m2, int8/i8 …; unsigned types map to signed ones.
std::optional<DType> dtype(std::string_view text);
inline Bytes bytesOf(DType type, double elements) {
    return Bytes(elements * bits(type) / 8.0);
}

}  // namespace orrery
