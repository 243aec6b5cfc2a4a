#pragma once

// What `tile-wave` and `tile-hybrid` share when they are bound to a GPU: which section of a calibration stands for
// which kernels, the plain roofline for kernels without a family, and the terms of a price in words.

#include "learning/section_price.h"
#include "methods/kernel_method.h"
#include "methods/tile/tile_family.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

/// A family with the parameters that hold on this GPU for one variant of its kernels.
struct TileBinding {
    const TileFamily* family = nullptr;
    KernelKind kind = KernelKind::Other;
    std::string variant;             ///< empty: the nominal parameters, for variants that were never fitted
    std::vector<double> parameters;  ///< in the family's order
    const CalibrationSection* section = nullptr;
    double graphLaunch = 0;  ///< s of the launch that graphs keep; below 0: the launch is not a framework's
    double distance = 0;     ///< of this GPU from what was learned of such kernels, as distanceAbroad() says
    double faith = 1;        ///< in what the section learned beyond physics, see faithAt()
};

struct TileBindings {
    GpuView gpu;
    CalibrationSet calibrations;  ///< keeps the sections alive
    std::vector<TileBinding> fitted, nominal;

    /// Null for a kernel that no family covers. Allocates nothing.
    const TileBinding* find(const Kernel& kernel) const;
};
TileBindings bindTiles(std::string_view method, const GpuView& gpu, const CalibrationSet& calibrations);
/// What is assumed of sections that are not of this device, one sentence each.
std::vector<std::string> assumptionsOf(const TileBindings& bindings);

/// Correlation of residuals on this GPU, of the first section of that kind; 0 without one. Convolutions that none knows
/// are priced as products, and missed alike at least as those are.
double correlationOf(const TileBindings& bindings, KernelKind kind);

/// Takes over seconds, sides and verdict.
void take(const SectionPrice& section, KernelPrice& price);
/// A convolution that is priced as a product was not checked as a convolution: its interval is half as wide again, and
/// it is at the edge at least. Of five GPUs of NeuSight (fp32, nothing fitted) ln(measured ÷ tile-wave) has a standard
/// deviation of 0.44 over 24,662 convolutions, of 0.28 over 7,214 linear layers.
void doubtStandIn(KernelPrice& price);
/// Takes out of a price what a graph hides of the launch in it; a correction, learned on run and launch together,
/// stands on what is left. What a graph keeps was not measured: the interval keeps the seconds of its sides and reaches
/// up by what was taken, both to a factor of two, and where that is much of the price it is at the edge of what is
/// known.
void hideHostLaunch(const TileBinding& binding, const TilePhysics& physics, KernelPrice& price);
/// Roofline with a launch, for kernels that no family covers; `priced` is false.
KernelPrice unpricedKernel(const Kernel& kernel, const GpuView& gpu);
/// Prices through families: physics with the bound parameters, what a section makes of it, and a framework's launch
/// that graphs hide.
class TilePricer : public KernelPricer {
public:
    explicit TilePricer(TileBindings bindings) : bindings_(std::move(bindings)) {}

    KernelPrice price(const Kernel& kernel) const final { return priced(kernel, false); }
    KernelPrice priceByHost(const Kernel& kernel) const final { return priced(kernel, true); }
    KernelStory explain(const Kernel& kernel) const final;
    double correlation(KernelKind kind) const final;
    std::vector<std::string> assumptions() const final;
    std::vector<KernelNote> notes() const final;

protected:
    /// What the method makes of a physical price.
    virtual SectionPrice sectionPrice(const Kernel& kernel, const TileBinding& binding,
                                      const TilePhysics& physics) const = 0;
    /// More to say of a price than its physics.
    virtual void tell(KernelStory&, const Kernel&, const TileBinding&, const TilePhysics&) const {}

    TileBindings bindings_;

private:
    KernelPrice priced(const Kernel& kernel, bool byHost) const;
    KernelPrice pricedAs(const Kernel& kernel,
                         bool byHost) const;  ///< as its kind, or as the product that stands for it
};

/// Parameters, tiles, waves and times of a price.
KernelStory storyOf(const Kernel& kernel, const TileBindings& bindings, const TileBinding& binding,
                    const TilePhysics& physics);

}  // namespace orrery
