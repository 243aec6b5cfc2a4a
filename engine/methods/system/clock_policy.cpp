#include "methods/system/clock_policy.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

double secondsOf(const IterationPrice& price, int stages) {
    return price.host + price.lastSeconds + (stages - 1) * price.seconds;
}

struct Choice {
    double share = 1;
    IterationPrice price;
};

Choice cheapest(const KernelIterationTime& kernels, const IterationCost& cost, double tokenSeconds) {
    Choice best;
    double least = INFINITY;
    for (double share = 1; share > lowestClockShare - 1e-9; share -= clockStep) {
        const IterationPrice price = kernels.price(cost, share);
        const double seconds = secondsOf(price, kernels.stages());
        if (share < 1 && seconds > tokenSeconds) break;
        const double joules = price.watts * seconds;
        if (joules < least) {
            least = joules;
            best = {share, price};
        }
    }
    return best;
}

struct LowestClockTime final : IterationTime {
    std::shared_ptr<const KernelIterationTime> kernels;
    double tokenSeconds = 0;
    IterationPrice price(const IterationWork& work) const override {
        if (!work.prompts.empty()) return kernels->price(work, 1);
        return cheapest(*kernels, kernels->costOf(work), tokenSeconds).price;
    }
    int stages() const override { return kernels->stages(); }
    std::vector<std::string> assumptions() const override {
        auto said = kernels->assumptions();
        said.push_back(
            "Decoding runs at the lowest clock that meets the TPOT limit, prompts at the "
            "nominal clock; switching takes no time");
        return said;
    }
};

}  // namespace

double lowestClock(const KernelIterationTime& kernels, const IterationWork& work, double tokenSeconds) {
    if (!work.prompts.empty()) return 1;
    return cheapest(kernels, kernels.costOf(work), tokenSeconds).share;
}

IterationTimePtr applyClock(const IterationTimePtr& time, const std::shared_ptr<const KernelIterationTime>& kernels,
                            const PoolSpec& pool, const ServiceLevel& promise) {
    if (pool.clock != ClockPolicy::Lowest || pool.time.kind != SlotKind::Kernels || promise.tpot <= 0) return time;
    auto result = std::make_shared<LowestClockTime>();
    result->kernels = kernels;
    result->tokenSeconds = promise.tpot;
    return result;
}

}  // namespace orrery
