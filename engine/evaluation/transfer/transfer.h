#pragma once

// How far what was learned on one device, or one kind of device, holds on another: fitted to rows of A, judged on rows
// of B, for all pairs, as a matrix. Of every group one half of the rows, by a hash of the kernel, may be fitted to and
// the other half judges, so that the diagonal is judged on rows that nothing was fitted to, and all rows of a column
// are judged on the same kernels.

#include "base/executor.h"
#include "evaluation/row_facets.h"
#include "evaluation/side_by_side.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

enum class TransferGroups : std::uint8_t { Device, Platform };
std::string_view toText(TransferGroups groups);  ///< `device`, `platform`

enum class TransferFit : std::uint8_t {
    /// One factor per kind of kernel on what the method says without calibrations; a kind that A lacks, or of which it
    /// has less than `leastOfKind` rows, takes that of all its kinds. 90 % between the quantiles of what is left.
    Factors,
    Own  ///< the method's own fit, as `calibrate` makes it, and nothing else learned; of GPUs
};
std::string_view toText(TransferFit fit);  ///< `factors`, `own`

inline constexpr std::size_t leastOfKind = 5;
inline constexpr std::size_t leastFitted = 5;    ///< of fewer nothing is learned
inline constexpr std::size_t mostFitted = 2000;  ///< of one group; and as many judge

struct TransferGroup {
    std::string name;                    ///< `h100-sxm`, `TPU`
    std::string platform;                ///< `GPU`
    std::size_t fitted = 0, judged = 0;  ///< rows that may be fitted to and that judge, priced by the method
};

struct TransferCell {
    enum class State : std::uint8_t { Judged, NotFitted, NoTruth } state = State::NoTruth;
    std::size_t rows = 0;      ///< that judge
    double mape = 0;           ///< mean of |predicted − measured| ÷ measured
    double median = 0;         ///< of the signed errors
    double low = 0, high = 0;  ///< 90 % interval of that median
    double coverage90 = 0;     ///< share of rows inside the 90 % intervals that A's rows gave
    std::string reason;        ///< of the others
};

struct Transfer {
    std::string method;
    TransferGroups by = TransferGroups::Device;
    TransferFit fit = TransferFit::Factors;
    std::vector<TransferGroup> groups;             ///< by platform as people list them, then by name
    std::vector<TransferCell> untouched;           ///< by group that judges: with nothing learned
    std::vector<std::vector<TransferCell>> cells;  ///< [fitted on][judged on]
    Diagnostics warnings;
};

struct TransferOptions {
    TransferGroups by = TransferGroups::Device;
    TransferFit fit = TransferFit::Factors;
    Executor* executor = nullptr;  ///< required
    std::stop_token stop = {};
    Progress* progress = nullptr;  ///< one step per group
};

/// Rows that are single kernels; whole models are left alone. Platforms of `always` stand also where no row does, and
/// say so. Same bytes whatever the executor. Fails as evaluate(), with `transfer.no-fit` where the method has nothing
/// of its own to fit, and `transfer.few` where no group has rows enough.
Expected<Transfer> measureTransfer(const Contestant& method, std::span<const ReferenceTable> tables,
                                   std::span<const RowRef> rows, const TransferOptions& options,
                                   std::span<const std::string_view> always = {});

/// `orrery-transfer` version 1 (resources/schema/transfer.schema.json).
std::string transferJson(const Transfer& transfer);
/// One line per cell, and one per column with nothing learned.
std::string transferCsv(const Transfer& transfer);

}  // namespace orrery
