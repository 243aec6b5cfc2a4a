#pragma once

// What it takes to get an answer of a method, and to get it again: difficulty, set-up, reproducibility. Everything here
// is found out, from the card, from calibrations, from what an adapter finds, or by asking twice; nothing is typed in.

#include "evaluation/evaluation.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// One of the ten points.
struct ReproducibilityPoint {
    std::string name;  ///< `same bytes`
    bool given = false;
    std::string why;  ///< one clause
};

struct MethodFacts {
    /// `drawing`: answers from the drawing and the workload alone. `fitted`: needs measurements, and ships what was
    /// learned from them. `own data`: needs a file that the person makes. `program`: needs another program.
    std::string difficulty, difficultyWhy;
    /// Measured rows that its calibrations were fitted to, of the kinds asked about; none where that is not known, as
    /// of other programs.
    std::optional<std::int64_t> samples = {};
    /// What fitting them takes one core, by stated rates (evaluation/fit_cost.h); none where that is not known or was
    /// not measured.
    std::optional<Seconds> fitting = {};
    std::vector<std::string> files, programs;  ///< that must be brought along
    std::vector<ReproducibilityPoint> reproducibility;
    int points() const;  ///< 0 to 10
};

/// Names of the ten points, in the order in which they stand. Each is lost by some method that is built in.
inline constexpr std::array<std::string_view, 10> reproducibilityPoints{
    "runs as it ships", "documented",     "training data named", "training data ships", "fit can be repeated",
    "references ship",  "measured truth", "unseen device",       "interval holds",      "same bytes"};
inline constexpr std::size_t enoughUnseen = 8;  ///< rows of devices that nothing was fitted to
inline constexpr double intervalHolds = 0.85;   ///< share of its rows inside its 90 % intervals

/// Asks methods for their same bytes once and keeps what they said. Thread-safe.
class FactFinder {
public:
    /// `evaluation`: of the method on these rows, or null where it has none; a point or two come from it. Imported
    /// results (`imported`) have a file and nothing to ask.
    MethodFacts facts(std::string_view asked, const MethodCard& card, const Evaluation* evaluation,
                      std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                      const CalibrationSet& calibrations, bool imported = false, bool leaveDeviceOut = false);

private:
    /// Whether a handful of its rows get the same bytes on one thread and on two; and why that is not known.
    ReproducibilityPoint sameBytes(std::string_view asked, const Evaluation* evaluation,
                                   std::span<const ReferenceTable> tables, const CalibrationSet& calibrations);
    std::mutex lock_;
    std::map<std::string, ReproducibilityPoint, std::less<>> known_;  ///< by method and hash of the calibrations
};

}  // namespace orrery
