// Losses and optimisers of training graphs.

#include "workload/onnx/rules.h"

namespace orrery::onnx_import {
namespace {

void loss(RuleContext& context) {
    if (context.node.text("reduction", "mean") == "none") {
        context.like(0, 1);
        context.setType(0, context.type(0));
    } else {
        setScalar(context, 0, context.type(0));
    }
    context.like(1, 0);  // the logarithms of the probabilities
}

/// Inputs R, T, then X…, G…, and one list per state; outputs X… and the states.
void optimiser(RuleContext& context, std::size_t lists) {
    const std::size_t parameters = context.in.size() < 2 ? 0 : (context.in.size() - 2) / lists;
    for (std::size_t i = 0; parameters > 0 && i < context.out.size(); ++i) context.like(i, 2 + i % parameters);
}
void twoStates(RuleContext& context) {
    optimiser(context, 4);
}
void oneState(RuleContext& context) {
    optimiser(context, 3);
}

/// One gradient for each differentiated input, which come first.
void gradient(RuleContext& context) {
    for (std::size_t i = 0; i < context.out.size(); ++i) context.like(i, i);
}

}  // namespace

std::vector<RuleRow> lossRules() {
    constexpr auto kind = OperatorKind::Elementwise;
    constexpr auto training = Domain::Training;
    return {{"NegativeLogLikelihoodLoss", loss, OperatorKind::Reduce},
            {"SoftmaxCrossEntropyLoss", loss, OperatorKind::Softmax},
            {"Adam", twoStates, kind, training},
            {"Adagrad", oneState, kind, training},
            {"Momentum", oneState, kind, training},
            {"Gradient", gradient, OperatorKind::Other, training}};
}

}  // namespace orrery::onnx_import
