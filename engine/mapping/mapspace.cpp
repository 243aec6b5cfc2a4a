#include "mapping/mapspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace orrery {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int32_t>::max();

std::int64_t factorAt(const LoopConstraint& constraint, std::size_t dimension) {
    return dimension < constraint.factors.size() ? constraint.factors[dimension] : 0;
}
std::int64_t maximumAt(const LoopConstraint& constraint, std::size_t dimension) {
    const std::int64_t most = dimension < constraint.maxFactors.size() ? constraint.maxFactors[dimension] : 0;
    return most > 0 ? most : unlimited;
}

std::uint32_t maskOf(const std::vector<std::uint8_t>& dimensions) {
    std::uint32_t mask = 0;
    for (const std::uint8_t dimension : dimensions) mask |= 1u << dimension;
    return mask;
}

std::string loopName(const NestHardware& hardware, std::size_t loop) {
    return hardware.levels[loop / 2].name + (loop % 2 ? ", temporal" : ", spatial");
}

/// The largest extent of one dimension with which a tensor that contains it can still fit.
std::int64_t largestExtent(const NestTensor& tensor, std::size_t dimension, double words) {
    std::int64_t most = unlimited;
    for (const TensorRank& rank : tensor.ranks) {
        for (const ProjectionTerm& term : rank.terms) {
            if (term.dimension != dimension || term.coefficient <= 0) continue;
            const double extent = std::floor((words - 1) / static_cast<double>(term.coefficient)) + 1;
            most = std::min(most, extent < 1 ? 0 : static_cast<std::int64_t>(std::min(extent, 2147483647.0)));
        }
    }
    return most;
}

}  // namespace

FanOut fanOut(const NestHardware& hardware, std::size_t level) {
    const NestLevel& outer = hardware.levels[level];
    const std::int64_t instances = level ? hardware.levels[level - 1].instances : hardware.arithmetic.instances;
    const std::int64_t meshX = level ? hardware.levels[level - 1].meshX : hardware.arithmetic.meshX;
    const auto sides = [](std::int64_t count, std::int64_t x) {
        const std::int64_t width = std::clamp<std::int64_t>(x, 1, std::max<std::int64_t>(count, 1));
        return std::pair(width, std::max<std::int64_t>(count / width, 1));
    };
    const auto [innerX, innerY] = sides(instances, meshX);
    const auto [outerX, outerY] = sides(outer.instances, outer.meshX);
    return {std::max<std::int64_t>(innerX / outerX, 1), std::max<std::int64_t>(innerY / outerY, 1)};
}

Expected<Mapspace> Mapspace::make(NestProblem problem, NestHardware hardware, MapspaceConstraints constraints,
                                  MapspaceOptions options) {
    Mapspace space;
    space.problem_ = std::move(problem);
    space.hardware_ = std::move(hardware);
    space.constraints_ = std::move(constraints);
    if (auto ok = space.checkConstraints(); !ok) return tl::unexpected(std::move(ok.error()));
    if (auto ok = space.makeSpaces(options.prune); !ok) return tl::unexpected(std::move(ok.error()));
    return space;
}

