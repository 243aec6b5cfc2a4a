#pragma once

// The list of built-in models. A new one is a row here and a builder in a file of its own.

#include "workload/importers.h"
#include "workload/models/transformer.h"
#include "workload/workload.h"

#include <functional>
#include <memory>
#include <vector>

namespace orrery {

struct BuiltinModel {
    WorkloadInfo info;
    std::function<Expected<ImportedGraph>(const WorkloadOptions&)> build;
    std::shared_ptr<const TransformerConfig> transformer;  ///< what a language model is built from; else null
};

/// All built-in models, by group.
const std::vector<BuiltinModel>& builtinModels();

/// Language models that are configurations of one builder (language_models.cpp).
std::vector<BuiltinModel> languageModels();
std::vector<BuiltinModel> visionModels();
std::vector<BuiltinModel> otherModels();

}  // namespace orrery
