#pragma once

// "Why this number": the kernels that one operator is launched as, each with its price and the chain of terms that make
// it; of the roofline its two times and the ridge point. For the studio's panel and `orrery-cli run --why OPERATOR`.

#include "methods/kernel_method.h"
#include "methods/method.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ExplainedKernel {
    Kernel kernel;
    std::string what;   ///< which of the operator's kernels: `scores`, `dX`; empty if the only one
    KernelPrice price;  ///< of one launch, with the operands that its epilogue reads
    KernelStory story;
    double times = 1;                     ///< launches in the whole pass
    double share = 0;                     ///< of the pass's latency
    bool bound = false;                   ///< the least time that rates allow, no prediction
    std::vector<std::int32_t> operators;  ///< that it computes, the leading one first
};

/// Whether the method of this id prices operator by operator, so that it can say why: it is the roofline or built from
/// kernels.
bool tellsWhy(std::string_view method);
/// The kernels of operator `op`, in order; of a fused operator those of its group. A question about one operator is
/// about that operator once, alone. Fails with `method.no-story` where the method does not tell why or the question is
/// about another operator, with `method.no-operator` for an index beyond the graph, else as the method itself does.
/// Null calibrations: the shipped ones.
Expected<std::vector<ExplainedKernel>> explainOperator(const Scenario& scenario, const MethodChoice& choice,
                                                       std::size_t op, const CalibrationSet* calibrations = nullptr);

}  // namespace orrery
