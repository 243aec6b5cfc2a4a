#pragma once

// Problems and arrays made by hand, for tests of mapspaces and mappers.

#include "mapping/mapspace.h"

#include <limits>

namespace orrery::fixture {

/// Dimensions R S P Q C K N, tensors Weights, Inputs, Outputs, as in Timeloop's layer of a network.
inline NestProblem layer(std::int64_t k, std::int64_t c, std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s,
                         std::int64_t stride = 1) {
    NestProblem made;
    made.name = "layer";
    made.dimensions = {"R", "S", "P", "Q", "C", "K", "N"};
    made.extents = {r, s, p, q, c, k, 1};
    made.tensors = {{"Weights", {{"C", {{4, 1}}}, {"K", {{5, 1}}}, {"R", {{0, 1}}}, {"S", {{1, 1}}}}, false},
                    {"Inputs",
                     {{"N", {{6, 1}}}, {"C", {{4, 1}}}, {"W", {{0, 1}, {2, stride}}}, {"H", {{1, 1}, {3, stride}}}},
                     false},
                    {"Outputs", {{"N", {{6, 1}}}, {"K", {{5, 1}}}, {"P", {{2, 1}}}, {"Q", {{3, 1}}}}, true}};
    return made;
}

/// M N K: A[M,K] · B[K,N].
inline NestProblem product(std::int64_t m, std::int64_t n, std::int64_t k) {
    NestProblem made;
    made.name = "product";
    made.dimensions = {"M", "N", "K"};
    made.extents = {m, n, k};
    made.tensors = {{"A", {{"M", {{0, 1}}}, {"K", {{2, 1}}}}, false},
                    {"B", {{"K", {{2, 1}}}, {"N", {{1, 1}}}}, false},
                    {"Z", {{"M", {{0, 1}}}, {"N", {{1, 1}}}}, true}};
    return made;
}

inline NestLevel storage(std::string name, std::int64_t instances, std::int64_t meshX, double words, double energy) {
    NestLevel level;
    level.name = std::move(name);
    level.instances = instances;
    level.meshX = meshX;
    level.capacityWords = words;
    level.energy.vectorRead = level.energy.vectorWrite = level.energy.vectorUpdate = energy;
    return level;
}

/// Registers in each of `x` × `y` elements, one buffer, main memory.
inline NestHardware array(std::int64_t x, std::int64_t y, double registers, double buffer) {
    NestHardware made;
    made.name = "hand";
    made.arithmetic.instances = x * y;
    made.arithmetic.meshX = x;
    made.arithmetic.energy = 1e-12;
    made.levels = {storage("registers", x * y, x, registers, 1e-12), storage("buffer", 1, 1, buffer, 6e-12),
                   storage("memory", 1, 1, std::numeric_limits<double>::infinity(), 200e-12)};
    made.levels.back().dram = true;
    made.levels.back().sharedBandwidth = 4;
    return made;
}

}  // namespace orrery::fixture
