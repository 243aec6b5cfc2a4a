// The list of the schedule explorer: what the model predicts of each schedule, and what was measured.

#include "app/window/evidence/schedules_tab.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery::app {

namespace {

ui::Cell numberCell(const QString& text, double value, const QString& tip = {}) {
    return {text, value, tip, ui::Tone::Normal, true};
}

ui::Cell noCell() {
    return {QStringLiteral("–"), 1e300, {}, ui::Tone::Muted, true};
}

ui::Cell timeCell(double seconds, const QString& tip = {}) {
    return seconds > 0 && std::isfinite(seconds) ? numberCell(ui::text(seconds, Dimension::Time), seconds, tip)
                                                 : noCell();
}

ui::Cell measuredCell(const TunedRow& row) {
    return row.seconds > 0 ? timeCell(row.seconds)
                           : ui::Cell{SchedulesTab::tr("failed"), 1e300, {}, ui::Tone::Bad, true};
}

ui::Cell wordsCell(const TunedRow& row, const QString& words) {
    return {words, static_cast<double>(row.line),
            SchedulesTab::tr("Line %1 of the log: %2").arg(row.line).arg(ui::qs(knobsText(row))), ui::Tone::Normal,
            false};
}

}  // namespace

QString SchedulesTab::workText(const TensorWork& work) {
    const auto number = [](double value) { return QString::number(value, 'f', 0); };
    if (work.product) {
        const QString sides = tr("%1 × %2 × %3").arg(number(work.rows), number(work.outputs), number(work.inputs));
        return work.batch > 1 ? tr("%1 products %2").arg(number(work.batch), sides) : tr("product %1").arg(sides);
    }
    return tr("%1 %2 → %3, %4 × %5, kernel %6 × %7")
        .arg(work.depthwise ? tr("depthwise") : tr("convolution"), number(work.inputs), number(work.outputs),
             number(work.rows), number(work.columns), number(work.kernelRows), number(work.kernelColumns));
}

QStringList SchedulesTab::listHeads(bool mixed) {
    if (mixed) return {tr("Predicted"), tr("From"), tr("To"), tr("Measured"), tr("Off"), tr("Operator")};
    return {tr("Predicted"), tr("From"),    tr("To"),        tr("Its rank"),
            tr("Measured"),  tr("Of best"), tr("True rank"), tr("Schedule")};
}

SchedulesTab::Listing SchedulesTab::listed(const Log& log, const ScheduleGroup& group,
                                           const ExploredOperator* explored) {
    Listing listing;
    listing.places.resize(group.rows.size());
    std::iota(listing.places.begin(), listing.places.end(), std::size_t{0});
    const auto timeOf = [&](std::size_t place) {
        const double seconds = log.rows[group.rows[place]].seconds;
        return seconds > 0 ? seconds : 1e300;
    };
    std::ranges::stable_sort(listing.places, {}, timeOf);
    std::vector<std::size_t> rank(group.rows.size());
    for (std::size_t i = 0; i < rank.size(); ++i) rank[listing.places[i]] = i + 1;
    const double best = timeOf(listing.places.front());
    if (explored) std::ranges::stable_sort(listing.places, {}, [&](std::size_t i) { return explored->toldRank[i]; });
    listing.places.resize(std::min(listing.places.size(), mostListed));
    for (const std::size_t place : listing.places) {
        const TunedRow& row = log.rows[group.rows[place]];
        const bool ran = row.seconds > 0;
        const auto endCell = [&](double ShareRange::*end) {
            if (!explored || explored->ranges.empty()) return noCell();
            const double share = explored->ranges[place].*end;
            return numberCell(ui::percentText(share), -share, tr("The interval of its share of the best"));
        };
        const auto rankCell = [](std::size_t at) { return numberCell(QString::number(at), static_cast<double>(at)); };
        listing.cells.push_back({explored ? numberCell(ui::percentText(explored->told[place]), -explored->told[place],
                                                       tr("Of the best, as the model predicts: best time ÷ its time"))
                                          : noCell(),
                                 endCell(&ShareRange::low), endCell(&ShareRange::high),
                                 explored ? rankCell(explored->toldRank[place]) : noCell(), measuredCell(row),
                                 ran ? numberCell(ui::percentText(best / row.seconds), row.seconds) : noCell(),
                                 ran ? rankCell(rank[place]) : noCell(), wordsCell(row, ui::qs(knobsText(row)))});
    }
    return listing;
}

SchedulesTab::Listing SchedulesTab::listedTimes(const Log& log, const ScheduleGroup& group,
                                                const ScheduleJudgement* times) {
    Listing listing;
    listing.places.resize(group.rows.size());
    std::iota(listing.places.begin(), listing.places.end(), std::size_t{0});
    std::ranges::stable_sort(listing.places, {}, [&](std::size_t place) {
        const std::size_t row = group.rows[place];
        const double seconds = times ? times->said[row] : log.rows[row].seconds;
        return seconds > 0 ? seconds : 1e300;  // NaN, too
    });
    listing.places.resize(std::min(listing.places.size(), mostListed));
    for (const std::size_t place : listing.places) {
        const std::size_t at = group.rows[place];
        const TunedRow& row = log.rows[at];
        const bool told = times && std::isfinite(times->said[at]);
        const double off = told ? times->said[at] / row.seconds - 1 : 0;
        listing.cells.push_back({told ? timeCell(times->said[at]) : noCell(),
                                 told ? timeCell(times->low[at], tr("The 90 % interval")) : noCell(),
                                 told ? timeCell(times->high[at], tr("The 90 % interval")) : noCell(),
                                 measuredCell(row),
                                 told ? numberCell(ui::signedPercentText(off), -std::abs(off),
                                                   tr("(predicted − measured) ÷ measured; sorted by size"))
                                      : noCell(),
                                 wordsCell(row, workText(row.work))});
    }
    return listing;
}

}  // namespace orrery::app
