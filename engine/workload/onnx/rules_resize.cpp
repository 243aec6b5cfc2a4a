// Resampling: extents by sizes, by scales, or by the old attributes.

#include "workload/onnx/axes.h"
#include "workload/onnx/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::onnx_import {
namespace {

std::optional<std::vector<double>> scalesOf(const RuleContext& context, std::size_t slot) {
    const Value* value = context.input(slot);
    if (!value || !value->data || !value->data->real) return std::nullopt;
    return value->data->reals;
}

std::int64_t scaled(RuleContext& context, std::int64_t extent, double scale) {
    if (extent == unknown) return unknown;
    const double result = std::floor(static_cast<double>(extent) * scale);
    if (!(scale > 0) || !(result <= static_cast<double>(largestExtent))) {
        context.contradict(fmt::format("{} is scaled by {}", extent, scale), "a positive scale and a result that fits");
        return unknown;
    }
    return static_cast<std::int64_t>(result);
}

bool empty(const Value* value) {
    return !value || (value->shaped() && value->extents == Extents{0}) || (value->data && value->data->size() == 0);
}

void byScales(RuleContext& context, const Value& x, const std::vector<bool>& chosen, const Extents& axes,
              const std::vector<double>& scales) {
    if (scales.size() != (axes.empty() ? x.rank() : axes.size())) {
        context.contradict(fmt::format("{} scales for {}", scales.size(), toText(x.extents)), "one per axis");
        return;
    }
    Extents result = x.extents;
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const std::size_t axis = axes.empty() ? i : *context.axis(axes[i], x.rank());
        if (chosen[axis]) result[axis] = scaled(context, x.extents[axis], scales[i]);
    }
    context.set(0, x.type, std::move(result));
}

/// Sizes with keep_aspect_ratio_policy: one scale for all chosen axes, the smallest or the largest.
void bySizes(RuleContext& context, const Value& x, const Extents& axes, const Extents& sizes) {
    if (sizes.size() != (axes.empty() ? x.rank() : axes.size())) {
        context.contradict(fmt::format("{} sizes for {}", sizes.size(), toText(x.extents)), "one per axis");
        return;
    }
    const std::string policy = context.node.text("keep_aspect_ratio_policy", "stretch");
    Extents result = x.extents;
    double scale = 0;
    const auto at = [&](std::size_t i) { return axes.empty() ? i : *context.axis(axes[i], x.rank()); };
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::int64_t from = x.extents[at(i)];
        if (sizes[i] == unknownElement || from <= 0 || sizes[i] < 0) {
            result[at(i)] = sizes[i] < 0 ? unknown : sizes[i];
            if (policy != "stretch") return context.set(0, x.type, Extents(x.rank(), unknown));
            continue;
        }
        const double now = static_cast<double>(sizes[i]) / static_cast<double>(from);
        scale = i == 0 ? now : policy == "not_smaller" ? std::max(scale, now) : std::min(scale, now);
        result[at(i)] = sizes[i];
    }
    for (std::size_t i = 0; policy != "stretch" && i < sizes.size(); ++i) {
        const double extent = std::floor(scale * static_cast<double>(x.extents[at(i)]) + 0.5);
        if (!(extent <= static_cast<double>(largestExtent))) {
            context.contradict(fmt::format("{} is scaled by {}", x.extents[at(i)], scale), "a result that fits");
            return;
        }
        result[at(i)] = static_cast<std::int64_t>(extent);
    }
    context.set(0, x.type, std::move(result));
}

void resize(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    const bool old = context.node.opset() < 11;
    const Extents axes = context.node.integers("axes");
    const auto marked = markAxes(context, axes, x->rank());
    if (!marked) return;
    const std::vector<bool> chosen = axes.empty() ? std::vector<bool>(x->rank(), true) : *marked;
    const Value *scales = context.input(old ? 1 : 2), *sizes = old ? nullptr : context.input(3);
    context.set(0, x->type, Extents(x->rank(), unknown));
    if (!empty(sizes)) {
        if (const auto* given = sizes->integers()) bySizes(context, *x, axes, *given);
    } else if (!empty(scales)) {
        if (const auto given = scalesOf(context, old ? 1 : 2)) byScales(context, *x, chosen, axes, *given);
    } else {
        context.contradict("neither scales nor sizes are given", "one of them");
    }
}

void upsample(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value* x = context.shaped(0);
    if (!x) return;
    std::vector<double> scales;
    if (const auto* list = context.node.attribute("scales")) {
        scales.assign(list->floats().begin(), list->floats().end());
    } else if (const auto given = scalesOf(context, 1)) {
        scales = *given;
    } else if (context.node.has("height_scale") && x->rank() == 4) {
        scales = {1, 1, context.node.real("height_scale", 1), context.node.real("width_scale", 1)};
    } else {
        return context.set(0, x->type, Extents(x->rank(), unknown));
    }
    byScales(context, *x, std::vector<bool>(x->rank(), true), {}, scales);
}

void gridSample(RuleContext& context) {
    context.setType(0, context.type(0));
    const Value *x = context.shaped(0), *grid = context.shaped(1);
    if (!x || !grid || x->rank() < 3 || grid->rank() != x->rank()) return;
    Extents result{context.agree(x->extents[0], grid->extents[0], "the batch"), x->extents[1]};
    result.insert(result.end(), grid->extents.begin() + 1, grid->extents.end() - 1);
    context.set(0, x->type, std::move(result));
}

void affineGrid(RuleContext& context) {
    context.setType(0, context.type(0));
    const auto* size = context.elements(1);
    if (!size || size->size() < 3) return;
    Extents result{(*size)[0]};
    result.insert(result.end(), size->begin() + 2, size->end());
    result.push_back(static_cast<std::int64_t>(size->size()) - 2);
    for (std::int64_t& extent : result) extent = extent == unknownElement ? unknown : extent;
    context.set(0, context.type(0), std::move(result));
}

}  // namespace

std::vector<RuleRow> resizeRules() {
    constexpr auto kind = OperatorKind::Elementwise;
    return {{"Resize", resize, kind},
            {"Upsample", upsample, kind},
            {"GridSample", gridSample, kind},
            {"AffineGrid", affineGrid, kind}};
}

}  // namespace orrery::onnx_import
