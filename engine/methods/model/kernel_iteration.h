#pragma once

// Iteration times from any kernel method: the kernels of one transformer iteration, priced on grids of their extents.
//
// Kernels beside attention hang on the number of tokens alone (sampled rows for the output head); attention of decodes
// on how many there are and their mean context, since the cache is read once; attention of prompts on an equivalent
// batch of equal chunks, n = (Σq)²/Σq² chunks of q̄ = Σq²/Σq tokens after c̄ = Σq·c/Σq cached ones, which keeps Σq, Σq²
// and Σq·c, and so tokens and scores, as they are.
//
// Time: kernels follow one another where a graph holds them; where the host issues them one by one, the device waits
// for whichever is slower (pipeline.h). A pipeline stage has its share of the layers; the head stands on the last one.
//
// Power and clock: at a share s of the nominal clock the part of the time that arithmetic takes grows by 1/s, the
// energy of everything on the chip falls with the square of the voltage (voltageAt), static power and memory stay. A
// power cap of an iteration is met by the highest such clock; where the lowest one does not suffice, memory is
// throttled and the iteration lasts as long as its energy takes at the cap. Controllers average over longer than a
// kernel, so that it is the mean power of an iteration that is held.

#include "hardware/views/gpu_view.h"
#include "methods/kernel_method.h"
#include "methods/model/foreign_stack.h"
#include "methods/model/iteration_launches.h"
#include "methods/model/power.h"
#include "methods/model/price_grid.h"
#include "serving/iteration_time.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct KernelIterationSpec {
    ServedTransformer model;
    DeviceView device;           ///< that of `gpu` where there is one
    std::optional<GpuView> gpu;  ///< for power and clock; nothing for other devices
    double readRate = 0;         ///< B/s that main memory gives to reads alone; 0: its bandwidth
    KernelPricerPtr pricer;
    SoftwareStack software;
    ForeignStack stack;     ///< kernels whose prices were learned from another engine
    double clockShare = 1;  ///< of the nominal clock: compute-bound time grows as the clock falls
    std::string method;     ///< id of the kernel method that made `pricer`
    std::string chosen;     ///< why this pricer, where nobody chose it; one sentence
    double powerCap = 0;    ///< watts of one device, below its own cap: the clock falls until they suffice. 0: its own
};

/// What an iteration costs before a clock is chosen.
struct IterationCost {
    GridPrice all;  ///< kernels of all stages on one device each
    double headSeconds = 0, headClocked = 0;
    double issued = 0, start = 0;  ///< host's seconds of the layers' kernels that no graph holds, and before them
    double handOver = 0;           ///< between two stages
    double host = 0;               ///< before the first kernel
    double below = 0, above = 0;   ///< seconds of all stages, half-widths of the 90 % interval
};

class KernelIterationTime final : public IterationTime {
public:
    static Expected<std::shared_ptr<const KernelIterationTime>> make(KernelIterationSpec spec);

    /// O(prompts) when the points around it have been priced before.
    IterationPrice price(const IterationWork& work) const override;
    int stages() const override { return static_cast<int>(spec_.model.plan.pipeline); }
    std::vector<std::string> assumptions() const override;

    /// The same at another share of the nominal clock, 0.1 to 1, or at a lower one where the power cap asks for it;
    /// with the power of all its devices in watts.
    IterationPrice price(const IterationWork& work, double clockShare) const;
    /// For who asks at many clocks: the part that looks at the work, and the part that looks at the clock.
    IterationCost costOf(const IterationWork& work) const;
    IterationPrice price(const IterationCost& cost, double clockShare) const;
    const IterationLaunches& launches() const { return launches_; }
    const KernelPricer& pricer() const { return *spec_.pricer; }
    const std::string& method() const { return spec_.method; }
    const std::string& chosen() const { return spec_.chosen; }
    /// Kernels of one iteration, one by one: what the grids add up.
    std::vector<Launch> kernelsOf(const IterationWork& work) const;

private:
    explicit KernelIterationTime(KernelIterationSpec spec, IterationLaunches launches);
    struct Running {
        double stage = 0, last = 0;  ///< seconds of a stage, of the last one
        double lasting = 0;          ///< of all stages together, one device's time
        double joules = 0;           ///< of one device's share of all stages
    };
    /// At a share of the nominal clock, whatever it draws.
    Running runningAt(const IterationCost& cost, double clockShare) const;
    /// At that share, or at the highest below it whose mean power is within the cap.
    Running runningCapped(const IterationCost& cost, double clockShare) const;
    GridPrice priceOf(std::span<const Launch> launches) const;
    GridPrice group(IterationGroup which, double extent) const;
    GridPrice promptAttention(const IterationWork& work) const;
    GridPrice decodeAttention(const IterationWork& work) const;
    /// Where two half batches in turns (turns.h) take less, `layers` becomes what they take. Their share of its time;
    /// 1: it stays. Of iterations without prompts.
    double takeTurns(const IterationWork& work, double tokens, GridPrice& layers) const;

    KernelIterationSpec spec_;
    IterationLaunches launches_;
    PowerModel power_;
    std::array<PriceGrid, iterationGroupCount> byExtent_;
    std::array<double, iterationGroupCount> launchCount_{};
    double attentionLaunches_ = 0;
    bool foreign_ = false;  ///< kernels of its layers were learned from other software
    PriceGrid prompts_, decodes_, handOver_;
};

}  // namespace orrery
