#include "methods/system/training/step_columns.h"

namespace orrery {

void spreadColumns(OperatorEstimates& ops, double step, double microbatches, double stages) {
    const auto inStep = [&](std::size_t i) {
        return (ops.seconds[i] - ops.updateSeconds[i]) * microbatches + ops.updateSeconds[i];
    };
    double sum = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) sum += inStep(i);
    const double factor = sum > 0 ? step / sum : 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const double scale = ops.seconds[i] > 0 ? inStep(i) / ops.seconds[i] * factor : 0;
        for (auto* column : {&ops.lowSeconds, &ops.highSeconds})
            if (i < column->size()) (*column)[i] *= scale;
        ops.forwardSeconds[i] *= microbatches * factor;
        ops.seconds[i] *= scale;
        ops.updateSeconds[i] *= factor;
    }
    for (auto* column : {&ops.flops, &ops.bytes})
        for (double& each : *column) each *= microbatches / stages;
    for (auto& level : ops.levelBytes)
        for (double& each : level) each *= microbatches / stages;
}

}  // namespace orrery
