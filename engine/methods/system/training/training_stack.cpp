#include "methods/system/training/training_stack.h"

#include "methods/answer/answer.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace orrery {

namespace {

using enum GpuGeneration;

// Fitted to half of each table (tst_training_end_to_end: `judged` in measured_table.h tells which half).
constexpr std::array llm_foundry{StackOnGeneration{Ampere, 1.06, 1.43, 2, 0.221},
                                 StackOnGeneration{Hopper, 1.06, 3.23, 2, 0.084}};
constexpr std::array megatron_2021{StackOnGeneration{Ampere, 1.11, 1.51, 2, 0.095}};
constexpr std::array megatron_2022{StackOnGeneration{Ampere, 1.01, 1.33, 2, 0.138}};
constexpr std::array deepspeed{StackOnGeneration{Ampere, 1.11, 1.51, 1, 0.138}};
constexpr std::array megatron_core{StackOnGeneration{Hopper, 1.12, 1.12, 3, 0.157, 0.171}};
constexpr std::array megatron_core_fp8{StackOnGeneration{Hopper, 1.13, 1.53, 3, 0.146, 0.171, 1.43},
                                       StackOnGeneration{Blackwell, 0.99, 1.50, 2, 0.232, 0.491},
                                       StackOnGeneration{BlackwellUltra, 0.887, 0.83, 2, 0.070, 1.348}};
constexpr std::array jax{StackOnGeneration{Hopper, 0.94, 0.94, 1, 0.201}};
constexpr std::array jax_fp8{StackOnGeneration{Hopper, 1.33, 1.33, 1, 0.201}};
constexpr std::array maxtext{StackOnGeneration{Hopper, 0.94, 0.94, 1, 0.160}};
constexpr std::array maxtext_fp8{StackOnGeneration{Hopper, 1.08, 1.08, 1, 0.160}};
constexpr std::array paxml{StackOnGeneration{Hopper, 1.10, 1.10, 1, 0.160}};
constexpr std::array paxml_fp8{StackOnGeneration{Hopper, 1.33, 1.33, 1, 0.160}};
constexpr std::array torchtitan{StackOnGeneration{Hopper, 1.63, 1.63, 1, 0.160}};
constexpr std::array torchtitan_fp8{StackOnGeneration{Hopper, 1.37, 4.30, 2, 0.160}};
constexpr std::array sailor{StackOnGeneration{Hopper, 2.59, 0.805, 3, 0.571}};

constexpr std::array stacks{
    TrainingStack{"kernels", "Kernels alone", "Nothing is added to the prices of kernels and exchanges"},
    TrainingStack{
        .id = "llm-foundry",
        .title = "LLM Foundry: PyTorch FSDP, eager",
        .source = "llm-foundry's benchmark tables (MosaicML, 2023), half of the steps in bf16 with FULL_SHARD",
        .overlap = 0.36,
        // Gradients are copied into the flat parameter, cast to fp32 and divided before they are scattered.
        .gradientBytes = 4,
        .shareCopies = 18,
        .generations = llm_foundry},
    TrainingStack{.id = "megatron-lm-2021",
                  .title = "Megatron-LM, 2021, fp16",
                  .source = "Narayanan et al. 2021, tables 1 and 2, half of their 17 steps",
                  .generations = megatron_2021},
    TrainingStack{.id = "megatron-lm-2022",
                  .title = "Megatron-LM, 2022, fp16",
                  .source = "Korthikanti et al. 2022, table 5, six of the eight steps",
                  .generations = megatron_2022},
    TrainingStack{.id = "deepspeed-zero3",
                  .title = "DeepSpeed ZeRO-3, 2021, fp16",
                  .source = "Narayanan et al. 2021, table 2, half of the six steps; kernels as Megatron-LM's of 2021",
                  .overlap = 5.35,
                  .generations = deepspeed},
    TrainingStack{.id = "megatron-core",
                  .title = "Megatron-Core and NeMo, 2024, bf16",
                  .source = "Megatron-LM's table of 2024 and NVIDIA/dgxc-benchmarking, half of the steps in bf16",
                  .gradientBytes = 2,
                  .hiddenTensor = 0.53,
                  .hiddenGather = 0.79,
                  .generations = megatron_core},
    TrainingStack{
        .id = "megatron-core-fp8",
        .title = "Megatron-Core and NeMo, 2024 to 2026, fp8",
        .source = "NVIDIA/dgxc-benchmarking, NeMo, Megatron-Bridge and MLPerf Training, half of the dense steps in fp8",
        .overlap = 0.33,
        .gradientBytes = 2,
        .hiddenTensor = 0.75,
        .hiddenGather = 0.34,
        .generations = megatron_core_fp8},
    TrainingStack{.id = "jax-fsdp",
                  .title = "JAX, divided weights, bf16: MaxText and PaxML as one",
                  .source = "NVIDIA/dgxc-benchmarking, half of the steps in bf16",
                  .overlap = 0.36,
                  .generations = jax},
    TrainingStack{.id = "jax-fsdp-fp8",
                  .title = "JAX, divided weights, fp8: MaxText and PaxML as one",
                  .source = "NVIDIA/dgxc-benchmarking, half of the steps in fp8",
                  .overlap = 0.36,
                  .generations = jax_fp8},
    TrainingStack{.id = "maxtext",
                  .title = "MaxText: JAX, divided weights, bf16",
                  .source = "NVIDIA/dgxc-benchmarking, two of the three steps in bf16",
                  .overlap = 0.36,
                  .generations = maxtext},
    TrainingStack{.id = "maxtext-fp8",
                  .title = "MaxText: JAX, divided weights, fp8",
                  .source = "NVIDIA/dgxc-benchmarking, two of the three steps in fp8",
                  .overlap = 0.36,
                  .generations = maxtext_fp8},
    TrainingStack{.id = "paxml",
                  .title = "PaxML: JAX, divided weights, bf16",
                  .source = "NVIDIA/dgxc-benchmarking, one of the four steps in bf16",
                  .overlap = 0.36,
                  .generations = paxml},
    TrainingStack{.id = "paxml-fp8",
                  .title = "PaxML: JAX, divided weights, fp8",
                  .source = "NVIDIA/dgxc-benchmarking, five of the nine steps in fp8",
                  .overlap = 0.36,
                  .generations = paxml_fp8},
    TrainingStack{.id = "torchtitan",
                  .title = "TorchTitan: PyTorch FSDP2, bf16",
                  .source = "pytorch/torchtitan's benchmarks on H100 of 96 GB and 500 W, four of the six steps in bf16",
                  .overlap = 0.36,
                  .generations = torchtitan},
    TrainingStack{.id = "torchtitan-fp8",
                  .title = "TorchTitan: PyTorch FSDP2, fp8",
                  .source =
                      "pytorch/torchtitan's benchmarks on H100 of 96 GB and 500 W, six of the eight steps in fp8, "
                      "tensor by tensor; attention is in bf16",
                  .overlap = 0.36,
                  .generations = torchtitan_fp8},
    TrainingStack{.id = "sailor",
                  .title = "Sailor: Megatron-DeepSpeed, eager, tf32",
                  .source = "Sailor's validation on GH200 (SOSP 2025), half of the steps",
                  .hostLayer = 3.2e-3,
                  .generations = sailor},
};

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

double StackOnGeneration::spreadOf(const Graph& shard, GpuGeneration device) const {
    const bool mixed = std::any_of(shard.operators.begin(), shard.operators.end(),
                                   [](const Operator& each) { return each.type == "GroupedMatMul"; });
    const double own = mixed && expertSpread > 0 ? expertSpread : spread;
    return device == generation ? own : 2 * own;
}

const StackOnGeneration* TrainingStack::on(GpuGeneration generation) const {
    const auto distance = [&](const StackOnGeneration& row) {
        return std::abs(static_cast<int>(row.generation) - static_cast<int>(generation));
    };
    const auto nearest = std::min_element(generations.begin(), generations.end(),
                                          [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    return nearest == generations.end() ? nullptr : &*nearest;
}

std::span<const TrainingStack> trainingStacks() {
    return stacks;
}

const TrainingStack* findTrainingStack(std::string_view id) {
    const auto found =
        std::find_if(stacks.begin(), stacks.end(), [&](const TrainingStack& one) { return one.id == id; });
    return found == stacks.end() ? nullptr : &*found;
}

void takeStack(const StackOnGeneration& row, const Graph& shard, Estimate& answer) {
    OperatorEstimates& ops = answer.operators;
    double before = 0, after = 0;
    for (std::size_t i = 0; i < ops.size() && i < shard.operators.size(); ++i) {
        const bool experts = row.experts > 0 && shard.operators[i].type == "GroupedMatMul";
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

void takeStack(const TrainingStack& stack, double weightBytes, double bandwidth, TrainingProgram& program) {
    const bool divided = program.plan.zero >= 3 && program.plan.sharingCopies() * program.plan.context > 1;
    if (stack.gradientBytes > 0 && weightBytes > 0) program.tiedBytes *= stack.gradientBytes / weightBytes;
    for (LayerProgram& layer : program.layers) {
        const double weights = weightBytes > 0 ? layer.parameterBytes / weightBytes : 0;
        if (stack.gradientBytes > 0) layer.gradientBytes = weights * layer.trainedShare * stack.gradientBytes;
        if (divided && stack.shareCopies > 0 && bandwidth > 0 && weights > 0)
            layer.backward.push_back({weights * stack.shareCopies / bandwidth});
        if (!layer.repeated) continue;
        // The backward pass has twice the kernels.
        issueNoFaster(layer.forward, stack.hostLayer / 3);
        issueNoFaster(layer.backward, stack.hostLayer * 2 / 3);
    }
}

void slowBeside(const TrainingStack& stack, double beside, TrainingProgram& program) {
    double computed = 0;
    for (const ChunkProgram& chunk : program.chunks)
        for (const std::int32_t l : chunk.layers)
            for (const auto* pieces : {&program.layers[static_cast<std::size_t>(l)].forward,
                                       &program.layers[static_cast<std::size_t>(l)].backward})
                for (const ProgramPiece& piece : *pieces) computed += piece.seconds;
    computed *= static_cast<double>(program.microbatches);
    if (computed <= 0 || stack.overlap <= 0) return;
    const double factor = 1 + stack.overlap * beside / computed;
    for (LayerProgram& layer : program.layers)
        for (auto* pieces : {&layer.forward, &layer.backward})
            for (ProgramPiece& piece : *pieces) piece.seconds *= factor;
}

StackHere stackHere(const Method& method, const Scenario& scenario, const DeviceGroup& group,
                    const EstimateContext& context) {
    StackHere here;
    here.stack = findTrainingStack(optionOf(method.card, context, "stack"));
    const auto device = deviceView(DeviceRef{scenario.hardware, group.places.front()});
    if (!here.stack || !device) return here;
    here.generation = generationOf(*device);
    here.row = here.stack->on(here.generation);
    here.bandwidth = device->main().bandwidth.value;
    return here;
}

}  // namespace orrery
