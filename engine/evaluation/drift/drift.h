#pragma once

// How stale what one believes becomes when the software moves, and what repairs it: over families of kernels.

#include "base/executor.h"
#include "evaluation/drift/drift_repair.h"
#include "evaluation/drift/later_rows.h"
#include "evaluation/side_by_side.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

struct DriftOptions {
    std::size_t repairRows = 16;  ///< of the new version, to repair with
    int draws = 5;                ///< of such rows, by seed; figures are means over them
    std::uint64_t seed = 1;
    Executor* executor = nullptr;  ///< required
    std::stop_token stop = {};
    Progress* progress = nullptr;  ///< one step per family
};

/// Errors as shares: mean of |foretold ÷ measured − 1|; coverage as the share within 90 %. Kernels whose identity falls
/// into one half are for repair, those of the other half judge.
struct DriftFigures {
    double untouched = 0;       ///< error of what was believed
    double stated = -1;         ///< its own intervals' coverage; below 0: it has none
    double factor = 0;          ///< after the median ratio of the repair rows
    double repaired = 0;        ///< after repair()
    double repairedInside = 0;  ///< coverage of the repaired intervals
    double repairedWidth = 0;   ///< half of the 90 % interval ÷ value, the median row's
    double staleInside = -1;    ///< coverage with no new row, as wide as other families moved; below 0: there are none
    double staleWidth = 0;      ///< ± as a factor less one: 0.2 is within a factor of 1.2
    RepairShares shares;        ///< mean over draws
};

struct FamilyDrift {
    DriftFamily family;
    std::string from, to;
    std::size_t kernels = 0;
    double ratioLow = 1, ratioMedian = 1, ratioHigh = 1;  ///< later ÷ believed: 10, 50, 90 %
    double changeMedian = 0;                              ///< of max(ratio, 1 ÷ ratio) − 1
    double changeHigh = 0;                                ///< the same, that 90 % of the kernels stay within
    double movedShare = 0;                                ///< of kernels beyond 10 % either way
    double noticed = 0;                                   ///< share of draws in which DriftWatch says so within 32 rows
    double noticedAfter = 0;                              ///< rows, the median draw's; 0: in most draws never
    DriftFigures figures;

    bool moved() const { return changeMedian > 0.10; }
};

struct Drift {
    std::string believed;  ///< `older measurements`, or the method that was asked
    std::size_t repairRows = 0;
    std::uint64_t seed = 0;
    std::vector<FamilyDrift> families;
    Diagnostics warnings;
};

inline constexpr std::size_t watchedRows = 32;
inline constexpr std::size_t mostJudgedRows = 1000;  ///< of one family

/// The figures of families. Same bytes whatever the executor. Fails with `drift.no-versions` where there is no family,
/// with `study.cancelled`.
Expected<Drift> measureDrift(std::span<const LaterRows> families, const DriftOptions& options);

/// The same rows with what `method` says of their kernels as what is believed, with its intervals. Families of which it
/// prices fewer than `leastSharedKernels` are left out with a warning. Fails as evaluate().
Expected<std::vector<LaterRows>> believedBy(const Contestant& method, std::vector<LaterRows> families,
                                            const EvaluateOptions& options, Diagnostics& warnings);

/// Within which factor 90 % of what was believed still holds, for a family of which no new row is known: kernels of
/// other families (not of the same software and kind), each family weighing the same. 0: there is none.
double staleFactor(std::span<const LaterRows> families, const DriftFamily& family);

}  // namespace orrery
