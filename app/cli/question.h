#pragma once

// The options by which a question is put: hardware, workload, methods. Shared by the commands that ask one.

#include "app/cli/command.h"
#include "methods/method.h"
#include "workload/workload.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::cli {

/// `--batch`, `--seq`, … `--bind`.
const std::vector<Option>& workloadOptions();

/// What is not given stays as in `base`. Fails with a code `usage.…` on a value that is no such thing.
Expected<WorkloadOptions> readWorkloadOptions(const Arguments& arguments, WorkloadOptions base);
/// The recipe of `--workload`/FILE with its options, over the usual ones of a built-in model.
Expected<WorkloadRecipe> readRecipe(const Arguments& arguments, const std::string& source);
/// Loads hardware, applies `--set path=value`, and refuses a design that validation finds broken; reports warnings.
Expected<HardwarePtr> readHardwareQuestion(const Arguments& arguments, const std::string& idOrFile);
/// The choices of `--method` (`id` or `id(key=value, …)`) in their canonical text; all methods without it. Fails with
/// the nearest names.
Expected<std::vector<std::string>> readMethods(const Arguments& arguments);

/// `--plan` and `--task`.
const std::vector<Option>& scenarioOptions();
/// The whole question: `--hardware`, `--workload`, `--plan`, `--task`. A file of serving as the task brings its own
/// hardware and model, which the other two may replace. Fails naming what is missing (`usage.missing`).
Expected<Scenario> readScenario(const Arguments& arguments);
/// readMethods(), without the methods that do not answer such a task where none was named.
Expected<std::vector<std::string>> readMethodsFor(const Arguments& arguments, const Task& task);

/// Usage for codes `usage.…`, else Unanswered; reports the diagnostic.
int failed(const Diagnostic& diagnostic);
/// `usage.together` for the first of `others` that is given: with `form` it would be passed over. Nothing if none is.
std::optional<Diagnostic> meaningless(const Arguments& arguments, std::string_view form,
                                      const std::vector<std::string_view>& others);

}  // namespace orrery::cli
