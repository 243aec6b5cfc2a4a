#include "workload/onnx/rules.h"

#include <array>
#include <unordered_map>

namespace orrery::onnx_import {
namespace {

using Table = std::unordered_map<std::string_view, RuleRow>;

std::array<Table, 5> makeTables() {
    std::array<Table, 5> tables;
    for (auto family : {elementwiseRules, matrixRules, convolutionRules, normalizationRules, shapeRules, movementRules,
                        gatherRules, reductionRules, recurrentRules, quantizedRules, attentionRules, contributedRules,
                        generatorRules, sequenceRules, classicRules, signalRules, resizeRules, lossRules}) {
        for (const RuleRow& row : family()) tables[static_cast<std::size_t>(row.domain)].emplace(row.type, row);
    }
    return tables;
}

}  // namespace

const RuleRow* ruleOf(Domain domain, std::string_view type) {
    static const std::array<Table, 5> tables = makeTables();
    const Table& own = tables[static_cast<std::size_t>(domain)];
    if (const auto row = own.find(type); row != own.end()) return &row->second;
    if (domain != Domain::Microsoft) return nullptr;
    const Table& standard = tables[static_cast<std::size_t>(Domain::Standard)];
    const auto row = standard.find(type);
    return row == standard.end() ? nullptr : &row->second;
}

void sameAsFirst(RuleContext& context) {
    for (std::size_t i = 0; i < context.out.size(); ++i) context.like(i, 0);
}

void broadcastAll(RuleContext& context) {
    context.setType(0, context.type(0));
    Extents result;
    for (const Value* value : context.in) {
        if (!value) continue;
        if (!value->shaped()) return;
        result = context.broadcast(result, value->extents);
    }
    context.set(0, context.type(0), std::move(result));
}

void setScalar(RuleContext& context, std::size_t output, ElementType type) {
    context.set(output, type, {});
}

}  // namespace orrery::onnx_import
