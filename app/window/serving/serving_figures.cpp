#include "app/window/serving/serving_figures.h"

#include "serving/limiting_factor.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <QCoreApplication>

#include <cmath>
#include <utility>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingFigures", text, note, count);
}

}  // namespace

QString headlineOf(const ui::ServingRun& run) {
    const ServingMetrics& m = run.metrics;
    const auto time = [](double seconds) { return ui::text(seconds, Dimension::Time); };
    QString headline = t("First token %1 (p99 %2) · per token %3 · %4 requests/s")
                           .arg(time(m.ttft.p50), time(m.ttft.p99), time(m.tpot.p50))
                           .arg(m.requestsPerSecond, 0, 'g', 3);
    const ServiceLevel& promise = run.fleet->promise;
    if (promise.ttft > 0 || promise.tpot > 0 || promise.endToEnd > 0)
        headline += t(" · %1 meet the SLO").arg(ui::percentText(m.attainment));
    if (m.rejected > 0) headline += t(" · %n rejected", nullptr, static_cast<int>(m.rejected));
    constexpr std::size_t mostLookedAt = 200'000;  // requests, while a hand drags
    if (run.result.requests.size() <= mostLookedAt)
        if (const LimitingFactor limit = limitingFactor(run.result, *run.fleet, m); !limit.text.empty())
            headline += QStringLiteral(" · ") + QString::fromStdString(limit.text);
    if (run.result.outsideDomain > 0) headline += t(" · some iterations are outside the domain of the calibration");
    return headline;
}

