#include "evaluation/drift/drift.h"

#include "base/hash.h"
#include "base/maths.h"
#include "evaluation/drift/drift_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace orrery {

namespace {

// Indices by a hash of seed and kernel: a draw of rows that does not depend on their order.
std::vector<std::size_t> shuffled(const LaterRows& rows, std::vector<std::size_t> chosen, std::uint64_t seed) {
    std::sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
        const auto x = mixedBits(rows.identity[a] ^ mixedBits(seed)), y = mixedBits(rows.identity[b] ^ mixedBits(seed));
        return x != y ? x < y : a < b;
    });
    return chosen;
}

struct Halves {
    std::vector<std::size_t> repair, judge;
};
Halves halvesOf(const LaterRows& rows) {
    Halves halves;
    for (std::size_t i = 0; i < rows.size(); ++i)
        (mixedBits(rows.identity[i]) & 1 ? halves.judge : halves.repair).push_back(i);
    // Enough to tell a tenth of a percent; by hash, as all draws.
    halves.judge = shuffled(rows, std::move(halves.judge), 0);
    halves.judge.resize(std::min(halves.judge.size(), mostJudgedRows));
    return halves;
}

double relativeError(double foretold, double measured) {
    return std::abs(foretold / measured - 1);
}

void judgeUntouched(const LaterRows& rows, std::span<const std::size_t> judged, double stale, DriftFigures& figures) {
    std::size_t inside = 0, insideStale = 0;
    for (const std::size_t i : judged) {
        figures.untouched += relativeError(rows.believed[i], rows.measured[i]);
        const double ratio = rows.measured[i] / rows.believed[i];
        insideStale += ratio >= 1 / stale && ratio <= stale ? 1 : 0;
        if (!rows.low.empty()) inside += rows.measured[i] >= rows.low[i] && rows.measured[i] <= rows.high[i] ? 1 : 0;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(judged.size(), 1));
    figures.untouched /= n;
    if (!rows.low.empty()) figures.stated = static_cast<double>(inside) / n;
    if (stale > 0) {
        figures.staleInside = static_cast<double>(insideStale) / n;
        figures.staleWidth = stale - 1;
    }
}

void judgeRepair(const LaterRows& rows, const LaterInputs& inputs, const Halves& halves, const DriftOptions& options,
                 DriftFigures& figures) {
    const auto n = static_cast<double>(std::max<std::size_t>(halves.judge.size(), 1));
    const double part = 1.0 / options.draws;
    std::vector<double> widths;
    std::size_t inside = 0;
    for (int draw = 0; draw < options.draws; ++draw) {
        auto known = shuffled(rows, halves.repair, options.seed * 1000 + static_cast<std::uint64_t>(draw));
        known.resize(std::min(known.size(), options.repairRows));
        const double factor = medianFactor(rows, known);
        const DriftRepair mended = repair(rows, inputs, known, halves.judge);
        for (std::size_t j = 0; j < halves.judge.size(); ++j) {
            const std::size_t i = halves.judge[j];
            const RepairedRow& row = mended.rows[j];
            figures.factor += part / n * relativeError(rows.believed[i] * factor, rows.measured[i]);
            figures.repaired += part / n * relativeError(row.seconds, rows.measured[i]);
            inside += rows.measured[i] >= row.low && rows.measured[i] <= row.high ? 1 : 0;
            widths.push_back(0.5 * (row.high - row.low) / row.seconds);
        }
        figures.shares.nothing += part * mended.shares.nothing;
        figures.shares.factor += part * mended.shares.factor;
        figures.shares.smooth += part * mended.shares.smooth;
    }
    figures.repairedInside = static_cast<double>(inside) / n * part;
    figures.repairedWidth = widths.empty() ? 0 : quantileType7(widths, 0.5);
}

void watch(const LaterRows& rows, const DriftOptions& options, FamilyDrift& drift) {
    std::vector<std::size_t> all(rows.size());
    std::iota(all.begin(), all.end(), 0);
    constexpr int draws = 25;
    std::vector<double> after;
    for (int draw = 0; draw < draws; ++draw) {
        const auto order = shuffled(rows, all, options.seed * 1000 + 500 + static_cast<std::uint64_t>(draw));
        DriftWatch watching;
        double noticed = 0;
        for (std::size_t i = 0; i < std::min(order.size(), watchedRows) && noticed == 0; ++i) {
            const std::size_t row = order[i];
            watching.add(rows.believed[row], rows.measured[row], rows.low.empty() ? 0 : rows.low[row],
                         rows.high.empty() ? 0 : rows.high[row]);
            if (watching.moved()) noticed = static_cast<double>(i + 1);
        }
        after.push_back(noticed > 0 ? noticed : watchedRows + 1);
    }
    const auto never = std::count(after.begin(), after.end(), watchedRows + 1.0);
    drift.noticed = static_cast<double>(draws - never) / draws;
    const double median = quantileLower(after, 0.5);
    drift.noticedAfter = median <= watchedRows ? median : 0;
}

