#include "mapping/mappers/optimal/facts.h"

#include "mapping/mappers/optimal/chain.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace orrery::optimal {
namespace {

TensorFacts tensorFacts(const NestTensor& tensor, const std::vector<std::uint8_t>& active) {
    TensorFacts made;
    made.written = tensor.written;
    for (const TensorRank& rank : tensor.ranks) {
        std::vector<TensorFacts::Term> terms;
        std::uint32_t mask = 0;
        for (const ProjectionTerm& term : rank.terms) {
            const auto at = std::find(active.begin(), active.end(), term.dimension);
            if (at == active.end()) continue;
            const auto a = static_cast<std::uint8_t>(at - active.begin());
            terms.push_back({a, term.coefficient});
            made.weird = made.weird || (made.relevant >> a & 1u);
            made.relevant |= 1u << a;
            mask |= 1u << a;
            made.unitStrides = made.unitStrides && term.coefficient == 1;
        }
        if (terms.size() > 1) {
            made.simple = false;
            made.shared |= mask;
        }
        made.ranks.push_back(std::move(terms));
        made.rankMask.push_back(mask);
    }
    return made;
}

class Enumerator {
public:
    Enumerator(const Facts& facts, std::size_t most) : facts_(facts), space_(*facts.space), most_(most) {}

    bool run(std::vector<Skeleton>& out) {
        out_ = &out;
        for (std::size_t a = 0; a < facts_.active.size(); ++a) rest_[a] = space_.problem().extents[facts_.active[a]];
        spread(0, 0, 1);
        return !full_;
    }

private:
    // Spatial factor of dimension a at level l; `used` instances so far of its fan-out.
    void spread(std::size_t l, std::size_t a, std::int64_t used) {
        if (full_) return;
        if (l == space_.levels()) return keeps();
        if (a == facts_.active.size()) return spread(l + 1, 0, 1);
        const FanOut& fan = space_.fan(l);
        for (std::int64_t f = 1; f <= rest_[a] && used * f <= fan.x * fan.y; ++f) {
            if (rest_[a] % f || !facts_.allows(2 * l, a, f)) continue;
            skeleton_.spatial[l][a] = static_cast<std::int32_t>(f);
            rest_[a] /= f;
            spread(l, a + 1, used * f);
            rest_[a] *= f;
        }
        skeleton_.spatial[l][a] = 1;
    }

    void keeps() {
        MapPoint point = pointOf(facts_, skeleton_);
        std::vector<std::array<std::uint32_t, maxMapspaceLevels>> splits;
        split(0, point, splits);
        if (splits.empty()) return;
        const auto kept0 = space_.start().keeps;
        std::size_t bits = 0;
        for (std::size_t l = 0; l < space_.levels(); ++l)
            bits += static_cast<std::size_t>(std::popcount(space_.freeKeeps(l)));
        if (bits > 20) {
            full_ = true;
            return;
        }
        const auto tensors = static_cast<std::uint32_t>((1u << facts_.tensors.size()) - 1);
        for (std::uint32_t number = 0; number < (1u << bits) && !full_; ++number) {
            std::uint32_t left = number, all = 0;
            for (std::size_t l = 0; l < space_.levels(); ++l) {
                std::uint32_t kept = kept0[l] & ~space_.freeKeeps(l);
                for (std::uint32_t free = space_.freeKeeps(l); free; free &= free - 1, left >>= 1) {
                    if (!(left & 1u)) kept |= free & (~free + 1);
                }
                skeleton_.keeps[l] = kept;
                all |= kept;
            }
            if ((all & tensors) != tensors) continue;
            for (const auto& x : splits) {
                skeleton_.x = x;
                Chain chain;
                if (!makeChain(facts_, skeleton_, chain)) break;
                skeleton_.bound = facts_.value(chain.cycles, compulsory(chain));
                out_->push_back(skeleton_);
                // Which side of the mesh a loop runs along counts only where neighbours hand words on.
                bool sides = chain.linked != 0;
                for (const std::int32_t f : skeleton_.spatial[0]) sides = sides || f > 1;
                if (!sides) break;
            }
            full_ = out_->size() > most_;
        }
    }

    void split(std::size_t l, MapPoint& point, std::vector<std::array<std::uint32_t, maxMapspaceLevels>>& out) {
        if (l == space_.levels()) {
            if (space_.checkFanOut(point).fault == MappingFault::None) out.push_back(point.x);
            return;
        }
        for (std::uint64_t i = 0, n = space_.xChoices(point, l); i < n; ++i) {
            space_.setXChoice(point, l, i);
            split(l + 1, point, out);
        }
    }

