#pragma once

// Fitting the parameters of tile families to measured kernels, and how rows fall into sections. For `tile-wave` and
// `tile-hybrid`.

#include "methods/kernel_method.h"
#include "methods/tile/tile_family.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

namespace orrery {

/// One measured kernel on one of several devices.
struct TileRow {
    const Kernel* kernel = nullptr;
    const GpuView* gpu = nullptr;
    double seconds = 0;
    std::int32_t device = 0;  ///< which of the KernelRows
    bool byHost = false;      ///< a host timed it, a framework's launch is inside
};
/// s that physics says of a row: without the framework's launch where the section has rows timed by a host and this is
/// none of them (`hostTimed`).
double secondsOfRow(const TileFamily& family, const TilePhysics& physics, const TileRow& row, bool hostTimed);

/// Parameters that minimise mean |ln(measured ÷ price)|, held near `start` by their spread as firmly as ten rows would;
/// by search along one parameter after the other, on at most 1000 rows evenly drawn. Deterministic. Stopped: the best
/// so far. With `outlier` > 0, mean outlier · ln(1 + |ln(measured ÷ price)| ÷ outlier) instead, which rows far off
/// hardly move.
std::vector<double> fitTileParameters(const TileFamily& family, std::span<const TileRow> rows,
                                      std::vector<double> start, std::stop_token stop, double outlier = 0);

/// Rows that one section is fitted to: one family, kind and variant, on one device or (`device` < 0) on all.
struct TileRowGroup {
    const TileFamily* family = nullptr;
    KernelKind kind = KernelKind::Other;
    std::string variant;
    std::int32_t device = -1;
    std::vector<TileRow> rows;
    bool hostTimed = false;  ///< some row is, and the family's launch has a framework's part
};
std::vector<TileRowGroup> groupTileRows(std::span<const KernelRows> rows, bool acrossDevices);

/// A calibration with one section of each group, as `section` fits it. Fails for no rows that a family covers; a group
/// that fails is the answer's failure. Stopped before the first section: `learning.cancelled`.
using FitTileSection = std::function<Expected<CalibrationSection>(const TileRowGroup&)>;
Expected<Calibration> fitTileSections(std::string_view method, std::string_view version,
                                      std::span<const KernelRows> rows, const FitOptions& options,
                                      const FitTileSection& section);

}  // namespace orrery
