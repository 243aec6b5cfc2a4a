#pragma once

// What the software that trains adds to its kernels' prices: numbers per stack and generation of GPUs. A price of a
// kernel comes from runs of that kernel alone; in a step it runs beside exchanges, at the clock that the power allows,
// and by the stack's own code for attention. Numbers hold for all models, plans and batches; they are fitted to
// published steps (evaluation/stack_fit.h) and stand in a calibration, presets/calibrations/training-stacks.json.

#include "hardware/views/cluster_view.h"
#include "hardware/views/device_view.h"
#include "learning/calibration.h"
#include "methods/method.h"
#include "methods/system/training/training_program.h"
#include "workload/graph.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

/// By what tensor units multiply: fp16 alone, bf16, fp8, fp4, fp4 three times as fast as fp8.
enum class GpuGeneration : std::uint8_t { Volta, Ampere, Hopper, Blackwell, BlackwellUltra };
inline constexpr int gpuGenerationCount = 5;
GpuGeneration generationOf(const DeviceView& device);
std::string_view toText(GpuGeneration generation);

/// 90 % of measured steps lie from answer × e^low to answer × e^high.
struct StepSpread {
    double low = 0, high = 0;
    bool known() const { return high > low; }
    double width() const { return high - low; }
    /// Twice as far, where what is known is of something else.
    StepSpread twice() const { return {2 * low, 2 * high}; }
};

/// Fitted numbers of a stack on a generation; as they stand here, nothing is added.
struct StackOnGeneration {
    GpuGeneration generation = GpuGeneration::Ampere;
    double kernels = 1;       ///< all but attention: seconds in a step over seconds alone
    double attention = 1;     ///< the same, of attention
    double experts = 1;       ///< the same, of products of experts
    double overlap = 0;       ///< s by which computing is longer for each second of an exchange beside it
    double exchanges = 1;     ///< of weights and gradients: seconds in a step over seconds alone
    double hiddenTensor = 0;  ///< share of activations' exchanges that passes beside the products that need them
    double hiddenGather = 0;  ///< of the gathering of weights after the optimizer, beside the next forward pass
    double hostLayer = 0;     ///< s that the host takes to issue a layer's kernels, both passes: the least it takes
    double hostExperts = 0;   ///< the same of a layer with experts, which has many small kernels
    /// 90 % of measured steps lie from answer × e^−spread to answer × e^spread; of models with experts, expertSpread
    /// (0: as the others). Split-conformal over the half that was fitted (stack_fit.h). 0: not known.
    double spread = 0, expertSpread = 0;

    /// On the graph of a shard on a device of this generation; twice as much where the numbers are of another one.
    StepSpread spreadOf(const Graph& shard, GpuGeneration device) const;
};

/// What software adds to kernels alone where nobody says which trains: measured steps of every stack over the answer of
/// `kernels`, from the fitted halves of all tables.
struct AnySoftware {
    GpuGeneration generation = GpuGeneration::Ampere;
    StepSpread dense, experts;

    /// As StackOnGeneration::spreadOf.
    StepSpread spreadOf(const Graph& shard, GpuGeneration device) const;
};
/// Whether products of experts are among its operators.
bool hasExperts(const Graph& shard);

/// What is known of a stack without a measurement.
struct TrainingStack {
    std::string_view id;  ///< in files: `kernels`, `llm-foundry`
    std::string_view title;
    std::string_view source;                 ///< of the steps that its numbers are fitted to
    double gradientBytes = 0;                ///< of one gradient when it is exchanged; 0: as wide as the weights
    double shareCopies = 0;                  ///< B moved for each weight and micro-batch where weights are divided
    std::span<const std::string_view> of{};  ///< stacks whose steps are its own; empty: those that name it
    SelectiveForm selective = SelectiveForm::Attention;
    /// Context parallelism deals out positions in order: under a causal mask the last part has most to attend to.
    bool contextInOrder = false;
};

/// `kernels` first, to which nothing is added.
std::span<const TrainingStack> trainingStacks();
const TrainingStack* findTrainingStack(std::string_view id);

inline constexpr std::string_view stackCalibration = "training-stacks";  ///< the `method` of calibrations of stacks
/// Its numbers as a section has them, and back; sections are of KernelKind::Other. Numbers that are missing or cannot
/// be are those of a stack that adds nothing.
CalibrationSection stackSection(std::string_view stack, const StackOnGeneration& row);
/// Of a generation, else of the nearest one, in the last calibration that has the stack; nothing where none has.
std::optional<StackOnGeneration> stackOn(const TrainingStack& stack, GpuGeneration generation,
                                         const CalibrationSet& calibrations);

/// The same of what software adds, whichever it is.
CalibrationSection softwareSection(const AnySoftware& any);
/// Of a generation, else of the nearest one, in the last calibration that has any.
std::optional<AnySoftware> softwareOn(GpuGeneration generation, const CalibrationSet& calibrations);

/// With attention as long as on the busiest of `context` parts, whose mean the prices are.
StackOnGeneration onBusiest(const TrainingStack& stack, StackOnGeneration row, std::int64_t context);

/// Prices of a shard's operators as they are in a step of the stack: columns, latency and interval.
void takeStack(const StackOnGeneration& row, const Graph& shard, Estimate& answer);
/// Gradients as wide as the stack sends them, its copies of divided weights, and what the host takes. `weightBytes`: of
/// one weight; `bandwidth`: of main memory, B/s.
void takeStack(const TrainingStack& stack, const StackOnGeneration& row, double weightBytes, double bandwidth,
               TrainingProgram& program);

/// What exchanges beside it take from computing: SMs, caches and memory. `beside`: seconds of exchanges of weights and
/// gradients alone, of one device of every stage.
void slowBeside(const StackOnGeneration& row, double beside, TrainingProgram& program);

/// What is to be said of the numbers, among an answer's assumptions.
std::string saidOf(const TrainingStack& stack, const StackOnGeneration& row);

/// The stack that a method's option names, on the device of a group.
struct StackHere {
    const TrainingStack* stack = nullptr;
    std::optional<StackOnGeneration> row;
    std::optional<AnySoftware> any;  ///< where the stack is `kernels`, on a GPU; not of what was recorded
    GpuGeneration generation = GpuGeneration::Ampere;
    double bandwidth = 0;  ///< B/s, of main memory

    /// Of measured steps; not known where neither is.
    StepSpread spreadOf(const Graph& shard) const;
    /// Of which steps that is, for the basis of an interval.
    std::string measuredSteps() const;
};

/// With the calibrations of `context`, else those that are shipped.
StackHere stackHere(const Method& method, const Scenario& scenario, const DeviceGroup& group,
                    const EstimateContext& context);

}  // namespace orrery
