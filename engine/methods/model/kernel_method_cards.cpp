// What the cards of the methods over kernels say. Findings are those of tests/engine/tst_model_end_to_end.cpp and of
// the kernel methods' own tests.

#include "methods/model/gpu_model_methods.h"

namespace orrery {

MethodCard kernelMethodCard(const KernelMethod& method) {
    MethodCard card{
        .id = method.id,
        .title = method.id,
        .methodology = Methodology::Analytical,
        .level = MethodLevel::Model,
        .summary = "Prices the kernels of a model on a GPU one by one and composes them.",
        .platforms = {"GPU"},
        .evidence = {{"whole models", "GPU", "measured on 0 rows so far"}},
        .needs = {"A GPU with cores, clock and memory bandwidth", "Shapes of all tensors"},
        .failureMode = "Not known yet.",
        .lineage = {"Orrery"},
        .expectedCost = "microseconds per kernel",
        .version = method.version,
        .live = true,
    };
    return card;
}

}  // namespace orrery
