// Look-ups, updates and selections by index.

#include "workload/onnx/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::onnx_import {
namespace {

void gather(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value *x = context.shaped(0), *index = context.shaped(1);
    if (!x || !index) return;
    if (x->rank() == 0) {
        context.contradict("nothing can be gathered from a scalar", "data of rank 1 or more");
        return;
    }
    const auto axis = context.axis(context.node.integer("axis", 0), x->rank());
    if (!axis) return;
    if (const auto* elements = index->integers(); elements && x->extents[*axis] >= 0) {
        for (const std::int64_t at : *elements) {
            if (at == unknownElement || (at >= -x->extents[*axis] && at < x->extents[*axis])) continue;
            context.contradict(fmt::format("index {} is outside an extent of {}", at, x->extents[*axis]),
                               fmt::format("indices from {} to {}", -x->extents[*axis], x->extents[*axis] - 1));
            return;
        }
    }
    Extents result(x->extents.begin(), x->extents.begin() + static_cast<std::ptrdiff_t>(*axis));
    result.insert(result.end(), index->extents.begin(), index->extents.end());
    result.insert(result.end(), x->extents.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, x->extents.end());
    context.set(0, x->type, std::move(result));
}

void gatherElements(RuleContext& context) {
    context.like(0, 1);
    context.setType(0, context.type(0));
}

void gatherNd(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value *x = context.shaped(0), *index = context.shaped(1);
    if (!x || !index || index->rank() == 0 || index->extents.back() == unknown) return;
    const std::int64_t batch = context.node.integer("batch_dims", 0), depth = index->extents.back();
    if (batch < 0 || batch > static_cast<std::int64_t>(x->rank()) ||
        depth > static_cast<std::int64_t>(x->rank()) - batch) {
        context.contradict(
            fmt::format("indices {} reach deeper than data {}", toText(index->extents), toText(x->extents)),
            "a last extent of at most the data's rank");
        return;
    }
    Extents result(index->extents.begin(), index->extents.end() - 1);
    result.insert(result.end(), x->extents.begin() + batch + depth, x->extents.end());
    context.set(0, x->type, std::move(result));
}

void compress(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value *x = context.shaped(0), *condition = context.input(1);
    if (!x) return;
    std::int64_t kept = unknown;
    if (const auto* chosen = condition ? condition->integers() : nullptr) {
        kept = std::count_if(chosen->begin(), chosen->end(), [](std::int64_t bit) { return bit != 0; });
    }
    if (!context.node.has("axis")) return context.set(0, x->type, {kept});
    const auto axis = context.axis(context.node.integer("axis", 0), x->rank());
    if (!axis) return;
    Extents result = x->extents;
    result[*axis] = kept;
    context.set(0, x->type, std::move(result));
}

void oneHot(RuleContext& context) {
    context.setType(0, context.type(2));
    const Value *index = context.shaped(0), *depth = context.input(1);
    if (!index) return;
    const auto axis = context.axis(context.node.integer("axis", -1), index->rank() + 1);
    if (!axis) return;
    std::int64_t classes = unknown;
    if (depth && depth->data && depth->data->size() == 1) {
        const double value = depth->data->asReal(0);
        if (depth->data->real || depth->data->ints[0] != unknownElement) {
            if (value < 0 || value > static_cast<double>(largestExtent)) {
                context.contradict(fmt::format("depth is {}", value), "0 or more");
                return;
            }
            classes = static_cast<std::int64_t>(value);
        }
    }
    Extents result = index->extents;
    result.insert(result.begin() + static_cast<std::ptrdiff_t>(*axis), classes);
    context.set(0, context.type(2), std::move(result));
}

void nonZero(RuleContext& context) {
    context.setType(0, ElementType::Int64);
    const Value* x = context.shaped(0);
    if (!x) return;
    std::int64_t found = unknown;
    if (x->data) {
        found = 0;
        for (std::size_t i = 0; i < x->data->size(); ++i) {
            if (!x->data->real && x->data->ints[i] == unknownElement) {
                found = unknown;
                break;
            }
            found += x->data->asReal(i) != 0;
        }
    }
    context.set(0, ElementType::Int64, {static_cast<std::int64_t>(std::max<std::size_t>(x->rank(), 1)), found});
}

void topK(RuleContext& context) {
    context.setType(0, context.type(0));
    context.setType(1, ElementType::Int64);
    const Value* x = context.shaped(0);
    if (!x) return;
    const auto axis = context.axis(context.node.integer("axis", -1), x->rank());
    if (!axis) return;
    std::int64_t k = unknown;
    if (const auto* given = context.elements(1); given && given->size() == 1 && given->front() != unknownElement) {
        k = given->front();
    } else if (!context.input(1)) {
        k = context.node.integer("k", unknown);
    }
    if (k != unknown && (k < 0 || (x->extents[*axis] >= 0 && k > x->extents[*axis]))) {
        context.contradict(fmt::format("the {} largest of {} are asked for", k, x->extents[*axis]),
                           "k of the extent at most");
        return;
    }
    Extents result = x->extents;
    result[*axis] = k;
    context.set(0, x->type, result);
    context.set(1, ElementType::Int64, std::move(result));
}

void unique(RuleContext& context) {
    const Value* x = context.shaped(0);
    context.setType(0, context.type(0));
    for (std::size_t i = 1; i < context.out.size(); ++i) context.set(i, ElementType::Int64, {unknown});
    if (!x) return;
    if (!context.node.has("axis")) return context.set(0, x->type, {unknown});
    const auto axis = context.axis(context.node.integer("axis", 0), x->rank());
    if (!axis) return;
    Extents result = x->extents;
    result[*axis] = unknown;
    context.set(0, x->type, std::move(result));
}

void nonMaxSuppression(RuleContext& context) {
    context.set(0, ElementType::Int64, {unknown, 3});
}

}  // namespace

std::vector<RuleRow> gatherRules() {
    constexpr auto kind = OperatorKind::Gather;
    constexpr auto routing = OperatorKind::Routing;
    return {{"Gather", gather, kind},         {"GatherElements", gatherElements, kind},
            {"GatherND", gatherNd, kind},     {"GatherND", gatherNd, kind, Domain::Microsoft},
            {"Scatter", sameAsFirst, kind},   {"ScatterElements", sameAsFirst, kind},
            {"ScatterND", sameAsFirst, kind}, {"TensorScatter", sameAsFirst, kind},
            {"Compress", compress, kind},     {"OneHot", oneHot, kind},
            {"NonZero", nonZero, routing},    {"TopK", topK, routing},
            {"Unique", unique, routing},      {"NonMaxSuppression", nonMaxSuppression, routing}};
}

}  // namespace orrery::onnx_import
