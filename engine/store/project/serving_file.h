#pragma once

// A question about serving as a file, and as the section `serving:` of a project (the same keys without `orrery:`).
// What stands at its default is not written; times carry units.
//
//     orrery: serving/1
//     name: Two schedulers
//     hardware: a100-80-sxm               # of a file: a device of the catalogue or a hardware file; in a project: a
//     design model: {source: llama-2-7b, weights: fp16, activations: fp16, kv: fp16} pools:
//       - name: replicas
//         replicas: 4
//         plan: {tensor: 2}
//         scheduler: {id: sarathi, chunk: 512, max_sequences: 128}
//         time: {kind: kernels, method: tile-hybrid}
//     router: {id: round-robin}
//     promise: {ttft: 500 ms, tpot: 50 ms}
//     traffic:
//       requests: 400
//       arrivals: {kind: poisson, rate: 6}
//       prompt: {kind: uniform, least: 128, most: 1024}
//       ratio: 4
//     seed: 42
//     tenants: [{name: chat, share: 3}, {name: code, adapters: 100}]
//     stages: [{name: retrieve, seconds: 20 ms}, {name: generate, pool: replicas, output: 0}]
//     compare_with: {id: vllm-v0}
//     capacity: {attainment: 0.9}
//     sweep: {scheduler: [vllm-v1, sarathi], chunk: [256, 512], tensor: [1, 2]}

#include "serving/serving_study.h"

#include <string>
#include <string_view>

namespace orrery {

inline constexpr int servingVersion = 1;

struct LoadedServing {
    ServingStudy study;
    Diagnostics warnings;
    ServingPlaces places;  ///< of every key that the file has
};
/// A problem of a study's values, such as fleetOf(), requestsOf() and searches have them, with the line of the value
/// that it is about: that of the nearest key around it where the value stands at its default. Places in other files
/// (traces, tables) stay.
Diagnostic located(Diagnostic problem, const ServingStudy& study, const ServingPlaces& places);

/// Fails on the first value that cannot be read, with its place; unknown keys are kept, with a warning. Never throws.
Expected<LoadedServing> readServing(std::string_view yaml, std::string_view file = {});
/// The same of a file; relative paths of models, traces, tables and hardware are resolved against its folder.
Expected<LoadedServing> readServingFile(const std::string& path);
/// write(read(write(s))) == write(s).
std::string writeServing(const ServingStudy& study);
Expected<void> saveServingFile(const std::string& path, const ServingStudy& study);

/// Paths near the folder (in it, or at most two `..` away) become relative to it, and back.
ServingStudy withPathsRelativeTo(ServingStudy study, const std::string& folder);
ServingStudy withPathsResolved(ServingStudy study, const std::string& folder);

}  // namespace orrery
