#pragma once

// Attention without a score matrix in memory: a block holds some queries and goes over the keys in steps, with a
// running maximum and sum (Dao: "FlashAttention-2", ICLR 2024). Decoding is the same with one query group per block and
// the keys cut into parts (Dao et al., "Flash-Decoding", 2023); the small kernel that joins the parts is left out.

#include "simulation/gpu/templates/product.h"

namespace orrery::gpusim {

struct FlashSpec {
    std::int64_t batch = 1, heads = 1, kvHeads = 1, queries = 1, keys = 1;
    int keyDim = 128, valueDim = 128;
    double bytes = 2, cacheBytes = 2;
    bool causal = false;   ///< the queries are the last of the keys
    bool grouped = false;  ///< a block holds the queries of all heads that share keys: decoding
    bool latent = false;   ///< values are the first part of the keys
    int cuts = 1;          ///< parts of the keys, a block each
    int tileQueries = 64, tileKeys = 64, warps = 4;
    MultiplyForm form;  ///< of both products
    bool copiesPast = true;
    int binaryVersion = 80;
    /// Steps that every block takes where it is above 0, in place of those that its queries see.
    std::int64_t steps = 0;
    std::int64_t blocks() const;
    /// The mean over blocks.
    double meanSteps() const;
};

KernelTemplatePtr flashTemplate(const FlashSpec& spec);

}  // namespace orrery::gpusim
