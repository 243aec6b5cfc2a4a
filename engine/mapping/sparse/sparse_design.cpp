#include "mapping/sparse/sparse_design.h"

#include <algorithm>

namespace orrery {

std::string_view toText(Elimination elimination) {
    switch (elimination) {
        case Elimination::Gating:
            return "gating";
        case Elimination::Skipping:
            return "skipping";
        case Elimination::SpatialSkipping:
            return "skipping-spatial";
        case Elimination::PositionSkipping:
            return "position-skipping";
    }
    return {};
}

bool SparseDesign::active() const {
    return gateCompute || skipCompute || std::any_of(levels.begin(), levels.end(), [](const SparseLevel& level) {
               return !level.actions.empty() ||
                      std::any_of(level.formats.begin(), level.formats.end(),
                                  [](const TensorFormat& format) { return !format.ranks.empty(); });
           });
}

SparseDesign denseDesign(const NestProblem& problem, std::size_t levels) {
    SparseDesign design;
    design.levels.resize(levels);
    for (std::size_t t = 0; t < problem.tensors.size() && t < maxNestTensors; ++t) setDensity(design, problem, t, {});
    return design;
}

void setDensity(SparseDesign& design, const NestProblem& problem, std::size_t tensor, const DensityModel& model) {
    std::array<std::int64_t, maxNestDimensions> extents;
    extents.fill(1);
    std::copy_n(problem.extents.begin(), std::min(problem.extents.size(), extents.size()), extents.begin());
    design.densities[tensor] = model.boundTo(tileShape(problem.tensors[tensor], extents));
}

}  // namespace orrery
