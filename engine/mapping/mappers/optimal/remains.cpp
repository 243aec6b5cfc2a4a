#include "mapping/mappers/optimal/remains.h"

#include "mapping/sparse/sparse_design.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery::optimal {
namespace {

bool counted(const DensityModel& model) {
    return model.kind == DensityKind::Banded || model.kind == DensityKind::Actual;
}

// Tiles that do not divide a tensor stick out at its ends: of every rank they are less than twice as long together.
double atEnds(const NestTensor& tensor) {
    return std::ldexp(1.0, -static_cast<int>(std::min(tensor.ranks.size(), maxTensorRanks)));
}

double densityOf(const DensityModel& model) {
    const double size = model.tensor.size();
    const double share = model.kind == DensityKind::Hypergeometric && size > 0 ? model.nonzeros / size : model.density;
    return std::clamp(share, 0.0, 1.0);
}

struct Densities {
    std::array<double, maxNestTensors> filled{};  ///< expected share of a tile that is nonzero
    std::array<double, maxNestTensors> leads{};   ///< probability that a tile holds something

    Densities(const NestProblem& problem, const SparseDesign& design, bool divides) {
        for (std::size_t t = 0; t < problem.tensors.size(); ++t) {
            const NestTensor& tensor = problem.tensors[t];
            const DensityModel& model = design.densities[t];
            const bool windows = std::any_of(tensor.ranks.begin(), tensor.ranks.end(),
                                             [](const TensorRank& rank) { return rank.terms.size() > 1; });
            const double share = densityOf(model), least = counted(model) ? share * atEnds(tensor) : share;
            filled[t] = windows || !divides ? least : share;
            leads[t] = least;
        }
    }
    double ofAll(std::uint32_t leaders) const {
        double product = 1;
        for (std::size_t t = 0; t < leads.size(); ++t)
            if (leaders >> t & 1u) product *= leads[t];
        return product;
    }
};

bool wants(const SparseDesign& design, Elimination kind) {
    return std::any_of(design.levels.begin(), design.levels.end(), [&](const SparseLevel& level) {
        return std::any_of(level.actions.begin(), level.actions.end(),
                           [&](const ActionOptimization& action) { return action.elimination == kind; });
    });
}

// Shares of a count are kept to six digits.
constexpr double digits = 1e-6;

}  // namespace

Remains remainsOf(const NestProblem& problem, const SparseDesign& design, double arithmeticUnits, bool divides) {
    Remains out;
    out.meshes = false;
    const bool spatial = wants(design, Elimination::SpatialSkipping);
    if (!spatial) out.units = arithmeticUnits;
    if (!design.active()) return out;

    const Densities known(problem, design, divides);
    const std::size_t tensors = problem.tensors.size();
    std::array<double, maxNestTensors> left, busy;  // of accesses; of instances
    left.fill(1), busy.fill(1);
    double packed = 1;
    std::uint32_t packs = 0;
    for (std::size_t t = 0; spatial && t < tensors; ++t) left[t] = busy[t] = known.leads[t];
    for (const SparseLevel& level : design.levels) {
        for (const ActionOptimization& action : level.actions) {
            for (const EliminationOption& option : action.options) {
                const double share = known.ofAll(option.leaders);
                if (action.elimination == Elimination::PositionSkipping) {
                    if (!(packs >> option.target & 1u)) packed *= known.leads[option.target];
                    packs |= 1u << option.target;
                    continue;
                }
                left[option.target] = std::min(left[option.target], share);
                if (action.elimination == Elimination::SpatialSkipping)
                    busy[option.target] = std::min(busy[option.target], share);
            }
        }
    }
    double all = packed, effectual = packed, none = 1;
    std::vector<std::size_t> operands;
    for (std::size_t t = 0; t < tensors; ++t) {
        const bool written = problem.tensors[t].written;
        bool metadata = false;
        for (const SparseLevel& level : design.levels) metadata = metadata || level.formats[t].hasMetadata();
        out.moved[t] = (metadata ? known.filled[t] : 1) * left[t];
        if (!written) {
            // Of what is packed itself others go with it, not it.
            out.moved[t] *= packs ? packed : 1;
            operands.push_back(t);
            all *= left[t];
            none *= 1 - known.filled[t];
        }
        out.paid[t] = out.moved[t] * busy[t];
    }
    const auto sure = [&](std::size_t t) { return std::max(0.0, known.filled[t] - digits); };
    if (operands.size() == 2 && packs == 0) {
        // What a follower's leader has left out already is not left out again.
        const std::size_t a = operands[0], b = operands[1];
        effectual = std::min(left[b], sure(a)) * std::min(left[a], sure(b));
        for (const std::size_t t : {a, b}) effectual *= std::max(0.0, 1 - digits / std::max(left[t], digits));
    } else {
        effectual = all;
        for (const std::size_t t : operands) effectual *= sure(t);
    }
    const double there = operands.empty() ? all : all * std::max(0.0, 1 - none - digits);
    out.taking = design.skipCompute ? std::min(effectual, there) : there;
    out.computed = design.skipCompute || design.gateCompute ? std::min(effectual, there) : there;
    return out;
}

}  // namespace orrery::optimal
