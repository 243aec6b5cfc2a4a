#include "mapping/mappers/optimal/chain.h"

#include "mapping/nest_flat.h"
#include "mapping/spatial_positions.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::optimal {
namespace {

/// Different children of a fan-out, at least: along every rank the sums of as many steps as there are.
double differentChildren(const TensorFacts& tensor, const std::array<std::int32_t, maxNestDimensions>& spatial) {
    double different = 1;
    for (const auto& rank : tensor.ranks) {
        std::int64_t positions = 1;
        for (const auto& term : rank) positions += spatial[term.dimension] - 1;
        different *= static_cast<double>(positions);
    }
    return different;
}

bool unrolls(std::uint32_t dimensions, const std::array<std::int32_t, maxNestDimensions>& spatial) {
    for (; dimensions; dimensions &= dimensions - 1)
        if (spatial[static_cast<std::size_t>(std::countr_zero(dimensions))] > 1) return true;
    return false;
}

/// Children along the rank of a window that has most of them.
double positionsOfChildren(const TensorFacts& tensor, const std::array<std::int32_t, maxNestDimensions>& spatial) {
    double most = 1;
    for (const auto& rank : tensor.ranks) {
        double positions = 1;
        for (const auto& term : rank) positions *= static_cast<double>(spatial[term.dimension]);
        if (rank.size() > 1) most = std::max(most, positions);
    }
    return most;
}

/// Arithmetic units that ask for different words, and those of them without a neighbour that asks for the same. What a
/// unit asks for does not depend on temporal loops but for a common offset.
struct Units {
    double different = 1, unlinked = 0;
};
std::array<Units, maxNestTensors> unitsOf(const Facts& facts, const Skeleton& skeleton, const Chain& chain) {
    std::array<Units, maxNestTensors> units;
    const auto frame = nest::makeFrame(facts.space->problem(), facts.space->hardware());
    if (!frame) return units;
    MapPoint point = pointOf(facts, skeleton);
    const std::size_t top = 2 * facts.levels() - 1;
    for (std::size_t a = 0; a < facts.active.size(); ++a)
        point.factor[top][facts.active[a]] = static_cast<std::int32_t>(chain.temporal[a]);
    NestMapping mapping;
    facts.space->toMapping(point, mapping);
    static thread_local nest::FlatNest flat;
    if (nest::flatten(*frame, mapping, flat) != MappingFault::None) return units;
    nest::SpatialPositions positions;
    for (std::size_t t = 0; t < facts.tensors.size(); ++t) {
        positions.select(*frame, flat, 0, t);
        units[t].different = static_cast<double>(positions.distinct());
        units[t].unlinked =
            std::min(units[t].different, static_cast<double>(positions.links(nest::Coordinates{}).distinctUnlinked));
    }
    return units;
}

}  // namespace

