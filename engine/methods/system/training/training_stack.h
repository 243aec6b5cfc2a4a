#pragma once

// What the software that trains adds to its kernels' prices: one row per stack, and in it one per generation of GPUs. A
// price of a kernel comes from runs of that kernel alone; in a step it runs beside exchanges, at the clock that the
// power allows, and by the stack's own code for attention. Numbers hold for all models, plans and batches of a row.

#include "hardware/views/cluster_view.h"
#include "hardware/views/device_view.h"
#include "methods/method.h"
#include "methods/system/training/training_program.h"
#include "workload/graph.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace orrery {

/// By what tensor units multiply: fp16 alone, bf16, fp8, fp4, fp4 three times as fast as fp8.
enum class GpuGeneration : std::uint8_t { Volta, Ampere, Hopper, Blackwell, BlackwellUltra };
GpuGeneration generationOf(const DeviceView& device);
std::string_view toText(GpuGeneration generation);

struct StackOnGeneration {
    GpuGeneration generation = GpuGeneration::Ampere;
    double kernels = 1;    ///< all but attention: seconds in a step over seconds alone
    double attention = 1;  ///< the same, of attention
    int fitted = 1;        ///< numbers of this row and its stack that its own steps decided
    /// 90 % of measured steps lie from answer × e^−spread to answer × e^spread; of models with experts, expertSpread.
    /// Split-conformal over the half that was fitted: of n sizes of ln(measured ÷ answer), each over (1 − fitted ⁄ n)
    /// as if its step had been left out, the ⌈0.9·(n + 1)⌉-th. Fewer than nine steps have none; then those of all
    /// stacks of the generation count, and the largest where they are fewer too (tst_training_end_to_end computes
    /// them).
    double spread = 0, expertSpread = 0;
    double experts = 0;  ///< as `kernels`, of products of experts; 0: as those

    /// On the graph of a shard on a device of this generation; twice as much where the row is of another one.
    double spreadOf(const Graph& shard, GpuGeneration device) const;
};

struct TrainingStack {
    std::string_view id;  ///< in files: `kernels`, `llm-foundry`
    std::string_view title;
    std::string_view source;   ///< of the numbers, and which rows they were fitted to
    double overlap = 0;        ///< seconds by which computing is longer for each second of an exchange beside it
    double gradientBytes = 0;  ///< of one gradient when it is exchanged; 0: as wide as the weights
    double shareCopies = 0;    ///< bytes moved for each weight and micro-batch where weights are divided (`zero` 3)
    double hiddenTensor = 0;   ///< share of activations' exchanges that passes beside the products that need them
    double hiddenGather = 0;   ///< of the gathering of weights after the optimizer, beside the next forward pass
    double hostLayer = 0;  ///< s that the host takes to issue a layer's kernels, both passes: the least that it takes
    std::span<const StackOnGeneration> generations;  ///< empty: prices as they are

    /// The row of a generation, else of the nearest one; nothing where there are none.
    const StackOnGeneration* on(GpuGeneration generation) const;
};

/// `kernels` first.
std::span<const TrainingStack> trainingStacks();
const TrainingStack* findTrainingStack(std::string_view id);

/// Prices of a shard's operators as they are in a step of the stack: columns, latency and interval.
void takeStack(const StackOnGeneration& row, const Graph& shard, Estimate& answer);
/// Gradients as wide as the stack sends them, its copies of divided weights, and what the host takes. `weightBytes`: of
/// one weight; `bandwidth`: of main memory, B/s.
void takeStack(const TrainingStack& stack, double weightBytes, double bandwidth, TrainingProgram& program);

/// What exchanges beside it take from computing: SMs, caches and memory. `beside`: seconds of exchanges of weights and
/// gradients, of one device of every stage.
void slowBeside(const TrainingStack& stack, double beside, TrainingProgram& program);

/// The stack that a method's option names, on the device of a group.
struct StackHere {
    const TrainingStack* stack = nullptr;
    const StackOnGeneration* row = nullptr;
    GpuGeneration generation = GpuGeneration::Ampere;
    double bandwidth = 0;  ///< B/s, of main memory
};

StackHere stackHere(const Method& method, const Scenario& scenario, const DeviceGroup& group,
                    const EstimateContext& context);

}  // namespace orrery
