#pragma once

// What a family of kernels adds to its physics for `tile-hybrid`: the numbers that the learned correction
// ln(measured ÷ physical) may look at, and how it is trained.

#include "learning/training.h"
#include "methods/tile/tile_family.h"

#include <span>
#include <string_view>

namespace orrery {

struct HybridFamily {
    std::string_view name;  ///< that of its TileFamily, whose kernels it covers
    std::span<const std::string_view> featureNames;
    /// Fills featureNames.size() numbers, or those before the device's where there is no room for all: finite for every
    /// kernel, dimensionless or logarithms. Allocates nothing.
    void (*features)(const Kernel&, const GpuView&, const TilePhysics&, std::span<double>);
    /// Those of featureNames that describe a device and not only a kernel on it: a model for one device leaves them out
    /// (they are constant there). 0: none. They stand last.
    std::size_t deviceFeatures = 0;
    int trees = 100, depth = 6;  ///< of the correction's ensemble
    /// Changes more of how it is trained; may be null.
    void (*tune)(TrainingOptions&, std::size_t rows, bool acrossDevices) = nullptr;
    std::size_t fewestRows = 150;  ///< below, physics stands alone
    /// Features before those of the device that the domain alone looks at: extents, by which a model would remember
    /// kernels instead of learning laws.
    std::size_t domainFeatures = 0;
    /// A pupil learns what the ensemble above says, also of kernels that nobody measured: `mix` makes one of three that
    /// were (extents of one, of another, …). Both null: the ensemble prices by itself.
    Kernel (*mix)(const Kernel&, const Kernel&, const Kernel&) = nullptr;
    void (*tunePupil)(TrainingOptions&, std::size_t rows) = nullptr;
    /// Instead of a pupil, a table over the first so many features, in the order in which `mix` takes its three: 0
    /// or 3. Of rows without a batch alone, which is no axis.
    std::size_t latticeAxes = 0;
    /// No correction is learned across devices: it would say which device a row is of, and nothing of another.
    bool ownDeviceOnly = false;
};

inline constexpr std::size_t mostHybridFeatures = 64;

/// All families, in hybrid_families.cpp.
std::span<const HybridFamily> hybridFamilies();
const HybridFamily* hybridFamilyOf(const TileFamily& family);

}  // namespace orrery
