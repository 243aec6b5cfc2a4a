#include "app/window/serving/serving_figures.h"

#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <QCoreApplication>

#include <cmath>

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
        headline += t(" · promise kept by %1").arg(ui::percentText(m.attainment));
    if (m.rejected > 0) headline += t(" · %n rejected", nullptr, static_cast<int>(m.rejected));
    if (run.result.outsideDomain > 0) headline += t(" · some iterations outside what was learned");
    return headline;
}

void fillFigures(ui::CellsTable& table, const ui::ServingRuns& runs) {
    struct Line {
        QString name, tip;
        double (*value)(const ServingMetrics&);
        Dimension dimension;
        bool share;
    };
    const std::vector<Line> lines{
        {t("Time to first token, median"), t("Arrival to the end of the iteration that yields the first token"),
         [](const ServingMetrics& x) { return x.ttft.p50; }, Dimension::Time, false},
        {t("Time to first token, p99"), t("99 % of requests see their first token within"),
         [](const ServingMetrics& x) { return x.ttft.p99; }, Dimension::Time, false},
        {t("Time per output token, median"), t("(End − first token) ÷ (output tokens − 1)"),
         [](const ServingMetrics& x) { return x.tpot.p50; }, Dimension::Time, false},
        {t("Time per output token, p99"), t("(End − first token) ÷ (output tokens − 1)"),
         [](const ServingMetrics& x) { return x.tpot.p99; }, Dimension::Time, false},
        {t("Gap between tokens, p99"), t("Gaps between neighbouring tokens, all requests together"),
         [](const ServingMetrics& x) { return x.itl.p99; }, Dimension::Time, false},
        {t("End to end, median"), t("Arrival to last token"), [](const ServingMetrics& x) { return x.endToEnd.p50; },
         Dimension::Time, false},
        {t("End to end, p99"), t("Arrival to last token"), [](const ServingMetrics& x) { return x.endToEnd.p99; },
         Dimension::Time, false},
        {t("Queueing, mean"), t("Arrival to the first iteration"),
         [](const ServingMetrics& x) { return x.queueing.mean; }, Dimension::Time, false},
        {t("Requests per second"), t("Requests that ended ÷ time from first arrival to last end"),
         [](const ServingMetrics& x) { return x.requestsPerSecond; }, Dimension::Number, false},
        {t("Output tokens per second"), t("Of all replicas"),
         [](const ServingMetrics& x) { return x.outputTokensPerSecond; }, Dimension::Number, false},
        {t("Goodput"), t("Requests per second that keep every promise"),
         [](const ServingMetrics& x) { return x.goodput; }, Dimension::Number, false},
        {t("Promise kept"), t("Share of requests that keep every promise"),
         [](const ServingMetrics& x) { return x.attainment; }, Dimension::Number, true},
        {t("KV cache in use, peak"), t("Share of the blocks"), [](const ServingMetrics& x) { return x.peakKvUse; },
         Dimension::Number, true},
        {t("Preemptions"), t("A running request lost its place in memory"),
         [](const ServingMetrics& x) { return static_cast<double>(x.preemptions); }, Dimension::Count, false},
        {t("Starts from the beginning"), t("… and computed its text again"),
         [](const ServingMetrics& x) { return static_cast<double>(x.restarts); }, Dimension::Count, false},
        {t("Prefix cache hits"), t("Share of prompt tokens that were found in the cache"),
         [](const ServingMetrics& x) { return x.prefixHitRate; }, Dimension::Number, true},
        {t("Iterations"), t("Of all replicas"),
         [](const ServingMetrics& x) { return static_cast<double>(x.iterations); }, Dimension::Count, false},
        {t("Model FLOP utilisation"), t("Operations that the model needs ÷ what the devices could do"),
         [](const ServingMetrics& x) { return x.mfu; }, Dimension::Number, true},
        {t("Energy per output token"), t("All devices, idle time included; 0: not known"),
         [](const ServingMetrics& x) { return x.joulesPerToken; }, Dimension::Energy, false},
    };
    QStringList heads{t("Figure")};
    for (const auto& run : runs) heads << run->name;
    if (runs.size() == 2) heads << t("Difference");
    std::vector<std::vector<ui::Cell>> rows;
    for (const Line& line : lines) {
        std::vector<ui::Cell> cells{{line.name, static_cast<double>(rows.size()), line.tip, ui::Tone::Normal, false}};
        for (const auto& run : runs) {
            const double value = line.value(run->metrics);
            cells.push_back({line.share                           ? ui::percentText(value)
                             : line.dimension == Dimension::Count ? ui::countText(value)
                                                                  : ui::text(value, line.dimension),
                             value, line.tip, ui::Tone::Normal, true});
        }
        if (runs.size() == 2) {
            const double a = line.value(runs[0]->metrics), b = line.value(runs[1]->metrics);
            const double change = a > 0 ? b / a - 1 : 0;
            const QString text =
                !(a > 0) || std::abs(change) < 0.0005
                    ? QStringLiteral("–")
                    : (change > 0 ? QStringLiteral("+") : QStringLiteral("−")) + ui::percentText(std::abs(change));
            cells.push_back({text, change, t("Second against first"), ui::Tone::Muted, true});
        }
        rows.push_back(std::move(cells));
    }
    table.setCells(heads, std::move(rows));
}

}  // namespace orrery::app
