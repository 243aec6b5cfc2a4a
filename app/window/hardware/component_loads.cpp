#include "app/window/hardware/component_loads.h"

#include "app/window/hardware/design_compare.h"
#include "hardware/walk.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>

namespace orrery::app {

namespace {

using enum ComponentKind;

/// The first component of one of these kinds, tried in their order, in tree order.
std::optional<ComponentPath> firstOf(const Component& top, const ComponentPath& at,
                                     std::span<const ComponentKind> kinds) {
    for (const ComponentKind kind : kinds) {
        if (top.kind == kind) return at;
        std::optional<ComponentPath> found;
        walk(top, [&](const Component& component, const ComponentPath& below) {
            if (!found && component.kind == kind) {
                found = at;
                found->insert(found->end(), below.begin(), below.end());
            }
            return !found;
        });
        if (found) return found;
    }
    return std::nullopt;
}

/// The part of the same names in another design, else its first one of the same kind: `hbm2e` of one device stands for
/// `hbm3` of another.
std::optional<ComponentPath> counterpart(const ui::Snapshot& from, const ComponentPath& path, const ui::Snapshot& to) {
    const Component& there = from.scenario.hardware->root;
    const Component& here = to.scenario.hardware->root;
    if (auto same = sameName(there, path, here)) return same;
    return firstOf(here, {}, std::array{componentAt(there, path)->kind});
}

bool startsWith(const ComponentPath& path, const ComponentPath& beginning) {
    return path.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), path.begin());
}

}  // namespace

std::vector<std::optional<ComponentPath>> limiters(const ui::Snapshot& snapshot) {
    const Estimate* estimate = snapshot.primaryEstimate();
    if (!estimate || !snapshot.scenario.hardware || !snapshot.scenario.workload || !snapshot.device) return {};
    const Component& root = snapshot.scenario.hardware->root;
    const auto find = [&](const std::string& names) -> std::optional<ComponentPath> {
        Expected<ComponentPath> path = findComponent(root, names);
        return path ? std::optional(*path) : std::nullopt;
    };
    std::vector<std::optional<ComponentPath>> levels;
    for (const std::string& name : estimate->levels) {
        const auto& known = snapshot.device->levels;
        const auto level = std::ranges::find(known, name, &MemoryLevel::name);
        levels.push_back(level == known.end() ? std::nullopt : find(level->path));
        // Main memory behind a full link: what limits is the link.
        const auto& way = snapshot.device->interconnect;
        if (level == known.begin() && level != known.end() && way && way->bandwidth == level->bandwidth)
            levels.back() = find(way->path);
    }
    const ComponentPath devicePath = find(snapshot.device->path).value_or(ComponentPath{});
    const Component& device = *componentAt(root, devicePath);
    constexpr std::array forMatrix = {TensorUnit, Array, Mac, VectorUnit, Core};
    constexpr std::array forVector = {VectorUnit, Core, Array, TensorUnit, Mac};
    constexpr std::array forNetwork = {Topology, Switch, Link};
    const auto matrix = firstOf(device, devicePath, forMatrix);
    const auto vector = firstOf(device, devicePath, forVector);
    const auto network = firstOf(root, {}, forNetwork);

    const CostTable& costs = snapshot.scenario.workload->costs;
    std::vector<std::optional<ComponentPath>> found(estimate->operators.bound.size());
    for (std::size_t op = 0; op < found.size(); ++op) {
        const Bound bound = estimate->operators.bound[op];
        switch (bound.kind) {
            case BoundKind::Compute:
                found[op] = op < costs.macs.size() && costs.macs[op] > 0 ? matrix : vector;
                break;
            case BoundKind::Memory:
                if (bound.level >= 0 && static_cast<std::size_t>(bound.level) < levels.size())
                    found[op] = levels[static_cast<std::size_t>(bound.level)];
                break;
            case BoundKind::Network:
                found[op] = network;
                break;
            case BoundKind::Overhead:
            case BoundKind::None:
                break;
        }
    }
    return found;
}

