#include "methods/system/training/training_stack.h"

#include "hardware/views/gpu_view.h"
#include "methods/answer/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace orrery {

namespace {

using enum GpuGeneration;

constexpr std::span<const std::string_view> no_stacks;
constexpr std::array<std::string_view, 2> jax{"maxtext", "paxml"}, jax_fp8{"maxtext-fp8", "paxml-fp8"};

constexpr std::array stacks{
    TrainingStack{"kernels", "Kernels alone", "Nothing is added to the times of kernels and exchanges"},
    // Gradients are copied into the flat parameter, cast to fp32 and divided before they are scattered.
    TrainingStack{"llm-foundry", "LLM Foundry: PyTorch FSDP, eager",
                  "llm-foundry's benchmark tables (MosaicML, 2023), steps in bf16 with FULL_SHARD", 4, 18},
    TrainingStack{"megatron-lm-2021", "Megatron-LM, 2021, fp16", "Narayanan et al. 2021, tables 1 and 2"},
    TrainingStack{"megatron-lm-2022", "Megatron-LM, 2022, fp16", "Korthikanti et al. 2022, table 5"},
    TrainingStack{"deepspeed-zero3", "DeepSpeed ZeRO-3, 2021, fp16", "Narayanan et al. 2021, table 2"},
    TrainingStack{"megatron-core", "Megatron-Core and NeMo, 2024, bf16",
                  "Megatron-LM's table of 2024 and NVIDIA/dgxc-benchmarking, steps in bf16", 2},
    TrainingStack{"megatron-core-fp8", "Megatron-Core and NeMo, 2024 to 2026, fp8",
                  "NVIDIA/dgxc-benchmarking, NeMo, Megatron-Bridge and MLPerf Training, steps in fp8", 2},
    // Its all-to-alls, permutations and grouped products were written anew.
    TrainingStack{"megatron-core-fp8-26.06", "Megatron-Core of release 26.06, fp8",
                  "NVIDIA's Megatron-Bridge, steps in fp8 of release 26.06", 2},
    TrainingStack{"jax-fsdp", "JAX, divided weights, bf16: MaxText and PaxML as one",
                  "NVIDIA/dgxc-benchmarking, steps in bf16", 0, 0, jax},
    TrainingStack{"jax-fsdp-fp8", "JAX, divided weights, fp8: MaxText and PaxML as one",
                  "NVIDIA/dgxc-benchmarking, steps in fp8", 0, 0, jax_fp8},
    TrainingStack{"maxtext", "MaxText: JAX, divided weights, bf16", "NVIDIA/dgxc-benchmarking, steps in bf16"},
    TrainingStack{"maxtext-fp8", "MaxText: JAX, divided weights, fp8", "NVIDIA/dgxc-benchmarking, steps in fp8"},
    TrainingStack{"paxml", "PaxML: JAX, divided weights, bf16", "NVIDIA/dgxc-benchmarking, steps in bf16"},
    TrainingStack{"paxml-fp8", "PaxML: JAX, divided weights, fp8", "NVIDIA/dgxc-benchmarking, steps in fp8"},
    TrainingStack{"torchtitan", "TorchTitan: PyTorch FSDP2, bf16",
                  "pytorch/torchtitan's benchmarks on H100 of 96 GB and 500 W, steps in bf16", 0, 0, no_stacks,
                  SelectiveForm::PerOperator, true},
    TrainingStack{"torchtitan-fp8", "TorchTitan: PyTorch FSDP2, fp8",
                  "pytorch/torchtitan's benchmarks on H100 of 96 GB and 500 W, steps in fp8, tensor by tensor", 0, 0,
                  no_stacks, SelectiveForm::PerOperator, true},
    TrainingStack{"sailor", "Sailor: Megatron-DeepSpeed, eager, tf32", "Sailor's validation on GH200 (SOSP 2025)"},
    TrainingStack{"mxnet", "MXNet, vision, fp16", "NVIDIA/DeepLearningExamples, ResNet-50 on V100, mixed precision"},
    TrainingStack{"mxnet-fp32", "MXNet, vision, fp32", "NVIDIA/DeepLearningExamples, ResNet-50 on V100, fp32"},
    TrainingStack{"pytorch", "PyTorch, vision, fp16",
                  "NVIDIA/DeepLearningExamples, ResNet-50 on V100, mixed precision"},
    TrainingStack{"pytorch-fp32", "PyTorch, vision, fp32", "NVIDIA/DeepLearningExamples, ResNet-50 on V100, fp32"},
    TrainingStack{"tensorflow", "TensorFlow, vision, fp16",
                  "NVIDIA/DeepLearningExamples, ResNet-50 on V100, mixed precision"},
    TrainingStack{"tensorflow-fp32", "TensorFlow, vision, fp32",
                  "NVIDIA/DeepLearningExamples, ResNet-50 on V100, fp32"},
};

struct Number {
    std::string_view name;
    double StackOnGeneration::*value;
    double least, most;
};
constexpr std::array numbers{Number{"kernels", &StackOnGeneration::kernels, 0.1, 100},
                             Number{"attention", &StackOnGeneration::attention, 0.1, 100},
                             Number{"experts", &StackOnGeneration::experts, 0.1, 100},
                             Number{"overlap", &StackOnGeneration::overlap, 0, 100},
                             Number{"exchanges", &StackOnGeneration::exchanges, 0.1, 1000},
                             Number{"hidden tensor", &StackOnGeneration::hiddenTensor, 0, 1},
                             Number{"hidden gather", &StackOnGeneration::hiddenGather, 0, 1},
                             Number{"host layer", &StackOnGeneration::hostLayer, 0, 10},
                             Number{"host experts", &StackOnGeneration::hostExperts, 0, 10},
                             Number{"spread", &StackOnGeneration::spread, 0, 10},
                             Number{"expert spread", &StackOnGeneration::expertSpread, 0, 10}};

// Of AnySoftware: no stack is called so.
constexpr std::string_view any_stack = "any software";
constexpr double farthest = 10;  // ln, that a file may say of it

std::string variantOf(std::string_view stack, GpuGeneration generation) {
    return fmt::format("{} on {}", stack, toText(generation));
}

StackOnGeneration rowOf(const CalibrationSection& section, GpuGeneration generation) {
    StackOnGeneration row;
    row.generation = generation;
    for (const Number& number : numbers) {
        const auto at = section.parameters.find(number.name);
        if (at != section.parameters.end() && at->second >= number.least && at->second <= number.most)
            row.*number.value = at->second;
    }
    return row;
}

/// `read` of the section of the generation or of the nearest one, in the last calibration that has one.
template <typename Row, typename Read>
std::optional<Row> nearestSection(std::string_view stack, GpuGeneration generation, const CalibrationSet& calibrations,
                                  Read read) {
    const auto all = calibrations.all();
    std::optional<Row> nearest;
    int least = gpuGenerationCount;
    for (auto calibration = all.rbegin(); calibration != all.rend() && !nearest; ++calibration) {
        if ((*calibration)->method != stackCalibration) continue;
        for (int g = 0; g < gpuGenerationCount; ++g) {
            const auto its = static_cast<GpuGeneration>(g);
            const int apart = std::abs(g - static_cast<int>(generation));
            if (apart >= least) continue;
            for (const CalibrationSection& section : (*calibration)->sections)
                if (section.variant == variantOf(stack, its)) nearest = read(section, its), least = apart;
        }
    }
    return nearest;
}

void issueNoFaster(std::vector<ProgramPiece>& pieces, double seconds) {
    double computed = 0;
    for (const ProgramPiece& piece : pieces) computed += piece.seconds;
    if (computed >= seconds || pieces.empty()) return;
    for (ProgramPiece& piece : pieces) piece.seconds += (seconds - computed) / static_cast<double>(pieces.size());
}

double own(const std::vector<double>& column, std::size_t i) {
    return i < column.size() ? column[i] : 0;
}

}  // namespace

