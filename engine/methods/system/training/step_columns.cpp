#include "methods/system/training/step_columns.h"

namespace orrery {

void spreadColumns(OperatorEstimates& ops, double step, double microbatches, double stages, double updates) {
    double whole = 0;
    for (const double each : ops.updateSeconds) whole += each;
    const double shared = whole > 0 ? updates / whole : 0;
    const auto inStep = [&](std::size_t i) {
        return (ops.seconds[i] - ops.updateSeconds[i]) * microbatches + ops.updateSeconds[i] * shared;
    };
    double sum = 0, joules = 0, spent = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) sum += inStep(i);
    for (const double each : ops.joules) joules += each;
    const double factor = sum > 0 ? step / sum : 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        // How often its work is done, the optimizer's share of it once.
        const double times = ops.seconds[i] > 0 ? inStep(i) / ops.seconds[i] : microbatches;
        for (auto* column : {&ops.lowSeconds, &ops.highSeconds})
            if (i < column->size()) (*column)[i] *= times * factor;
        ops.seconds[i] *= times * factor;
        ops.forwardSeconds[i] *= microbatches * factor;
        ops.updateSeconds[i] *= shared * factor;
        ops.flops[i] *= times / stages;
        ops.bytes[i] *= times / stages;
        for (auto& level : ops.levelBytes) level[i] *= times / stages;
        if (i < ops.joules.size()) spent += ops.joules[i] *= times;
    }
    // Their sum is that of the step.
    for (double& each : ops.joules) each *= spent > 0 ? joules / spent : 0;
}

}  // namespace orrery