namespace {

using Value = double (*)(const ServingMetrics&);
using Interval = FigureInterval (*)(const ServingIntervals&);

struct Line {
    QString name, tip;
    Value value;
    Dimension dimension;
    Interval interval;  ///< null: the figure has none
};

const std::vector<Line>& lines() {
    using M = const ServingMetrics&;
    using I = const ServingIntervals&;
    constexpr auto time = Dimension::Time, number = Dimension::Number, count = Dimension::Count,
                   share = Dimension::Fraction;
    static const std::vector<Line> all{
        {t("Time to first token, median"), t("Arrival to the end of the iteration that yields the first token"),
         [](M x) { return x.ttft.p50; }, time, [](I x) { return x.ttft.p50; }},
        {t("Time to first token, p99"), t("99 % of requests get their first token within"),
         [](M x) { return x.ttft.p99; }, time, [](I x) { return x.ttft.p99; }},
        {t("Time per output token, median"), t("(End − first token) ÷ (output tokens − 1)"),
         [](M x) { return x.tpot.p50; }, time, [](I x) { return x.tpot.p50; }},
        {t("Time per output token, p99"), t("(End − first token) ÷ (output tokens − 1)"),
         [](M x) { return x.tpot.p99; }, time, [](I x) { return x.tpot.p99; }},
        {t("Gap between tokens, p99"), t("Gaps between neighbouring tokens, all requests together"),
         [](M x) { return x.itl.p99; }, time, [](I x) { return x.itl.p99; }},
        {t("End to end, median"), t("Arrival to last token"), [](M x) { return x.endToEnd.p50; }, time,
         [](I x) { return x.endToEnd.p50; }},
        {t("End to end, p99"), t("Arrival to last token"), [](M x) { return x.endToEnd.p99; }, time,
         [](I x) { return x.endToEnd.p99; }},
        {t("Queueing, mean"), t("Arrival to the first iteration"), [](M x) { return x.queueing.mean; }, time,
         [](I x) { return x.queueing.mean; }},
        {t("Requests per second"), t("Requests that ended ÷ time from first arrival to last end"),
         [](M x) { return x.requestsPerSecond; }, number, [](I x) { return x.requestsPerSecond; }},
        {t("Output tokens per second"), t("Of all replicas"), [](M x) { return x.outputTokensPerSecond; }, number,
         [](I x) { return x.outputTokensPerSecond; }},
        {t("Goodput"), t("Requests per second that meet the SLO"), [](M x) { return x.goodput; }, number,
         [](I x) { return x.goodput; }},
        {t("SLO attainment"), t("Share of requests that meet the SLO"), [](M x) { return x.attainment; }, share,
         [](I x) { return x.attainment; }},
        {t("KV cache in use, mean"), t("Share of all replicas' blocks, over the whole run"),
         [](M x) { return x.kvUse; }, share, [](I x) { return x.kvUse; }},
        {t("KV cache in use, peak"), t("Share of the blocks, of the fullest replica"), [](M x) { return x.peakKvUse; },
         share, nullptr},
        {t("Preemptions"), t("How often a running request was preempted"),
         [](M x) { return static_cast<double>(x.preemptions); }, count, nullptr},
        {t("Recomputations"), t("Preemptions after which prompt and output had to be computed again"),
         [](M x) { return static_cast<double>(x.restarts); }, count, nullptr},
        {t("Stalled requests"), t("Requests that waited between two of their iterations. Preempted ones are included"),
         [](M x) { return static_cast<double>(x.stalled); }, count, nullptr},
        {t("Time stalled"), t("Of all stalled requests together"), [](M x) { return x.stallSeconds; }, time, nullptr},
        {t("Rejected requests"), t("Refused with a reason. They miss the SLO"),
         [](M x) { return static_cast<double>(x.rejected); }, count, nullptr},
        {t("Prefix cache hits"), t("Share of prompt tokens that were found in the cache"),
         [](M x) { return x.prefixHitRate; }, share, nullptr},
        {t("Adapters loaded"), t("LoRA adapters that had to be loaded into a replica's memory"),
         [](M x) { return static_cast<double>(x.adapterLoads); }, count, nullptr},
        {t("Waiting for adapters"), t("Total time that iterations waited for them, in seconds"),
         [](M x) { return x.adapterLoadSeconds; }, time, nullptr},
        {t("Iterations"), t("Of all replicas"), [](M x) { return static_cast<double>(x.iterations); }, count, nullptr},
        {t("Model FLOP utilisation"), t("Operations that the model needs ÷ what the devices could do"),
         [](M x) { return x.mfu; }, share, [](I x) { return x.mfu; }},
        {t("Model bandwidth utilisation"), t("Bytes of weights and KV cache ÷ what the devices could read"),
         [](M x) { return x.mbu; }, share, [](I x) { return x.mbu; }},
        {t("Energy per output token"), t("All devices, idle time included; 0: not known"),
         [](M x) { return x.joulesPerToken; }, Dimension::Energy, [](I x) { return x.joulesPerToken; }},
        {t("Dollars per million tokens"), t("For output tokens; set the price under Clock, power, price"),
         [](M x) { return x.dollarsPerMillionTokens; }, number, [](I x) { return x.dollarsPerMillionTokens; }},
    };
    return all;
}

QString written(double value, Dimension dimension) {
    return dimension == Dimension::Fraction ? ui::percentText(value)
           : dimension == Dimension::Count  ? ui::countText(value)
                                            : ui::text(value, dimension);
}

/// `43 – 51 ms`: a unit that both share is said once.
QString rangeText(const FigureInterval& range, Dimension dimension) {
    const QString low = written(range.low, dimension), high = written(range.high, dimension);
    if (low == high) return high;
    const auto a = low.lastIndexOf(QLatin1Char(' ')), b = high.lastIndexOf(QLatin1Char(' '));
    const bool shared = a > 0 && b > 0 && low.mid(a) == high.mid(b);
    return (shared ? low.left(a) : low) + QStringLiteral(" – ") + high;
}

ui::Cell intervalCell(const Line& line, const std::optional<ServingIntervals>& of) {
    if (!line.interval) return {{}, 0, {}, ui::Tone::Muted, true};
    if (!of)
        return {QStringLiteral("…"), 0, t("The run is simulated again with both ends of the intervals"),
                ui::Tone::Muted, true};
    const QString basis = QString::fromStdString(of->basis);
    if (!of->known) return {t("not measured"), 0, basis, ui::Tone::Muted, true};
    const FigureInterval range = line.interval(*of);
    return {rangeText(range, line.dimension), range.high - range.low, basis, ui::Tone::Muted, true};
}

/// `againstSecond`: the second is pinned, and the first is held against it.
ui::Cell differenceCell(double a, double b, bool againstSecond) {
    if (againstSecond) std::swap(a, b);
    const double change = a > 0 ? b / a - 1 : 0;
    const QString text = !(a > 0) || std::abs(change) < 0.0005 ? QStringLiteral("–") : ui::signedPercentText(change);
    return {text, change, againstSecond ? t("This fleet against the pinned one") : t("Second against first"),
            ui::Tone::Muted, true};
}

struct GroupLine {
    QString name;
    double (*value)(const GroupMetrics&);
    Dimension dimension;
};
const std::vector<GroupLine>& groupLines() {
    using G = const GroupMetrics&;
    static const std::vector<GroupLine> all{
        {t("requests"), [](G x) { return static_cast<double>(x.requests); }, Dimension::Count},
        {t("time to first token, p99"), [](G x) { return x.ttft.p99; }, Dimension::Time},
        {t("time per output token, p99"), [](G x) { return x.tpot.p99; }, Dimension::Time},
        {t("end to end, p99"), [](G x) { return x.endToEnd.p99; }, Dimension::Time},
        {t("queueing, mean"), [](G x) { return x.queueing.mean; }, Dimension::Time},
        {t("output tokens per second"), [](G x) { return x.outputTokensPerSecond; }, Dimension::Number},
        {t("SLO attainment"), [](G x) { return x.attainment; }, Dimension::Fraction},
    };
    return all;
}

}  // namespace

