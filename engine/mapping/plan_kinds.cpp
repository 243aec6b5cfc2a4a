#include "mapping/plan_kinds.h"

#include "base/text/nearest.h"
#include "hardware/views/joined_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace orrery {

namespace {

std::vector<std::string_view> joinedBy(std::string_view text, char mark) {
    std::vector<std::string_view> parts;
    for (bool more = true; more;) {
        const std::size_t at = text.find(mark);
        std::string_view part = text.substr(0, at);
        while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
        parts.push_back(part);
        more = at != std::string_view::npos;
        text = more ? text.substr(at + 1) : std::string_view();
    }
    return parts;
}

Expected<std::size_t> kindNamed(const ClusterView& view, std::string_view name) {
    std::vector<std::string> known;
    for (std::size_t g = 0; g < view.groups.size(); ++g) {
        const DeviceGroup& group = view.groups[g];
        const std::string ending = fmt::format("/{}", name);
        if (group.path == name || group.name == name || group.path.ends_with(ending)) return g;
        known.push_back(group.name);
    }
    const std::string near = didYouMean(name, known);
    return fail("plan.no-such-device",
                fmt::format("the plan stands on `{}`, which is no device of `{}`", name, view.name),
                quotedList(known, "or"), near.empty() ? "leave `at` out to take the first" : near,
                Place{.path = "plan/placement"});
}

Expected<void> canBeMixed(const PlanKinds& kinds, const Plan& plan) {
    const auto wrong = [](std::string_view what, std::string_view hint, std::string_view place) {
        return fail("plan.mixed", fmt::format("{} on several kinds of device", what), "a plan without it",
                    std::string(hint), Place{.path = fmt::format("plan/{}", place)});
    };
    if (plan.interleave > 1) return wrong("interleaved chunks", "leave out `vp`", "interleave");
    if (plan.schedule == PipelineSchedule::DualPipe)
        return wrong("stages from both ends", "take `sched=1f1b` or `sched=zero-bubble`", "schedule");
    if (plan.offload != 0) return wrong("offloading", "leave out `offload`", "offload");
    if (kinds.classes() < 2) return {};
    if (plan.replicas() > 1) return wrong("sets of copies", "leave out `shard`", "shard");
    if (plan.expert > plan.tensor) return wrong("experts over copies", "lower `ep` to `tp`", "expert");
    return {};
}

/// A group wherever its members stand: along each tier, how many of its endpoints hold some, at most.
Communicator communicatorOf(const std::vector<std::vector<std::int32_t>>& members, std::size_t tiers) {
    Communicator made{static_cast<std::int64_t>(members.size()), 1, std::vector<std::int64_t>(tiers, 1), false};
    for (std::size_t t = 0; t < tiers; ++t) {
        std::map<std::vector<std::int32_t>, std::set<std::int32_t>> beside;  // by where the tier is
        for (const std::vector<std::int32_t>& at : members)
            beside[{at.begin() + static_cast<std::ptrdiff_t>(t) + 1, at.end()}].insert(at[t]);
        std::set<std::size_t> sizes;
        for (const auto& [outer, inner] : beside) sizes.insert(inner.size());
        made.uneven = made.uneven || sizes.size() > 1;
        made.ranks[t] = static_cast<std::int64_t>(*sizes.rbegin());
    }
    return made;
}

class MixedLayout {
public:
    MixedLayout(const ClusterView& view, const Plan& plan, const PlanKinds& kinds, const JoinedDevices& joined)
        : view_(view), plan_(plan), kinds_(kinds), joined_(joined), block_(plan.tensor * plan.context) {
        std::vector<std::int64_t> taken(view.groups.size(), 0);
        for (const std::size_t kind : kinds.of) {
            first_.push_back(taken[kind]);
            taken[kind] += block_;
        }
        taken_ = std::move(taken);
    }

    const std::vector<std::int64_t>& taken() const { return taken_; }

