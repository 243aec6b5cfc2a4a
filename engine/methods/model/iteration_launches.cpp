#include "methods/model/iteration_launches.h"

#include "base/maths.h"
#include "workload/engine_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

bool attends(const Kernel& kernel) {
    return kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention;
}

// The word after the scopes: `qkv_proj` of `layers.qkv_proj`.
std::string_view lastWord(std::string_view name) {
    const auto at = name.find_last_of("./");
    return at == std::string_view::npos ? name : name.substr(at + 1);
}

IterationGroup groupOf(std::string_view name) {
    const std::string_view word = lastWord(name);
    if (word == "lm_head" || word == "logit_soft_cap" || word == "project_out" || word == "last_token") {
        return IterationGroup::Head;
    }
    if (word == "kv_b_proj") return IterationGroup::PromptOnly;
    if (word == "q_absorb" || word == "v_absorb") return IterationGroup::DecodeOnly;
    const bool shared = name.find("shared_expert") != std::string_view::npos;
    if (!shared && name.find("experts.") != std::string_view::npos) return IterationGroup::Experts;
    return IterationGroup::Tokens;
}

Launch collective(CollectiveOp op, const ServedTransformer& model, double bytes, std::int64_t ranks, double count) {
    Launch launch;
    Kernel& kernel = launch.kernel;
    kernel.kind = KernelKind::Collective;
    kernel.type = kernel.weightType = kernel.kvType = bits(model.activations) < 16 ? DType::BF16 : model.activations;
    kernel.collective = op;
    kernel.library = model.collectives;
    kernel.ranks = ranks;
    kernel.messageBytes = bytes;
    countWork(kernel);
    launch.count = count;
    launch.what = toText(op);
    return launch;
}

// Of the exponents that experts were measured with the one nearest to a draw that is just uneven.
constexpr double unevenRouting = 1.01;

double wideBytes(DType type) {
    return std::max(16, bits(type)) / 8.0;
}

}  // namespace

std::vector<Launch> IterationLaunches::graphLaunches(std::int64_t batch, std::int64_t sequence, Phase phase,
                                                     std::vector<IterationGroup>& groups,
                                                     std::vector<std::string>* names) const {
    WorkloadOptions options;
    options.batch = batch;
    options.sequence = sequence;
    options.phase = phase;
    options.weights = model_.weights;
    options.activations = model_.activations;
    options.kv = model_.kv;
    std::vector<Launch> launches;
    auto built = buildTransformer(shard_, options);
    if (!built) return launches;
    const WorkloadPtr workload =
        finishWorkload({}, {}, WorkloadRecipe{{}, options, {}}, std::move(built->graph), {}, built->transformer);
    ModelOptions how;
    how.fusion = model_.fusion;
    launches = launchesOf(*workload, how).launches;
    groups.clear();
    if (names) names->clear();
    for (const Launch& launch : launches) {
        const std::string& name = workload->graph.operators[static_cast<std::size_t>(launch.op)].name;
        groups.push_back(groupOf(name));
        if (names) names->push_back(name);
    }
    return launches;
}

