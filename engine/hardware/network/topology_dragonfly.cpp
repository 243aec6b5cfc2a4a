// Dragonflies (Kim et al., ISCA 2008): g groups of a routers, each with p endpoints, a link to every other router of
// its group, and h global links. Link m of a group leads to the group m mod (g-1) + 1 further on, so that all pairs of
// groups have equally many links and any group looks like any other; ports that this leaves over stay free. Hops are
// those of minimal routing, which crosses one global link at most.

#include "hardware/network/topology_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace orrery::topology {
namespace {

constexpr std::int64_t mostGlobals = 100000;

struct Plan {
    std::int64_t p, a, h, g;
    std::int64_t between;  // global links between two groups
    explicit Plan(const TopologyDimension& d)
        : p(d.size / (d.groups * d.routers)),
          a(d.routers),
          h(d.globals),
          g(d.groups),
          between(d.groups > 1 ? d.routers * d.globals / (d.groups - 1) : 0) {}
    // Link t of those from a group to the one `offset` further on: the router it leaves, and the one it reaches.
    std::pair<std::int64_t, std::int64_t> ends(std::int64_t offset, std::int64_t t) const {
        const std::int64_t m = offset - 1 + t * (g - 1);
        return {m / h, (between * (g - 1) - 1 - m) / h};
    }
};

std::optional<Misfit> misfit(const TopologyDimension& d) {
    for (const auto& [value, name] : {std::pair{d.routers, "routers"}, {d.globals, "globals"}}) {
        if (value > 0) continue;
        return Misfit{name, "hardware.missing-attribute", fmt::format("a dragonfly needs its {}", name),
                      "`routers` of a group and `globals`, the global links of a router",
                      "a balanced one has twice as many routers as global links"};
    }
    if (d.routers * d.globals > mostGlobals) {
        return Misfit{"globals", "hardware.topology-size",
                      fmt::format("a group of {} × {} global links is too large", d.routers, d.globals),
                      fmt::format("at most {} global links of a group", mostGlobals), "lower `routers` or `globals`"};
    }
    if (d.groups > d.routers * d.globals + 1) {
        return Misfit{"groups", "hardware.topology-size",
                      fmt::format("{} groups cannot all be linked: a group has {} × {} global links", d.groups,
                                  d.routers, d.globals),
                      fmt::format("at most {} groups", d.routers * d.globals + 1), "raise `globals` or `routers`"};
    }
    if (d.groups < 1 || d.size % (d.groups * d.routers) != 0) {
        return Misfit{
            "size", "hardware.topology-size",
            fmt::format("{} endpoints do not fill {} groups of {} routers evenly", d.size, d.groups, d.routers),
            fmt::format("a multiple of {}", d.groups * d.routers), "change `groups` or `routers`"};
    }
    const std::int64_t ports = Plan(d).p + d.routers - 1 + (d.groups > 1 ? d.globals : 0);
    if (d.radix > 0 && ports > d.radix) {
        return Misfit{"radix", "hardware.topology-radix",
                      fmt::format("a router of {} ports would need {}", d.radix, ports),
                      "ports for its endpoints, its group and its global links", "raise `radix`"};
    }
    return std::nullopt;
}

OneFacts facts(const TopologyDimension& d) {
    const Plan plan(d);
    const double p = static_cast<double>(plan.p), a = static_cast<double>(plan.a), n = static_cast<double>(d.size);
    OneFacts out;
    out.switches = plan.g * plan.a;
    out.links = d.size + plan.g * plan.a * (plan.a - 1) / 2 + plan.g * (plan.g - 1) / 2 * plan.between;
    if (d.size > 1) out.diameter = plan.a > 1 ? 3 : 2;
    double sum = 2 * (p - 1) + 3 * (a - 1) * p;  // from one endpoint to all of its group
    for (std::int64_t offset = 1; offset < plan.g; ++offset) {
        std::set<std::pair<std::int64_t, std::int64_t>> pairs;
        std::set<std::int64_t> leaving, reached;
        for (std::int64_t t = 0; t < plan.between; ++t) {
            const auto ends = plan.ends(offset, t);
            pairs.insert(ends);
            leaving.insert(ends.first);
            reached.insert(ends.second);
        }
        const auto l = static_cast<double>(leaving.size()), r = static_cast<double>(reached.size());
        const double three = static_cast<double>(pairs.size()), upToFour = a * l + a * r - l * r, all = a * a;
        sum += p * (3 * three + 4 * (upToFour - three) + 5 * (all - upToFour)) / a;
        out.diameter = std::max<std::int64_t>(out.diameter, all > upToFour ? 5 : upToFour > three ? 4 : 3);
    }
    out.hops = sum / n;
    // Between halves of the groups (of the routers of a single one): the links between them, unless the endpoints of
    // the smaller half have fewer.
    if (plan.g > 1) {
        const std::int64_t half = plan.g / 2;
        out.bisection = std::min(half * (plan.g - half) * plan.between, half * plan.a * plan.p);
    } else if (plan.a > 1) {
        const std::int64_t half = plan.a / 2;
        out.bisection = std::min(half * (plan.a - half), half * plan.p);
    } else {
        out.bisection = plan.p / 2;
    }
    return out;
}

void expand(const TopologyDimension& d, OneNetwork& network) {
    const Plan plan(d);
    const auto turn = [](std::int64_t i, std::int64_t of) {
        return 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(of);
    };
    // Groups on a circle, routers on circles around their middles, endpoints outside of their routers.
    const double big = plan.g > 1 ? 0.36 : 0,
                 small = plan.g > 1 ? std::min(0.11, 1.0 / static_cast<double>(plan.g)) : 0.32;
    std::vector<std::int32_t> routers;
    for (std::int64_t group = 0; group < plan.g; ++group) {
        const double x = 0.5 + big * std::sin(turn(group, plan.g)), y = 0.5 - big * std::cos(turn(group, plan.g));
        for (std::int64_t r = 0; r < plan.a; ++r) {
            const double angle = turn(r, plan.a);
            const std::int32_t at =
                network.addSwitch(0, x + small * 0.65 * std::sin(angle), y - small * 0.65 * std::cos(angle));
            routers.push_back(at);
            for (std::int64_t e = 0; e < plan.p; ++e) {
                const double fan = (static_cast<double>(e) + 0.5) / static_cast<double>(plan.p) - 0.5;
                const double out =
                    angle + fan * 2 * std::numbers::pi / static_cast<double>(std::max<std::int64_t>(plan.a, 3));
                const std::int64_t v = (group * plan.a + r) * plan.p + e;
                network.place(v, x + small * 1.1 * std::sin(out), y - small * 1.1 * std::cos(out));
                network.link(v, at);
            }
        }
        for (std::int64_t r = 0; r < plan.a; ++r) {
            for (std::int64_t s = r + 1; s < plan.a; ++s) {
                network.link(routers[static_cast<std::size_t>(group * plan.a + r)],
                             routers[static_cast<std::size_t>(group * plan.a + s)]);
            }
        }
    }
    for (std::int64_t from = 0; from < plan.g; ++from) {
        for (std::int64_t to = from + 1; to < plan.g; ++to) {
            std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
            for (std::int64_t t = 0; t < plan.between; ++t) pairs.push_back(plan.ends(to - from, t));
            std::sort(pairs.begin(), pairs.end());
            for (std::size_t i = 0; i < pairs.size();) {
                const auto same = std::count(pairs.begin(), pairs.end(), pairs[i]);
                network.link(routers[static_cast<std::size_t>(from * plan.a + pairs[i].first)],
                             routers[static_cast<std::size_t>(to * plan.a + pairs[i].second)], same);
                i += static_cast<std::size_t>(same);
            }
        }
    }
}

}  // namespace

const Shape dragonflyShape{misfit, facts, expand};

}  // namespace orrery::topology
