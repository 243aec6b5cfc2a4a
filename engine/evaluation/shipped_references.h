#pragma once

// Published latencies of whole models, few and each with its source: presets/references/*.yaml of the format
// `orrery: model-references/1`. Published kernels stand in shippedReferences() of reference_table.h. A serving run of
// the same format is one whose requests all wait from the start and are alike, so that nothing about it is a guess:
//
//     task: serving-run
//     serving: {requests: 768, prompt: 128, output: 128, batching: static, sequences: 768, token_budget: 8192}
//     output_tokens_per_s: 19694             # of the whole run, prompts inside

#include "evaluation/reference.h"
#include "evaluation/reference_table.h"
#include "methods/method.h"
#include "workload/workload.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

struct ModelReference {
    WorkloadRecipe recipe;  ///< of a built-in model, all options as they were measured
    Reference reference;    ///< `device` is an id of the hardware catalogue
    /// How its software ran it, as far as the source says so: values of the options of these names. Empty: not said.
    std::string launch, fusion;
    Task task = Pass{};  ///< a pass, a training step or a serving run
    Plan plan = {};
    std::string publication;  ///< see ModelRow
    std::int32_t line = 0;    ///< of the file
};

/// Reads one file. Fails with `reference.…`, file and line: another format or a newer version, an unknown model, an
/// unknown device, a time that is none, a missing source, a key that nothing reads.
Expected<std::vector<ModelReference>> readModelReferences(const std::string& file);

/// The same as tables whose rows are whole models, one for each software, all its sources named.
std::vector<ReferenceTable> modelTables(std::span<const ModelReference> models, const std::string& file);

struct ShippedModelReferences {
    std::vector<ModelReference> all;
    Diagnostics warnings;  ///< files that cannot be read
};
/// Those of presets/references, read once.
const ShippedModelReferences& shippedModelReferences();

/// The measured value of exactly this question: the device is the catalogue's, unchanged, and the workload is the
/// built-in model with the same options and no changes. Nothing if none was published.
std::optional<Reference> referenceFor(const Scenario& scenario);

}  // namespace orrery