    const Facts& facts_;
    const Mapspace& space_;
    std::size_t most_;
    std::array<std::int64_t, maxNestDimensions> rest_{};
    Skeleton skeleton_{[] {
        Skeleton s;
        for (auto& level : s.spatial) level.fill(1);
        return s;
    }()};
    std::vector<Skeleton>* out_ = nullptr;
    bool full_ = false;
};

/// Iterations of one fan-out, at most, over these active dimensions.
double mostParallel(const Facts& facts, const Remains& remains, std::size_t level, std::uint32_t dimensions) {
    const FanOut& fan = facts.space->fan(level);
    double most = 1;
    for (std::size_t a = 0; a < facts.active.size(); ++a) {
        if (!(dimensions >> a & 1u)) continue;
        const std::int64_t fixed = facts.fixed_[2 * level][a], extent = facts.space->problem().extents[facts.active[a]];
        most *= static_cast<double>(
            std::max<std::int64_t>(1, std::min(fixed ? fixed : facts.limit_[2 * level][a], extent)));
    }
    return remains.meshes ? std::min(most, static_cast<double>(fan.x * fan.y)) : most;
}

/// Of all fan-outs from the arithmetic up to a level.
double mostParallelUpTo(const Facts& facts, const Remains& remains, std::size_t level, std::uint32_t dimensions) {
    double most = 1, extents = 1;
    for (std::size_t m = 0; m <= level; ++m) most *= mostParallel(facts, remains, m, dimensions);
    if (remains.meshes) return most;
    for (std::size_t a = 0; a < facts.active.size(); ++a)
        if (dimensions >> a & 1u) extents *= static_cast<double>(facts.space->problem().extents[facts.active[a]]);
    return std::min({most, extents, remains.units});
}

/// Joules of one word at a level, at least: as blocks, at as many instances as are counted.
double priceOfWord(const Facts& facts, std::size_t l, double joulesOfBlock) {
    const NestLevel& level = facts.space->hardware().levels[l];
    if (facts.objective == MapObjective::LastLevelAccesses) return l + 1 == facts.levels() ? 1 : 0;
    const auto instances = static_cast<double>(level.instances);
    const double clusters = std::floor(instances / static_cast<double>(level.clusterSize));
    return joulesOfBlock / static_cast<double>(level.blockSize) * std::min(1.0, clusters / instances);
}

/// Words that a level passes to units or that they pass to it, at least.
double wordsOfUnits(const Facts& facts, const Remains& remains, const TensorFacts& tensor, std::size_t level,
                    double words) {
    const double shared = mostParallelUpTo(facts, remains, level, ~tensor.relevant);
    return std::max(words, facts.space->problem().operations() / shared);
}

/// The cheapest set of levels that may keep a tensor, by the words that cross its borders.
double cheapestLevels(const Facts& facts, const Remains& remains, std::size_t t, double words, std::uint32_t must,
                      std::uint32_t may) {
    const TensorFacts& tensor = facts.tensors[t];
    const auto& levels = facts.space->hardware().levels;
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t kept = 1; kept < (1u << levels.size()); ++kept) {
        if ((kept & must) != must || (kept & ~may)) continue;
        double sum = 0;
        bool inner = false;
        for (std::size_t l = 0; l < levels.size(); ++l) {
            if (!(kept >> l & 1u)) continue;
            const ActionEnergies& energy = levels[l].energy;
            const double asked = inner ? words : wordsOfUnits(facts, remains, tensor, l, words);
            sum += asked * priceOfWord(facts, l, tensor.written ? energy.vectorUpdate : energy.vectorRead);
            // All but the outermost are filled; of results only partial sums are, which need not be.
            if ((kept >> l) > 1 && !tensor.written) sum += words * priceOfWord(facts, l, energy.vectorWrite);
            inner = true;
        }
        least = std::min(least, sum);
    }
    return std::isfinite(least) ? least : 0;
}

}  // namespace

double Facts::value(double computeCycles, const Measures& measures) const {
    double cycles = computeCycles;
    for (std::size_t i = 0; i < bandwidths.size(); ++i)
        cycles = std::max(cycles, std::ceil(measures[1 + i] / bandwidths[i].wordsPerCycle * (1 - 1e-12)));
    cycles += latency;
    switch (objective) {
        case MapObjective::Latency:
            return cycles;
        case MapObjective::Energy:
            return measures[0] + joulesPerCycle * cycles;
        case MapObjective::LastLevelAccesses:
            return measures[0];
        case MapObjective::Edp:
            return measures[0] * cycles;
    }
    return 0;
}

double tileWords(const TensorFacts& tensor, const std::int64_t* extents) {
    double words = 1;
    for (const auto& rank : tensor.ranks) {
        std::int64_t side = 1;
        for (const auto& term : rank) side += term.coefficient * (extents[term.dimension] - 1);
        words *= static_cast<double>(side);
    }
    return words;
}

