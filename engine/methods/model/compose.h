#pragma once

// From the kernels of a graph and their prices to the time of the whole, with its interval.

#include "learning/composition.h"
#include "methods/kernel_method.h"
#include "methods/method.h"
#include "methods/model/chains.h"
#include "methods/model/foreign_stack.h"
#include "methods/model/kernel_list.h"
#include "methods/model/pipeline.h"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// A launch as it was priced: of one launch, scale and epilogue operands included.
struct PricedLaunch {
    KernelPrice price;
    double seconds = 0, low = 0, high = 0;
    double least = 0;     ///< seconds at peak rates
    bool known = true;    ///< false: no error of this price is known, the sides are a guess
    bool raised = false;  ///< the method priced it below `least`, which it is taken at
};

/// Scale and epilogue applied; where the price has no interval, the stated errors of a roofline or a factor of two.
/// Never below the least time of the kernel (kernel_bound.h). `epilogueRate`: B/s at which the epilogue's operands are
/// read on top; 0: the price holds them.
PricedLaunch pricedLaunch(const KernelPrice& price, const Launch& launch, const DeviceView& device,
                          double epilogueRate);
/// Least correlation of the common causes of two families of kernels; not measured. Where kernels of a family are
/// missed together by more than that, families are too.
inline constexpr double betweenFamilies = 0.5;
/// The interval of launches one after another, of equal length with `prices`. The one rule of a pass, a step and an
/// iteration of serving.
ComposedInterval composeLaunches(std::span<const PricedLaunch> prices, std::span<const Launch> launches,
                                 const KernelPricer& pricer);

struct Composition {
    DeviceRef place;
    DeviceView device;
    std::optional<GpuView> gpu;  ///< where the device is one
    double readRate = 0;         ///< B/s that main memory gives to reads alone, with pages as asked
    KernelPricerPtr pricer;
    double epilogueRate() const { return pricer->takesEpilogue() ? 0 : readRate; }  ///< for pricedLaunch()
    ForeignStack stack;  ///< kernels whose prices were learned from other software than asked about
    KernelListPtr kernels;
    const LaunchList& list() const { return kernels->list; }
    /// Which launches are one kernel to the pricer.
    const KernelList::Distinct& distinct() const {
        return pricer->takesEpilogue() ? kernels->withEpilogues : kernels->alone;
    }
    std::vector<PricedLaunch> prices;  ///< per launch
    std::vector<std::vector<KernelSpan>>
        spans;  ///< by distinct().first, of pricers with rows() where a timeline is wanted
    std::vector<LaunchRun> runs;
    Pipelined pipelined;
    double overlapped = 0;  ///< seconds that streams save
    double turns = 0;       ///< seconds that two half batches save, in turns on the device and on units beside it
    double launched = 0;    ///< kernels, repeats counted
    ComposedInterval interval;
    double issue = 0;                   ///< host seconds per launch (eager), 0 for a graph
    std::optional<double> hostSeconds;  ///< what the question says of it
    double graphLaunch = 0;             ///< seconds once per pass
    ChainsKept chains;                  ///< activations that stay on the chip between launches
    std::vector<double> layouts;        ///< per launch, seconds of its price in which tensors that cross between two
                                        ///< places are laid out anew (placed.h); empty: none
    std::size_t laidOut = 0;            ///< such tensors
};

/// As pricers that tell uses apart see it.
KernelUse useOf(const Launch& launch);

/// Shares of the busy time, 0 to 1.
struct Doubts {
    double notCovered = 0, outside = 0, edge = 0, unknown = 0, raised = 0;
    std::array<double, kernelKindCount> notCoveredByKind{};
    double error = 0;                       ///< mean |ln(measured ÷ predicted)|, as wide as the prices' own sides
    std::size_t longest = 0;                ///< the launch that takes most of the time
    KernelKind widest = KernelKind::Other;  ///< whose sides are the widest together
};
Doubts doubtsOf(const Composition& composition);

/// Binds the method to the device that works and prices every distinct kernel once, slow ones side by side. The device
/// is the one that the plan places the work on, else the first on which the method answers. Fails as the views and the
/// method's bind do, with `workload.empty`, and with `study.cancelled`.
Expected<Composition> compose(const Scenario& scenario, const KernelMethod& method, const ModelOptions& options,
                              EstimateContext& context);

/// What streams can save at most: a block ends no sooner than its longest chain of dependent operators, nor than its
/// arithmetic and its bytes take at the peaks. Of the forward pass alone.
double overlappedSeconds(const Workload& workload, const Composition& composition);

/// From the task, the software and the options of a card.
ModelOptions modelOptions(const MethodCard& card, const EstimateContext& context, const Task& task = Pass{},
                          const Software& software = {});
/// The estimate of `compose`, with columns per operator, interval, energy, memory, figures, warnings, timeline.
Expected<Estimate> estimateComposed(const Scenario& scenario, const KernelMethod& method, const MethodCard& card,
                                    EstimateContext& context);

/// The price of a kernel at peak rates and memory bandwidth, for what no method covers.
KernelPrice rooflinePrice(const DeviceView& device, const Kernel& kernel);

}  // namespace orrery