    StageWays ways(std::int64_t stage, std::int32_t copyClass) const {
        const std::int64_t copy = kinds_.firstOf(copyClass);
        const std::size_t kind = kinds_.at(stage, copy), its = kinds_.indexOf(kind);
        const std::vector<NetworkTier>& tiers = view_.groups[kind].tiers;
        StageWays made;
        made.tensor = {its, communicator(tiers, plan_.tensor, 1)};
        made.context = {its, communicator(tiers, plan_.context, plan_.tensor)};
        bool alike = true;
        for (std::int64_t c = 0; c < plan_.data; ++c) alike = alike && kinds_.at(stage, c) == kind;
        const std::int64_t sharing = plan_.sharingCopies(), set = block_ * sharing;
        if (alike) {
            made.gradients = {its, communicator(tiers, plan_.context * sharing, plan_.tensor)};
            made.replicas = {its, communicator(tiers, plan_.replicas(), set)};
            made.expert = {its, communicator(tiers, plan_.expert, 1)};
            if (plan_.expert > plan_.tensor)
                made.expertGradients = {its, communicator(tiers, set / plan_.expert, plan_.expert)};
        } else {
            std::vector<std::vector<std::int32_t>> members;
            for (std::int64_t c = 0; c < plan_.data; ++c)
                for (std::int64_t x = 0; x < plan_.context; ++x) members.push_back(placeOf(stage, c, x * plan_.tensor));
            made.gradients = among(members);
            made.replicas = made.expert = made.expertGradients = {its, communicator(tiers, 1, 1)};
        }
        if (stage + 1 < plan_.pipeline) made.next = pair(stage, stage + 1, copy);
        if (plan_.pipeline > 1) made.ends = pair(0, plan_.pipeline - 1, copy);
        return made;
    }

private:
    std::int64_t deviceOf(std::int64_t stage, std::int64_t copy) const {
        return first_[static_cast<std::size_t>(stage * plan_.data + copy)];
    }
    const std::vector<std::int32_t>& placeOf(std::int64_t stage, std::int64_t copy, std::int64_t within) const {
        return joined_
            .places[kinds_.indexOf(kinds_.at(stage, copy))][static_cast<std::size_t>(deviceOf(stage, copy) + within)];
    }
    ExchangeWay among(const std::vector<std::vector<std::int32_t>>& members) const {
        return {ExchangeWay::between, communicatorOf(members, joined_.devices.tiers.size())};
    }
    // Of one kind: over its own network, as far apart as the two are.
    ExchangeWay pair(std::int64_t from, std::int64_t to, std::int64_t copy) const {
        const std::size_t kind = kinds_.at(from, copy);
        if (kind == kinds_.at(to, copy))
            return {kinds_.indexOf(kind),
                    communicator(view_.groups[kind].tiers, 2, std::abs(deviceOf(to, copy) - deviceOf(from, copy)))};
        return among({placeOf(from, copy, 0), placeOf(to, copy, 0)});
    }

    const ClusterView& view_;
    const Plan& plan_;
    const PlanKinds& kinds_;
    const JoinedDevices& joined_;
    std::int64_t block_;
    std::vector<std::int64_t> first_, taken_;  ///< device of its kind, by stage and copy; devices taken, by kind
};

}  // namespace

std::int64_t PlanKinds::classes() const {
    return classOf.empty() ? 1 : *std::max_element(classOf.begin(), classOf.end()) + 1;
}
std::int64_t PlanKinds::firstOf(std::int32_t copyClass) const {
    return std::find(classOf.begin(), classOf.end(), copyClass) - classOf.begin();
}
std::int64_t PlanKinds::copiesOf(std::int32_t copyClass) const {
    return std::count(classOf.begin(), classOf.end(), copyClass);
}
std::size_t PlanKinds::indexOf(std::size_t kind) const {
    return static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
}

bool namesSeveralDevices(const Plan& plan) {
    return plan.placement.find_first_of("+&") != std::string::npos;
}

