// Fat trees: folded Clos networks of switches of one radix k, in as few tiers as hold the endpoints. A leaf has d
// endpoints and u = k - d links up, d : u the oversubscription; every other switch but the topmost has k/2 down and
// k/2 up. Three full tiers without oversubscription are the k-ary fat tree of Al-Fares et al. (SIGCOMM 2008):
// k³/4 endpoints, 5k²/4 switches. What is not filled is left out; where few blocks meet at the top, each top switch
// takes several links of the same switch below.

#include "hardware/network/topology_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::topology {
namespace {

constexpr int mostTiers = 8;

struct Plan {
    int tiers = 0;  // 0: no number of tiers holds them
    std::int64_t n = 0, down = 0, up = 0, half = 0, radix = 0;
    std::array<std::int64_t, mostTiers + 1> block{};    // endpoints of a block of t tiers; 1: one leaf
    std::array<std::int64_t, mostTiers + 1> uplinks{};  // links that leave it upwards
    std::int64_t parallel = 1;                          // links from one switch to one topmost switch
    std::int64_t blocks(int tier) const { return (n + block[tier] - 1) / block[tier]; }
    std::int64_t tops() const { return uplinks[tiers - 1] / parallel; }
};

Plan planOf(const TopologyDimension& dimension) {
    Plan plan;
    plan.n = dimension.size;
    plan.radix = dimension.radix;
    plan.half = dimension.radix / 2;
    const double k = static_cast<double>(dimension.radix);
    plan.down = std::llround(k * dimension.oversubscription / (1 + dimension.oversubscription));
    plan.down = std::clamp<std::int64_t>(plan.down, 1, dimension.radix - 1);
    plan.up = dimension.radix - plan.down;
    plan.block[1] = plan.down;
    plan.uplinks[1] = plan.up;
    if (plan.n <= plan.radix) {
        plan.tiers = 1;
        return plan;
    }
    for (int tiers = 2; tiers <= mostTiers; ++tiers) {
        if (plan.block[tiers - 1] * plan.radix >= plan.n) {
            plan.tiers = tiers;
            break;
        }
        if (plan.block[tiers - 1] > (std::int64_t{1} << 40) / plan.half) break;
        plan.block[tiers] = plan.block[tiers - 1] * plan.half;
        plan.uplinks[tiers] = plan.uplinks[tiers - 1] * plan.half;
    }
    if (plan.tiers == 0) return plan;
    const std::int64_t below = plan.tiers == 2 ? plan.up : plan.half;
    const std::int64_t blocks = plan.blocks(plan.tiers - 1);
    for (std::int64_t p = std::min(below, plan.radix / blocks); p > 1; --p) {
        if (below % p == 0) {
            plan.parallel = p;
            break;
        }
    }
    return plan;
}

std::optional<Misfit> misfit(const TopologyDimension& dimension) {
    if (dimension.radix == 0) {
        return Misfit{"radix", "hardware.missing-attribute", "a fat tree needs the ports of its switches", "`radix`",
                      "set it, such as `64`"};
    }
    if (dimension.radix % 2 != 0) {
        return Misfit{"radix",
                      "hardware.topology-radix",
                      fmt::format("the switches of a fat tree have {} ports, an odd number", dimension.radix),
                      "an even number of ports: half of them lead up",
                      {}};
    }
    const Plan plan = planOf(dimension);
    if (plan.tiers == 0) {
        return Misfit{"radix", "hardware.topology-radix",
                      fmt::format("{} endpoints do not fit a fat tree of switches of {} ports in {} tiers",
                                  dimension.size, dimension.radix, mostTiers),
                      "switches with more ports", "raise `radix`"};
    }
    return std::nullopt;
}

// The least number of links between the first half of the endpoints and the others, for the block of `tier` that
// begins at `first`, where what lies above the block belongs to the first half (above = 0) or the second (1). Either
// the block's switches belong there too, or all its links up are cut.
class Cut {
public:
    explicit Cut(const Plan& plan) : plan_(plan), middle_(plan.n / 2) {}
    std::int64_t least() { return std::min(sum(plan_.tiers, 0, plan_.n, 0), sum(plan_.tiers, 0, plan_.n, 1)); }

private:
    std::int64_t sum(int tier, std::int64_t first, std::int64_t last, int side) {
        if (tier == 1)
            return side == 0 ? last - std::clamp(middle_, first, last) : std::clamp(middle_, first, last) - first;
        std::int64_t total = 0;
        const std::int64_t size = plan_.block[tier - 1];
        for (std::int64_t at = first; at < last;) {
            const std::int64_t whole = whollyIn(at, last, size);
            if (whole > 1) {
                total += whole * block(tier - 1, at, at + size, side);
                at += whole * size;
            } else {
                total += block(tier - 1, at, std::min(at + size, last), side);
                at += size;
            }
        }
        return total;
    }
    // How many blocks from here are full and of one half, so that one of them tells of all.
    std::int64_t whollyIn(std::int64_t at, std::int64_t last, std::int64_t size) const {
        const std::int64_t end = at < middle_ ? std::min(middle_, last) : last;
        return (end - at) / size;
    }
    std::int64_t block(int tier, std::int64_t first, std::int64_t last, int above) {
        return std::min(sum(tier, first, last, above), plan_.uplinks[tier] + sum(tier, first, last, 1 - above));
    }
    const Plan& plan_;
    std::int64_t middle_;
};

OneFacts facts(const TopologyDimension& dimension) {
    const Plan plan = planOf(dimension);
    OneFacts out;
    out.links = plan.n;
    out.diameter = plan.n > 1 ? 2 * plan.tiers : 0;
    double sum = 0;  // of 2 hops for each tier that an ordered pair climbs
    const double n = static_cast<double>(plan.n);
    sum += 2 * n * (n - 1);
    for (int tier = 1; tier < plan.tiers; ++tier) {
        const std::int64_t blocks = plan.blocks(tier);
        const std::int64_t switches = tier == 1 ? blocks : blocks * plan.uplinks[tier - 1];
        out.switches += switches;
        out.links += blocks * plan.uplinks[tier];
        const double size = static_cast<double>(plan.block[tier]);
        const double rest = static_cast<double>(plan.n % plan.block[tier]);
        const double inside =
            static_cast<double>(plan.n / plan.block[tier]) * size * (size - 1) + rest * (rest - 1) * (rest > 0);
        sum += 2 * (n * (n - 1) - inside);
    }
    out.switches += plan.tiers == 1 ? 1 : plan.tops();
    out.hops = sum / (n * n);
    out.bisection = Cut(plan).least();
    return out;
}

void expand(const TopologyDimension& dimension, OneNetwork& network) {
    const Plan plan = planOf(dimension);
    const double rows = plan.tiers + 1;
    const auto across = [](std::int64_t i, std::int64_t of) {
        return (static_cast<double>(i) + 0.5) / static_cast<double>(of);
    };
    const auto row = [&](int tier) { return 1 - (tier + 0.5) / rows; };
    for (std::int64_t v = 0; v < plan.n; ++v) network.place(v, across(v, plan.n), row(0));
    if (plan.tiers == 1) {
        const std::int32_t only = network.addSwitch(0, 0.5, row(1));
        for (std::int64_t v = 0; v < plan.n; ++v) network.link(v, only);
        return;
    }
    // ups[b]: for each link up of block b of the tier, the switch it leaves.
    std::vector<std::vector<std::int32_t>> ups;
    for (std::int64_t leaf = 0; leaf < plan.blocks(1); ++leaf) {
        const std::int32_t at = network.addSwitch(0, across(leaf, plan.blocks(1)), row(1));
        for (std::int64_t v = leaf * plan.down; v < std::min((leaf + 1) * plan.down, plan.n); ++v) network.link(v, at);
        ups.emplace_back(static_cast<std::size_t>(plan.up), at);
    }
    for (int tier = 2; tier < plan.tiers; ++tier) {
        std::vector<std::vector<std::int32_t>> next;
        const std::int64_t blocks = plan.blocks(tier), planes = plan.uplinks[tier - 1];
        for (std::int64_t b = 0; b < blocks; ++b) {
            auto& out = next.emplace_back();
            for (std::int64_t plane = 0; plane < planes; ++plane) {
                const std::int32_t at =
                    network.addSwitch(tier - 1, across(b * planes + plane, blocks * planes), row(tier));
                const auto end = std::min<std::int64_t>((b + 1) * plan.half, static_cast<std::int64_t>(ups.size()));
                for (std::int64_t child = b * plan.half; child < end; ++child) {
                    network.link(ups[static_cast<std::size_t>(child)][static_cast<std::size_t>(plane)], at);
                }
                out.insert(out.end(), static_cast<std::size_t>(plan.half), at);
            }
        }
        ups = std::move(next);
    }
    for (std::int64_t top = 0; top < plan.tops(); ++top) {
        const std::int32_t at = network.addSwitch(plan.tiers - 1, across(top, plan.tops()), row(plan.tiers));
        for (const auto& up : ups) network.link(up[static_cast<std::size_t>(top * plan.parallel)], at, plan.parallel);
    }
}

}  // namespace

const Shape fatTreeShape{misfit, facts, expand};

}  // namespace orrery::topology
