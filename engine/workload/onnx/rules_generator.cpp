// Operators that make tensors out of little or nothing.

#include "workload/onnx/rules.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery::onnx_import {
namespace {

ElementType typeAttribute(const RuleContext& context, std::string_view name, ElementType fallback) {
    const auto type = elementType(static_cast<int>(context.node.integer(name, 0)));
    return type == ElementType::Undefined ? fallback : type;
}

void random(RuleContext& context) {
    context.random = true;
    context.set(0, typeAttribute(context, "dtype", ElementType::Float), context.node.integers("shape"));
}

void randomLike(RuleContext& context) {
    context.random = true;
    context.like(0, 0);
    context.setType(0, typeAttribute(context, "dtype", context.type(0)));
}

void multinomial(RuleContext& context) {
    context.random = true;
    const ElementType type = typeAttribute(context, "dtype", ElementType::Int32);
    context.setType(0, type);
    const Value* x = context.shaped(0);
    if (x && x->rank() == 2) context.set(0, type, {x->extents[0], context.node.integer("sample_size", 1)});
}

void eyeLike(RuleContext& context) {
    context.shapeOnly = true;
    context.like(0, 0);
    context.setType(0, typeAttribute(context, "dtype", context.type(0)));
}

void constantOfShape(RuleContext& context) {
    const auto* value = context.node.attribute("value");
    const auto type = value && value->has_t() ? elementType(value->t().data_type()) : ElementType::Float;
    context.setType(0, type);
    const auto* target = context.elements(0);
    if (!target) {
        // absent elements of a known count still tell the rank; a shape without entries is a scalar's
        const Value* given = context.shaped(0);
        if (given && given->rank() == 1 && given->extents[0] >= 0 &&
            given->extents[0] <= static_cast<std::int64_t>(largestRank)) {
            context.set(0, type, Extents(static_cast<std::size_t>(given->extents[0]), unknown));
        }
        return;
    }
    Extents extents;
    for (const std::int64_t extent : *target) {
        if (extent < 0 && extent != unknownElement) {
            context.contradict(fmt::format("the shape holds {}", extent), "extents of 0 or more");
            return;
        }
        extents.push_back(extent == unknownElement ? unknown : extent);
    }
    context.set(0, type, std::move(extents));
}

void range(RuleContext& context) {
    context.set(0, context.type(0), {unknown});
    double limits[3];
    for (std::size_t i = 0; i < 3; ++i) {
        const Value* value = context.input(i);
        if (!value || !value->data || value->data->size() != 1) return;
        if (!value->data->real && value->data->ints[0] == unknownElement) return;
        limits[i] = value->data->asReal(0);
    }
    if (limits[2] == 0) {
        context.contradict("a step of 0 never ends", "a step other than 0");
        return;
    }
    const double steps = std::max(0.0, std::ceil((limits[1] - limits[0]) / limits[2]));
    if (!(steps <= static_cast<double>(largestExtent))) {
        context.contradict("the range has no end that fits", "fewer elements");
        return;
    }
    context.set(0, context.type(0), {static_cast<std::int64_t>(steps)});
}

std::int64_t scalar(const RuleContext& context, std::size_t slot) {
    const auto* elements = context.elements(slot);
    return elements && elements->size() == 1 && elements->front() >= 0 ? elements->front() : unknown;
}

void window(RuleContext& context) {
    context.set(0, typeAttribute(context, "output_datatype", ElementType::Float), {scalar(context, 0)});
}

void melWeights(RuleContext& context) {
    const std::int64_t length = scalar(context, 1);
    context.set(0, typeAttribute(context, "output_datatype", ElementType::Float),
                {length == unknown ? unknown : length / 2 + 1, scalar(context, 0)});
}

}  // namespace

std::vector<RuleRow> generatorRules() {
    constexpr auto movement = OperatorKind::Movement;
    constexpr auto elementwise = OperatorKind::Elementwise;
    return {{"RandomNormal", random, elementwise},
            {"RandomUniform", random, elementwise},
            {"RandomNormalLike", randomLike, elementwise},
            {"RandomUniformLike", randomLike, elementwise},
            {"Bernoulli", randomLike, elementwise},
            {"Multinomial", multinomial, OperatorKind::Routing},
            {"EyeLike", eyeLike, movement},
            {"ConstantOfShape", constantOfShape, movement},
            {"Range", range, movement},
            {"HannWindow", window, elementwise},
            {"HammingWindow", window, elementwise},
            {"BlackmanWindow", window, elementwise},
            {"MelWeightMatrix", melWeights, elementwise}};
}

}  // namespace orrery::onnx_import
