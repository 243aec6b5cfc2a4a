#include "study/planning/plan_space.h"

#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "mapping/plan_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace orrery {

namespace {

constexpr std::int64_t most_samples = 32, least_positions = 4096, most_expert_devices = 64;

std::vector<std::int64_t> divisors(std::int64_t value, std::int64_t most) {
    std::vector<std::int64_t> found;
    for (std::int64_t d = 1; d <= value / d; ++d) {
        if (value % d != 0) continue;
        if (d <= most) found.push_back(d);
        if (d != value / d && value / d <= most) found.push_back(value / d);
    }
    std::sort(found.begin(), found.end());
    return found;
}

template <class Possible>
std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& asked, std::vector<std::int64_t> all,
                                 const Possible& possible) {
    std::vector<std::int64_t> kept = asked.empty() ? std::move(all) : asked;
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    std::erase_if(kept, [&](std::int64_t value) { return value < 1 || !possible(value); });
    return kept;
}

Unexpected nothing(std::string_view what, std::string_view expected) {
    return fail("plan.space", fmt::format("no {} of those that may be chosen is possible", what), std::string(expected),
                "widen what may be chosen", Place{.path = fmt::format("plan/{}", what)});
}

Expected<PlanChoices> choicesOf(const StepModel& model, const PlanSpace& space, std::size_t index) {
    const DeviceGroup& group = model.cluster().groups[index];
    const Workload& workload = *model.scenario().workload;
    const auto& facts = workload.transformer;
    PlanChoices made;
    made.group = made.other = index;
    made.devicesOf[0] = group.count;
    const auto& kinds = model.cluster().groups;
    const bool only =
        std::count_if(kinds.begin(), kinds.end(), [&](const DeviceGroup& one) { return one.name == group.name; }) == 1;
    made.namesOf[0] = only ? group.name : group.path;
    made.batch = std::max<std::int64_t>(1, workload.recipe.options.batch);
    made.layers = facts ? std::max<std::int64_t>(1, facts->layers) : 1;
    made.leastDevices = std::max<std::int64_t>(1, space.leastDevices);
    made.mostDevices = space.mostDevices > 0 ? std::min(space.mostDevices, group.count) : group.count;
    const std::int64_t node = group.tiers.empty() ? 1 : group.tiers.front().size;
    const std::int64_t most = made.mostDevices, sequence = std::max<std::int64_t>(1, workload.recipe.options.sequence);
    const std::int64_t heads = facts ? facts->heads : 1,
                       kvHeads = facts ? std::max<std::int64_t>(1, facts->kvHeads) : 1;
    made.tensor =
        chosen(space.tensor, divisors(space.tensorInsideNode ? node : group.count, most), [&](std::int64_t n) {
            return n <= most && (!space.tensorInsideNode || n <= node) && heads % n == 0 &&
                   (kvHeads % n == 0 || n % kvHeads == 0) && (!facts || facts->intermediate % n == 0);
        });
    if (made.tensor.empty()) return nothing("tensor", "a divisor of the heads, inside a node");
    std::vector<std::int64_t> powers;
    for (std::int64_t n = 1; n <= most && n < (std::int64_t{1} << 40); n *= 2) powers.push_back(n);
    std::vector<std::int64_t> contexts{1};
    for (const std::int64_t n : powers)
        if (n > 1 && facts && sequence / n >= least_positions) contexts.push_back(n);
    made.context = chosen(space.context, std::move(contexts),
                          [&](std::int64_t n) { return n <= most && n <= sequence && (n == 1 || facts); });
    if (made.context.empty()) return nothing("context", "at most one part for each position");
    const std::int64_t experts = facts ? std::max<std::int64_t>(1, facts->experts) : 1;
    made.expert = chosen(space.expert, divisors(experts, most_expert_devices),
                         [&](std::int64_t n) { return n <= most && experts % n == 0; });
    if (made.expert.empty()) return nothing("expert", "a divisor of the experts");
    std::vector<std::int64_t> stages = divisors(made.layers, most);
    for (const std::int64_t n : powers)
        if (n <= made.layers) stages.push_back(n);
    made.pipeline =
        chosen(space.pipeline, std::move(stages), [&](std::int64_t n) { return n <= made.layers && n <= most; });
    if (made.pipeline.empty()) return nothing("pipeline", "at most one stage for each layer");
    made.data = chosen(space.data, divisors(made.batch, most),
                       [&](std::int64_t n) { return n <= most && made.batch % n == 0; });
    if (made.data.empty()) return nothing("data", "a divisor of the batch");
    made.samples = chosen(space.microbatchSize, divisors(made.batch, most_samples),
                          [&](std::int64_t n) { return made.batch % n == 0; });
    if (made.samples.empty()) return nothing("microbatches", "a size that divides the batch");
    made.unevenChunks = !space.interleave.empty();
    made.interleave =
        chosen(space.interleave, divisors(made.layers, made.layers), [&](std::int64_t n) { return n <= made.layers; });
    if (made.interleave.empty()) return nothing("interleave", "at most one chunk for each layer");
    for (const std::int64_t zero : space.zero)
        if (zero >= 0 && zero <= 3) made.zero.push_back(zero);
    made.shard = space.shard;
    made.node = node;
    for (const std::int64_t on : space.sequence)
        if (on == 0 || on == 1) made.sequence.push_back(on);
    made.recompute = space.recompute;
    if (!facts) made.recompute = {Recompute::None};  // no layers whose input alone could be kept
    made.schedule = space.schedule;
    if (made.zero.empty()) return nothing("zero", "0 to 3");
    if (made.sequence.empty()) return nothing("sequence", "0 or 1");
    if (made.recompute.empty()) return nothing("recompute", "none, selective or full");
    if (made.schedule.empty()) return nothing("schedule", "1f1b, gpipe, zero-bubble or dualpipe");
    return made;
}

