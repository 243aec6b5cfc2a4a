#pragma once

// Rules that counting a kernel's work and reading it off an operator share.

#include "workload/kernel.h"

namespace orrery {

/// On a product that quantises its 16-bit input itself.
inline constexpr std::string_view quantisesInputAttribute = "quantises_input";
/// On a product: Kernel::scaleBlock of its weights, where their bytes do not tell it.
inline constexpr std::string_view scaleBlockAttribute = "scale_block";
/// On the dispatch of a mixture of experts: tokens of all ranks that share them, where these are more than its own.
inline constexpr std::string_view expertTokensAttribute = "expert_tokens";

/// In which results of a type are stored: the type itself, 16 bits for narrower ones.
DType wideType(DType type);
/// Stored bytes of one weight with the scales beside it: GPTQ and AWQ (fp16 scale and 4-bit zero point per block), OCP
/// MX formats and NVFP4 (8-bit scale per block; of 8-bit types those of 32), block-scaled 8-bit types (fp32 scale per
/// block × block).
double weightBytesPerElement(DType type, std::int32_t scaleBlock);
/// The attention that the kernel really computes: no more keys than its window.
AttentionShape windowed(const Kernel& kernel);
/// One shared head whose values are the first part of its keys (DeepSeek-V2, arXiv:2405.04434, section 2.1).
bool latentCache(const AttentionShape& shape);
/// The same, or keys and values that were expanded from such a cache: keys are longer than values by their position.
bool latentAttention(const AttentionShape& shape);
/// Its function, or the usual one of its kind.
std::string_view vectorFunction(const Kernel& kernel);
/// Vectors of n parameters that a normalisation reads.
double normalizationVectors(std::string_view function);

}  // namespace orrery