Facts makeFacts(const Mapspace& space, MapObjective objective, double joulesPerCycle) {
    Facts facts;
    facts.space = &space;
    facts.objective = objective;
    facts.joulesPerCycle = joulesPerCycle;
    for (std::size_t d = 0; d < space.dimensions(); ++d)
        if (space.problem().extents[d] > 1) facts.active.push_back(static_cast<std::uint8_t>(d));
    std::array<std::int64_t, maxNestDimensions> extents{};
    for (std::size_t a = 0; a < facts.active.size(); ++a) extents[a] = space.problem().extents[facts.active[a]];
    for (const NestTensor& tensor : space.problem().tensors) {
        facts.tensors.push_back(tensorFacts(tensor, facts.active));
        facts.sizes[facts.tensors.size() - 1] = tileWords(facts.tensors.back(), extents.data());
    }
    const MapPoint start = space.start();
    for (std::size_t loop = 0; loop < 2 * space.levels(); ++loop) {
        for (std::size_t a = 0; a < facts.active.size(); ++a) {
            facts.fixed_[loop][a] = start.factor[loop][facts.active[a]];
            for (const auto& free : space.freeLoops(facts.active[a])) {
                if (free.loop != loop) continue;
                facts.fixed_[loop][a] = 0;
                facts.limit_[loop][a] = free.limit;
            }
        }
    }
    const NestHardware& hardware = space.hardware();
    for (std::size_t l = 0; l < hardware.levels.size(); ++l) {
        const NestLevel& level = hardware.levels[l];
        facts.latency += level.networkLatency;
        const auto limit = [&](double words, bool reads, bool writes) {
            if (words > 0 && facts.measures() < maxMeasures) facts.bandwidths.push_back({l, reads, writes, words});
        };
        if (objective == MapObjective::LastLevelAccesses) continue;
        if (objective == MapObjective::Energy && joulesPerCycle == 0) continue;
        limit(level.sharedBandwidth, true, true);
        limit(level.readBandwidth, true, false);
        limit(level.writeBandwidth, false, true);
    }
    if (objective != MapObjective::LastLevelAccesses)
        facts.arithmetic = space.problem().operations() * hardware.arithmetic.energy;
    return facts;
}

MapPoint pointOf(const Facts& facts, const Skeleton& skeleton) {
    MapPoint point = facts.space->start();
    for (std::size_t l = 0; l < facts.levels(); ++l) {
        for (std::size_t a = 0; a < facts.active.size(); ++a) {
            point.factor[2 * l][facts.active[a]] = skeleton.spatial[l][a];
            point.factor[2 * l + 1][facts.active[a]] = 1;
        }
        if (facts.space->fan(l).any()) point.x[l] = skeleton.x[l];
        point.keeps[l] = skeleton.keeps[l];
    }
    return point;
}

std::optional<std::vector<Skeleton>> makeSkeletons(const Facts& facts, std::size_t most) {
    std::vector<Skeleton> made;
    if (!Enumerator(facts, most).run(made)) return std::nullopt;
    std::stable_sort(made.begin(), made.end(), [](const Skeleton& a, const Skeleton& b) { return a.bound < b.bound; });
    return made;
}

double plainBound(const Facts& facts, const Remains& remains) {
    const Mapspace& space = *facts.space;
    const auto kept0 = space.start().keeps;
    const double parallel = mostParallelUpTo(facts, remains, facts.levels() - 1, ~0u);
    Measures measures{};
    measures[0] = facts.arithmetic * remains.computed;
    for (std::size_t t = 0; t < facts.tensors.size(); ++t) {
        const TensorFacts& tensor = facts.tensors[t];
        if (!tensor.simple || tensor.weird || !tensor.unitStrides) continue;
        std::uint32_t must = 0, may = 0;
        for (std::size_t l = 0; l < facts.levels(); ++l) {
            const bool free = space.freeKeeps(l) >> t & 1u, kept = kept0[l] >> t & 1u;
            if (free || kept) may |= 1u << l;
            if (!free && kept) must |= 1u << l;
        }
        measures[0] += remains.paid[t] * cheapestLevels(facts, remains, t, facts.sizes[t], must, may);
        for (std::size_t k = 1; k < facts.measures(); ++k) {
            const Bandwidth& limit = facts.bandwidths[k - 1];
            if (!(must >> limit.level & 1u) || !(tensor.written ? limit.writes : limit.reads)) continue;
            // Where nothing inside can keep it, the units ask this level.
            const bool innermost = (may & ((1u << limit.level) - 1)) == 0;
            const double words =
                innermost ? wordsOfUnits(facts, remains, tensor, limit.level, facts.sizes[t]) : facts.sizes[t];
            measures[k] +=
                remains.moved[t] * words / static_cast<double>(space.hardware().levels[limit.level].instances);
        }
    }
    const double taking = space.problem().operations() * remains.taking;
    return facts.value(std::ceil(taking / parallel * (1 - 1e-12)), measures);
}

}  // namespace orrery::optimal