Expected<PlanKinds> planKinds(const ClusterView& view, const Plan& plan) {
    if (auto good = checkPlan(plan); !good) return Unexpected(std::move(good.error()));
    PlanKinds made;
    made.stages = plan.pipeline;
    made.copies = plan.data;
    if (plan.placement.empty()) {
        made.of.assign(static_cast<std::size_t>(plan.pipeline * plan.data), 0);
    } else {
        const auto stages = joinedBy(plan.placement, '+');
        const auto runs = static_cast<std::int64_t>(stages.size());
        for (std::int64_t s = 0; s < plan.pipeline; ++s) {
            const auto copies = joinedBy(stages[static_cast<std::size_t>(s * runs / plan.pipeline)], '&');
            const auto sets = static_cast<std::int64_t>(copies.size());
            std::vector<std::size_t> named;
            for (const std::string_view name : copies) {
                const auto kind = kindNamed(view, name);
                if (!kind) return Unexpected(kind.error());
                named.push_back(*kind);
            }
            for (std::int64_t c = 0; c < plan.data; ++c)
                made.of.push_back(named[static_cast<std::size_t>(c * sets / plan.data)]);
        }
    }
    for (const std::size_t kind : made.of)
        if (std::find(made.kinds.begin(), made.kinds.end(), kind) == made.kinds.end()) made.kinds.push_back(kind);
    std::map<std::vector<std::size_t>, std::int32_t> known;
    for (std::int64_t c = 0; c < plan.data; ++c) {
        std::vector<std::size_t> chain;
        for (std::int64_t s = 0; s < plan.pipeline; ++s) chain.push_back(made.at(s, c));
        made.classOf.push_back(
            known.try_emplace(std::move(chain), static_cast<std::int32_t>(known.size())).first->second);
    }
    return made;
}

Expected<MixedPlacement> mixedPlacement(const Hardware& design, const ClusterView& view, const Plan& plan) {
    auto kinds = planKinds(view, plan);
    if (!kinds) return Unexpected(std::move(kinds.error()));
    if (auto good = checkPlan(plan, view.devices()); !good) return Unexpected(std::move(good.error()));
    if (auto good = canBeMixed(*kinds, plan); !good) return Unexpected(std::move(good.error()));
    auto joined = joinedDevices(design, view, kinds->kinds);
    if (!joined) return Unexpected(std::move(joined.error()));
    const MixedLayout layout(view, plan, *kinds, *joined);
    MixedPlacement made;
    made.kinds = *kinds;
    made.devices = plan.devices();
    made.drawn = 0;
    std::string idle;
    for (const std::size_t kind : kinds->kinds) {
        const DeviceGroup& group = view.groups[kind];
        const std::int64_t taken = layout.taken()[kind];
        if (taken > group.count)
            return fail("plan.too-many-devices",
                        fmt::format("the plan {} needs {} `{}`, and {} {} drawn", toText(plan), taken, group.name,
                                    group.count, group.count == 1 ? "is" : "are"),
                        fmt::format("at most {} of them", group.count),
                        "give it fewer stages or copies in `at`, or raise its `count` in the drawing",
                        Place{.path = "plan/placement"});
        made.drawn += group.count;
        if (taken < group.count)
            idle += fmt::format("{}{} of {} `{}`", idle.empty() ? "" : ", ", taken, group.count, group.name);
    }
    for (std::int64_t s = 0; s < plan.pipeline; ++s)
        for (std::int32_t c = 0; c < kinds->classes(); ++c) made.ways.push_back(layout.ways(s, c));
    if (!idle.empty())
        made.warnings.push_back(warning("plan.idle-devices", fmt::format("the plan {} works on {}", toText(plan), idle),
                                        "raise `dp` or `tp`, or give the kind more stages", Place{.path = "plan"}));
    made.warnings.insert(made.warnings.end(), joined->warnings.begin(), joined->warnings.end());
    made.joined = std::move(joined->devices);
    return made;
}

}  // namespace orrery