/// What both kinds allow, with the devices of both.
std::optional<PlanChoices> both(const PlanChoices& a, const PlanChoices& b, const PlanSpace& space) {
    PlanChoices made = a;
    made.other = b.group;
    made.devicesOf[1] = b.devicesOf[0];
    made.namesOf[1] = b.namesOf[0];
    std::erase_if(made.tensor,
                  [&](std::int64_t n) { return std::find(b.tensor.begin(), b.tensor.end(), n) == b.tensor.end(); });
    const std::int64_t all = made.devicesOf[0] + made.devicesOf[1];
    made.mostDevices = space.mostDevices > 0 ? std::min(space.mostDevices, all) : all;
    const auto more = [&](std::vector<std::int64_t>& mine, const std::vector<std::int64_t>& others) {
        for (const std::int64_t n : others)
            if (std::find(mine.begin(), mine.end(), n) == mine.end()) mine.push_back(n);
        std::sort(mine.begin(), mine.end());
    };
    more(made.pipeline, b.pipeline);
    more(made.data, b.data);
    made.interleave = {1};
    std::erase(made.schedule, PipelineSchedule::DualPipe);
    made.shard = {0};
    if (made.tensor.empty() || made.schedule.empty() || made.leastDevices > made.mostDevices) return std::nullopt;
    return made;
}

/// `first` of `many` on the one, the others on the other, in as few names as say it.
std::string shared(const PlanChoices& choices, std::int64_t first, std::int64_t many, char mark, bool swapped) {
    const std::int64_t runs = std::gcd(first, many);
    std::string text;
    for (std::int64_t i = 0; i < many / runs; ++i) {
        if (i > 0) text += mark;
        text += choices.namesOf[(i < first / runs) != swapped ? 0 : 1];
    }
    return text;
}

