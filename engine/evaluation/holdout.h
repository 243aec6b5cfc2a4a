#pragma once

// Which rows are fitted and which are kept for the test. A row's side is a pure function of seed, device and kernel: it
// does not hang on the row's place in a file, so the split can be made again from a part of the rows or another file,
// and repeated measurements of one kernel stay on one side.

#include "evaluation/evaluation.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct Holdout {
    enum class Kind : std::uint8_t { None, Fraction, Rows, Device };
    Kind kind = Kind::None;
    double testShare = 0;              ///< of each device's rows (Fraction)
    std::size_t trainingRows = 0;      ///< of each device, kind and variant (Rows)
    std::vector<std::string> devices;  ///< tested and never fitted (Device)
    std::uint64_t seed = 1;
    /// For Rows: the position below which a row is fitted, by `device/kind/variant`; known once a split was made.
    std::map<std::string, double> border;
};

/// `fraction=0.8` keeps 80 % for the test, `rows=50` fits 50 rows of each device, kind and variant and tests the
/// others, `device=h100-sxm|l40s` tests those devices; empty: none. Code `usage.holdout`.
Expected<Holdout> parseHoldout(std::string_view text, std::uint64_t seed);
/// Machine-readable words that calibration files keep; readHoldout() reads them back.
std::string toText(const Holdout& holdout);
/// Fails with `calibration.no-split` where the words are no split.
Expected<Holdout> readHoldout(std::string_view words);

/// A number in [0, 1) that is spread evenly over kernels (by kernelIdentity), for one seed and one device.
double splitPosition(std::uint64_t identity, std::string_view device, std::uint64_t seed);

struct RowSplit {
    std::vector<RowRef> training, test;
    Holdout holdout;  ///< with its borders
};
/// Without a holdout all rows are for training and none for the test. Fails with `reference.empty-split` if one side
/// that the holdout asks for is empty. Borders that the holdout has already are kept.
Expected<RowSplit> splitRows(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                             const Holdout& holdout);
/// The test side alone, of a holdout with its borders; may be empty. All rows without a holdout.
std::vector<RowRef> testedRows(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                               const Holdout& holdout);

}  // namespace orrery