GpuGeneration generationOf(const DeviceView& device) {
    const auto multiplies = [&](DType type) {
        return device.peaks[static_cast<std::size_t>(UnitKind::Tensor)][static_cast<std::size_t>(type)].value > 0;
    };
    const auto& peaks = device.peaks[static_cast<std::size_t>(UnitKind::Tensor)];
    if (multiplies(DType::FP4)) {
        const double ratio =
            peaks[static_cast<std::size_t>(DType::FP4)].value / peaks[static_cast<std::size_t>(DType::FP8)].value;
        return ratio > 2.5 ? BlackwellUltra : Blackwell;
    }
    return multiplies(DType::FP8) ? Hopper : multiplies(DType::BF16) ? Ampere : Volta;
}

std::string_view toText(GpuGeneration generation) {
    constexpr std::string_view names[]{"Volta", "Ampere", "Hopper", "Blackwell", "Blackwell Ultra"};
    return names[static_cast<std::size_t>(generation)];
}

bool hasExperts(const Graph& shard) {
    return std::any_of(shard.operators.begin(), shard.operators.end(),
                       [](const Operator& each) { return each.type == "GroupedMatMul"; });
}

StepSpread StackOnGeneration::spreadOf(const Graph& shard, GpuGeneration device) const {
    const double size = expertSpread > 0 && hasExperts(shard) ? expertSpread : spread;
    const StepSpread own{-size, size};
    return device == generation ? own : own.twice();
}