std::vector<std::string> placementsOf(const PlanChoices& choices, const ShardChoice& shard, std::int64_t pipeline,
                                      std::int64_t data) {
    std::vector<std::string> all;
    const std::int64_t within = shard.tensor * shard.context;
    for (const bool swapped : {false, true}) {
        const std::int64_t front = choices.devicesOf[swapped ? 1 : 0], behind = choices.devicesOf[swapped ? 0 : 1];
        for (std::int64_t p = 1; p < pipeline; ++p)
            if (within * data * p <= front && within * data * (pipeline - p) <= behind)
                all.push_back(shared(choices, p, pipeline, '+', swapped));
    }
    if (shard.expert > shard.tensor) return all;  // experts stand over copies of one kind
    for (std::int64_t d = 1; d < data; ++d)
        if (within * pipeline * d <= choices.devicesOf[0] && within * pipeline * (data - d) <= choices.devicesOf[1])
            all.push_back(shared(choices, d, data, '&', false));
    return all;
}

}  // namespace

Expected<std::vector<PlanChoices>> planChoices(const StepModel& model, const PlanSpace& space) {
    const ClusterView& cluster = model.cluster();
    std::vector<std::size_t> groups;
    for (const std::string& name : space.groups) {
        Plan named;
        named.placement = name;
        const auto found = groupFor(cluster, named);
        if (!found) return Unexpected(found.error());
        groups.push_back(static_cast<std::size_t>(*found - cluster.groups.data()));
    }
    if (groups.empty())
        for (std::size_t g = 0; g < cluster.groups.size(); ++g) groups.push_back(g);
    std::vector<PlanChoices> made, kinds;
    std::optional<Diagnostic> last;
    for (const std::size_t g : groups) {
        auto choices = choicesOf(model, space, g);
        if (choices) kinds.push_back(*choices);
        if (choices && choices->leastDevices > choices->mostDevices)
            choices = fail("plan.space",
                           fmt::format("{} devices at least, and {} × `{}` may be used", choices->leastDevices,
                                       choices->mostDevices, cluster.groups[g].name),
                           "no more than are drawn", "raise the `count` in the drawing, or lower the number");
        if (choices)
            made.push_back(std::move(*choices));
        else if (!last)
            last = std::move(choices.error());
    }
    for (std::size_t a = 0; a < kinds.size() && space.mixed; ++a)
        for (std::size_t b = a + 1; b < kinds.size(); ++b)
            if (auto two = both(kinds[a], kinds[b], space)) made.push_back(std::move(*two));
    if (made.empty()) return Unexpected(std::move(*last));
    return made;
}

std::vector<ShardChoice> shardsOf(const std::vector<PlanChoices>& all) {
    std::vector<ShardChoice> shards;
    for (std::size_t c = 0; c < all.size(); ++c)
        for (const std::int64_t tensor : all[c].tensor)
            for (const std::int64_t context : all[c].context)
                for (const std::int64_t expert : all[c].expert)
                    for (const std::int64_t samples : all[c].samples) {
                        if (tensor > all[c].mostDevices / context) continue;
                        if (tensor % expert != 0 && expert % tensor != 0) continue;
                        const ShardChoice shard{c, tensor, context, expert, samples};
                        if (!nodesOf(all[c], shard).empty()) shards.push_back(shard);
                    }
    return shards;
}

std::vector<NodeChoice> nodesOf(const PlanChoices& choices, const ShardChoice& shard) {
    std::vector<NodeChoice> nodes;
    const std::int64_t within = shard.tensor * shard.context;
    for (const std::int64_t pipeline : choices.pipeline) {
        for (const std::int64_t data : choices.data) {
            if (within > choices.mostDevices / pipeline || within * pipeline > choices.mostDevices / data) continue;
            if (within * pipeline * data < choices.leastDevices) continue;
            if ((choices.batch / data) % shard.samples != 0 || (within * data) % shard.expert != 0) continue;
            const std::int64_t microbatches = choices.batch / data / shard.samples;
            if (!choices.mixed())
                nodes.push_back({pipeline, data, microbatches, {}});
            else
                for (std::string& placement : placementsOf(choices, shard, pipeline, data))
                    nodes.push_back({pipeline, data, microbatches, std::move(placement)});
        }
    }
    return nodes;
}

