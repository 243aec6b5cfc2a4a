#pragma once

// A pricer that tells launches of one kernel apart by what the caches hold when each begins.

#include "methods/kernel_method.h"
#include "methods/reuse_distance.h"

namespace orrery {

class ReusePricer : public SlowPricer {
public:
    /// Launches of one kernel with one number cost the same, whatever their distances.
    virtual std::uint32_t startOf(const Kernel& kernel, const ReuseDistances& reuse) const = 0;
    virtual Expected<KernelPrice> priceAfter(const Kernel& kernel, const ReuseDistances& reuse,
                                             PriceContext& context) const = 0;
    virtual KernelStory explainAfter(const Kernel& kernel, const ReuseDistances& reuse) const = 0;

    using SlowPricer::price;
    /// What ran before is not known.
    Expected<KernelPrice> price(const Kernel& kernel, PriceContext& context) const final {
        return priceAfter(kernel, {}, context);
    }
    KernelStory explain(const Kernel& kernel) const final { return explainAfter(kernel, {}); }
};

}  // namespace orrery
