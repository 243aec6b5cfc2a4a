#pragma once

// Fused attention on a GPU, as tiles and waves.
//
// Prefill (FlashAttention-2, Dao 2023, algorithm 1): one block of threads per tile of queries and head walks the tiles
// of keys that the causal mask and the window leave. A tile costs its two products on the tensor units, its
// exponentials on the special-function units and a fixed overhead; blocks spread over the multiprocessors, and the
// longest row of the mask is the tail. Before it, a kernel rotates Q and K, writes the cache and (for fp8) quantises.
//
// Decode (Flash-Decoding, Dao et al. 2023): one block per sequence, head and part of the cache. Two kernels stand in
// inference engines and are chosen as TensorRT-LLM does (decoderXQARunner.cpp, `mayHavePerfGain` and
// `computeMultiBlockCount`): one for grouped heads that reads the cache once per group on tensor units, and one on
// vector units that works query head by query head.

#include "methods/tile/tile_family.h"

namespace orrery {

const TileFamily& prefillAttentionFamily();
const TileFamily& decodeAttentionFamily();
/// Decode over a cache of one latent vector per token (DeepSeek-V2, absorbed): all heads share it, and it is read once.
const TileFamily& latentDecodeFamily();

/// Which tiles of the score matrix one head computes.
struct AttentionTiles {
    double tileQueries = 128, tileKeys = 128;
    double rows = 1;     ///< tiles of queries
    double longest = 1;  ///< tiles of keys of the longest row
    double tiles = 1;    ///< all that are computed
    double scores = 1;   ///< scores that mask and window really leave
    bool windowed = false;
};
/// Exact up to 128 rows of tiles; beyond, rows are sampled evenly.
AttentionTiles attentionTiles(const Kernel& kernel);

/// How decoding is cut into blocks.
struct DecodePlan {
    bool grouped = false;  ///< one block serves all query heads of a group
    double groups = 1;     ///< query heads per head of the cache
    double rows = 32;      ///< of them that one block takes
    double keys = 1;       ///< of one sequence inside the window
    double heads = 1;      ///< batch × heads that have blocks of their own
    double splits = 1;     ///< parts of the cache of one sequence
    double rowBytes = 1;   ///< of one key and its value (of the shared latent vector, for latent attention)
    double cacheBytes = 1;
};
/// Whether tensor units hold their sums in a memory of their own (Blackwell's tensor memory), so that one warp feeds
/// them while others load: read off their rate, which registers could not feed.
bool detachedSums(const GpuView& gpu);
/// Whether tensor units fetch operands by themselves (Hopper and later, see tile::largeShared; true where a design does
/// not say). Kernels for these alone take a narrow cache as it is. Others widen it: prefill and latent decoding
/// take as long with it as without (aiconfigurator: 0.98 to 1.01 times on L40S and A100; H100 0.79, B200 0.89).
bool fetchesOperands(const GpuView& gpu);
DecodePlan decodePlan(const Kernel& kernel, const GpuView& gpu);

/// How decoding over a latent cache is cut into blocks. FlashMLA, and TensorRT-LLM's kernels like it, cut by sequence,
/// 64 heads and part of the cache, and hold 64 queries and two pages of the cache in shared memory (221 KB). Where
/// there is less, one block walks the whole cache of a sequence, in 16 bits whatever it is stored in (TensorRT-LLM on
/// Ampere and Ada: time grows with the keys of one sequence up to the longest, and not with narrower caches).
struct LatentPlan {
    bool walked = false;  ///< by one block from end to end
    double rows = 64;     ///< heads of one block's tile, padded
    double readers = 1;  ///< blocks that read the same part of the cache, out of the last-level cache but for the first
    double keys = 1;     ///< of one sequence inside the window
    double tiles = 1;    ///< batch × readers
    double splits = 1;   ///< parts of the cache of one sequence
    double rowBytes = 1;  ///< of one token's vector
    double cacheBytes = 1;
};
LatentPlan latentPlan(const Kernel& kernel, const GpuView& gpu);

/// Bytes that the kernels of prefill pass through memory: in and out of preparation, and around the attention itself.
struct PrefillTraffic {
    double prepared = 0;   ///< Q, K, V read and Q and cache written by the kernel before
    double attended = 0;   ///< Q, cache and result
    double footprint = 0;  ///< all that lives at once: whether it stays in the last-level cache
};
PrefillTraffic prefillTraffic(const Kernel& kernel, const GpuView& gpu);

}  // namespace orrery