Expected<void> Mapspace::checkConstraints() {
    if (hardware_.levels.empty() || levels() > maxMapspaceLevels)
        return fail("mapspace.levels", fmt::format("the hardware has {} storage levels", levels()),
                    fmt::format("1 to {}", maxMapspaceLevels));
    if (dimensions() == 0 || dimensions() > maxNestDimensions)
        return fail("mapspace.dimensions", fmt::format("the problem has {} dimensions", dimensions()),
                    fmt::format("1 to {}", maxNestDimensions));
    for (std::size_t d = 0; d < dimensions(); ++d) {
        if (problem_.extents[d] < 1 || problem_.extents[d] > unlimited)
            return fail("mapspace.extent", fmt::format("{} is {}", problem_.dimensions[d], problem_.extents[d]),
                        "1 to 2147483647");
    }
    constraints_.levels.resize(levels());
    for (std::size_t l = 0; l < levels(); ++l) fans_.push_back(fanOut(hardware_, l));
    for (std::size_t l = 0; l < levels(); ++l) {
        const LevelConstraint& level = constraints_.levels[l];
        const std::string& name = hardware_.levels[l].name;
        if (const std::uint32_t both = level.keep & level.bypass) {
            return fail("mapspace.conflict",
                        fmt::format("{} shall both be kept in {} and pass it by",
                                    problem_.tensors[static_cast<std::size_t>(std::countr_zero(both))].name, name),
                        "one of the two", "Remove it from `keep` or from `bypass`.", level.place);
        }
        for (std::size_t d = 0; d < dimensions() && !fans_[l].any(); ++d) {
            if (factorAt(level.spatial, d) > 1)
                return fail("mapspace.no-fan-out",
                            fmt::format("{} shall be spread {} times below {}, which has no fan-out",
                                        problem_.dimensions[d], factorAt(level.spatial, d), name),
                            "a level with more instances inside it", "Move the factor to such a level.",
                            level.spatial.place);
        }
        for (const LoopConstraint* loops : {&level.spatial, &level.temporal}) {
            std::uint32_t seen = 0;
            for (const auto* list : {&loops->innermost, &loops->outermost}) {
                for (const std::uint8_t d : *list) {
                    if (d >= dimensions() || (seen >> d & 1u))
                        return fail("mapspace.order", fmt::format("an order of {} names a dimension twice", name),
                                    "every dimension once at most", {}, loops->place);
                    seen |= 1u << d;
                }
            }
        }
    }
    return {};
}

