#include "mapping/mappers/optimal/optimal.h"

#include "mapping/mappers/optimal/branch.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace orrery::optimal {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::size_t mostSkeletons = 400000;
constexpr std::uint64_t mostSteps = 200000000, stepsOfACosting = 50;

/// Every point, for spaces whose parts have no bounds. Returns the least that one not seen can be.
double searchPlainly(const Mapspace& space, double bound, Incumbent& best) {
    best.post(bound);
    const std::uint64_t count = space.factorisations();
    MapPoint point = space.start();
    for (std::uint64_t number = 0; number < count; ++number) {
        space.setFactors(point, number);
        const std::uint64_t variants = space.variants(point);
        for (std::uint64_t variant = 0; variant < variants; ++variant) {
            if (bound >= best.threshold()) return bound;
            if (best.ends(stepsOfACosting)) return bound;
            space.setVariant(point, variant);
            best.consider(point);
        }
    }
    return infinite;
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Incumbent::Incumbent(const Mapspace& space, const MapperOptions& options, SearchContext& context, MapperResult& result)
    : space_(space),
      options_(options),
      context_(context),
      result_(result),
      evaluator_(space.problem(), space.hardware(), context.sparse),
      threshold_(infinite),
      budget_(options.steps ? options.steps : mostSteps),
      begun_(now()) {
    value_.fill(infinite);
}

void Incumbent::consider(const MapPoint& point) {
    ++result_.examined;
    PointFault fault;
    if (!context_.sparse) fault = space_.check(point);
    if (fault.fault == MappingFault::None) {
        space_.toMapping(point, mapping_);
        fault.fault = evaluator_.evaluate(mapping_, counts_);
    }
    if (fault.fault != MappingFault::None) {
        ++result_.refusals.count[static_cast<std::size_t>(fault.fault)][fault.level];
        return;
    }
    ++result_.valid;
    std::array<double, 4> value{};
    for (std::size_t i = 0; i < options_.objectives.size() && i < value.size(); ++i)
        value[i] = objectiveValue(options_.objectives[i], counts_, options_.joulesPerCycle);
    if (found_ && !(value < value_)) return;
    const bool better = !found_ || value[0] < value_[0];
    found_ = true;
    best_ = point;
    value_ = value;
    threshold_ = value_[0] * (1 - 1e-9);
    if (!better) return;
    const MapperPoint step{result_.valid, now() - begun_, counts_.cycles, counts_.energy, value_[0]};
    result_.curve.push_back(step);
    added_.push_back(step);
}

bool Incumbent::ends(std::uint64_t steps) {
    steps_ += steps;
    if (ended_) return true;
    if (steps_ > budget_) return ended_ = true;
    if (steps_ >= polled_ + 1024) {
        polled_ = steps_;
        if (context_.stop.stop_requested()) {
            result_.cancelled = true;
            ended_ = true;
        }
        if (options_.seconds > 0 && now() > begun_ + options_.seconds) ended_ = true;
        if (context_.progress && now() > posted_ + 0.05) post(bound_);
    }
    return ended_;
}

void Incumbent::post(double lowerBound) {
    bound_ = std::max(bound_, std::min(lowerBound, found_ ? value_[0] : lowerBound));
    if (!context_.progress) return;
    posted_ = now();
    context_.progress->post(added_, std::max(result_.examined, steps_), result_.valid);
    context_.progress->postBound(bound_);
    added_.clear();
}

bool bounded(const Mapspace& space, const SearchContext& context) {
    if (context.sparse || space.imperfect()) return false;
    const Facts facts = makeFacts(space, MapObjective::Latency);
    return std::none_of(facts.tensors.begin(), facts.tensors.end(), [](const TensorFacts& t) { return t.weird; });
}

void search(const Mapspace& space, const MapperOptions& options, SearchContext& context, Incumbent& best,
            MapperResult& result) {
    const Facts facts = makeFacts(space, options.objectives[0], options.joulesPerCycle);
    double least = infinite;  // of everything not ruled out
    auto skeletons = bounded(space, context) ? makeSkeletons(facts, mostSkeletons) : std::nullopt;
    if (!skeletons) {
        const auto units = static_cast<double>(space.hardware().arithmetic.instances);
        least = searchPlainly(
            space,
            plainBound(facts, context.sparse ? remainsOf(space.problem(), *context.sparse, units, !space.imperfect())
                                             : Remains()),
            best);
    } else {
        Orders orders(space, facts.tensors, facts.active);
        for (std::size_t i = 0; i < skeletons->size(); ++i) {
            const Skeleton& skeleton = (*skeletons)[i];
            if (skeleton.bound >= best.threshold()) break;
            best.post(std::min(least, skeleton.bound));
            if (best.ends()) {
                least = std::min(least, skeleton.bound);
                break;
            }
            Chain chain;
            ToGo toGo;
            if (!makeChain(facts, skeleton, chain)) continue;
            if (!toGo.build(chain, skeleton, orders, best.threshold(), [&] { return best.ends(); })) {
                if (toGo.tooLarge() || best.ended()) least = std::min(least, skeleton.bound);
                continue;
            }
            best.ends(toGo.transitions() / 4);
            const double next = i + 1 < skeletons->size() ? (*skeletons)[i + 1].bound : infinite;
            Branch branch(chain, skeleton, toGo, orders, best);
            least = std::min(least, std::max(skeleton.bound, branch.run([&](double bound) {
                                 best.post(std::min({least, std::max(bound, skeleton.bound), next}));
                             })));
        }
        // Orders that were not seen may be better by as much as no order can.
        if (orders.incomplete() && !skeletons->empty()) least = std::min(least, skeletons->front().bound);
    }
    result.proven = best.found() && least >= best.threshold();
    result.complete = !best.ended() && least >= best.threshold();
    result.lowerBound = result.proven ? best.value() : least == infinite ? 0 : least;
    best.post(result.lowerBound);
}

}  // namespace orrery::optimal
