#include "mapping/problem.h"

namespace orrery {

double NestProblem::operations() const {
    double product = 1;
    for (const std::int64_t extent : extents) product *= static_cast<double>(extent);
    return product;
}

double NestProblem::size(std::size_t tensor) const {
    double product = 1;
    for (const TensorRank& rank : tensors[tensor].ranks) {
        double reach = 1;
        for (const ProjectionTerm& term : rank.terms) {
            reach += static_cast<double>(term.coefficient) * static_cast<double>(extents[term.dimension] - 1);
        }
        product *= reach;
    }
    return product;
}

}  // namespace orrery
