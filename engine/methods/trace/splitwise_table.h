#pragma once

// Prompt and token times of a whole model measured on DGX machines, as Splitwise publishes them (Patel et al., ISCA
// 2024; Mutinifni/splitwise-sim data/perf_model.csv, MIT): rows of model, hardware, prompt_size, batch_size,
// token_size, prompt_time [ms], token_time [ms per token], tensor_parallel; others are ignored.
//
// An iteration of prompts alone takes the median prompt time at its tokens (prompt × batch), linear between medians and
// beyond the outermost two; one of decoding sequences alone the median token time; one with both 1.1 × the prompt time
// at all its tokens. What is already in the KV cache is not a feature.

#include "base/diagnostic.h"
#include "serving/iteration_time.h"

#include <string>
#include <vector>

namespace orrery {

enum class SplitwiseTokens : std::uint8_t {
    BySequences,    ///< token time over the batch size at which it was measured
    ByBatchTokens,  ///< splitwise-sim: over prompt × batch of the measurement, looked up at the number of sequences
};

struct SplitwiseChoice {
    std::string model = "llama2-70b";  ///< as the file names it
    std::string hardware = "h100-80gb";
    int tensorParallel = 8;
    SplitwiseTokens tokens = SplitwiseTokens::BySequences;
};

/// One line of medians. Points rise in x; at least two.
struct MedianLine {
    std::vector<double> x, y;
    /// Linear, beyond the ends too; never below a thousandth of the smallest y. O(log points).
    double at(double where) const;
};

/// Fails on a missing column (`splitwise.no-column`), a value that is no number or not positive
/// (`splitwise.bad-value`), and where no or only one size was measured for the choice (`splitwise.no-rows`; the hint
/// lists what there is).
Expected<IterationTimePtr> readSplitwiseTable(const std::string& path, const SplitwiseChoice& choice);

}  // namespace orrery
