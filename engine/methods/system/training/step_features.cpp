#include "methods/system/training/step_features.h"

#include "hardware/views/cluster_view.h"
#include "hardware/views/device_view.h"
#include "mapping/placement.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 27> names{"attention of computing",
                                                 "experts of computing",
                                                 "memory-bound of computing",
                                                 "exposed tensor and context",
                                                 "exposed experts",
                                                 "exposed hand-overs",
                                                 "exposed gradients and weights",
                                                 "bubble",
                                                 "optimizer",
                                                 "ln tokens of a micro-batch",
                                                 "ln seconds of a layer",
                                                 "ln intensity over ridge",
                                                 "ln utilisation",
                                                 "ln nodes",
                                                 "full recomputation",
                                                 "selective recomputation",
                                                 "divided weights",
                                                 "ln bytes of a weight",
                                                 "ln tensor parts",
                                                 "ln stages",
                                                 "ln copies",
                                                 "ln inner link over FLOP/s",
                                                 "ln outer link over FLOP/s",
                                                 "ln memory over FLOP/s",
                                                 "separate kernels",
                                                 "scores written out",
                                                 "ln peak"};

double logarithm(double value) {
    return std::log(std::clamp(value, 1e-30, 1e30));
}

/// Seconds of a shard's operators, by what they are.
struct Kinds {
    double all = 0, attention = 0, experts = 0, memory = 0, flops = 0, bytes = 0;
};
Kinds kindsOf(const StepModel::Shard& shard) {
    Kinds sums;
    const OperatorEstimates& ops = shard.estimate.operators;
    const auto& operators = shard.workload->graph.operators;
    for (std::size_t i = 0; i < ops.size() && i < operators.size(); ++i) {
        const double seconds = ops.seconds[i] - (i < ops.updateSeconds.size() ? ops.updateSeconds[i] : 0);
        sums.all += seconds;
        sums.flops += ops.flops[i];
        sums.bytes += ops.bytes[i];
        if (operators[i].attention)
            sums.attention += seconds;
        else if (operators[i].type == "GroupedMatMul")
            sums.experts += seconds;
        else if (ops.bound[i].kind != BoundKind::Compute)
            sums.memory += seconds;
    }
    return sums;
}

}  // namespace

std::span<const std::string_view> stepFeatureNames() {
    return names;
}

Expected<std::vector<double>> stepFeatures(const StepModel& model, const StepPlan& plan, const StepFigures& figures,
                                           const StepModel::Shard& shard, bool fused) {
    const auto group = groupFor(model.cluster(), plan.plan);
    if (!group) return Unexpected(group.error());
    const auto placement = placementOf(**group, plan.plan);
    if (!placement) return Unexpected(placement.error());
    const auto device = deviceView(DeviceRef{model.scenario().hardware, (*group)->places.front()});
    if (!device) return Unexpected(device.error());

    const Plan& p = plan.plan;
    const StepFigures& f = figures;
    const Kinds kinds = kindsOf(shard);
    const auto share = [](double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0; };
    const WorkloadOptions& options = shard.workload->recipe.options;
    const double peak = std::max(device->peak(true, options.weights).value, 1.0);
    const double memory = device->main().bandwidth.value;
    // Links of a device inside its node, and where the plan leaves it.
    double inner = 0, outer = 0, nodes = 1;
    int outermost = -1;
    for (const Communicator* each : {&placement->tensor, &placement->context, &placement->data, &placement->pipeline,
                                     &placement->expert, &placement->gradients})
        outermost = std::max(outermost, each->outermost());
    for (int t = 0; t <= outermost; ++t) {
        const NetworkTier& tier = (*group)->tiers[static_cast<std::size_t>(t)];
        const double own = tier.perDevice().value;
        if (inner <= 0) inner = own;
        outer = outer > 0 ? std::min(outer, own) : own;
        if (tier.betweenNodes && nodes <= 1)
            nodes = std::max(1.0, static_cast<double>(p.devices()) / static_cast<double>(tier.inner));
    }
    // One device has no link: as one that nothing waits for.
    const auto ofLink = [&](double bandwidth) { return logarithm(bandwidth > 0 ? bandwidth / peak : 1e-2); };
    const double layers = shard.workload->transformer
                              ? static_cast<double>(std::max<std::int64_t>(1, shard.workload->transformer->layers))
                              : 1;
    const double turns = std::max(1.0, static_cast<double>(f.microbatches)) * layers / static_cast<double>(p.pipeline);
    const double tokens =
        f.rate * f.seconds / static_cast<double>(std::max<std::int64_t>(1, p.data * p.context * f.microbatches));

    return std::vector<double>{share(kinds.attention, kinds.all),
                               share(kinds.experts, kinds.all),
                               share(kinds.memory, kinds.all),
                               share(f.tensor + f.context, f.seconds),
                               share(f.expert, f.seconds),
                               share(f.pipeline, f.seconds),
                               share(f.data, f.seconds),
                               share(f.bubble, f.seconds),
                               share(f.optimizer, f.seconds),
                               logarithm(tokens),
                               logarithm(f.compute / turns),
                               kinds.bytes > 0 ? logarithm(kinds.flops / kinds.bytes * memory / peak) : 0,
                               f.mfu > 0 ? logarithm(f.mfu) : 0,
                               logarithm(nodes),
                               plan.recompute == Recompute::Full ? 1.0 : 0.0,
                               plan.recompute == Recompute::Selective ? 1.0 : 0.0,
                               p.zero >= 3 && p.data * p.context > 1 ? 1.0 : 0.0,
                               logarithm(bytesOf(options.weights, 1).value),
                               logarithm(static_cast<double>(p.tensor)),
                               logarithm(static_cast<double>(p.pipeline)),
                               logarithm(static_cast<double>(p.data * p.context)),
                               ofLink(inner),
                               ofLink(outer),
                               logarithm(memory / peak),
                               fused ? 0.0 : 1.0,
                               options.flashAttention ? 0.0 : 1.0,
                               logarithm(peak)};
}

}  // namespace orrery