Expected<void> Mapspace::makeSpaces(bool prune) {
    const std::size_t outermost = levels() - 1;
    const std::uint32_t tensors = (1u << problem_.tensors.size()) - 1;
    for (auto& row : start_.factor) row.fill(1);
    start_.x.fill(0);
    start_.keeps.fill(0);
    for (std::size_t l = 0; l < levels(); ++l) {
        const LevelConstraint& level = constraints_.levels[l];
        const NestLevel& storage = hardware_.levels[l];
        // The outermost level holds everything unless a constraint says otherwise.
        freeKeeps_.push_back(l == outermost ? 0 : tensors & ~(level.keep | level.bypass));
        start_.keeps[l] = l == outermost ? tensors & ~level.bypass : (level.keep | freeKeeps_[l]) & tensors;
        capacity_.push_back(std::floor(storage.capacityWords / std::max(storage.multipleBuffering, 1.0)));

        auto& order = start_.order[l];
        pinned_.push_back(maskOf(level.temporal.innermost) | maskOf(level.temporal.outermost));
        std::size_t at = 0;
        for (const std::uint8_t d : level.temporal.innermost) order[at++] = d;
        for (std::size_t d = 0; d < dimensions(); ++d) {
            if (!(pinned_[l] >> d & 1u)) order[at++] = static_cast<std::uint8_t>(d);
        }
        for (const std::uint8_t d : level.temporal.outermost) order[at++] = d;

        XRule rule;
        const auto& first = level.spatial.innermost;
        if (level.spatial.split && *level.spatial.split <= first.size()) {
            for (std::size_t i = 0; i < *level.spatial.split; ++i) rule.mask |= 1u << first[i];
        } else if (level.spatial.split && *level.spatial.split >= dimensions()) {
            rule.mask = ~0u;
        } else if (fans_[l].x > 1 && fans_[l].y > 1) {
            rule.kind = first.empty() && !level.spatial.split ? XRule::Free : XRule::Ordered;
        } else if (fans_[l].x > 1) {
            rule.mask = ~0u;
        }
        xRules_.push_back(rule);
        start_.x[l] = rule.mask;
    }
    leastParallel_ = static_cast<std::int64_t>(
        std::ceil(constraints_.minParallelism * static_cast<double>(hardware_.arithmetic.instances) - 1e-9));

    for (std::size_t d = 0; d < dimensions(); ++d) {
        const std::int64_t extent = problem_.extents[d];
        std::int64_t rest = extent;
        std::vector<FreeLoop> loops;
        std::vector<std::int64_t> fixedInside;  // per free loop: fixed factors of loops inside the end of its level
        std::int64_t fixed = 1;
        for (std::size_t loop = 0; loop < 2 * levels(); ++loop) {
            const LevelConstraint& level = constraints_.levels[loop / 2];
            const LoopConstraint& constraint = loop % 2 ? level.temporal : level.spatial;
            const FanOut& fan = fans_[loop / 2];
            if (loop % 2 == 0 && !fan.any()) continue;
            const std::int64_t factor = std::min(factorAt(constraint, d), extent);
            if (factor > 0) {
                start_.factor[loop][d] = static_cast<std::int32_t>(factor);
                fixed = std::min(fixed * factor, unlimited);
                if (!constraints_.imperfect && rest % factor != 0) {
                    return fail("mapspace.factors",
                                fmt::format("{} = {} cannot be divided by the factors that constraints fix, {} in {} "
                                            "among them",
                                            problem_.dimensions[d], extent, factor, loopName(hardware_, loop)),
                                "factors whose product divides the extent",
                                "Change the factor, or allow imperfect factors (template `ruby`).", constraint.place);
                }
                rest = (rest + factor - 1) / factor;
            } else {
                std::int64_t limit = std::min(maximumAt(constraint, d), unlimited);
                if (loop % 2 == 0 && prune) limit = std::min(limit, std::max(fan.x, fan.y));
                loops.push_back({static_cast<std::uint8_t>(loop), limit});
                fixedInside.push_back(fixed);
            }
        }
        const auto largest = [&](std::size_t i, std::int64_t inner) {
            std::int64_t most = loops[i].limit;
            const std::size_t l = loops[i].loop / 2u;
            if (!prune || !std::isfinite(capacity_[l])) return most;
            const std::uint32_t kept = start_.keeps[l] & ~freeKeeps_[l];
            for (std::size_t t = 0; t < problem_.tensors.size(); ++t) {
                if (!(kept >> t & 1u)) continue;
                const std::int64_t room = largestExtent(problem_.tensors[t], d, capacity_[l]);
                // Imperfect tiles are cut at the extent.
                if (room < extent) most = std::min(most, room / std::max<std::int64_t>(fixedInside[i] * inner, 1));
            }
            return most;
        };
        spaces_.emplace_back(rest, loops.size(), constraints_.imperfect, largest);
        if (spaces_.back().size() == 0) {
            std::string where;
            for (const FreeLoop& loop : loops) where += (where.empty() ? "" : "; ") + loopName(hardware_, loop.loop);
            const std::string message =
                fmt::format("{} = {}: of it {} is left for {}, which cannot take it", problem_.dimensions[d], extent,
                            rest, where.empty() ? "no loop, all factors being fixed" : where);
            return fail(
                "mapspace.empty", message, "room for every factor of every dimension",
                "Free a factor of this dimension at the outermost level, raise a maximum, or enlarge a fan-out.",
                constraints_.levels[outermost].temporal.place);
        }
        free_.push_back(std::move(loops));
        if (extent > 1) active_.push_back(static_cast<std::uint8_t>(d));
        if (spaces_.back().size() > 1) spread_.push_back(static_cast<std::uint8_t>(d));
        std::vector<std::int32_t> primes;
        std::int64_t left = rest;
        for (std::int64_t p = 2; p * p <= left; ++p) {
            for (; left % p == 0; left /= p) primes.push_back(static_cast<std::int32_t>(p));
        }
        if (left > 1) primes.push_back(static_cast<std::int32_t>(left));
        primes_.push_back(std::move(primes));
    }
    setFactors(start_, 0);
    for (std::size_t l = 0; l < levels(); ++l) setXChoice(start_, l, 0);
    return {};
}

MapspaceSize Mapspace::size() const {
    MapspaceSize size;
    for (const FactorSpace& space : spaces_) size.factors *= static_cast<double>(space.size());
    for (std::size_t l = 0; l < levels(); ++l) {
        const auto loose = static_cast<double>(dimensions()) - std::popcount(pinned_[l]);
        if (l > 0) size.orders *= std::tgamma(loose + 1);
        size.keeps *= std::exp2(std::popcount(freeKeeps_[l]));
        const auto ordered = static_cast<double>(constraints_.levels[l].spatial.innermost.size());
        if (xRules_[l].kind != XRule::Fixed)
            size.splits *= ordered + std::exp2(static_cast<double>(dimensions()) - ordered);
    }
    return size;
}

PointFault Mapspace::checkFanOut(const MapPoint& point) const {
    std::int64_t parallel = 1;
    for (std::size_t l = 0; l < levels(); ++l) {
        if (!fans_[l].any()) continue;
        std::int64_t x = 1, y = 1;
        for (const std::uint8_t d : active_) {
            ((point.x[l] >> d & 1u) ? x : y) *= point.factor[2 * l][d];
            if (x > fans_[l].x || y > fans_[l].y) return {MappingFault::FanOut, l};
        }
        parallel *= x * y;
    }
    if (parallel < leastParallel_) return {MappingFault::Utilisation, 0};
    return {};
}

