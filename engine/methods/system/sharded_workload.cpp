#include "methods/system/sharded_workload.h"

#include "mapping/shard.h"
#include "methods/system/context_split.h"
#include "workload/models/transformer_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {

namespace {

using Group = ShardedCall::Group;

std::string_view lastWord(std::string_view name) {
    const auto at = name.find_last_of("./");
    return at == std::string_view::npos ? name : name.substr(at + 1);
}

// Where a layer's partial sums are added up.
bool endsPartialSums(const Operator& op, bool parallelOrder) {
    const auto word = lastWord(op.name);
    if (word == "combine") return true;
    if (op.name.find("expert") != std::string::npos) return false;  // summed by `combine`
    return word == "down_proj" || (word == "o_proj" && !parallelOrder);
}

double tokensOf(const WorkloadOptions& options, std::int64_t sequence) {
    const auto batch = static_cast<double>(std::max<std::int64_t>(1, options.batch));
    return options.phase == Phase::Decode ? batch : batch * static_cast<double>(std::max<std::int64_t>(1, sequence));
}

std::int64_t sequenceOf(const Graph& graph) {
    for (const Operator& op : graph.operators) {
        if (op.attention) return op.attention->queries;
    }
    return 1;
}

// Samples of one device at a time, and how many such micro-batches a pass takes.
Expected<std::int64_t> splitBatch(WorkloadOptions& options, const Plan& plan, const Task& task) {
    const std::int64_t batch = std::max<std::int64_t>(1, options.batch);
    const bool training = kindOf(task) == TaskKind::TrainingStep;
    std::int64_t micro = plan.microbatches > 0 ? plan.microbatches : training ? plan.pipeline : 1;
    if (plan.microbatches <= 0) micro = std::clamp<std::int64_t>(batch / plan.data, 1, micro);
    if (batch < plan.data * micro) {
        return fail(
            "plan.batch",
            fmt::format("a batch of {} over {} copies of the model in {} micro-batches", batch, plan.data, micro),
            "at least one sample for each", "raise the batch, or lower dp or mb", Place{.path = "plan/data"});
    }
    options.batch = (batch + plan.data * micro - 1) / (plan.data * micro);
    return micro;
}

void addTensorCalls(const Workload& shard, const TransformerConfig& config, std::vector<ShardedCall>& calls) {
    const WorkloadOptions& options = shard.recipe.options;
    const double wide = std::max(16, bits(options.activations)) / 8.0;
    const double tokens = tokensOf(options, sequenceOf(shard.graph));
    const double bytes = tokens * static_cast<double>(config.hidden) * wide;
    const bool parallel = config.order == TransformerConfig::Order::Parallel;
    const auto& ops = shard.graph.operators;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (!endsPartialSums(ops[i], parallel)) continue;
        calls.push_back({CollectiveOp::AllReduce, Group::Tensor, bytes, static_cast<double>(ops[i].repeat),
                         static_cast<std::int32_t>(i), false, "activations"});
    }
    calls.push_back({CollectiveOp::AllReduce, Group::Tensor, bytes, 1, 0, false, "embedding"});
    const double rows = options.phase == Phase::Forward ? tokens : static_cast<double>(options.batch);
    if (config.head && !ops.empty()) {
        calls.push_back({CollectiveOp::AllGather, Group::Tensor, rows * static_cast<double>(config.vocabulary) * wide,
                         1, static_cast<std::int32_t>(ops.size() - 1), false, "logits"});
    }
}

// Where experts stand over the devices of several copies, every choice of a token travels to its expert and back: of
// the copy's tokens each device of its tensor-parallel group sends its share.
void addExpertCalls(const Workload& shard, const TransformerConfig& config, const Plan& plan,
                    std::vector<ShardedCall>& calls) {
    const WorkloadOptions& options = shard.recipe.options;
    const double bytes = tokensOf(options, sequenceOf(shard.graph)) * static_cast<double>(config.expertsPerToken) /
                         static_cast<double>(plan.tensor) * static_cast<double>(config.hidden) *
                         std::max(16, bits(options.activations)) / 8.0;
    const auto& ops = shard.graph.operators;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const auto word = lastWord(ops[i].name);
        const bool there = word == "dispatch", back = word == "down_proj" && ops[i].type == "GroupedMatMul";
        if (there || back)
            calls.push_back({CollectiveOp::AllToAll, Group::Experts, bytes, static_cast<double>(ops[i].repeat),
                             static_cast<std::int32_t>(i), false, there ? "tokens to experts" : "tokens from experts"});
    }
}

