// Operators that only rename the extents of a tensor, or read them.

#include "workload/onnx/axes.h"
#include "workload/onnx/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::onnx_import {
namespace {

DataPtr wholeNumbers(Extents values) {
    for (std::int64_t& value : values) {
        if (value == unknown) value = unknownElement;
    }
    auto data = std::make_shared<Data>();
    data->ints = std::move(values);
    return data;
}

void shape(RuleContext& context) {
    context.shapeOnly = true;
    context.setType(0, ElementType::Int64);
    const Value* x = context.shaped(0);
    if (!x) return;
    const auto rank = static_cast<std::int64_t>(x->rank());
    const auto clamp = [rank](std::int64_t at) {
        return std::clamp<std::int64_t>(at < -rank ? 0 : at < 0 ? at + rank : at, 0, rank);
    };
    const std::int64_t start = clamp(context.node.integer("start", 0)), end = clamp(context.node.integer("end", rank));
    Extents values;
    for (std::int64_t i = start; i < end; ++i) values.push_back(x->extents[static_cast<std::size_t>(i)]);
    context.set(0, ElementType::Int64, {static_cast<std::int64_t>(values.size())});
    context.out[0].data = wholeNumbers(std::move(values));
}

void size(RuleContext& context) {
    context.shapeOnly = true;
    setScalar(context, 0, ElementType::Int64);
    if (const Value* x = context.shaped(0)) context.out[0].data = wholeNumbers({count(x->extents).value_or(unknown)});
}

void reshape(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    Extents target;
    if (const Value* given = context.input(1)) {
        if (const auto* elements = given->integers()) {
            target = *elements;
        } else {
            // a target of unknown elements still tells the rank
            if (given->shaped() && given->rank() == 1 && given->extents[0] >= 0 &&
                given->extents[0] <= static_cast<std::int64_t>(largestRank)) {
                context.set(0, context.type(0), Extents(static_cast<std::size_t>(given->extents[0]), unknown));
            }
            return;
        }
    } else {
        target = context.node.integers("shape");
    }
    const bool keepsZero = context.node.integer("allowzero", 0) != 0;
    Extents result;
    std::optional<std::size_t> free;
    bool open = false;
    for (std::size_t i = 0; i < target.size(); ++i) {
        std::int64_t extent = target[i];
        if (extent == unknownElement) {
            extent = unknown, open = true;
        } else if (extent == 0 && !keepsZero) {
            if (!x) {
                extent = unknown, open = true;
            } else if (i >= x->rank()) {
                context.contradict(
                    fmt::format("entry {} of the target copies an extent that {} does not have", i, toText(x->extents)),
                    "a 0 only where the input has an extent");
                return;
            } else {
                extent = x->extents[i];
                open = open || extent == unknown;
            }
        } else if (extent == -1) {
            if (free) {
                context.contradict("the target leaves two extents open", "-1 once at most");
                return;
            }
            free = i;
        } else if (extent < -1 || extent > largestExtent) {
            context.contradict(fmt::format("the target holds {}", extent), "extents of 0 or more, or -1 once");
            return;
        }
        result.push_back(extent);
    }
    const auto all = x ? count(x->extents) : std::nullopt;
    if (free && !open) {
        Extents others = result;
        others[*free] = 1;
        const std::int64_t rest = count(others).value_or(0);
        if (all && rest == 0 && *all != 0) {
            context.contradict(fmt::format("{} elements do not fit an empty shape", *all), "as many elements");
        } else if (all && rest > 0 && *all % rest != 0) {
            context.contradict(
                fmt::format("{} elements ({}) do not divide into {}", *all, toText(x->extents), toText(result)),
                "a shape of as many elements", "the model may be fixed to another size: bind its symbols to that");
        } else if (all) {
            result[*free] = rest == 0 ? 0 : *all / rest;
        }
    } else if (!free && !open && all && count(result) != all) {
        context.contradict(fmt::format("{} elements ({}) do not fit {}", *all, toText(x->extents), toText(result)),
                           "a shape of as many elements",
                           "the model may be fixed to another size: bind its symbols to that");
    }
    context.set(0, context.type(0), std::move(result));
}

void squeeze(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    const auto axes = listOf(context, 1, "axes");
    if (!x || !axes) return;
    const auto marked = markAxes(context, *axes, x->rank());
    if (!marked) return;
    Extents result;
    for (std::size_t i = 0; i < x->rank(); ++i) {
        const std::int64_t extent = x->extents[i];
        if (axes->empty()) {
            if (extent == unknown) return;  // it may be a 1, so not even the rank is known
            if (extent != 1) result.push_back(extent);
        } else if (!(*marked)[i]) {
            result.push_back(extent);
        } else if (extent > 1 || extent == 0) {
            context.contradict(fmt::format("axis {} of {} is not 1", i, toText(x->extents)), "an extent of 1");
            return;
        }
    }
    context.set(0, x->type, std::move(result));
}

void unsqueeze(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    const auto axes = listOf(context, 1, "axes");
    if (!x || !axes) return;
    if (x->rank() + axes->size() > largestRank) {
        context.contradict(fmt::format("the result would have {} dimensions", x->rank() + axes->size()),
                           fmt::format("{} at most", largestRank));
        return;
    }
    const auto marked = markAxes(context, *axes, x->rank() + axes->size());
    if (!marked) return;
    Extents result;
    std::size_t from = 0;
    for (const bool fresh : *marked) result.push_back(fresh ? 1 : x->extents[from++]);
    context.set(0, x->type, std::move(result));
}

void flatten(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    const auto rank = static_cast<std::int64_t>(x->rank());
    std::int64_t axis = context.node.integer("axis", 1);
    if (axis < -rank || axis > rank) {
        context.contradict(fmt::format("axis {} does not exist in a tensor of rank {}", axis, rank),
                           fmt::format("an axis from {} to {}", -rank, rank));
        return;
    }
    if (axis < 0) axis += rank;
    const auto middle = x->extents.begin() + axis;
    context.set(
        0, x->type,
        {count({x->extents.begin(), middle}).value_or(unknown), count({middle, x->extents.end()}).value_or(unknown)});
}

}  // namespace

std::vector<RuleRow> shapeRules() {
    constexpr auto view = OperatorKind::View;
    return {{"Shape", shape, view},         {"Size", size, view},           {"Reshape", reshape, view},
            {"Squeeze", squeeze, view},     {"Unsqueeze", unsqueeze, view}, {"Flatten", flatten, view},
            {"Identity", sameAsFirst, view}};
}

}  // namespace orrery::onnx_import
