#include "methods/system/training/training_stack.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace orrery {

namespace {

using enum GpuGeneration;

constexpr std::array llm_foundry{StackOnGeneration{Ampere, 1, 1, 0.1, 0.1}, StackOnGeneration{Hopper, 1, 1, 0.1, 0.1}};

constexpr std::array stacks{
    TrainingStack{"kernels", "Kernels alone", "Nothing is added to the prices of kernels and exchanges", 0, 0, 0, {}},
    TrainingStack{"llm-foundry", "LLM Foundry: PyTorch FSDP, eager",
                  "llm-foundry's benchmark tables (MosaicML, 2023), half of the 123 steps in bf16 with FULL_SHARD", 0.3,
                  4, 18, llm_foundry},
};

double own(const std::vector<double>& column, std::size_t i) {
    return i < column.size() ? column[i] : 0;
}

}  // namespace

GpuGeneration generationOf(const DeviceView& device) {
    const auto multiplies = [&](DType type) {
        return device.peaks[static_cast<std::size_t>(UnitKind::Tensor)][static_cast<std::size_t>(type)].value > 0;
    };
    return multiplies(DType::FP4)    ? Blackwell
           : multiplies(DType::FP8)  ? Hopper
           : multiplies(DType::BF16) ? Ampere
                                     : Volta;
}

std::string_view toText(GpuGeneration generation) {
    constexpr std::string_view names[]{"Volta", "Ampere", "Hopper", "Blackwell"};
    return names[static_cast<std::size_t>(generation)];
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
        const double factor = shard.operators[i].attention ? row.attention : row.kernels;
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
    const bool divided = program.plan.zero >= 3 && program.plan.data * program.plan.context > 1;
    for (LayerProgram& layer : program.layers) {
        const double weights = weightBytes > 0 ? layer.parameterBytes / weightBytes : 0;
        if (stack.gradientBytes > 0) layer.gradientBytes = weights * stack.gradientBytes;
        if (divided && stack.shareCopies > 0 && bandwidth > 0 && weights > 0)
            layer.backward.push_back({weights * stack.shareCopies / bandwidth});
    }
}

}  // namespace orrery