bool makeChain(const Facts& facts, const Skeleton& skeleton, Chain& chain) {
    const std::size_t levels = facts.levels(), dimensions = facts.active.size(), measures = facts.measures();
    const NestHardware& hardware = facts.space->hardware();
    chain.facts = &facts;
    chain.cycles = 1;
    chain.linked = 0;
    std::array<std::int64_t, maxNestDimensions> all;
    all.fill(1);
    for (std::size_t l = 0; l < levels; ++l) {
        for (std::size_t a = 0; a < dimensions; ++a) all[a] *= skeleton.spatial[l][a];
        chain.spatialInside[l] = all;
    }
    for (std::size_t a = 0; a < dimensions; ++a) {
        const std::int64_t extent = facts.space->problem().extents[facts.active[a]];
        if (extent % all[a]) return false;
        chain.temporal[a] = extent / all[a];
        std::int64_t fixed = 1;
        for (std::size_t l = 0; l < levels; ++l) fixed *= std::max<std::int64_t>(facts.fixed_[2 * l + 1][a], 1);
        if (chain.temporal[a] % fixed) return false;
        chain.cycles *= static_cast<double>(chain.temporal[a]);
    }
    std::array<double, maxMapspaceLevels> instances, clusters;
    double used = 1;
    for (std::size_t l = levels; l-- > 0;) {
        instances[l] = used;
        for (std::size_t a = 0; a < dimensions; ++a) used *= skeleton.spatial[l][a];
        const NestLevel& level = hardware.levels[l];
        clusters[l] = std::min(instances[l], std::floor(static_cast<double>(level.instances / level.clusterSize)));
        if (facts.objective == MapObjective::LastLevelAccesses) clusters[l] = instances[l];
    }
    bool fan = false;
    for (std::size_t a = 0; a < dimensions; ++a) fan = fan || skeleton.spatial[0][a] > 1;
    std::array<Units, maxNestTensors> units{};
    if (fan) units = unitsOf(facts, skeleton, chain);

    chain.base = {};
    chain.base[0] = facts.arithmetic;
    chain.interfaces.assign(facts.tensors.size(), {});
    for (std::size_t t = 0; t < facts.tensors.size(); ++t) {
        const TensorFacts& tensor = facts.tensors[t];
        std::array<double, maxMapspaceLevels> part;
        double words = facts.sizes[t];
        for (std::size_t l = levels; l-- > 0;) {
            part[l] = words;
            if (tensor.simple && tensor.unitStrides) words /= differentChildren(tensor, skeleton.spatial[l]);
        }
        int child = -1;
        for (std::size_t l = 0; l < levels; ++l) {
            if (!(skeleton.keeps[l] >> t & 1u)) continue;
            Interface at;
            at.tensor = t;
            at.child = child;
            at.parent = static_cast<int>(l);
            const auto above = static_cast<std::size_t>(child + 1);
            at.inside.fill(1);
            for (std::size_t a = 0; a < dimensions && child >= 0; ++a)
                at.inside[a] = static_cast<std::int32_t>(chain.spatialInside[static_cast<std::size_t>(child)][a]);
            for (std::size_t m = above; m <= l; ++m) {
                if (m > 0 || child >= 0) at.down *= differentChildren(tensor, skeleton.spatial[m]);
                bool spread = false;
                for (std::size_t a = 0; a < dimensions; ++a) spread = spread || skeleton.spatial[m][a] > 1;
                at.fan[m == above ? 0 : 1] = at.fan[m == above ? 0 : 1] || spread;
                if (tensor.simple || !unrolls(tensor.shared, skeleton.spatial[m])) continue;
                (m == above ? at.linkable : at.blind) = true;
                if (m == above) at.positions = positionsOfChildren(tensor, skeleton.spatial[m]);
                chain.linked |= 1u << t;
            }
            if (child < 0) {
                at.different = units[t].different;
                at.unlinked = units[t].unlinked;
                at.constant = !fan || (tensor.simple && at.unlinked == at.different);
            }
            at.alone = instances[above] == 1;
            at.parentPart = part[l];
            at.childPart = child < 0 ? 0 : part[static_cast<std::size_t>(child)];
            const NestLevel& parent = hardware.levels[l];
            const auto price = [&](const NestLevel& level, double joules, std::size_t which) {
                if (facts.objective != MapObjective::LastLevelAccesses) return joules * clusters[which];
                return &level == &hardware.levels.back() ? clusters[which] : 0.0;
            };
            const bool counted = facts.objective == MapObjective::LastLevelAccesses;
            at.block = counted ? 1 : static_cast<double>(parent.blockSize);
            at.read = price(parent, parent.energy.vectorRead, l);
            at.update = price(parent, parent.energy.vectorUpdate, l);
            if (child >= 0) {
                const auto c = static_cast<std::size_t>(child);
                at.childBlock = counted ? 1 : static_cast<double>(hardware.levels[c].blockSize);
                at.fill = price(hardware.levels[c], hardware.levels[c].energy.vectorWrite, c);
            }
            for (std::size_t k = 1; k < measures; ++k) {
                const Bandwidth& limit = facts.bandwidths[k - 1];
                at.counts[k] = {limit.level == l && limit.reads, limit.level == l && limit.writes,
                                child >= 0 && limit.level == static_cast<std::size_t>(child) && limit.writes};
            }
            if (at.constant) {
                const std::array<std::int64_t, maxNestDimensions> ones{};
                chain.add(at, ones.data(), chain.cycles, {}, chain.base);
            } else {
                chain.interfaces[t].push_back(at);
            }
            child = static_cast<int>(l);
        }
    }
    chain.findLeast();
    return true;
}

