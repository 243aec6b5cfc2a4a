#include "workload/onnx/rules.h"

namespace orrery::onnx_import {
namespace {

/// X[steps, batch, in] (layout 0) or X[batch, steps, in] (layout 1), R[directions, gates·H, H].
void recurrent(RuleContext& context) {
    for (std::size_t i = 0; i < context.out.size(); ++i) context.setType(i, context.type(0));
    const Value *x = context.shaped(0), *w = context.shaped(1), *r = context.shaped(2);
    if (!x) return;
    if (x->rank() != 3 || (w && w->rank() != 3) || (r && r->rank() != 3)) {
        context.contradict("a recurrent layer needs X, W and R of rank 3", "steps × batch × inputs");
        return;
    }
    const bool batchFirst = context.node.integer("layout", 0) != 0;
    if (w) context.agree(x->extents[2], w->extents[2], "the number of inputs");
    std::int64_t hidden = context.node.integer("hidden_size", unknown);
    if (hidden < 1) hidden = r ? r->extents[2] : unknown;
    if (r) context.agree(r->extents[2], hidden, "the hidden size");
    const std::int64_t directions = context.node.text("direction", "forward") == "bidirectional" ? 2 : 1;
    const std::int64_t steps = x->extents[batchFirst ? 1 : 0], batch = x->extents[batchFirst ? 0 : 1];
    const Extents last = batchFirst ? Extents{batch, directions, hidden} : Extents{directions, batch, hidden};
    context.set(0, x->type,
                batchFirst ? Extents{batch, steps, directions, hidden} : Extents{steps, directions, batch, hidden});
    context.set(1, x->type, last);
    context.set(2, x->type, last);
}

}  // namespace

std::vector<RuleRow> recurrentRules() {
    constexpr auto kind = OperatorKind::Scan;
    return {{"LSTM", recurrent, kind},
            {"GRU", recurrent, kind},
            {"RNN", recurrent, kind},
            {"DynamicQuantizeLSTM", recurrent, OperatorKind::Other, Domain::Microsoft}};
}

}  // namespace orrery::onnx_import
