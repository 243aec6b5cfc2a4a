#include "mapping/sparse/sparse_steps.h"

#include <algorithm>
#include <cmath>

// Every operand of an operation is there and not zero, there and zero, or not there (its format leaves zeros out).
// Operands are independent, but for what a follower's elimination has already made sure of: an operation that is left
// has a leader that is not empty, which raises the leader's share.

namespace orrery {

namespace {

struct Operand {
    double nonzero = 1, zero = 0, absent = 0;
};

double rounded(double share) {
    return std::round(share * 1e6) / 1e6;
}

}  // namespace

void splitComputes(const SparseContext& context) {
    SparseWorkspace& work = context.work;
    std::array<Operand, maxNestTensors> operands;
    std::array<std::size_t, maxNestTensors> tensor{};
    std::size_t count = 0;
    for (std::size_t t = 0; t < context.tensors(); ++t)
        if (!context.problem.tensors[t].written) tensor[count++] = t;

    NestExtents one;
    one.fill(1);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t t = tensor[i];
        double nonzero =
            rounded(expectedOccupancy(context.design.densities[t], tileShape(context.problem.tensors[t], one)));
        for (std::size_t f = 0; f < count; ++f) {
            const std::size_t follower = tensor[f];
            if (follower == t || !(work.followers >> follower & 1u)) continue;
            // With two operands the other one is what was looked at, through itself or through what it computes with.
            if (count > 2 && !(work.followedLeaders[follower] >> t & 1u)) continue;
            const double left = 1 - work.followed[follower];
            nonzero = left > 0 ? nonzero / left : 0;
        }
        if (work.packing[t].level >= 0) nonzero = 1;  // only positions that hold something are brought
        nonzero = std::clamp(nonzero, 0.0, 1.0);
        bool metadata = false;  // of the copy beside the arithmetic
        for (std::size_t l = 0; l < context.levels(); ++l)
            if (context.at(l, t).kept) {
                metadata = context.at(l, t).metadata;
                break;
            }
        operands[i] = {nonzero, metadata ? 0 : 1 - nonzero, metadata ? 1 - nonzero : 0};
    }

    const double total = work.computes.actual;
    double gated = 0, skipped = 0, nothing = 0;
    std::size_t states = 1;
    for (std::size_t i = 0; i < count; ++i) states *= 3;
    for (std::size_t state = 0; state < states; ++state) {
        double probability = 1;
        std::size_t absent = 0, zero = 0;
        for (std::size_t i = 0, rest = state; i < count; ++i, rest /= 3) {
            probability *= rest % 3 == 0 ? operands[i].nonzero : rest % 3 == 1 ? operands[i].zero : operands[i].absent;
            absent += rest % 3 == 2;
            zero += rest % 3 == 1;
        }
        const double operations = total * probability;
        if (absent == count && count > 0)
            nothing += operations;
        else if (absent > 0 && context.design.skipCompute)
            skipped += operations;
        else if ((absent > 0 || zero > 0) && context.design.gateCompute)
            gated += operations;
    }
    work.computes.skipped = std::floor(skipped);
    work.computes.gated = std::floor(gated);
    work.computes.actual = total - work.computes.skipped - work.computes.gated - std::floor(nothing);
}

}  // namespace orrery
