#pragma once

// Time of an iteration from the tables that Vidur's predictor looks up (Agrawal et al., MLSys 2024;
// github.com/microsoft/vidur): milliseconds of each operator of one layer, made from profiles of real devices.
//
//   block   = attn_pre_proj + attn_post_proj + attn_rope + attn_kv_cache_save + decode + prefill + reduce +
//   input_layernorm
//           + mlp_up_proj + mlp_down_proj + mlp_act + reduce + post_attention_layernorm + add
//   stage   = block × layers ÷ stages (+ send_recv on all stages but the last) (+ host)
//   decode  = attn_decode(sequences, mean KV tokens, rounded up to the step) × (1 + overhead if several and grouped
//   heads) prefill = attn_prefill(sum of contexts, each rounded up to the step; √(Σ chunk²)) × (1 + overhead likewise)
//   reduce  = all_reduce + launch + skew × devices^1.25, on several devices
//
// Operators of tokens are looked up at the tokens rounded up to 8, the saving of keys and values at the exact number.
// Embedding, output head and sampling are not in the tables.

#include "base/diagnostic.h"
#include "serving/iteration_time.h"

#include <string>

namespace orrery {

struct VidurTableSpec {
    int layers = 32;
    int stages = 1;
    int devices = 1;                ///< tensor parallel
    bool groupedHeads = false;      ///< fewer key-value heads than query heads
    bool postAttentionNorm = true;  ///< the model has one
    double decodeOverhead = 0.1;    ///< of several sequences with grouped heads
    double prefillOverhead = 0.1;
    double launchMilliseconds = 0.02;  ///< of a collective, on the host
    double skewMilliseconds = 0;
    /// Host work of a batch (cpu_overhead.csv), paid on every stage, as Vidur has it.
    bool host = false;
    /// Beyond the tables: as at their border, as a random forest answers; otherwise by the growth of tokens, and of
    /// queries × keys.
    bool saturate = false;
};

/// From a folder with token_ops, attn_decode and attn_prefill (.csv or .csv.gz): `num_tokens` and one column per
/// operator; `batch_size, kv_cache_size, ms`; `kv_cache_size, chunk, ms`. With `host` also cpu_overhead: `batch_size`
/// and columns of milliseconds. Fails with file, line and what was expected.
Expected<IterationTimePtr> readVidurTables(const std::string& folder, const VidurTableSpec& spec);

}  // namespace orrery
