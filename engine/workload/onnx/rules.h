#pragma once

// Which rule infers the outputs of which operator. One row per operator type; rows stand in one small file per family.

#include "workload/onnx/node.h"

#include <string_view>
#include <vector>

namespace orrery::onnx_import {

/// Fills `context.out` from `context.in` and the node's attributes. What cannot be known stays unranked or unknown;
/// what cannot be is a contradiction. Rules never look at more elements than Data holds.
using Rule = void (*)(RuleContext& context);

struct RuleRow {
    std::string_view type;
    Rule rule;
    /// Kind of the operator where operator_types.h does not know the type.
    OperatorKind kind = OperatorKind::Other;
    Domain domain = Domain::Standard;
};

/// The row of a node's operator, or null. An operator of Microsoft's domain without a row of its own takes the
/// standard one of the same name.
const RuleRow* ruleOf(Domain domain, std::string_view type);

// The families.
std::vector<RuleRow> elementwiseRules();
std::vector<RuleRow> matrixRules();
std::vector<RuleRow> convolutionRules();
std::vector<RuleRow> normalizationRules();
std::vector<RuleRow> shapeRules();
std::vector<RuleRow> movementRules();
std::vector<RuleRow> gatherRules();
std::vector<RuleRow> reductionRules();
std::vector<RuleRow> recurrentRules();
std::vector<RuleRow> quantizedRules();
std::vector<RuleRow> attentionRules();
std::vector<RuleRow> contributedRules();
std::vector<RuleRow> generatorRules();
std::vector<RuleRow> sequenceRules();
std::vector<RuleRow> classicRules();
std::vector<RuleRow> signalRules();
std::vector<RuleRow> resizeRules();
std::vector<RuleRow> lossRules();

// Shared by several families.
void sameAsFirst(RuleContext& context);   ///< every output as input 0
void broadcastAll(RuleContext& context);  ///< output 0: all inputs broadcast, type of the first
void setScalar(RuleContext& context, std::size_t output, ElementType type);

}  // namespace orrery::onnx_import