StepSpread AnySoftware::spreadOf(const Graph& shard, GpuGeneration device) const {
    const StepSpread own = experts.known() && hasExperts(shard) ? experts : dense;
    return device == generation ? own : own.twice();
}

CalibrationSection stackSection(std::string_view stack, const StackOnGeneration& row) {
    CalibrationSection section;
    section.kind = KernelKind::Other;
    section.variant = variantOf(stack, row.generation);
    for (const Number& number : numbers) section.parameters.emplace(number.name, row.*number.value);
    return section;
}

std::optional<StackOnGeneration> stackOn(const TrainingStack& stack, GpuGeneration generation,
                                         const CalibrationSet& calibrations) {
    return nearestSection<StackOnGeneration>(stack.id, generation, calibrations, rowOf);
}

CalibrationSection softwareSection(const AnySoftware& any) {
    CalibrationSection section;
    section.kind = KernelKind::Other;
    section.variant = variantOf(any_stack, any.generation);
    section.parameters = {{"low", any.dense.low},
                          {"high", any.dense.high},
                          {"experts low", any.experts.low},
                          {"experts high", any.experts.high}};
    return section;
}

std::optional<AnySoftware> softwareOn(GpuGeneration generation, const CalibrationSet& calibrations) {
    return nearestSection<AnySoftware>(
        any_stack, generation, calibrations, [](const CalibrationSection& section, GpuGeneration its) {
            const auto side = [&](std::string_view name, double least, double most) {
                const auto at = section.parameters.find(name);
                return at == section.parameters.end() ? 0 : std::clamp(at->second, least, most);
            };
            return AnySoftware{its,
                               {side("low", -farthest, 0), side("high", 0, farthest)},
                               {side("experts low", -farthest, 0), side("experts high", 0, farthest)}};
        });
}

std::string saidOf(const TrainingStack& stack, const StackOnGeneration& row) {
    return fmt::format(
        "{}: kernels {:.2f} and attention {:.2f} times as long as alone (fitted to half of the steps of "
        "{})",
        stack.title, row.kernels, row.attention, stack.source);
}

std::span<const TrainingStack> trainingStacks() {
    return stacks;
}

const TrainingStack* findTrainingStack(std::string_view id) {
    const auto found =
        std::find_if(stacks.begin(), stacks.end(), [&](const TrainingStack& one) { return one.id == id; });
    return found == stacks.end() ? nullptr : &*found;
}

StackOnGeneration onBusiest(const TrainingStack& stack, StackOnGeneration row, std::int64_t context) {
    // Of n parts the last attends to all others and half of itself: n − ½ of a mean of n ⁄ 2.
    if (stack.contextInOrder && context > 1) row.attention *= 2 - 1 / static_cast<double>(context);
    return row;
}