Expected<IterationLaunches> IterationLaunches::make(const ServedTransformer& model) {
    IterationLaunches made;
    made.model_ = model;
    auto shard = shardOf(model.config, model.plan);
    if (!shard) return Unexpected(std::move(shard.error()));
    made.shard_ = std::move(*shard);
    // Who chooses which expert is drawn here, rank by rank; the graph is of one rank's share.
    made.shard_.expertDevices = made.shard_.expertCopies = 1;
    made.shard_.expertsPerToken = std::min(model.config.expertsPerToken, made.shard_.experts);
    if (model.dataParallel > 1) {
        const std::int64_t devices = model.dataParallel * model.plan.tensor;
        if (model.config.experts < devices) {
            return fail("serving.waves",
                        fmt::format("{} experts over {} devices of a wave", model.config.experts, devices),
                        "at least one expert for each device", "take fewer replicas, or take the wave away",
                        Place{.path = "experts/waves"});
        }
        made.shard_.experts = ceilDiv(model.config.experts, devices);
        made.shard_.expertsPerToken = std::min(model.config.expertsPerToken, made.shard_.experts);
        made.shard_.expertIntermediate = model.config.expertIntermediate;
    }
    if (model.config.experts > 0) {
        if (auto good = check(model.routing, static_cast<std::int32_t>(model.config.experts)); !good)
            return Unexpected(std::move(good.error()));
    }
    WorkloadOptions options;
    options.sequence = 16;
    options.phase = Phase::Decode;
    options.weights = model.weights;
    options.activations = model.activations;
    options.kv = model.kv;
    auto whole = buildTransformer(model.config, options);
    if (!whole) return Unexpected(std::move(whole.error()));
    made.facts_ = *whole->transformer;
    auto part = buildTransformer(made.shard_, options);
    if (!part) return Unexpected(std::move(part.error()));
    made.parameters_ = part->transformer->parameters;
    made.kvBytesPerToken_ = part->transformer->kvBytesPerToken;
    std::vector<bool> seen(part->graph.tensors.size(), false);
    for (const Operator& op : part->graph.operators) {
        for (const TensorId id : op.inputs) {
            const Tensor* tensor = part->graph.tensor(id);
            if (!tensor || tensor->role != TensorRole::Weight || seen[static_cast<std::size_t>(id)]) continue;
            seen[static_cast<std::size_t>(id)] = true;
            made.weightBytes_ += tensor->bytes().value * static_cast<double>(op.repeat);
        }
    }
    // Launches of windowed layers are known by their block, or by being the only sort that there is.
    const auto windowed = [&](std::string_view name) {
        if (model.config.window <= 0 || name.find("global_") != std::string_view::npos) return false;
        if (name.find("windowed_") != std::string_view::npos) return true;
        return model.config.windowed.empty() || model.config.windowed.front();
    };
    std::vector<IterationGroup> groups;
    std::vector<std::string> names;
    for (const Phase phase : {Phase::Prefill, Phase::Decode}) {
        auto launches = made.graphLaunches(1, 256, phase, groups, &names);
        for (std::size_t i = 0; i < launches.size(); ++i) {
            if (attends(launches[i].kernel)) {
                Kernel& kernel = launches[i].kernel;
                kernel.window = windowed(names[i]) ? model.config.window : 0;
                setFlashDecoding(kernel, model.flashDecoding);
                (phase == Phase::Prefill ? made.prefill_ : made.decode_).push_back(launches[i]);
            } else {
                made.present_[static_cast<std::size_t>(groups[i])] = true;
            }
        }
    }
    return made;
}

// Beyond this many tokens the shares of experts no longer depend on how many tokens there are.
constexpr std::int64_t mostRouted = 16384;

ExpertLoad IterationLaunches::loadOf(std::int64_t tokens) const {
    const TransformerConfig& config = model_.config;
    const auto ranks = static_cast<std::int32_t>(model_.dataParallel > 1 ? model_.dataParallel * model_.plan.tensor
                                                                         : model_.plan.expert);
    const std::int64_t all = tokens * model_.dataParallel, drawn = std::min(all, mostRouted);
    ExpertLoad load = routeTokens(model_.routing, static_cast<std::int32_t>(config.experts),
                                  static_cast<std::int32_t>(config.expertsPerToken), ranks, drawn);
    for (std::int64_t& pairs : load.pairs)
        pairs = std::llround(static_cast<double>(pairs) * static_cast<double>(all) / static_cast<double>(drawn));
    return load;
}

double IterationLaunches::expertLayers() const {
    const TransformerConfig& config = model_.config;
    if (config.expertLayer.empty()) return static_cast<double>(config.layers);
    return static_cast<double>(std::count(config.expertLayer.begin(), config.expertLayer.end(), true));
}

