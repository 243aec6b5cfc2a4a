#include "evaluation/transfer/transfer.h"

#include "base/hash.h"
#include "base/maths.h"
#include "evaluation/calibrate.h"
#include "evaluation/method_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace orrery {

namespace {

struct GroupRows {
    std::vector<RowRef> fitted, judged;
};

/// Of the rows of a group every second kernel, by its hash, may be fitted to.
std::map<std::string, GroupRows> groupedRows(std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                             TransferGroups by, std::map<std::string, std::string>& platforms) {
    std::map<std::string, GroupRows> groups;
    for (const RowRef ref : rows) {
        const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
        if (!table.models.empty()) continue;
        const ReferenceRow& row = table.rows[static_cast<std::size_t>(ref.row)];
        const std::string& device = table.devices[static_cast<std::size_t>(row.device)].catalogue;
        if (device.empty()) continue;
        std::string platform = facetOf(Facet::Platform, tables, ref);
        const std::string name = by == TransferGroups::Device ? device : platform;
        platforms.emplace(name, std::move(platform));
        GroupRows& group = groups[name];
        (mixedBits(kernelIdentity(row.kernel)) & 1 ? group.judged : group.fitted).push_back(ref);
    }
    const auto few = [](std::vector<RowRef>& all) {
        if (all.size() <= mostFitted) return;
        std::vector<RowRef> kept;
        for (std::size_t i = 0; i < mostFitted; ++i) kept.push_back(all[i * all.size() / mostFitted]);
        all = std::move(kept);
    };
    for (auto& [name, group] : groups) few(group.fitted), few(group.judged);
    return groups;
}

/// What rows of one group teach: a factor by kind, and how much is left.
struct Factors {
    std::map<KernelKind, double> byKind;
    double all = 1;
    double low = 1, high = 1;  ///< 5 and 95 % of measured ÷ corrected
    double of(KernelKind kind) const {
        const auto found = byKind.find(kind);
        return found == byKind.end() ? all : found->second;
    }
};

KernelKind kindOfRow(std::span<const ReferenceTable> tables, RowRef ref) {
    return tables[static_cast<std::size_t>(ref.table)].rows[static_cast<std::size_t>(ref.row)].kernel.kind;
}

Factors learnedFactors(const EvaluatedRows& rows, const std::vector<std::size_t>& places,
                       std::span<const ReferenceTable> tables) {
    std::map<KernelKind, std::vector<double>> ratios;
    std::vector<double> all;
    for (const std::size_t i : places) {
        const double ratio = rows.measured[i] / rows.predicted[i];
        ratios[kindOfRow(tables, rows.ref[i])].push_back(ratio);
        all.push_back(ratio);
    }
    Factors factors;
    factors.all = quantileType7(all, 0.5);
    for (auto& [kind, some] : ratios)
        if (some.size() >= leastOfKind) factors.byKind.emplace(kind, quantileType7(some, 0.5));
    std::vector<double> left;
    for (const std::size_t i : places)
        left.push_back(rows.measured[i] / rows.predicted[i] / factors.of(kindOfRow(tables, rows.ref[i])));
    factors.low = quantileType7(left, 0.05);
    factors.high = quantileType7(left, 0.95);
    return factors;
}

struct Foretold {
    double seconds, low, high, measured;
};

TransferCell judgedCell(const std::vector<Foretold>& rows) {
    TransferCell cell;
    cell.state = TransferCell::State::Judged;
    cell.rows = rows.size();
    std::vector<double> errors;
    std::size_t inside = 0;
    for (const Foretold& row : rows) {
        errors.push_back(row.seconds / row.measured - 1);
        cell.mape += std::fabs(errors.back()) / static_cast<double>(rows.size());
        inside += row.measured >= row.low && row.measured <= row.high ? 1 : 0;
    }
    cell.coverage90 = static_cast<double>(inside) / static_cast<double>(rows.size());
    const MedianInterval median = aroundMedian(std::move(errors));
    cell.median = median.median, cell.low = median.low, cell.high = median.high;
    return cell;
}

TransferCell notThere(TransferCell::State state, std::string reason) {
    TransferCell cell;
    cell.state = state;
    cell.reason = std::move(reason);
    return cell;
}

std::vector<Foretold> foretold(const EvaluatedRows& rows, const std::vector<std::size_t>& places) {
    std::vector<Foretold> all;
    for (const std::size_t i : places) all.push_back({rows.predicted[i], rows.low[i], rows.high[i], rows.measured[i]});
    return all;
}

std::size_t placeOfPlatform(std::string_view platform) {
    constexpr std::array<std::string_view, 6> order{"GPU", "TPU", "Accelerator", "PIM", "Edge", "CPU"};
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), platform) - order.begin());
}