// Attention reads what the other ranks hold.
void addContextCalls(const Workload& shard, const TransformerConfig& config, std::int64_t positions, const Plan& plan,
                     bool training, std::vector<ShardedCall>& calls) {
    const WorkloadOptions& options = shard.recipe.options;
    const bool decode = options.phase == Phase::Decode;
    const double bytes = decode ? static_cast<double>(plan.context) * partialOutputBytes(config, options)
                                : keyValueBytes(config, options, positions);
    const auto& ops = shard.graph.operators;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        if (!ops[i].attention) continue;
        const auto op = static_cast<std::int32_t>(i);
        const auto layers = static_cast<double>(ops[i].repeat);
        calls.push_back({CollectiveOp::AllGather, Group::Context, bytes, layers, op, false,
                         decode ? "partial outputs" : "keys and values"});
        if (training) {
            calls.push_back(
                {CollectiveOp::ReduceScatter, Group::Context, bytes, layers, op, true, "gradients of keys and values"});
        }
    }
}

Expected<ShardedWorkload> ofTransformer(const WorkloadPtr& workload, const TransformerConfig& config, const Plan& plan,
                                        const Task& task) {
    ShardedWorkload result;
    WorkloadRecipe recipe = workload->recipe;
    auto micro = splitBatch(recipe.options, plan, task);
    if (!micro) return Unexpected(std::move(micro.error()));
    result.microbatches = *micro;
    auto shard = shardOf(config, plan);
    if (!shard) return Unexpected(std::move(shard.error()));
    std::int64_t positions = 0;
    Expected<ImportedGraph> built = Unexpected(Diagnostic{});
    if (plan.context > 1) {
        auto share = contextShare(*shard, recipe.options, plan);
        if (!share) return Unexpected(std::move(share.error()));
        recipe.options = share->options;
        positions = share->positions;
        result.assumptions = share->assumptions;
        built = buildTransformer(share->config, recipe.options);
        if (!built) return Unexpected(std::move(built.error()));
        attendAcross(built->graph, *shard, *share, plan);
        built->warnings = workload->warnings;  // of the whole sequence
    } else {
        built = buildTransformer(*shard, recipe.options);
        if (!built) return Unexpected(std::move(built.error()));
    }
    result.shard = finishWorkload(workload->id, workload->name, recipe, std::move(built->graph), built->warnings,
                                  built->transformer);
    const bool training = kindOf(task) == TaskKind::TrainingStep;
    if (plan.context > 1) addContextCalls(*result.shard, *shard, positions, plan, training, result.calls);
    if (plan.expert > plan.tensor) addExpertCalls(*result.shard, config, plan, result.calls);
    if (plan.tensor > 1) addTensorCalls(*result.shard, config, result.calls);
    if (plan.pipeline > 1) {
        const double tokens = tokensOf(recipe.options, sequenceOf(result.shard->graph));
        const double bytes =
            tokens * static_cast<double>(config.hidden) * std::max(16, bits(recipe.options.activations)) / 8.0;
        const auto times = static_cast<double>(plan.pipeline - 1);
        result.calls.push_back({CollectiveOp::SendReceive, Group::Pipeline, bytes, times,
                                static_cast<std::int32_t>(result.shard->graph.operators.size() - 1), false, "stage"});
    }
    return result;
}

Expected<ShardedWorkload> ofAnyModel(const WorkloadPtr& workload, const Plan& plan, const Task& task) {
    if (plan.tensor > 1 || plan.pipeline > 1 || plan.expert > 1 || plan.context > 1) {
        return fail("plan.not-a-transformer",
                    fmt::format("{} is no decoder transformer, whose layers are known how to be split", workload->name),
                    "a plan of data parallelism alone, such as dp=8", "choose dp, or a language model",
                    Place{.path = "plan"});
    }
    ShardedWorkload result;
    WorkloadRecipe recipe = workload->recipe;
    auto micro = splitBatch(recipe.options, plan, task);
    if (!micro) return Unexpected(std::move(micro.error()));
    result.microbatches = *micro;
    if (recipe.options.batch == workload->recipe.options.batch) {
        result.shard = workload;
        return result;
    }
    auto shard = loadWorkload(recipe);
    if (!shard) return Unexpected(std::move(shard.error()));
    result.shard = std::move(*shard);
    return result;
}

}  // namespace

Expected<ShardedWorkload> shardedWorkload(const WorkloadPtr& workload, const Plan& plan, const Task& task) {
    Expected<ShardedWorkload> result = Unexpected(Diagnostic{});
    const auto config = transformerConfig(workload->recipe.source);
    const bool changed = !workload->recipe.whatIfs.empty();
    result = config && !changed ? ofTransformer(workload, *config, plan, task) : ofAnyModel(workload, plan, task);
    if (!result) return result;
    auto& said = result->assumptions;
    const std::int64_t batch = std::max<std::int64_t>(1, workload->recipe.options.batch);
    if (result->shard->recipe.options.batch * plan.data * result->microbatches != batch) {
        said.push_back(fmt::format("A batch of {} is padded to {}", batch,
                                   result->shard->recipe.options.batch * plan.data * result->microbatches));
    }
    if (plan.pipeline > 1) {
        said.push_back(fmt::format("{} stages of equal time; {} micro-batch{} in {} turns", plan.pipeline,
                                   result->microbatches, result->microbatches == 1 ? "" : "es",
                                   result->microbatches + plan.pipeline - 1));
    }
    return result;
}

}  // namespace orrery
