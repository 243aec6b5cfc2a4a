#pragma once

// Which families of kernels are known to have moved from one version of an engine to another: what
// `orrery-cli drift --steps --csv` said of tables of successive versions. Prices that were learned from one version are
// doubted by as much when another one is asked about.

#include "learning/calibration.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// One family between two versions; times of the later version are within a factor of 1 + changeHigh of those of the
/// earlier one, for 90 % of the kernels, either way.
struct MovedVersion {
    std::string software;         ///< as engineName(): `trtllm`
    std::string device, variant;  ///< `h100-sxm`, `bf16`
    KernelKind kind = KernelKind::Other;
    std::string from, to;     ///< versions, the older first
    std::size_t kernels = 0;  ///< that were compared
    double changeMedian = 0, changeHigh = 0;
    bool moved() const;
};

inline constexpr double movedFrom = 0.10;  ///< of the median kernel, as FamilyDrift::moved()

inline bool MovedVersion::moved() const {
    return changeMedian > movedFrom;
}

/// Rows of such a file, families that moved and that did not. Fails as readTable() does, with codes `drift.…`.
Expected<std::vector<MovedVersion>> readMovedVersions(const std::string& path);
/// presets/calibrations/moved-versions.csv, read once; empty where it cannot be read.
const std::vector<MovedVersion>& shippedMovedVersions();

/// The widest of the moves that lie between the two versions: of `device` where the family was compared there, else of
/// any; nothing where it did not move, or nobody compared it. Versions in either order.
std::optional<MovedVersion> movedBetween(std::span<const MovedVersion> known, std::string_view software,
                                         std::string_view a, std::string_view b, KernelKind kind,
                                         std::string_view variant, std::string_view device);

/// How prices of the section are known to have moved where `software` runs: of an engine or library that both name,
/// with versions that differ.
std::optional<MovedVersion> movedSince(const CalibrationSection& section, std::string_view software,
                                       std::span<const MovedVersion> known, std::string_view device);

}  // namespace orrery
