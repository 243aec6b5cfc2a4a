// The ai.onnx.ml domain: trees, linear models and feature preparation. Their work depends on the data, so they are
// priced by their bytes.

#include "workload/onnx/rules.h"

#include <algorithm>

namespace orrery::onnx_import {
namespace {

constexpr auto classic = Domain::Classic;

std::int64_t rowsOf(const RuleContext& context) {
    const Value* x = context.shaped(0);
    return !x ? unknown : x->rank() == 2 ? x->extents[0] : 1;
}

std::int64_t labels(const RuleContext& context) {
    for (const char* name : {"classlabels_int64s", "classlabels_ints"}) {
        if (const auto* list = context.node.attribute(name); list && list->ints_size() > 0) return list->ints_size();
    }
    const auto* list = context.node.attribute("classlabels_strings");
    return list && list->strings_size() > 0 ? list->strings_size() : unknown;
}

bool textLabels(const RuleContext& context) {
    const auto* list = context.node.attribute("classlabels_strings");
    return list && list->strings_size() > 0;
}

void classifier(RuleContext& context) {
    context.set(0, textLabels(context) ? ElementType::String : ElementType::Int64, {rowsOf(context)});
    context.set(1, ElementType::Float, {rowsOf(context), labels(context)});
}

void regressor(RuleContext& context) {
    const std::int64_t targets = context.node.integer("n_targets", context.node.integer("targets", 1));
    context.set(0, ElementType::Float, {rowsOf(context), std::max<std::int64_t>(targets, 1)});
}

void sameAsFloat(RuleContext& context) {
    context.like(0, 0);
    context.setType(0, ElementType::Float);
}

void arrayFeatures(RuleContext& context) {
    const Value *x = context.shaped(0), *index = context.shaped(1);
    context.setType(0, context.type(0));
    if (!x || !index || x->rank() == 0) return;
    Extents result = x->rank() == 1 ? Extents{1} : Extents(x->extents.begin(), x->extents.end() - 1);
    result.push_back(index->rank() == 0 ? 1 : index->extents.back());
    context.set(0, x->type, std::move(result));
}

void oneHotEncoder(RuleContext& context) {
    const Value* x = context.shaped(0);
    context.setType(0, ElementType::Float);
    if (!x) return;
    const auto *ints = context.node.attribute("cats_int64s"), *strings = context.node.attribute("cats_strings");
    Extents result = x->extents;
    result.push_back(ints && ints->ints_size() > 0 ? ints->ints_size() : strings ? strings->strings_size() : unknown);
    context.set(0, ElementType::Float, std::move(result));
}

void labelEncoder(RuleContext& context) {
    context.like(0, 0);
    const Node& node = context.node;
    if (node.has("values_strings")) return context.setType(0, ElementType::String);
    if (node.has("values_floats")) return context.setType(0, ElementType::Float);
    if (node.has("values_int64s")) return context.setType(0, ElementType::Int64);
    // opset 1 maps strings to numbers and back
    context.setType(0, context.type(0) == ElementType::String ? ElementType::Int64 : ElementType::String);
}

void featureVectorizer(RuleContext& context) {
    std::int64_t width = 0;
    for (const std::int64_t part : context.node.integers("inputdimensions")) {
        width = part < 0 || width < 0 || part > largestExtent ? unknown : width + part;
    }
    context.set(0, ElementType::Float, {rowsOf(context), width > 0 ? width : unknown});
}

void zipMap(RuleContext& context) {
    Value& out = context.out[0];
    out.form = Value::Form::Map;
    out.type = ElementType::Float;
    out.ranked = true;
    out.extents = {labels(context)};
    out.length = rowsOf(context);
}

void castMap(RuleContext& context) {
    context.set(0, ElementType::Float,
                {1, context.node.integer("max_map", unknown) > 0 ? context.node.integer("max_map", unknown) : unknown});
}

void dictVectorizer(RuleContext& context) {
    const auto *ints = context.node.attribute("int64_vocabulary"),
               *strings = context.node.attribute("string_vocabulary");
    context.set(0, ElementType::Float,
                {1, ints && ints->ints_size() > 0 ? ints->ints_size()
                    : strings                     ? strings->strings_size()
                                                  : unknown});
}

}  // namespace

std::vector<RuleRow> classicRules() {
    constexpr auto other = OperatorKind::Other;
    std::vector<RuleRow> rows;
    for (const char* type : {"TreeEnsembleClassifier", "LinearClassifier", "SVMClassifier"}) {
        rows.push_back({type, classifier, other, classic});
    }
    for (const char* type : {"TreeEnsembleRegressor", "LinearRegressor", "SVMRegressor", "TreeEnsemble"}) {
        rows.push_back({type, regressor, other, classic});
    }
    for (const char* type : {"Scaler", "Normalizer"}) {
        rows.push_back({type, sameAsFloat, OperatorKind::Elementwise, classic});
    }
    for (const char* type : {"Binarizer", "Imputer"})
        rows.push_back({type, sameAsFirst, OperatorKind::Elementwise, classic});
    for (const char* type : {"LabelEncoder", "CategoryMapper"}) rows.push_back({type, labelEncoder, other, classic});
    rows.push_back({"ArrayFeatureExtractor", arrayFeatures, OperatorKind::Gather, classic});
    rows.push_back({"OneHotEncoder", oneHotEncoder, OperatorKind::Gather, classic});
    rows.push_back({"FeatureVectorizer", featureVectorizer, OperatorKind::Movement, classic});
    rows.push_back({"ZipMap", zipMap, other, classic});
    rows.push_back({"CastMap", castMap, other, classic});
    rows.push_back({"DictVectorizer", dictVectorizer, other, classic});
    return rows;
}

}  // namespace orrery::onnx_import