// Every tile of every word once: as many words as the loops that move the tensor and the child's spatial extents make.
void Chain::findLeast() {
    least.assign(interfaces.size(), {});
    std::array<std::int64_t, maxNestDimensions> ones;
    ones.fill(1);
    for (std::size_t t = 0; t < interfaces.size(); ++t) {
        const TensorFacts& tensor = facts->tensors[t];
        Closing best;
        for (std::size_t a = 0; a < facts->active.size(); ++a)
            if (!(tensor.relevant >> a & 1u)) best.run *= static_cast<double>(temporal[a]);
        for (const Interface& at : interfaces[t]) {
            least[t].push_back({});
            if (tensor.simple) {
                add(at, ones.data(), cycles, best, least[t].back());
            } else if (!tensor.weird && at.child >= 0 && !at.fan[0] && !at.fan[1]) {
                // All that the child ever holds, but for steps back that count as none: half of it at least.
                Closing half;
                half.run = 2;
                add(at, temporal.data(), 1, half, least[t].back());
            }
        }
    }
}

bool Chain::fits(const Skeleton& skeleton, std::size_t level, const std::int64_t* temporalInside) const {
    const NestHardware& hardware = facts->space->hardware();
    std::array<std::int64_t, maxNestDimensions> extents;
    for (std::size_t l = level; l < facts->levels(); ++l) {
        const NestLevel& storage = hardware.levels[l];
        if (std::isinf(storage.capacityWords) || !skeleton.keeps[l]) continue;
        for (std::size_t a = 0; a < facts->active.size(); ++a) extents[a] = temporalInside[a] * spatialInside[l][a];
        double words = 0;
        for (std::size_t t = 0; t < facts->tensors.size(); ++t)
            if (skeleton.keeps[l] >> t & 1u) words += tileWords(facts->tensors[t], extents.data());
        if (words > std::floor(storage.capacityWords / std::max(storage.multipleBuffering, 1.0))) return false;
    }
    return true;
}

Closing Chain::closing(std::size_t t, const OrderClass& order, std::size_t level, const std::int64_t* inside,
                       const std::int64_t* outside) const {
    Closing made;
    const TensorFacts& tensor = facts->tensors[t];
    const auto bound = [&](std::size_t a) { return static_cast<double>(outside[a] / inside[a]); };
    const auto product = [&](std::uint32_t dimensions) {
        double all = 1;
        for (; dimensions; dimensions &= dimensions - 1)
            all *= bound(static_cast<std::size_t>(std::countr_zero(dimensions)));
        return all;
    };
    made.run = product(order.run[t]);
    if (tensor.simple) return made;
    made.outside = order.outside[t];
    made.insideBounds = product(order.inside[t]);
    made.exact = order.exact(t);
    const std::uint32_t moved = order.moved[t];
    if (order.first[t] >= 0) {
        const auto first = static_cast<std::size_t>(order.first[t]);
        made.first = order.first[t];
        made.firstBound = bound(first);
        made.firstStep = static_cast<double>(inside[first] * spatialInside[level][first]);
    }
    if (std::popcount(moved) == 1) {
        const auto a = static_cast<std::size_t>(std::countr_zero(moved));
        made.movedBound = bound(a);
        if (!made.exact) {
            // Loops further out that slide the same window could step back onto it: are there any?
            bool any = made.first >= 0 && outside[a] < temporal[a] && bound(a) == 2;
            for (const std::uint32_t rank : tensor.rankMask) {
                if (!(rank & moved)) continue;
                for (std::uint32_t other = rank & ~moved; other; other &= other - 1) {
                    const auto o = static_cast<std::size_t>(std::countr_zero(other));
                    any = any || outside[o] < temporal[o];
                }
            }
            made.exact = !any;
        }
    } else if (moved) {
        made.movedBound = 1e300;
        for (std::uint32_t left = moved; left; left &= left - 1)
            made.movedBound = std::min(made.movedBound, bound(static_cast<std::size_t>(std::countr_zero(left))));
    }
    return made;
}