std::vector<Launch> IterationLaunches::of(IterationGroup group, std::int64_t extent) const {
    std::vector<Launch> result;
    if (!has(group) || extent <= 0) return result;
    const std::int64_t ranks = model_.plan.tensor;
    std::int64_t rows = extent;
    std::int64_t pairs = 0, activated = 0;
    if (group == IterationGroup::Experts && routed()) {
        const ExpertLoad load = loadOf(extent);
        pairs = std::max<std::int64_t>(1, *std::max_element(load.pairs.begin(), load.pairs.end()));
        activated = std::max(1, *std::max_element(load.activated.begin(), load.activated.end()));
        rows = (pairs + shard_.expertsPerToken - 1) / shard_.expertsPerToken;
    } else if (group == IterationGroup::Experts) {
        rows = ceilDiv(extent * model_.config.expertsPerToken, model_.plan.expert * shard_.expertsPerToken);
    }
    std::vector<IterationGroup> groups;
    // Kernels beside attention hang on the number of tokens alone: one graph of decodes has them all but those of
    // prompts.
    const bool prompt = group == IterationGroup::PromptOnly;
    const auto launches = prompt ? graphLaunches(1, std::max<std::int64_t>(2, rows), Phase::Prefill, groups)
                                 : graphLaunches(rows, 1, Phase::Decode, groups);
    for (std::size_t i = 0; i < launches.size(); ++i) {
        if (groups[i] == group && !attends(launches[i].kernel)) result.push_back(launches[i]);
    }
    for (Launch& launch : result) {
        Kernel& kernel = launch.kernel;
        if (kernel.kind == KernelKind::Experts) {
            kernel.experts.tokens = extent * model_.dataParallel;
            if (pairs == 0) continue;
            kernel.experts.rows = pairs;
            kernel.experts.touched = std::min(activated, pairs);
            if (model_.routing.kind == RoutingKind::Zipf || model_.routing.kind == RoutingKind::Trace)
                kernel.experts.skew = unevenRouting;
            countWork(kernel);
            continue;
        }
        if (pairs == 0 || kernel.kind != KernelKind::Gemm) continue;
        launch.kernel.batch = activated;
        launch.kernel.m = ceilDiv(pairs, activated);
        countWork(launch.kernel);
    }
    const auto width = static_cast<double>(model_.config.hidden) * wideBytes(model_.activations);
    if (group == IterationGroup::Tokens && ranks > 1) {
        const double perLayer = model_.config.order == TransformerConfig::Order::Parallel ? 1 : 2;
        const double count = perLayer * static_cast<double>(model_.config.layers) + 1;  // and the embedding's
        result.push_back(
            collective(CollectiveOp::AllReduce, model_, static_cast<double>(extent) * width, ranks, count));
    }
    if (group == IterationGroup::Experts && model_.dataParallel > 1) {
        const double all = static_cast<double>(extent * model_.dataParallel) * width;
        for (const CollectiveOp op : {CollectiveOp::AllGather, CollectiveOp::ReduceScatter})
            result.push_back(collective(op, model_, all, model_.dataParallel, expertLayers()));
    }
    if (group == IterationGroup::Head) {
        const auto logits = static_cast<double>(extent) * static_cast<double>(model_.config.vocabulary);
        if (ranks > 1) {
            result.push_back(
                collective(CollectiveOp::AllGather, model_, logits * wideBytes(model_.activations), ranks, 1));
        }
        if (model_.sampler) {
            Launch launch;
            launch.kernel = rowsKernel(KernelKind::Softmax, "Softmax", DType::F32, static_cast<double>(extent),
                                       static_cast<double>(model_.config.vocabulary), 1);
            launch.what = "sampler";
            result.push_back(launch);
        }
    }
    return result;
}

std::vector<Launch> IterationLaunches::prefill(std::int64_t sequences, std::int64_t queries,
                                               std::int64_t context) const {
    std::vector<Launch> result = prefill_;
    for (Launch& launch : result) {
        AttentionShape& shape = launch.kernel.attention;
        shape.batch = sequences;
        shape.queries = queries;
        shape.keys = queries + context;
        countWork(launch.kernel);
    }
    return result;
}

std::vector<Launch> IterationLaunches::decode(std::int64_t sequences, std::int64_t context) const {
    std::vector<Launch> result = decode_;
    for (Launch& launch : result) {
        AttentionShape& shape = launch.kernel.attention;
        shape.batch = sequences;
        shape.queries = 1;
        shape.keys = context + 1;
        if (launch.kernel.window > 0) shape.keys = std::min(shape.keys, launch.kernel.window);
        countWork(launch.kernel);
    }
    return result;
}

Launch IterationLaunches::handOver(std::int64_t tokens) const {
    const double width = static_cast<double>(model_.config.hidden) * wideBytes(model_.activations);
    return collective(CollectiveOp::SendReceive, model_, static_cast<double>(tokens) * width, 2, 1);
}

}  // namespace orrery