void takeStack(const StackOnGeneration& row, const Graph& shard, Estimate& answer) {
    OperatorEstimates& ops = answer.operators;
    double before = 0, after = 0;
    for (std::size_t i = 0; i < ops.size() && i < shard.operators.size(); ++i) {
        const bool experts = shard.operators[i].type == "GroupedMatMul";
        const double factor = shard.operators[i].attention ? row.attention : experts ? row.experts : row.kernels;
        const double update = own(ops.updateSeconds, i), seconds = ops.seconds[i];
        before += seconds;
        ops.seconds[i] = (seconds - update) * factor + update;
        after += ops.seconds[i];
        const double scale = seconds > 0 ? ops.seconds[i] / seconds : 1;
        for (auto* column : {&ops.lowSeconds, &ops.highSeconds})
            if (i < column->size()) (*column)[i] *= scale;
        if (i < ops.forwardSeconds.size()) ops.forwardSeconds[i] *= factor;
    }
    if (before <= 0) return;
    answer.latency = answer.latency * (after / before);
    answer.interval.low = answer.interval.low * (after / before);
    answer.interval.high = answer.interval.high * (after / before);
}

void takeStack(const TrainingStack& stack, const StackOnGeneration& row, double weightBytes, double bandwidth,
               TrainingProgram& program) {
    const bool divided = program.plan.zero >= 3 && program.plan.sharingCopies() * program.plan.context > 1;
    if (stack.gradientBytes > 0 && weightBytes > 0) program.tiedBytes *= stack.gradientBytes / weightBytes;
    for (LayerProgram& layer : program.layers) {
        const double weights = weightBytes > 0 ? layer.parameterBytes / weightBytes : 0;
        if (stack.gradientBytes > 0) layer.gradientBytes = weights * layer.trainedShare * stack.gradientBytes;
        if (divided && stack.shareCopies > 0 && bandwidth > 0 && weights > 0)
            layer.backward.push_back({weights * stack.shareCopies / bandwidth});
        if (!layer.repeated) continue;
        // The backward pass has twice the kernels.
        const double host = layer.expertShare > 0 ? std::max(row.hostLayer, row.hostExperts) : row.hostLayer;
        issueNoFaster(layer.forward, host / 3);
        issueNoFaster(layer.backward, host * 2 / 3);
    }
}

void slowBeside(const StackOnGeneration& row, double beside, TrainingProgram& program) {
    double computed = 0;
    for (const ChunkProgram& chunk : program.chunks)
        for (const std::int32_t l : chunk.layers)
            for (const auto* pieces : {&program.layers[static_cast<std::size_t>(l)].forward,
                                       &program.layers[static_cast<std::size_t>(l)].backward})
                for (const ProgramPiece& piece : *pieces) computed += piece.seconds;
    computed *= static_cast<double>(program.microbatches);
    if (computed <= 0 || row.overlap <= 0) return;
    const double factor = 1 + row.overlap * beside / computed;
    for (LayerProgram& layer : program.layers) {
        for (auto* pieces : {&layer.forward, &layer.backward})
            for (ProgramPiece& piece : *pieces) piece.seconds *= factor;
        layer.weightGradientSeconds *= factor;
    }
}

StepSpread StackHere::spreadOf(const Graph& shard) const {
    return row ? row->spreadOf(shard, generation) : any ? any->spreadOf(shard, generation) : StepSpread{};
}

std::string StackHere::measuredSteps() const {
    return row   ? fmt::format("90 % of measured steps of {} on {}", stack->title, toText(row->generation))
           : any ? "90 % of measured steps of all stacks, for none is named"
                 : std::string();
}

StackHere stackHere(const Method& method, const Scenario& scenario, const DeviceGroup& group,
                    const EstimateContext& context) {
    StackHere here;
    here.stack = findTrainingStack(optionOf(method.card, context, "stack"));
    const auto device = deviceView(DeviceRef{scenario.hardware, group.places.front()});
    if (!here.stack || !device) return here;
    here.generation = generationOf(*device);
    const CalibrationSet& known = context.calibrations ? *context.calibrations : shippedCalibrations().set;
    here.row = stackOn(*here.stack, here.generation, known);
    // What was recorded has its software inside.
    const bool bare = here.stack == trainingStacks().data() && method.card.methodology != Methodology::TraceDriven;
    if (bare && gpuView(DeviceRef{scenario.hardware, group.places.front()}))
        here.any = softwareOn(here.generation, known);
    here.bandwidth = device->main().bandwidth.value;
    return here;
}

}  // namespace orrery
