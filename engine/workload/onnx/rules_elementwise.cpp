#include "workload/onnx/rules.h"

namespace orrery::onnx_import {
namespace {

constexpr auto elementwise = OperatorKind::Elementwise;

void arithmetic(RuleContext& context) {
    // before opset 7 the second operand was broadcast onto the first, by the attributes broadcast and axis
    if (context.node.domain() == Domain::Standard && context.node.opset() < 7) return context.like(0, 0);
    broadcastAll(context);
}

void comparison(RuleContext& context) {
    arithmetic(context);
    context.setType(0, ElementType::Bool);
}

void predicate(RuleContext& context) {
    context.like(0, 0);
    context.setType(0, ElementType::Bool);
}

void where(RuleContext& context) {
    broadcastAll(context);
    context.setType(0, context.type(1));
}

void dropout(RuleContext& context) {
    context.like(0, 0);
    context.like(1, 0);
    if (context.node.opset() >= 10) context.setType(1, ElementType::Bool);
}

void oneWay(RuleContext& context) {
    context.like(0, 0);
    const Value *x = context.shaped(0), *slope = context.shaped(1);
    if (x && slope && context.node.opset() >= 9 && slope->rank() <= x->rank()) {
        context.broadcast(x->extents, slope->extents);
    }
}

void halved(RuleContext& context) {
    context.like(0, 0);
    const Value* x = context.shaped(0);
    if (!x || x->rank() == 0 || x->extents.back() == unknown) return;
    if (x->extents.back() % 2 != 0) {
        context.contradict("the last extent must be split in halves", "an even last extent");
        return;
    }
    context.out[0].extents.back() /= 2;
}

}  // namespace

std::vector<RuleRow> elementwiseRules() {
    std::vector<RuleRow> rows;
    for (const char* type : {"Abs",
                             "Acos",
                             "Acosh",
                             "Asin",
                             "Asinh",
                             "Atan",
                             "Atanh",
                             "Ceil",
                             "Celu",
                             "Clip",
                             "Cos",
                             "Cosh",
                             "CumSum",
                             "CumProd",
                             "Elu",
                             "Erf",
                             "Exp",
                             "Floor",
                             "Gelu",
                             "Log",
                             "Neg",
                             "HardSwish",
                             "LeakyRelu",
                             "Mish",
                             "HardSigmoid",
                             "Reciprocal",
                             "Relu",
                             "Round",
                             "Selu",
                             "Shrink",
                             "Sigmoid",
                             "Sign",
                             "Sin",
                             "Sinh",
                             "Softplus",
                             "Softsign",
                             "Sqrt",
                             "Swish",
                             "Tan",
                             "Tanh",
                             "Trilu",
                             "BitwiseNot",
                             "ThresholdedRelu",
                             "Affine",
                             "ParametricSoftplus",
                             "ScaledTanh",
                             "Scale",
                             "ImageScaler"}) {
        rows.push_back({type, sameAsFirst, elementwise});
    }
    for (const char* type : {"Add", "Sub", "Mul", "Div", "Pow", "Mod", "Max", "Min", "Mean", "Sum", "BitShift",
                             "BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
        rows.push_back({type, arithmetic, elementwise});
    }
    for (const char* type : {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor"}) {
        rows.push_back({type, comparison, elementwise});
    }
    for (const char* type : {"Not", "IsNaN", "IsInf"}) rows.push_back({type, predicate, elementwise});
    rows.push_back({"Where", where, elementwise});
    rows.push_back({"PRelu", oneWay, elementwise});
    rows.push_back({"Dropout", dropout, OperatorKind::View});
    for (const char* type : {"FastGelu", "BiasGelu", "QuickGelu", "BiasAdd", "BiasSoftmax", "FusedGelu"}) {
        rows.push_back({type, sameAsFirst, elementwise, Domain::Microsoft});
    }
    rows.push_back({"BiasDropout", dropout, elementwise, Domain::Microsoft});
    rows.push_back({"BiasSplitGelu", halved, elementwise, Domain::Microsoft});
    return rows;
}

}  // namespace orrery::onnx_import
