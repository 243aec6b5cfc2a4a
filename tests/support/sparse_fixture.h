#pragma once

// A product of matrices Z[m, n] = Σ A[m, k] · B[n, k] on a chain of storage levels, for tests of sparse designs.

#include "mapping/nest_evaluator.h"
#include "mapping/sparse/sparse_counts.h"

#include <string>
#include <vector>

namespace orrery::test {

enum ProductDimension : std::uint8_t { M, N, K };
enum ProductTensor : std::uint8_t { A, B, Z };

inline NestProblem product(std::int64_t m, std::int64_t n, std::int64_t k) {
    NestProblem problem;
    problem.name = "product";
    problem.dimensions = {"M", "N", "K"};
    problem.extents = {m, n, k};
    problem.tensors = {{"A", {{"M", {{M, 1}}}, {"K", {{K, 1}}}}, false},
                       {"B", {{"N", {{N, 1}}}, {"K", {{K, 1}}}}, false},
                       {"Z", {{"M", {{M, 1}}}, {"N", {{N, 1}}}}, true}};
    return problem;
}

/// Levels with energies that are all different, so that an action counted as another one shows.
inline NestHardware chain(std::initializer_list<const char*> names) {
    NestHardware hardware;
    hardware.name = "chain";
    hardware.arithmetic.energy = 1e-12;
    hardware.arithmetic.gatedEnergy = 0.25e-12;
    hardware.arithmetic.skippedEnergy = 0.125e-12;
    double scale = 1e-12;
    for (const char* name : names) {
        NestLevel level;
        level.name = name;
        level.metadataWidthBits = 8;
        level.energy = {.vectorRead = 2 * scale, .vectorWrite = 3 * scale, .vectorUpdate = 5 * scale};
        level.energy.gatedRead = 0.1 * scale;
        level.energy.gatedWrite = 0.2 * scale;
        level.energy.skippedRead = 0.01 * scale;
        level.energy.skippedWrite = 0.02 * scale;
        level.energy.metadataRead = 0.7 * scale;
        level.energy.metadataWrite = 0.9 * scale;
        level.decompressionSupported = level.compressionSupported = true;
        hardware.levels.push_back(level);
        scale *= 10;
    }
    return hardware;
}

inline NestLoop loop(std::uint8_t dimension, std::int64_t bound, LoopKind kind = LoopKind::Temporal) {
    return {dimension, kind, bound, bound};
}

inline DensityModel uniform(double density) {
    DensityModel model;
    model.kind = DensityKind::Hypergeometric;
    model.density = density;
    return model;
}

inline ActionOptimization leaveOut(Elimination how, std::uint8_t target, std::uint32_t leaders) {
    return {how, {{target, leaders}}};
}

inline TensorFormat ranks(std::initializer_list<RankFormat> innerFirst) {
    TensorFormat format;
    format.innerToOuter = true;
    for (const RankFormat one : innerFirst) format.ranks.push_back({one, 4, 8, {}});
    return format;
}

}  // namespace orrery::test