PointFault Mapspace::checkFactors(const MapPoint& point) const {
    for (std::size_t l = 0; l < levels(); ++l) {
        const FanOut& fan = fans_[l];
        if (!fan.any()) continue;
        const XRule& rule = xRules_[l];
        std::int64_t x = 1, y = 1;
        for (const std::uint8_t d : active_) ((rule.mask >> d & 1u) ? x : y) *= point.factor[2 * l][d];
        const bool fits = rule.kind == XRule::Fixed ? x <= fan.x && y <= fan.y : x * y <= fan.x * fan.y;
        if (!fits) return {MappingFault::FanOut, l};
    }
    return checkCapacity(point, true);
}

PointFault Mapspace::checkSmallest() const {
    MapPoint point = start_;
    for (std::size_t d = 0; d < dimensions(); ++d) {
        std::int64_t free = 1;
        for (const FreeLoop& loop : free_[d]) free *= std::exchange(point.factor[loop.loop][d], 1);
        if (!free_[d].empty()) point.factor[free_[d].back().loop][d] = static_cast<std::int32_t>(free);
    }
    return checkCapacity(point, true);
}

PointFault Mapspace::check(const MapPoint& point) const {
    if (const PointFault fault = checkFanOut(point); fault.fault != MappingFault::None) return fault;
    return checkCapacity(point, false);
}

PointFault Mapspace::checkCapacity(const MapPoint& point, bool surely) const {
    std::array<std::int64_t, maxNestDimensions> extent;
    extent.fill(1);
    for (std::size_t l = 0; l + 1 < levels() || (l < levels() && std::isfinite(capacity_[l])); ++l) {
        for (const std::uint8_t d : active_) {
            extent[d] = std::min<std::int64_t>(extent[d] * point.factor[2 * l][d] * point.factor[2 * l + 1][d],
                                               problem_.extents[d]);
        }
        const std::uint32_t keeps = surely ? start_.keeps[l] & ~freeKeeps_[l] : point.keeps[l];
        if (!keeps || !std::isfinite(capacity_[l])) continue;
        double words = 0;
        for (std::uint32_t kept = keeps; kept; kept &= kept - 1) {
            double tile = 1;
            for (const TensorRank& rank : problem_.tensors[static_cast<std::size_t>(std::countr_zero(kept))].ranks) {
                std::int64_t side = 1;
                for (const ProjectionTerm& term : rank.terms)
                    side += std::abs(term.coefficient) * (extent[term.dimension] - 1);
                tile *= static_cast<double>(side);
            }
            words += tile;
        }
        if (words > capacity_[l]) return {MappingFault::Capacity, l};
    }
    return {};
}

void Mapspace::toMapping(const MapPoint& point, NestMapping& mapping) const {
    mapping.levels.resize(levels());
    std::array<std::int64_t, maxNestDimensions> rest;
    for (std::size_t d = 0; d < dimensions(); ++d) rest[d] = problem_.extents[d] - 1;
    const auto add = [&](LevelMapping& level, std::size_t loop, std::uint8_t d, LoopKind kind) {
        const std::int64_t bound = point.factor[loop][d];
        if (bound == 1) return;
        // Digits of extent - 1 in the mixed radix of the bounds: the last iteration of each loop.
        const std::int64_t digit = constraints_.imperfect ? rest[d] % bound : bound - 1;
        rest[d] /= bound;
        level.loops.push_back({d, kind, bound, digit + 1});
    };
    for (std::size_t l = 0; l < levels(); ++l) {
        LevelMapping& level = mapping.levels[l];
        level.loops.clear();
        level.keeps = point.keeps[l];
        for (const bool x : {true, false}) {
            for (const std::uint8_t d : active_) {
                if ((point.x[l] >> d & 1u) == (x ? 1u : 0u))
                    add(level, 2 * l, d, x ? LoopKind::SpatialX : LoopKind::SpatialY);
            }
        }
        for (std::size_t i = 0; i < dimensions(); ++i) add(level, 2 * l + 1, point.order[l][i], LoopKind::Temporal);
    }
}

}  // namespace orrery