double Chain::tile(const Interface& at, const std::int64_t* inside) const {
    if (at.child < 0) return 0;
    std::array<std::int64_t, maxNestDimensions> extents;
    for (std::size_t a = 0; a < facts->active.size(); ++a) extents[a] = inside[a] * at.inside[a];
    return tileWords(facts->tensors[at.tensor], extents.data());
}

void Chain::add(const Interface& at, const std::int64_t* inside, double outer, const Closing& closing, Measures& to,
                double tile) const {
    const TensorFacts& tensor = facts->tensors[at.tensor];
    double words = 0, down = at.down;
    double asked = -1;  // by the children of the parent; as many as the child takes, times the different ones
    if (at.child < 0) {
        // A unit holds nothing: it asks for a word every cycle, of a neighbour where that had the same the cycle
        // before.
        if (at.constant) {
            words = outer * at.different;
        } else if (!tensor.weird && !at.blind) {
            const double changes = outer / closing.run * (closing.exact ? 1 : 1 - 1 / closing.movedBound);
            const double moved = at.different / at.positions;
            const double far = tensor.simple     ? changes
                               : closing.outside ? std::min(changes, outer / closing.insideBounds)
                                                 : 0;
            const double still = closing.exact ? at.unlinked : std::min(at.unlinked, moved);
            words = (outer - changes) * still + (changes - far) * moved + far * at.different;
        }
    } else {
        if (tile < 0) tile = this->tile(at, inside);
        if (tensor.weird) {
            words = 0;
        } else if (tensor.simple) {
            words = tile * outer / closing.run;
        } else {
            double fresh = tile;
            if (closing.first >= 0) {
                double common = 1;
                for (const auto& rank : tensor.ranks) {
                    double side = 1, step = 0;
                    for (const auto& term : rank) {
                        side += static_cast<double>(term.coefficient *
                                                    (inside[term.dimension] * at.inside[term.dimension] - 1));
                        if (term.dimension == closing.first)
                            step = static_cast<double>(term.coefficient) * closing.firstStep;
                    }
                    common *= std::max(0.0, side - step);
                }
                fresh = tile - common;
            }
            if (closing.exact) {
                words = closing.first >= 0 ? outer / closing.firstBound * (tile + fresh * (closing.firstBound - 1))
                                           : tile * outer / closing.run;
            } else {
                words = closing.first >= 0 ? fresh * outer + tile - fresh
                                           : tile * std::max(1.0, outer / closing.run * (1 - 1 / closing.movedBound));
            }
            if (at.linkable || (!closing.exact && at.fan[0])) {
                // Only children at the end of a row have no neighbour that held what they want.
                const double far = closing.outside ? tile * outer / closing.insideBounds : tile;
                words = std::max(words, far);
                const double taken = far + (words - far) * (closing.exact ? 1 / at.positions : 0);
                asked = taken * down;
                words = at.alone ? std::max(0.0, words - 1) : taken;
            }
            if (at.blind || (!closing.exact && at.fan[1])) asked = 0;
        }
    }
    if (asked < 0) asked = words * down;
    const auto blocks = [](double n, double block) { return block == 1 ? n : std::ceil(n / block * (1 - 1e-12)); };
    double reads = asked, updates = 0, fills = at.child < 0 ? 0 : words;
    if (tensor.written) {
        updates = asked;
        reads = std::max(0.0, asked - at.parentPart);
        fills = std::max(0.0, fills - at.childPart);
    }
    to[0] += blocks(reads, at.block) * at.read + blocks(updates, at.block) * at.update +
             blocks(fills, at.childBlock) * at.fill;
    for (std::size_t k = 1; k < facts->measures(); ++k) {
        const auto& counts = at.counts[k];
        to[k] += (counts[0] ? reads : 0) + (counts[1] ? updates : 0) + (counts[2] ? fills : 0);
    }
}

Measures compulsory(const Chain& chain) {
    Measures sum = chain.base;
    for (const auto& tensor : chain.least)
        for (const Measures& at : tensor)
            for (std::size_t k = 0; k < chain.facts->measures(); ++k) sum[k] += at[k];
    return sum;
}

}  // namespace orrery::optimal