FamilyDrift familyDrift(const LaterRows& rows, double stale, const DriftOptions& options) {
    FamilyDrift drift{rows.family, rows.from, rows.to, rows.size(), 1, 1, 1, 0, 0, 0, 0, 0, {}};
    std::vector<double> ratios, changes;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ratios.push_back(rows.measured[i] / rows.believed[i]);
        changes.push_back(std::max(ratios.back(), 1 / ratios.back()) - 1);
        if (changes.back() > stillWithin) drift.movedShare += 1;
    }
    drift.movedShare /= static_cast<double>(rows.size());
    drift.ratioLow = quantileType7(ratios, 0.1);
    drift.ratioMedian = quantileType7(ratios, 0.5);
    drift.ratioHigh = quantileType7(ratios, 0.9);
    drift.changeMedian = quantileType7(changes, 0.5);
    drift.changeHigh = quantileType7(changes, 0.9);
    watch(rows, options, drift);
    const Halves halves = halvesOf(rows);
    judgeUntouched(rows, halves.judge, stale, drift.figures);
    judgeRepair(rows, inputsOf(rows), halves, options, drift.figures);
    return drift;
}

}  // namespace

double staleFactor(std::span<const LaterRows> families, const DriftFamily& family) {
    std::vector<std::pair<double, double>> changes;  // |ln ratio| and weight
    double weights = 0;
    for (const LaterRows& other : families) {
        if (other.family.software == family.software && other.family.kind == family.kind) continue;
        for (std::size_t i = 0; i < other.size(); ++i)
            changes.emplace_back(std::abs(std::log(other.measured[i] / other.believed[i])),
                                 1 / static_cast<double>(other.size()));
        weights += 1;
    }
    if (changes.empty()) return 0;
    std::sort(changes.begin(), changes.end());
    // One family more than was seen, which moved the furthest: the share of a conformal quantile.
    const double wanted = std::min(0.9 * (weights + 1), weights);
    double sum = 0;
    for (const auto& [change, weight] : changes) {
        sum += weight;
        if (sum >= wanted * (1 - 1e-12)) return std::exp(change);
    }
    return std::exp(changes.back().first);
}

Expected<Drift> measureDrift(std::span<const LaterRows> families, const DriftOptions& options) {
    if (families.empty()) {
        return fail("drift.no-versions", "no kernels stand in tables of two versions of one software on one device",
                    fmt::format("at least {} kernels that two versions share", leastSharedKernels),
                    "give the tables of an older and of a newer version, or a folder that holds both");
    }
    if (options.repairRows < 1 || options.repairRows > mostRepairRows) {
        return fail("drift.rows", fmt::format("{} rows cannot repair a family", options.repairRows),
                    fmt::format("1 to {} rows", mostRepairRows));
    }
    Drift drift{"older measurements", options.repairRows, options.seed, {}, {}};
    drift.families.resize(families.size());
    if (options.progress != nullptr) options.progress->setTotal(families.size());
    options.executor->forEach(families.size(), [&](std::size_t i) {
        if (options.stop.stop_requested()) return;
        drift.families[i] = familyDrift(families[i], staleFactor(families, families[i].family), options);
        if (options.progress != nullptr) options.progress->advance();
    });
    if (options.stop.stop_requested()) return fail("study.cancelled", "stopped before all families were judged");
    return drift;
}

Expected<std::vector<LaterRows>> believedBy(const Contestant& method, std::vector<LaterRows> families,
                                            const EvaluateOptions& options, Diagnostics& warnings) {
    // The later rows as tables of their own, one per family, so that a row knows where it came from.
    std::vector<ReferenceTable> tables;
    for (const LaterRows& rows : families) {
        ReferenceTable table;
        table.name = toText(rows.family);
        table.software = rows.family.software + " " + rows.to;
        table.hostTimed = rows.family.hostTimed;
        table.devices.push_back({rows.family.device, rows.family.device});
        for (std::size_t i = 0; i < rows.size(); ++i)
            table.rows.push_back({0, rows.kernels[i], rows.measured[i], 0, static_cast<std::int32_t>(i)});
        tables.push_back(std::move(table));
    }
    EvaluateOptions with = options;
    with.options = method.options;
    auto asked = evaluate(method.method, tables, selectRows(tables), with);
    if (!asked) return tl::unexpected(std::move(asked.error()));
    for (const auto& each : asked->warnings) warnings.push_back(each);
    std::vector<LaterRows> all;
    for (const LaterRows& rows : families) all.push_back({rows.family, rows.from, rows.to, {}, {}, {}, {}, {}, {}});
    for (std::size_t i = 0; i < asked->rows.size(); ++i) {
        const RowRef ref = asked->rows.ref[i];
        const LaterRows& from = families[static_cast<std::size_t>(ref.table)];
        LaterRows& to = all[static_cast<std::size_t>(ref.table)];
        const auto row = static_cast<std::size_t>(ref.row);
        to.kernels.push_back(from.kernels[row]);
        to.identity.push_back(from.identity[row]);
        to.believed.push_back(asked->rows.predicted[i]);
        to.measured.push_back(from.measured[row]);
        to.low.push_back(asked->rows.low[i]);
        to.high.push_back(asked->rows.high[i]);
    }
    std::erase_if(all, [&](const LaterRows& rows) {
        if (rows.size() >= leastSharedKernels) return false;
        warnings.push_back(warning("drift.few-rows",
                                   fmt::format("{}: {} kernels of {} are priced by {}", toText(rows.family),
                                               rows.size(), rows.to, method.asked),
                                   fmt::format("Families of fewer than {} are left out", leastSharedKernels)));
        return true;
    });
    return all;
}

}  // namespace orrery