Plan planOf(const StepModel& model, const PlanChoices& choices, const ShardChoice& shard, const NodeChoice& node) {
    Plan plan;
    plan.tensor = shard.tensor;
    plan.context = shard.context;
    plan.expert = shard.expert;
    plan.pipeline = node.pipeline;
    plan.data = node.data;
    plan.microbatches = node.microbatches;
    plan.placement = node.placement;
    if (choices.group > 0 && !choices.mixed()) plan.placement = model.cluster().groups[choices.group].path;
    return plan;
}

std::vector<std::pair<PipelineSchedule, std::int64_t>> ordersOf(const PlanChoices& choices, const Plan& node) {
    using enum PipelineSchedule;
    if (node.pipeline < 2) return {{OneForwardOneBackward, 1}};
    std::vector<std::pair<PipelineSchedule, std::int64_t>> orders;
    for (const PipelineSchedule schedule : choices.schedule) {
        if (schedule == DualPipe &&
            (node.pipeline % 2 != 0 || node.microbatches % 2 != 0 || node.microbatches < 2 * node.pipeline))
            continue;
        for (const std::int64_t chunks : choices.interleave) {
            const bool rounds = schedule == OneForwardOneBackward && node.microbatches % node.pipeline == 0 &&
                                chunks <= choices.layers / node.pipeline &&
                                (choices.unevenChunks || choices.layers % (node.pipeline * chunks) == 0);
            if (chunks == 1 || rounds) orders.emplace_back(schedule, chunks);
        }
    }
    return orders;
}

LayerDeals layerDealsOf(const StepModel& model, const PlanChoices& choices, const Plan& node,
                        const std::stop_token& stop) {
    if (!choices.mixed() || node.placement.find('+') == std::string::npos) return {{}};
    const auto figures = model.figures({node, choices.recompute.front()}, stop);
    const auto kinds = planKinds(model.cluster(), node);
    if (!figures || !kinds || figures->layers.empty()) return {{}};
    std::int64_t border = 1, front = 0, all = 0;
    while (border < node.pipeline && kinds->at(border, 0) == kinds->at(0, 0)) ++border;
    for (std::int64_t s = 0; s < node.pipeline; ++s) {
        front += s < border ? figures->layers[static_cast<std::size_t>(s)] : 0;
        all += figures->layers[static_cast<std::size_t>(s)];
    }
    LayerDeals deals;
    for (const std::int64_t moved : {0, 1, -1, 2, -2, 4, -4, 8, -8}) {
        const std::int64_t mine = front + moved, behind = node.pipeline - border;
        if (mine < border || all - mine < behind) continue;
        std::vector<std::int64_t> layers;
        for (std::int64_t s = 0; s < border; ++s) layers.push_back((s + 1) * mine / border - s * mine / border);
        for (std::int64_t s = 0; s < behind; ++s)
            layers.push_back((s + 1) * (all - mine) / behind - s * (all - mine) / behind);
        deals.push_back(std::move(layers));
    }
    return deals.empty() ? LayerDeals{{}} : deals;
}

std::uint64_t plansOf(const PlanChoices& choices, const Plan& node, const LayerDeals& deals) {
    std::size_t shared = 1;
    if (node.data * node.context > 1) {
        const std::size_t sets = setsOf(choices, node).size();
        shared = 0;
        for (const std::int64_t zero : choices.zero) shared += zero > 0 ? sets : 1;
    }
    return deals.size() * choices.recompute.size() * (node.tensor > 1 ? choices.sequence.size() : 1) *
           ordersOf(choices, node).size() * shared;
}

std::vector<std::int64_t> setsOf(const PlanChoices& choices, const Plan& node) {
    std::vector<std::int64_t> sets, asked = choices.shard;
    const std::int64_t copy = node.tensor * node.context;
    if (asked.empty()) asked = {0, choices.node % copy == 0 ? choices.node / copy : 0};
    for (const std::int64_t shard : asked) {
        // Sets of one share nothing, and one of all is none; experts stand in each of them.
        const bool some = shard > 1 && shard < node.data && node.data % shard == 0 && copy * shard % node.expert == 0;
        if ((shard == 0 || some) && std::find(sets.begin(), sets.end(), shard) == sets.end()) sets.push_back(shard);
    }
    return sets;
}

}  // namespace orrery
