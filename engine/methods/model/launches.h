#pragma once

// From a graph to the kernels that a GPU is asked to run, in order. How an operator becomes kernels hangs on who runs
// it: a framework that launches every operation by itself, an inference engine with hand-fused kernels, or a compiler.

#include "methods/task.h"
#include "workload/kernel.h"
#include "workload/workload.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

enum class LaunchMode : std::uint8_t { Eager, Graph };
enum class Fusion : std::uint8_t {
    None,      ///< a framework in eager mode: composite functions and unfused attention are many kernels
    Epilogue,  ///< an inference engine: bias, activation, residual in the products; residual with norm; attention
    Compile,   ///< a compiler: chains of element-wise work with at most one norm or softmax; products on their own
    Apart,     ///< every operator of the graph is one kernel, whoever runs it
};
/// `none`, `compile`, `apart`; anything else is epilogue.
Fusion fusionOf(std::string_view text);
enum class Step : std::uint8_t { Inference, Training };

struct ModelOptions {
    LaunchMode launch = LaunchMode::Graph;
    Fusion fusion = Fusion::Epilogue;
    bool streams = false;
    bool chains = false;  ///< activations may stay on the chip between launches (chains.h)
    Step step = Step::Inference;
    Optimizer optimizer = Optimizer::Adam;
    bool accumulate = false;  ///< as TrainingStep has it
    /// The experts of a layer are one kernel, as inference engines run them and tables measure them. Not while
    /// training, whose frameworks permute, multiply and activate in kernels of their own.
    bool wholeExperts = true;
    bool flashDecoding = false;  ///< Kernel::flashDecoding of its decode attention
};

enum class Part : std::uint8_t { Forward, Loss, Backward, Optimizer };
inline constexpr int partCount = 4;
std::string_view toText(Part part);

struct Launch {
    Kernel kernel;
    std::int32_t op = 0;  ///< operator that it stands for: the first of a fused group
    Part part = Part::Forward;
    double count = 1;       ///< launches in one pass: the operator's repeats
    double scale = 1;       ///< of the kernel's price: 2.5 for the backward pass of fused attention
    std::string_view what;  ///< which of the operator's kernels: `scores`, `dX`; static; empty if the only one
    /// Weights that it is the first to read, on the mean of its repeats, and those of a whole forward pass, in bytes.
    /// No cache keeps more of the latter than it holds from one pass to the next. 0: not known.
    double weightBytes = 0, passWeightBytes = 0;
};

struct LaunchList {
    std::vector<Launch> launches;
    /// Per operator: the one at whose launch it is computed, itself if it is not fused into another.
    std::vector<std::int32_t> leader;
    std::vector<std::string> assumptions;
};

/// Fused attention backwards: five products instead of two, scores computed again (Dao, FlashAttention-2,
/// arXiv:2307.08691, section 4.1).
inline constexpr double attentionBackwardScale = 2.5;

/// Linear in the graph. Operators without work and bytes launch nothing.
LaunchList launchesOf(const Workload& workload, const ModelOptions& options);

/// Per operator its group's first (of experts: their first product): fusion.cpp. Groups have equal repeat and block,
/// and running a group at the place of its first member keeps every operand before its use (except for attention
/// written out, whose values may come later).
std::vector<std::int32_t> fusedGroups(const Workload& workload, const ModelOptions& options);
/// Per tensor: the one that it is a view of, itself if it is none.
std::vector<TensorId> viewRoots(const Graph& graph);

/// Appends what an eager framework launches for operator i: eager.cpp. False if it is one kernel there too.
bool addEagerLaunches(const Workload& workload, std::size_t i, const ModelOptions& options,
                      std::vector<Launch>& launches);
/// Appends the three kernels of unfused attention (scores, softmax, context) and what moves between them.
void addUnfusedAttention(const Workload& workload, std::size_t i, const ModelOptions& options,
                         std::vector<Launch>& launches);

/// Appends loss, backward pass and optimizer to a forward pass: backward.cpp.
void addTraining(const Workload& workload, const ModelOptions& options, LaunchList& list);
/// What a training step holds in memory.
struct TrainingMemory {
    Bytes weights, gradients, optimizer, activations;
};
TrainingMemory trainingMemory(const Workload& workload, const ModelOptions& options);
/// Of its activations, bytes of one execution of operator i: what attention that writes its scores keeps of them, and
/// the mask of dropout before a sum with the residual stream (Korthikanti et al. 2022, section 4.1).
double keptScores(const Workload& workload, std::size_t i);
double keptMask(const Workload& workload, std::size_t i);

/// One step of the optimizer over so many parameters of `weight` bytes. Not of Optimizer::None.
Kernel optimizerKernel(Optimizer optimizer, double parameters, double weight);
/// Kernels made by hand, counted.
Kernel productKernel(DType type, double batch, double m, double n, double k);
Kernel rowsKernel(KernelKind kind, std::string_view function, DType type, double m, double n, int operands);
Kernel movementKernel(std::string_view function, DType type, double readBytes, double writeBytes);
/// Sums of one or two tensors of the kernel's m × n over their rows: gradients of a bias, of a normalisation.
Kernel sumsKernel(const Kernel& kernel, int tensors);

}  // namespace orrery
