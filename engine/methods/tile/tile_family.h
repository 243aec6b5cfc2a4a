#pragma once

// What a family of kernels (matrix products, attention, vector operators, collectives) brings to the tile methods: a
// physical price from tiles and waves with few free numbers. `tile-wave` prices with it; `tile-hybrid` corrects it
// (hybrid_family.h).

#include "base/unit.h"
#include "hardware/views/gpu_view.h"
#include "methods/kernel_method.h"
#include "workload/kernel.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// A number that physics leaves open: a share of a peak, a latency. Positive; fitted as its logarithm.
struct TileParameter {
    std::string_view name;  ///< key in the calibration file: `compute share`
    double nominal = 1;     ///< where nothing has been fitted; with its source beside the table
    double low = 0, high = 1;
    double spread = 0.3;  ///< standard deviation of its logarithm between devices: how firmly few rows hold it
    Dimension dimension = Dimension::Number;
    std::string_view meaning;  ///< one sentence
    bool later = false;        ///< came after calibrations were written: a section of this family may lack it
};

/// The terms of one price, in seconds unless said otherwise; 0 where a family has no such term. `seconds` is the price
/// with launch, the others are what it was made from.
struct TilePhysics {
    double seconds = 0;
    double compute = 0;  ///< arithmetic of all waves
    double dram = 0;     ///< bytes past the last-level cache
    double l2 = 0;       ///< bytes between the last-level cache and the multiprocessors
    double link = 0;     ///< bytes between devices
    double serial = 0;   ///< prologue, epilogue, latencies that nothing hides
    double launch = 0;
    double tileM = 0, tileN = 0, tileK = 0, splits = 1;
    double blocks = 0, blocksPerWave = 0, waves = 0;
    double fill = 1;   ///< asked work ÷ work of the whole tiles, 0 to 1
    double steps = 0;  ///< of the main loop, in one block
    double dramBytes = 0, l2Bytes = 0;
    double clockDoubt = 0;  ///< ln(slowest ÷ fastest): how far the clock's state under the power cap leaves it open
    Bound bound;
};

struct TileFamily {
    std::string_view name;  ///< `matrix products`
    /// Whether it prices this kernel. The first family of the list that does is taken.
    bool (*covers)(const Kernel&);
    std::span<const TileParameter> parameters;
    /// Pure, allocates nothing, takes ≤ 1 µs. `parameters` are in the order of the table above.
    TilePhysics (*physics)(const Kernel&, const GpuView&, std::span<const double> parameters);
    /// Terms beyond those that TilePhysics holds, for "why this number"; may be null.
    std::vector<KernelTerm> (*moreTerms)(const Kernel&, const GpuView&, std::span<const double> parameters) = nullptr;
    /// ln beyond which rows count less and less when parameters are fitted to several devices: cards that are hot or
    /// shared are slower than physics by factors, none is faster. 0: all count alike.
    double outlier = 0;
    /// s of TilePhysics::launch that a kernel in a captured graph keeps, where the nominal launch, or that of a section
    /// with rows timed by a host, is a framework's; 0: the launch is always the device's.
    double graphLaunch = 0;
};

/// Parameter of sections whose launch is a framework's, as rows timed by a host have it: what a graph keeps of it, s.
inline constexpr std::string_view graphLaunchName = "graph launch";

/// s of a launch that a captured graph, or a host that runs ahead, hides.
inline double hostShare(const TilePhysics& physics, double graphLaunch) {
    return physics.launch > graphLaunch ? physics.launch - graphLaunch : 0;
}

/// All families, in tile_families.cpp.
std::span<const TileFamily> tileFamilies();
const TileFamily* tileFamilyOf(const Kernel& kernel);
/// The same on a device: none for a collective where neither links nor a network are drawn that it could cross.
const TileFamily* tileFamilyOn(const Kernel& kernel, const GpuView& gpu);

/// Parameters in the family's order: those of a section where it has them, else the nominal ones.
std::vector<double> nominalParameters(const TileFamily& family);
std::vector<double> parametersOf(const TileFamily& family, const std::map<std::string, double, std::less<>>& fitted);

}  // namespace orrery