std::vector<ui::ComponentLoad> componentLoads(const ui::Snapshot& snapshot) {
    const auto limiting = limiters(snapshot);
    if (limiting.empty()) return {};
    const OperatorEstimates& operators = snapshot.primaryEstimate()->operators;
    struct Sum {
        double seconds = 0;
        Bound bound;
    };
    std::map<ComponentPath, Sum> sums;
    double total = 0;
    for (std::size_t op = 0; op < limiting.size(); ++op) {
        total += operators.seconds[op];
        if (!limiting[op]) continue;
        Sum& sum = sums[*limiting[op]];
        sum.seconds += operators.seconds[op];
        sum.bound = operators.bound[op];
    }
    if (!(total > 0)) return {};
    std::vector<ui::ComponentLoad> loads;
    for (const auto& [path, sum] : sums) {
        const double share = sum.seconds / total;
        const QString percent = share < 0.01 ? QStringLiteral("<1") : QString::number(qRound(share * 100));
        loads.push_back({path, share, QCoreApplication::translate("ComponentLoads", "limits %1 % of time").arg(percent),
                         ui::Theme::instance().boundColour(sum.bound)});
    }
    std::ranges::sort(loads, std::greater<>(), &ui::ComponentLoad::share);
    return loads;
}

std::vector<ui::ComponentLoad> loadsAgainst(const ui::Snapshot& before, const ui::Snapshot& now, const QString& name) {
    struct Sums {
        double before = 0, now = 0;
    };
    std::map<ComponentPath, Sums> sums;
    double totals[2] = {0, 0};
    const auto add = [&](const ui::Snapshot& snapshot, bool after) {
        const auto limiting = limiters(snapshot);
        if (limiting.empty()) return;
        const OperatorEstimates& operators = snapshot.primaryEstimate()->operators;
        for (std::size_t op = 0; op < limiting.size(); ++op) {
            totals[after ? 1 : 0] += operators.seconds[op];
            if (!limiting[op]) continue;
            const auto path = after ? limiting[op] : counterpart(snapshot, *limiting[op], now);
            if (path) (after ? sums[*path].now : sums[*path].before) += operators.seconds[op];
        }
    };
    add(before, false);
    add(now, true);
    const double total = std::max(totals[0], totals[1]);
    if (!(total > 0)) return {};
    std::vector<ui::ComponentLoad> loads;
    for (const auto& [path, sum] : sums) {
        const double delta = sum.now - sum.before;
        const QString time = ui::text(std::abs(delta), Dimension::Time);
        const QString text =
            delta == 0 ? QCoreApplication::translate("ComponentLoads", "as in %1").arg(name)
                       : QStringLiteral("%1%2").arg(delta < 0 ? QStringLiteral("−") : QStringLiteral("+"), time);
        const double share = std::abs(delta) / total;
        const double strength = std::clamp(0.35 + 2 * share, 0.0, 1.0);
        loads.push_back({path, share, text, ui::Theme::instance().divergingHeat(delta < 0 ? -strength : strength)});
    }
    std::ranges::sort(loads, std::greater<>(), &ui::ComponentLoad::share);
    return loads;
}

std::vector<ComponentPath> ignoredComponents(const ui::Snapshot& snapshot) {
    if (!snapshot.scenario.hardware) return {};
    std::map<std::string, std::size_t> times;
    std::size_t answers = 0;
    for (const ui::Answer& answer : snapshot.answers) {
        if (!answer.estimate || answer.estimate->parts.used.empty()) continue;
        ++answers;
        for (const UsedParts::Part& part : answer.estimate->parts.ignored) {
            if (part.attributes.empty()) ++times[part.path];
        }
    }
    std::vector<ComponentPath> ignored;
    for (const auto& [path, count] : times) {
        if (count < answers) continue;
        if (auto found = findComponent(snapshot.scenario.hardware->root, path)) ignored.push_back(std::move(*found));
    }
    return ignored;
}

QSet<int> operatorsLimitedBy(const ui::Snapshot& snapshot, const ComponentPath& component) {
    const auto limiting = limiters(snapshot);
    QSet<int> found;
    for (std::size_t op = 0; op < limiting.size(); ++op) {
        if (limiting[op] && startsWith(*limiting[op], component)) found.insert(static_cast<int>(op));
    }
    return found;
}

ComponentPaths componentsLimiting(const ui::Snapshot& snapshot, const QSet<int>& operators) {
    const auto limiting = limiters(snapshot);
    ComponentPaths found;
    for (const int op : operators) {
        if (op < 0 || op >= static_cast<int>(limiting.size())) continue;
        const auto& limiter = limiting[static_cast<std::size_t>(op)];
        if (limiter && std::ranges::find(found, *limiter) == found.end()) found.push_back(*limiter);
    }
    return found;
}

}  // namespace orrery::app
