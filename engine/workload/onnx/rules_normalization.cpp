#include "workload/onnx/rules.h"

namespace orrery::onnx_import {
namespace {

constexpr auto normalization = OperatorKind::Normalization;

/// Per-channel parameters must have as many entries as axis 1 of the input has.
void checkChannels(RuleContext& context, std::size_t first, std::size_t last) {
    const Value* x = context.shaped(0);
    if (!x || x->rank() < 2) return;
    for (std::size_t i = first; i <= last; ++i) {
        const Value* p = context.shaped(i);
        if (p && p->rank() == 1) context.agree(x->extents[1], p->extents[0], "the number of channels");
    }
}

void batchNormalization(RuleContext& context) {
    context.like(0, 0);
    checkChannels(context, 1, 4);
    for (std::size_t i = 1; i < context.out.size(); ++i) context.like(i, i % 2 == 1 ? 3 : 4);
}

void instanceNormalization(RuleContext& context) {
    context.like(0, 0);
    checkChannels(context, 1, 2);
}

/// The axis must exist; statistics keep the axes before it and have 1 behind.
void layered(RuleContext& context, std::size_t firstStatistic, ElementType statistics) {
    context.like(0, 0);
    const Value* x = context.shaped(0);
    for (std::size_t i = 1; i < context.out.size(); ++i) context.setType(i, statistics);
    if (!x || x->rank() == 0) return;
    const auto axis = context.axis(context.node.integer("axis", -1), x->rank());
    if (!axis) return;
    const Value* scale = context.shaped(1);
    if (scale && scale->rank() <= x->rank() && context.node.domain() == Domain::Standard) {
        context.broadcast(x->extents, scale->extents);
    }
    Extents extents = x->extents;
    for (std::size_t i = *axis; i < extents.size(); ++i) extents[i] = 1;
    for (std::size_t i = firstStatistic; i < context.out.size(); ++i) context.set(i, statistics, extents);
}

void layerNormalization(RuleContext& context) {
    const auto stash = elementType(static_cast<int>(context.node.integer("stash_type", 1)));
    layered(context, 1, stash == ElementType::Undefined ? ElementType::Float : stash);
}

/// Outputs: result, mean, inverse deviation, and the sum of input and skip.
void skipLayerNormalization(RuleContext& context) {
    layered(context, 1, ElementType::Float);
    context.like(3, 0);
}

/// Sums of embeddings look-ups: ids[B, S] and tables[…, H] give [B, S, H], a mask index [B] and the sum.
void embedLayerNormalization(RuleContext& context) {
    const Value *ids = context.shaped(0), *table = context.shaped(2);
    context.setType(0, context.type(2));
    context.setType(1, ElementType::Int32);
    if (!ids || !table || ids->rank() != 2 || table->rank() != 2) return;
    const Extents extents{ids->extents[0], ids->extents[1], table->extents[1]};
    context.set(0, table->type, extents);
    context.set(1, ElementType::Int32, {ids->extents[0]});
    context.set(2, table->type, extents);
}

void softmax(RuleContext& context) {
    context.like(0, 0);
    const Value* x = context.shaped(0);
    if (x && x->rank() > 0) context.axis(context.node.integer("axis", context.node.opset() < 13 ? 1 : -1), x->rank());
}

}  // namespace

std::vector<RuleRow> normalizationRules() {
    constexpr auto ms = Domain::Microsoft;
    std::vector<RuleRow> rows{{"BatchNormalization", batchNormalization, normalization},
                              {"InstanceNormalization", instanceNormalization, normalization},
                              {"GroupNormalization", sameAsFirst, normalization},
                              {"LayerNormalization", layerNormalization, normalization},
                              {"RMSNormalization", layerNormalization, normalization},
                              {"SimplifiedLayerNormalization", layerNormalization, normalization},
                              {"LpNormalization", sameAsFirst, normalization},
                              {"MeanVarianceNormalization", sameAsFirst, normalization},
                              {"LRN", sameAsFirst, normalization},
                              {"Softmax", softmax, OperatorKind::Softmax},
                              {"LogSoftmax", softmax, OperatorKind::Softmax},
                              {"Hardmax", softmax, OperatorKind::Softmax}};
    for (const char* type : {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}) {
        rows.push_back({type, skipLayerNormalization, normalization, ms});
    }
    rows.push_back({"EmbedLayerNormalization", embedLayerNormalization, normalization, ms});
    rows.push_back({"GroupNorm", sameAsFirst, normalization, ms});
    rows.push_back({"SkipGroupNorm", sameAsFirst, normalization, ms});
    return rows;
}

}  // namespace orrery::onnx_import
