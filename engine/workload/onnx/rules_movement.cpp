// Operators that copy elements to other places.

#include "workload/onnx/axes.h"
#include "workload/onnx/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::onnx_import {
namespace {

constexpr auto movement = OperatorKind::Movement;

void cast(RuleContext& context) {
    context.like(0, 0);
    const auto to = elementType(static_cast<int>(context.node.integer("to", 0)));
    // opset 1 names the type by a word
    if (to == ElementType::Undefined && !context.node.text("to").empty()) return context.setType(0, ElementType::Float);
    if (to == ElementType::Undefined) context.contradict("no known element type is cast to", "the attribute `to`");
    context.setType(0, to);
}

void castLike(RuleContext& context) {
    context.like(0, 0);
    context.setType(0, context.type(1));
}

void transpose(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    const Extents order = context.node.integers("perm");
    Extents result(x->extents.rbegin(), x->extents.rend());
    if (context.node.has("perm")) {
        if (order.size() != x->rank()) {
            context.contradict(fmt::format("perm orders {} of {} dimensions", order.size(), x->rank()),
                               "every dimension once");
            return;
        }
        const auto marked = markAxes(context, order, x->rank());
        if (!marked) return;
        for (std::size_t i = 0; i < order.size(); ++i) {
            result[i] = x->extents[static_cast<std::size_t>(
                order[i] < 0 ? order[i] + static_cast<std::int64_t>(x->rank()) : order[i])];
        }
    }
    context.set(0, x->type, std::move(result));
}

void concatFrom(RuleContext& context, std::size_t first, std::size_t step, std::int64_t axisGiven) {
    context.setType(0, context.type(first));
    Extents result;
    std::optional<std::size_t> axis;
    for (std::size_t i = first; i < context.in.size(); i += step) {
        const Value* x = context.shaped(i);
        if (!x) return;
        if (!axis) {
            result = x->extents;
            axis = context.axis(axisGiven, x->rank());
            if (!axis) return;
            continue;
        }
        if (x->rank() != result.size()) {
            context.contradict(fmt::format("{} and {} differ in rank", toText(result), toText(x->extents)),
                               "equal ranks");
            return;
        }
        for (std::size_t d = 0; d < result.size(); ++d) {
            if (d != *axis) {
                result[d] = context.agree(result[d], x->extents[d], fmt::format("extent {} of the parts", d));
            } else if (result[d] >= 0) {
                result[d] = x->extents[d] < 0 ? unknown : std::min(result[d] + x->extents[d], largestExtent + 1);
            }
        }
    }
    if (axis) context.set(0, context.type(first), std::move(result));
}

void concat(RuleContext& context) {
    concatFrom(context, 0, 1, context.node.integer("axis", 1));
}
void qLinearConcat(RuleContext& context) {
    concatFrom(context, 2, 3, context.node.integer("axis", 1));
}

void split(RuleContext& context) {
    for (std::size_t i = 0; i < context.out.size(); ++i) context.setType(i, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    const auto axis = context.axis(context.node.integer("axis", 0), x->rank());
    const auto sizes = listOf(context, 1, "split");
    if (!axis) return;
    const std::int64_t whole = x->extents[*axis];
    const auto parts = static_cast<std::int64_t>(context.out.size());
    Extents pieces(context.out.size(), unknown);
    if (sizes && !sizes->empty()) {
        std::int64_t sum = 0;
        for (const std::int64_t piece : *sizes) {
            if (piece < 0 || piece > largestExtent) {
                context.contradict(fmt::format("a part of {} is asked for", piece), "parts of 0 or more");
                return;
            }
            sum = std::min(sum + piece, largestExtent + 1);
        }
        if (sizes->size() != context.out.size() || (whole >= 0 && sum != whole)) {
            context.contradict(fmt::format("{} cannot be split into {} parts of {} in all", whole, parts, sum),
                               "as many parts as outputs, summing to the extent");
            return;
        }
        pieces = *sizes;
    } else if (sizes && whole >= 0) {
        // an uneven split leaves the last part smaller (opset 18); before it was not allowed
        const std::int64_t piece = (whole + parts - 1) / parts;
        for (std::int64_t i = 0; i < parts; ++i) {
            pieces[static_cast<std::size_t>(i)] = std::clamp<std::int64_t>(whole - i * piece, 0, piece);
        }
    }
    for (std::size_t i = 0; i < context.out.size(); ++i) {
        Extents result = x->extents;
        result[*axis] = pieces[i];
        context.set(i, x->type, std::move(result));
    }
}

std::int64_t sliced(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
    if (extent == unknown) return unknown;
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? extent : extent - 1;
    const auto place = [&](std::int64_t at) {
        if (at < 0) at = at < -extent ? -extent - 1 : at;
        return std::clamp(at < 0 ? at + extent : at, low, high);
    };
    const std::int64_t from = place(start), to = place(end);
    if (step > 0) return to <= from ? 0 : (to - from - 1) / step + 1;
    return from <= to ? 0 : step == INT64_MIN ? 1 : (from - to - 1) / -step + 1;
}

void slice(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    Extents result = x->extents;
    const auto starts = listOf(context, 1, "starts"), ends = listOf(context, 2, "ends");
    auto axes = listOf(context, 3, "axes"), steps = listOf(context, 4, "steps");
    if (!axes || (!starts && !context.input(3) && x->rank() != 1)) return;
    if (!starts || !ends || !steps) {
        // the extents of the named axes are lost, the others stay
        const auto marked = markAxes(context, axes->empty() ? Extents{0} : *axes, x->rank());
        for (std::size_t i = 0; marked && i < result.size(); ++i) {
            if ((*marked)[i]) result[i] = unknown;
        }
        return context.set(0, x->type, std::move(result));
    }
    if (axes->empty()) {
        for (std::size_t i = 0; i < starts->size(); ++i) axes->push_back(static_cast<std::int64_t>(i));
    }
    if (steps->empty()) steps->assign(starts->size(), 1);
    if (starts->size() != ends->size() || starts->size() != axes->size() || starts->size() != steps->size()) {
        context.contradict(fmt::format("{} starts, {} ends, {} axes and {} steps", starts->size(), ends->size(),
                                       axes->size(), steps->size()),
                           "as many of each");
        return;
    }
    if (!markAxes(context, *axes, x->rank())) return;
    for (std::size_t i = 0; i < axes->size(); ++i) {
        if ((*steps)[i] == 0) {
            context.contradict("a step of 0 never ends", "a step other than 0");
            return;
        }
        const auto axis = context.axis((*axes)[i], x->rank());
        result[*axis] = sliced(result[*axis], (*starts)[i], (*ends)[i], (*steps)[i]);
    }
    context.set(0, x->type, std::move(result));
}

void pad(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    auto pads = listOf(context, 1, context.node.has("pads") ? "pads" : "paddings");
    const auto axes = listOf(context, 3, "axes");
    if (!pads || !axes) return context.set(0, x->type, Extents(x->rank(), unknown));
    const std::size_t sides = axes->empty() ? x->rank() : axes->size();
    if (pads->size() != 2 * sides || !markAxes(context, *axes, x->rank())) {
        context.contradict(fmt::format("{} pads for {} dimensions", pads->size(), sides),
                           "a begin and an end for each");
        return;
    }
    Extents result = x->extents;
    for (std::size_t i = 0; i < sides; ++i) {
        const std::size_t axis = axes->empty() ? i : *context.axis((*axes)[i], x->rank());
        const std::int64_t before = (*pads)[i], after = (*pads)[i + sides];
        if (std::max(std::abs(std::max(before, -largestExtent - 1)), std::abs(std::max(after, -largestExtent - 1))) >
            largestExtent) {
            context.contradict(fmt::format("pads of {} and {}", before, after), "pads that fit in memory");
            return;
        }
        if (result[axis] == unknown) continue;
        result[axis] += before + after;
        if (result[axis] < 0) {
            context.contradict(fmt::format("pads of {} and {} leave less than nothing", before, after),
                               "negative pads smaller than the extent");
            return;
        }
    }
    context.set(0, x->type, std::move(result));
}

void tile(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    const auto* repeats = context.elements(1);
    if (!x) return;
    Extents result(x->rank(), unknown);
    if (repeats && context.node.opset() >= 6) {
        if (repeats->size() != x->rank()) {
            context.contradict(fmt::format("{} repeats for {} dimensions", repeats->size(), x->rank()), "one for each");
            return;
        }
        for (std::size_t i = 0; i < result.size(); ++i) {
            const std::int64_t times = (*repeats)[i];
            if (times == unknownElement || x->extents[i] == unknown) continue;
            if (times < 0 || __builtin_mul_overflow(times, x->extents[i], &result[i])) {
                context.contradict(fmt::format("{} is repeated {} times", x->extents[i], times), "a result that fits");
                return;
            }
        }
    }
    context.set(0, x->type, std::move(result));
}

void expand(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    const auto* given = context.elements(1);
    if (!x || !given) return;
    Extents target = *given;
    for (std::int64_t& extent : target) {
        if (extent == unknownElement) {
            extent = unknown;
        } else if (extent < 0) {
            context.contradict(fmt::format("the target holds {}", extent), "extents of 0 or more");
            return;
        }
    }
    context.set(0, x->type, context.broadcast(x->extents, target));
}

void depthToSpace(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    const std::int64_t block = context.node.integer("blocksize", 0);
    if (block < 1 || block > (1 << 20)) {
        context.contradict(fmt::format("blocksize is {}", block), "1 or more");
        return;
    }
    if (!x || x->rank() != 4) return;
    Extents result = x->extents;
    const bool inwards = context.node.type() == "SpaceToDepth";
    const auto scaled = [&](std::int64_t extent, std::int64_t factor, bool up) {
        if (extent == unknown) return unknown;
        if (up) return extent > largestExtent / factor ? largestExtent + 1 : extent * factor;
        if (extent % factor != 0)
            context.contradict(fmt::format("{} does not divide by {}", extent, factor), "a multiple");
        return extent / factor;
    };
    result[1] = scaled(result[1], block * block, inwards);
    result[2] = scaled(result[2], block, !inwards);
    result[3] = scaled(result[3], block, !inwards);
    context.set(0, x->type, std::move(result));
}

void centerCropPad(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    const auto* target = context.elements(1);
    if (!x || !target) return;
    const Extents axes = context.node.integers("axes");
    Extents result = x->extents;
    if (target->size() != (axes.empty() ? x->rank() : axes.size()) || !markAxes(context, axes, x->rank())) {
        context.contradict(fmt::format("{} extents are asked for", target->size()), "one per axis");
        return;
    }
    for (std::size_t i = 0; i < target->size(); ++i) {
        result[axes.empty() ? i : *context.axis(axes[i], x->rank())] =
            (*target)[i] == unknownElement ? unknown : (*target)[i];
    }
    context.set(0, x->type, std::move(result));
}

}  // namespace

std::vector<RuleRow> movementRules() {
    return {{"Cast", cast, movement},
            {"CastLike", castLike, movement},
            {"Transpose", transpose, movement},
            {"Concat", concat, movement},
            {"QLinearConcat", qLinearConcat, movement, Domain::Microsoft},
            {"Split", split, movement},
            {"Slice", slice, movement},
            {"Pad", pad, movement},
            {"Tile", tile, movement},
            {"Expand", expand, movement},
            {"DepthToSpace", depthToSpace, movement},
            {"SpaceToDepth", depthToSpace, movement},
            {"CenterCropPad", centerCropPad, movement},
            {"ReverseSequence", sameAsFirst, movement}};
}

}  // namespace orrery::onnx_import
