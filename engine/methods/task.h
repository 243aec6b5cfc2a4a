#pragma once

// What is asked of a workload on a design. A task has a level: kernel, model, system.

#include "base/diagnostic.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace orrery {

struct ServingStudy;  // serving/serving_study.h

/// One operator of the graph, alone on a device (kernel level).
struct OneOperator {
    std::string name;  ///< of the graph
    bool operator==(const OneOperator&) const = default;
};

/// The workload once, in the phase that it was loaded for (model level).
struct Pass {
    bool operator==(const Pass&) const = default;
};

enum class Optimizer : std::uint8_t { Adam, Sgd, None };
std::string_view toText(Optimizer optimizer);

/// Which activations are dropped after the forward pass and computed again (Chen et al. 2016; Korthikanti et al. 2022).
enum class Recompute : std::uint8_t {
    None,
    Selective,  ///< scores, softmax and context of attention
    Full        ///< all but the input of a layer
};
std::string_view toText(Recompute recompute);

/// Forward pass, backward pass and optimizer (model level on one device, system level with a plan).
struct TrainingStep {
    Optimizer optimizer = Optimizer::Adam;
    Recompute recompute = Recompute::None;
    std::int64_t lora = 0;  ///< rank of adapters that are trained while the weights stay (Hu et al. 2022); 0: none
    double imbalance = 1;   ///< tokens of the busiest device of experts, over the mean of all
    bool accumulate =
        false;  ///< gradients of narrower weights add up in fp32, micro-batch by micro-batch; a plan sets it
    bool operator==(const TrainingStep&) const = default;
};

/// Requests on a fleet of replicas (system level). The study says who serves and what arrives.
struct ServingRun {
    std::shared_ptr<const ServingStudy> study;       ///< never null
    bool operator==(const ServingRun& other) const;  ///< of what the studies say
};

using Task = std::variant<Pass, OneOperator, TrainingStep, ServingRun>;
enum class TaskKind : std::uint8_t { Pass, OneOperator, TrainingStep, ServingRun };  ///< index of Task
inline constexpr int taskKindCount = 4;
inline TaskKind kindOf(const Task& task) {
    return static_cast<TaskKind>(task.index());
}
std::string_view toText(TaskKind kind);  ///< `pass`, `operator`, `training-step`, `serving-run`: in files and JSON

/// `pass`, `training-step(optimizer=sgd)`, `operator(o_proj)`, `serving-run(Two schedulers)`: for people and files.
std::string toText(const Task& task);
/// Reads `pass`, `training-step`, `training-step(optimizer=sgd, recompute=full, lora=16, imbalance=1.2)`,
/// `operator(NAME)`. A serving run is a file of its own
/// (store/project/serving_file.h). Fails with `task.unknown`, `task.bad-option`.
Expected<Task> parseTask(std::string_view text);

}  // namespace orrery