class TransferJudge {
public:
    TransferJudge(const Contestant& method, std::span<const ReferenceTable> tables, const TransferOptions& options)
        : method_(method), tables_(tables), options_(options) {}

    /// With these calibrations alone; nothing where it answers none.
    std::optional<Evaluation> ask(std::span<const RowRef> rows, const CalibrationSet& learned) {
        EvaluateOptions asking;
        asking.executor = options_.executor;
        asking.stop = options_.stop;
        asking.calibrations = &learned;
        asking.options = method_.options;
        auto answer = evaluate(method_.method, tables_, rows, asking);
        if (answer) return std::move(*answer);
        if (!refusal) refusal = std::move(answer.error());
        return std::nullopt;
    }
    std::optional<Diagnostic> refusal;

    void byFactors(Transfer& transfer, const EvaluatedRows& rows, const std::vector<std::vector<std::size_t>>& fitted,
                   const std::vector<std::vector<std::size_t>>& judged) const {
        for (std::size_t a = 0; a < transfer.groups.size(); ++a) {
            if (options_.progress) options_.progress->advance();
            if (fitted[a].size() < leastFitted) continue;
            const Factors factors = learnedFactors(rows, fitted[a], tables_);
            for (std::size_t b = 0; b < transfer.groups.size(); ++b) {
                if (judged[b].empty()) continue;
                std::vector<Foretold> all;
                for (const std::size_t i : judged[b]) {
                    const double seconds = rows.predicted[i] * factors.of(kindOfRow(tables_, rows.ref[i]));
                    all.push_back({seconds, seconds * factors.low, seconds * factors.high, rows.measured[i]});
                }
                transfer.cells[a][b] = judgedCell(all);
            }
        }
    }

    void byOwnFit(Transfer& transfer, const KernelMethod& kernels, const std::vector<std::vector<RowRef>>& fitted,
                  const std::vector<std::vector<RowRef>>& judged) {
        for (std::size_t a = 0; a < transfer.groups.size() && !options_.stop.stop_requested(); ++a) {
            if (options_.progress) options_.progress->advance();
            if (fitted[a].size() < leastFitted) continue;
            CalibrateOptions fitting;
            fitting.executor = options_.executor;
            fitting.stop = options_.stop;
            auto fit = calibrate(kernels, tables_, fitted[a], fitting);
            if (!fit) {
                for (TransferCell& cell : transfer.cells[a])
                    if (cell.state == TransferCell::State::NotFitted) cell.reason = fit.error().message;
                continue;
            }
            CalibrationSet learned;
            learned.add(std::make_shared<const Calibration>(std::move(fit->calibration)));
            for (std::size_t b = 0; b < transfer.groups.size(); ++b) {
                if (judged[b].empty()) continue;
                const auto answer = ask(judged[b], learned);
                if (!answer || answer->rows.size() == 0) continue;
                std::vector<std::size_t> places(answer->rows.size());
                for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
                transfer.cells[a][b] = judgedCell(foretold(answer->rows, places));
            }
        }
    }

private:
    const Contestant& method_;
    std::span<const ReferenceTable> tables_;
    const TransferOptions& options_;
};

}  // namespace

std::string_view toText(TransferGroups groups) {
    return groups == TransferGroups::Device ? "device" : "platform";
}

std::string_view toText(TransferFit fit) {
    return fit == TransferFit::Factors ? "factors" : "own";
}

