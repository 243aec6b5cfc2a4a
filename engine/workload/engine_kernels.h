#pragma once

// Which kernels an engine runs, where its name tells it.

#include "workload/kernel.h"

#include <string_view>

namespace orrery {

/// Whether software, as tables and questions name it (`vLLM 0.24.0`, `sglang-0.5.14`), decodes with the kernels of
/// FlashAttention or FlashInfer (Kernel::flashDecoding). vLLM and SGLang choose among these on GPUs: `pack_gqa` of
/// FlashAttention-3 (Shah et al., arXiv:2407.08608) and FlashInfer (Ye et al., arXiv:2501.01005, section 3.1) put all
/// query heads of one cache head into the rows of a tile.
bool decodesByFlash(std::string_view software);
/// Sets Kernel::flashDecoding of decode attention that such a kernel can run: not over a latent cache.
void setFlashDecoding(Kernel& kernel, bool flash);

}  // namespace orrery
