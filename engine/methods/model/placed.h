#pragma once

// Kernels on two places of one drawing: a host, and something that the host feeds (an accelerator with memories of its
// own). What a price is made of, and what changing the layout of tensors costs that cross from one to the other.

#include "methods/kernel_method.h"
#include "workload/workload.h"

#include <array>
#include <cstdint>
#include <string>

namespace orrery {

struct Composition;
struct Estimate;

/// Of one launch, in seconds; they add up to its price. Of what runs at the same time, the first counts.
struct PriceParts {
    double compute = 0;      ///< away, while it computes
    double transfer = 0;     ///< the way carries, and nothing computes away
    double preparation = 0;  ///< the host gets data ready, and neither of them works
    double host = 0;         ///< kernels of the host itself

    double sum() const { return compute + transfer + preparation + host; }
};

/// Its prices are of one place or the other. Slow, since whatever prices the kernels away may be.
class PlacedPricer : public SlowPricer {
public:
    /// All in `host` for a kernel that stays there.
    virtual PriceParts parts(const Kernel& kernel) const = 0;
    bool away(const Kernel& kernel) const { return parts(kernel).compute > 0; }
    /// The least that the kernel takes away; infinite where it cannot go there.
    virtual double leastAway(const Kernel& kernel) const = 0;
    /// Seconds in which the host lays an image out anew that crosses; 0 where both read it alike. `outside`: it comes
    /// from outside the model, or leaves it.
    virtual double layoutSeconds(const Tensor& tensor, bool outside) const = 0;
    /// Row of rows() on which that is drawn.
    virtual std::int32_t layoutRow() const = 0;
    /// How the parts are called, in the order of PriceParts.
    virtual std::array<std::string, 4> partNames() const = 0;
};

/// Bounds every launch by the better of the two places, and adds the time of new layouts to the launches that need
/// them, once for each image: where one that the host wrote is read away, at the first launch that reads it; where one
/// written away is read by the host, at the launch that wrote it. Images are tensors of rank 4 that a convolution or
/// pooling reads or writes, and those of rank 4 that operators make of them: matrices lie the same way for both. Of the
/// forward pass; of a training step an assumption says so. Does nothing where the pricer is none of two places.
void layTensorsOut(const Workload& workload, Composition& composition);

/// The parts of the whole as figures: seconds, which add up to the latency, and the share of the first.
void addPartFigures(Estimate& answer, const Composition& composition);

}  // namespace orrery