Expected<Transfer> measureTransfer(const Contestant& method, std::span<const ReferenceTable> tables,
                                   std::span<const RowRef> rows, const TransferOptions& options,
                                   std::span<const std::string_view> always) {
    const KernelMethod* kernels = findKernelMethod(method.method.card.id);
    if (options.fit == TransferFit::Own && (!kernels || !kernels->fit)) {
        return fail("transfer.no-fit", fmt::format("{} leaves nothing to fit", method.asked),
                    "a method that `orrery-cli calibrate` fits",
                    "leave `--fit own` out: one factor per kind is learned");
    }
    std::map<std::string, std::string> platforms;
    const auto groups = groupedRows(tables, rows, options.by, platforms);
    Transfer transfer{method.asked, options.by, options.fit, {}, {}, {}, {}};
    for (const auto& [name, platform] : platforms) transfer.groups.push_back({name, platform, 0, 0});
    for (const std::string_view platform : always) {
        const bool there =
            std::any_of(platforms.begin(), platforms.end(), [&](const auto& each) { return each.second == platform; });
        if (!there) transfer.groups.push_back({std::string(platform), std::string(platform), 0, 0});
    }
    std::stable_sort(transfer.groups.begin(), transfer.groups.end(),
                     [](const TransferGroup& a, const TransferGroup& b) {
                         const auto x = placeOfPlatform(a.platform), y = placeOfPlatform(b.platform);
                         return x != y ? x < y : a.name < b.name;
                     });
    const std::size_t n = transfer.groups.size();
    std::vector<RowRef> asked;
    for (const auto& [name, group] : groups) {
        asked.insert(asked.end(), group.fitted.begin(), group.fitted.end());
        asked.insert(asked.end(), group.judged.begin(), group.judged.end());
    }
    if (options.progress) options.progress->setTotal(n);
    TransferJudge judge(method, tables, options);
    const CalibrationSet nothing;
    const auto plain = judge.ask(asked, nothing);
    if (options.stop.stop_requested()) return fail("study.cancelled", "stopped before all pairs were judged");
    if (!plain) return tl::unexpected(std::move(*judge.refusal));
    transfer.warnings = plain->warnings;
    std::map<std::uint64_t, std::size_t> priced;
    for (std::size_t i = 0; i < plain->rows.size(); ++i) priced.emplace(rowKey(plain->rows.ref[i]), i);
    std::vector<std::vector<std::size_t>> fitted(n), judged(n);
    std::vector<std::vector<RowRef>> fittedRows(n), judgedRows(n);
    for (std::size_t g = 0; g < n; ++g) {
        const auto found = groups.find(transfer.groups[g].name);
        if (found == groups.end()) continue;
        const auto take = [&](const std::vector<RowRef>& from, std::vector<std::size_t>& places,
                              std::vector<RowRef>& refs) {
            for (const RowRef ref : from) {
                const auto at = priced.find(rowKey(ref));
                if (at == priced.end()) continue;
                places.push_back(at->second);
                refs.push_back(ref);
            }
        };
        take(found->second.fitted, fitted[g], fittedRows[g]);
        take(found->second.judged, judged[g], judgedRows[g]);
        transfer.groups[g].fitted = fitted[g].size();
        transfer.groups[g].judged = judged[g].size();
    }
    if (std::none_of(fitted.begin(), fitted.end(), [](const auto& each) { return each.size() >= leastFitted; })) {
        return fail("transfer.few",
                    fmt::format("no {} has {} rows that {} predicts", toText(options.by), leastFitted, method.asked),
                    "measured kernels of at least one", "give tables with --references");
    }
    transfer.cells.assign(n, std::vector<TransferCell>(n));
    transfer.untouched.resize(n);
    for (std::size_t b = 0; b < n; ++b) {
        const TransferGroup& to = transfer.groups[b];
        const std::string none = groups.contains(to.name)
                                     ? fmt::format("{} predicts no judged row of {}", method.asked, to.name)
                                     : fmt::format("no row of {} is loaded", to.name);
        transfer.untouched[b] = judged[b].empty() ? notThere(TransferCell::State::NoTruth, none)
                                                  : judgedCell(foretold(plain->rows, judged[b]));
        for (std::size_t a = 0; a < n; ++a) {
            const TransferGroup& from = transfer.groups[a];
            transfer.cells[a][b] =
                judged[b].empty()
                    ? notThere(TransferCell::State::NoTruth, none)
                    : notThere(TransferCell::State::NotFitted,
                               from.fitted < leastFitted
                                   ? fmt::format("{} rows of {} are too few to learn from", from.fitted, from.name)
                                   : fmt::format("the fit on {} does not predict {}", from.name, to.name));
        }
    }
    if (options.fit == TransferFit::Own) {
        judge.byOwnFit(transfer, *kernels, fittedRows, judgedRows);
    } else {
        judge.byFactors(transfer, plain->rows, fitted, judged);
    }
    if (options.stop.stop_requested()) return fail("study.cancelled", "stopped before all pairs were judged");
    return transfer;
}

}  // namespace orrery
