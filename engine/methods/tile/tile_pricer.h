#pragma once

// What `tile-wave` and `tile-hybrid` share when they are bound to a GPU: which section of a calibration stands for
// which kernels, the plain roofline for kernels without a family, and the terms of a price in words.

#include "methods/tile/tile_family.h"

#include <string>
#include <vector>

namespace orrery {

/// A family with the parameters that hold on this GPU for one variant of its kernels.
struct TileBinding {
    const TileFamily* family = nullptr;
    KernelKind kind = KernelKind::Other;
    std::string variant;             ///< empty: the nominal parameters, for variants that were never fitted
    std::vector<double> parameters;  ///< in the family's order
    const CalibrationSection* section = nullptr;
    double deviceDistance = 0;                            ///< of the section's device, as CalibrationSet::Found has it
    DomainVerdict deviceVerdict = DomainVerdict::Inside;  ///< of the GPU, for what the section was learned from
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

/// Correlation of residuals of the first section of that kind; 0 without one.
double correlationOf(const TileBindings& bindings, KernelKind kind);

/// A section of another device was never checked on this one: its price is at the edge of what was learned where the
/// two are alike, else outside, and its interval is wider by how unlike they are. Outside as well is what no section
/// covers. A section for any device knows how wrong it is on devices that it has not seen: such a device is flagged,
/// its interval stays.
void doubtForeignSection(const TileBinding& binding, KernelPrice& price);
/// Roofline with a launch, for kernels that no family covers; `priced` is false.
/// A convolution that is priced as a product was not checked as a convolution: its interval is half as wide again, and
/// it is at the edge at least.
void doubtStandIn(KernelPrice& price);
KernelPrice unpricedKernel(const Kernel& kernel, const GpuView& gpu);
/// Parameters, tiles, waves and times of a price.
KernelStory storyOf(const Kernel& kernel, const TileBindings& bindings, const TileBinding& binding,
                    const TilePhysics& physics);

}  // namespace orrery
