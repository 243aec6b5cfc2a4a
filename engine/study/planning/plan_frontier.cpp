#include "study/planning/plan_frontier.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

auto orderOf(const StepPlan& each) {
    const Plan& p = each.plan;
    return std::tuple_cat(
        std::tuple(p.devices(), p.tensor, p.pipeline, p.context, p.data, p.expert, p.schedule, p.interleave, p.zero,
                   p.shard, p.sequence, each.recompute, p.microbatches, std::string_view(p.placement)),
        std::tie(p.layers));
}

/// At most as much everywhere, and less somewhere.
bool dominates(const std::array<double, 4>& a, const std::array<double, 4>& b) {
    bool less = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] > b[i]) return false;
        less = less || a[i] < b[i];
    }
    return less;
}

}  // namespace

double costOf(const StepFigures& figures) {
    return figures.dollarsPerHour > 0 ? figures.dollars() : figures.deviceSeconds();
}

double valueOf(const StepFigures& figures, PlanObjective objective) {
    switch (objective) {
        case PlanObjective::Devices:
            return static_cast<double>(figures.devices);
        case PlanObjective::Energy:
            return figures.joules;
        case PlanObjective::Cost:
            return costOf(figures);
        case PlanObjective::Time:
            break;
    }
    return figures.seconds;
}

PlanFrontier::Costs PlanFrontier::costsOf(const StepFigures& figures) {
    return {figures.seconds, static_cast<double>(figures.devices), figures.joules, costOf(figures)};
}

std::pair<double, double> PlanFrontier::keyOf(const StepFigures& figures) const {
    return {valueOf(figures, objective_), figures.seconds};
}

bool PlanFrontier::before(const PlannedPoint& a, const PlannedPoint& b) const {
    const auto mine = keyOf(a.figures), others = keyOf(b.figures);
    return mine != others ? mine < others : orderOf(a.plan) < orderOf(b.plan);
}

bool PlanFrontier::beats(const StepFigures& least) const {
    if (best_.size() < top_ || keyOf(best_.back().figures) >= keyOf(least)) return false;
    const Costs costs = costsOf(least);
    return std::any_of(front_.begin(), front_.end(),
                       [&](const PlannedPoint& one) { return dominates(costsOf(one.figures), costs); });
}

void PlanFrontier::addBest(const PlannedPoint& point) {
    if (best_.size() == top_ && !before(point, best_.back())) return;
    const auto at = std::lower_bound(best_.begin(), best_.end(), point,
                                     [&](const PlannedPoint& a, const PlannedPoint& b) { return before(a, b); });
    if (at != best_.end() && same(*at, point)) return;
    best_.insert(at, point);
    if (best_.size() > top_) best_.pop_back();
}

void PlanFrontier::addFront(const PlannedPoint& point) {
    const Costs costs = costsOf(point.figures);
    for (PlannedPoint& one : front_) {
        const Costs its = costsOf(one.figures);
        if (dominates(its, costs)) return;
        if (its != costs) continue;
        if (orderOf(point.plan) < orderOf(one.plan)) one = point;  // as good: one of them is enough
        return;
    }
    std::erase_if(front_, [&](const PlannedPoint& one) { return dominates(costs, costsOf(one.figures)); });
    front_.push_back(point);
}

void PlanFrontier::addOther(PlannedPoint&& point) {
    const Plan& plan = point.plan.plan;
    Cell cell{plan.tensor, plan.pipeline, plan.data, plan.context, plan.placement};
    const auto at = others_.find(cell);
    if (at == others_.end())
        others_.emplace(std::move(cell), std::move(point));
    else if (before(point, at->second))
        at->second = std::move(point);
}

void PlanFrontier::add(PlannedPoint point) {
    addBest(point);
    addFront(point);
    addOther(std::move(point));
}

void PlanFrontier::merge(const PlanFrontier& other) {
    for (const PlannedPoint& point : other.best_) addBest(point);
    for (const PlannedPoint& point : other.front_) addFront(point);
    for (const auto& [cell, point] : other.others_) addOther(PlannedPoint(point));
}

std::vector<PlannedPoint> PlanFrontier::points() const {
    constexpr std::size_t most_others = 1000;
    const auto sorted = [&](std::vector<PlannedPoint> list) {
        std::sort(list.begin(), list.end(), [&](const PlannedPoint& a, const PlannedPoint& b) { return before(a, b); });
        return list;
    };
    std::vector<PlannedPoint> all = best_;
    for (std::size_t i = 0; i < all.size(); ++i) all[i].rank = i + 1;
    std::vector<PlannedPoint> rest = front_;
    std::vector<PlannedPoint> others;
    for (const auto& [cell, point] : others_) others.push_back(point);
    others = sorted(std::move(others));
    if (others.size() > most_others) others.resize(most_others);
    rest.insert(rest.end(), others.begin(), others.end());
    rest = sorted(std::move(rest));
    for (PlannedPoint& point : rest) {
        const bool known = std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(best_.size()),
                                       [&](const PlannedPoint& one) { return same(one, point); }) ||
                           (all.size() > best_.size() && same(all.back(), point));
        if (!known) all.push_back(std::move(point));
    }
    for (PlannedPoint& point : all)
        point.onFront =
            std::any_of(front_.begin(), front_.end(), [&](const PlannedPoint& one) { return same(one, point); });
    return all;
}

}  // namespace orrery
