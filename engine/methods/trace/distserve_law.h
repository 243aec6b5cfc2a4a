#pragma once

// The fitted iteration law of DistServe's simulator (Zhong et al., OSDI 2024; LLMServe/DistServe simdistserve,
// Apache-2.0), with its coefficients per model and tensor parallelism in milliseconds:
//
//   prompts  (a + b Σlength + c Σlength²) / pp + pp          on every stage
//   decodes  (a + b Σ(context + 1) + c sequences) / pp       two sets of a, b, c: below the threshold and from it on
//   both     2 + 0.0001 Σcontext on the first stage, for the host
//
// where a prompt counts its own length as context. Iterations hold either prompts or decodes; where one holds both, the
// two times are added and the host is paid once.

#include "base/diagnostic.h"
#include "serving/iteration_time.h"

#include <array>
#include <string>

namespace orrery {

struct DistServeLaw {
    std::array<double, 3> prompt{}, decodeSmall{}, decodeLarge{};  ///< a, b, c in ms
    int threshold = 95;                                            ///< sequences from which on decodeLarge holds
    int pipeline = 1;
    std::string source;  ///< `profiler-a100-80g.distserve.json, facebook/opt-13b × 2`
};

/// Fails on a file that is no such profile, on a model or parallelism that it lacks (`distserve.no-rows`, with what
/// there is), on coefficients that are missing or not finite (`distserve.bad-value`) and on a pipeline below 1.
Expected<DistServeLaw> readDistServeLaw(const std::string& path, const std::string& model, int tensorParallel,
                                        int pipeline);
IterationTimePtr distServeTime(const DistServeLaw& law);

/// Tokens of KV cache per model, tensor and pipeline parallelism (`max_num_tokens.csv`). Fails like the law.
Expected<std::int64_t> readDistServeTokens(const std::string& path, const std::string& model, int tensorParallel,
                                           int pipeline);

}  // namespace orrery