void fillFigures(ui::CellsTable& table, const ui::ServingRuns& runs,
                 const std::vector<std::optional<ServingIntervals>>& intervals) {
    QStringList heads{t("Figure")};
    for (const auto& run : runs) heads << run->name << t("90 % interval");
    const bool againstSecond = runs.size() == 2 && runs[1]->pinned;
    if (runs.size() == 2) heads << (againstSecond ? t("Against pinned") : t("Difference"));
    std::vector<std::vector<ui::Cell>> rows;
    const auto begin = [&rows](const QString& name, const QString& tip) {
        return std::vector<ui::Cell>{{name, static_cast<double>(rows.size()), tip, ui::Tone::Normal, false}};
    };
    for (const Line& line : lines()) {
        std::vector<ui::Cell> cells = begin(line.name, line.tip);
        for (std::size_t i = 0; i < runs.size(); ++i) {
            const double value = line.value(runs[i]->metrics);
            cells.push_back({written(value, line.dimension), value, line.tip, ui::Tone::Normal, true});
            const bool large = runs[i]->metrics.iterations > mostSureIterations;
            cells.push_back(large && line.interval
                                ? ui::Cell{QStringLiteral("–"), 0, t("No interval: more than a million iterations"),
                                           ui::Tone::Muted, true}
                                : intervalCell(line, i < intervals.size() ? intervals[i] : std::nullopt));
        }
        if (runs.size() == 2)
            cells.push_back(differenceCell(line.value(runs[0]->metrics), line.value(runs[1]->metrics), againstSecond));
        rows.push_back(std::move(cells));
    }
    const auto groups = [&](std::vector<GroupMetrics> ServingMetrics::*which, const QString& tip, bool promised) {
        if (runs.empty()) return;
        for (std::size_t g = 0; g < (runs.front()->metrics.*which).size(); ++g) {
            for (const GroupLine& line : groupLines()) {
                if (!promised && line.value == groupLines().back().value) continue;
                const QString group = QString::fromStdString((runs.front()->metrics.*which)[g].name);
                std::vector<ui::Cell> cells = begin(group + QStringLiteral(": ") + line.name, tip);
                for (const auto& run : runs) {
                    const auto& all = run->metrics.*which;
                    const double value = g < all.size() ? line.value(all[g]) : 0;
                    cells.push_back({written(value, line.dimension), value, tip, ui::Tone::Normal, true});
                    cells.push_back({{}, 0, {}, ui::Tone::Muted, true});
                }
                if (runs.size() == 2 && g < (runs[1]->metrics.*which).size())
                    cells.push_back(differenceCell(line.value((runs[0]->metrics.*which)[g]),
                                                   line.value((runs[1]->metrics.*which)[g]), againstSecond));
                rows.push_back(std::move(cells));
            }
        }
    };
    groups(&ServingMetrics::tenants, t("Of the requests of this tenant"), true);
    groups(&ServingMetrics::stages, t("Of the requests of this stage, each from its own arrival on"), false);
    table.setCells(heads, std::move(rows));
}

}  // namespace orrery::app
