#include "workload/onnx/axes.h"
#include "workload/onnx/rules.h"

namespace orrery::onnx_import {
namespace {

void reduce(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    const auto axes = listOf(context, 1, "axes");
    const bool keeps = context.node.integer("keepdims", 1) != 0;
    if (!axes) {
        if (keeps) context.set(0, x->type, Extents(x->rank(), unknown));
        return;
    }
    const bool all = axes->empty() && context.node.integer("noop_with_empty_axes", 0) == 0;
    auto marked = markAxes(context, *axes, x->rank());
    if (!marked) return;
    Extents result, reduced;
    for (std::size_t i = 0; i < x->rank(); ++i) {
        const bool gone = all || (*marked)[i];
        if (gone) reduced.push_back(static_cast<std::int64_t>(i));
        if (!gone) {
            result.push_back(x->extents[i]);
        } else if (keeps) {
            result.push_back(1);
        }
    }
    context.attributes["axes"] = reduced;
    context.set(0, x->type, std::move(result));
}

void argument(RuleContext& context) {
    context.setType(0, ElementType::Int64);
    const Value* x = context.shaped(0);
    if (!x) return;
    const auto axis = context.axis(context.node.integer("axis", 0), x->rank());
    if (!axis) return;
    Extents result = x->extents;
    if (context.node.integer("keepdims", 1) != 0) {
        result[*axis] = 1;
    } else {
        result.erase(result.begin() + static_cast<std::ptrdiff_t>(*axis));
    }
    context.attributes["axes"] = Extents{static_cast<std::int64_t>(*axis)};
    context.set(0, ElementType::Int64, std::move(result));
}

}  // namespace

std::vector<RuleRow> reductionRules() {
    std::vector<RuleRow> rows;
    for (const char* type : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                             "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
        rows.push_back({type, reduce, OperatorKind::Reduce});
    }
    rows.push_back({"QLinearReduceMean", reduce, OperatorKind::Reduce, Domain::Microsoft});
    rows.push_back({"ArgMax", argument, OperatorKind::Reduce});
    rows.push_back({"ArgMin", argument, OperatorKind::Reduce});
    return rows;
}

}  // namespace orrery::onnx_import
