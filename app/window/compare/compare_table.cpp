#include "app/window/compare/compare_table.h"

#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <cmath>

namespace orrery::app {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("orrery::app::compare", text);
}

QString surenessText(Against::Says says) {
    switch (says) {
        case Against::Says::Better:
            return tr("better, sure: the intervals do not overlap");
        case Against::Says::Worse:
            return tr("worse, sure: the intervals do not overlap");
        case Against::Says::Overlap:
            return tr("not sure: the intervals overlap");
        case Against::Says::NoInterval:
            return tr("no interval stated: not sure");
        case Against::Says::Same:
            break;
    }
    return tr("the same");
}

ui::Cell quantityCell(const CaseComparison& all, std::size_t at, std::size_t column) {
    const AnsweredCase& answered = all.cases[at];
    const auto& value = answered.values[column];
    if (!value) return {QStringLiteral("–"), std::nan(""), tr("not predicted"), ui::Tone::Muted};
    const auto said = [&](double number) { return ui::qs(caseValueText(column, number, answered)); };
    ui::Cell cell{said(value->value), value->value, {}};
    cell.tip = ui::qs(std::string(caseQuantities()[column].meaning)) + QLatin1Char('\n') + said(value->value);
    if (value->low < value->high) {
        cell.tip += QStringLiteral(" [%1 … %2]").arg(said(value->low), said(value->high));
    } else {
        cell.tip += isCounted(column) ? tr(", counted") : tr(", no interval stated");
    }
    if (at == all.baseline) return cell;
    const auto found = againstBaseline(all.base(), answered, column);
    if (!found || found->says == Against::Says::Same) return cell;
    const QString percent = ui::signedPercentText(found->ratio - 1);
    const bool sure = found->says == Against::Says::Better || found->says == Against::Says::Worse;
    cell.text += sure ? QStringLiteral("  ") + percent : QStringLiteral("  (%1)").arg(percent);
    cell.tone = found->says == Against::Says::Better  ? ui::Tone::Good
                : found->says == Against::Says::Worse ? ui::Tone::Bad
                                                      : ui::Tone::Normal;
    cell.tip += tr("\n%1 × the baseline's").arg(found->ratio, 0, 'g', 3);
    if (found->low < found->high)
        cell.tip += QStringLiteral(" [%1 … %2]").arg(found->low, 0, 'g', 3).arg(found->high, 0, 'g', 3);
    cell.tip += tr(": %1").arg(surenessText(found->says));
    return cell;
}

}  // namespace

CompareCells compareCells(const CompareView& view) {
    const CaseComparison& all = view.comparison;
    CompareCells cells;
    std::vector<std::size_t> shown;
    cells.heads << tr("Baseline") << tr("Case") << tr("Interval of time");
    for (std::size_t c = 0; c < caseQuantities().size(); ++c) {
        const bool any = std::any_of(all.cases.begin(), all.cases.end(),
                                     [&](const AnsweredCase& each) { return each.values[c].has_value(); });
        // One device each: nothing to read.
        const bool plain = caseQuantities()[c].name == "devices" &&
                           std::all_of(all.cases.begin(), all.cases.end(), [&](const AnsweredCase& each) {
                               return !each.values[c] || each.values[c]->value == 1;
                           });
        if (!any || plain) continue;
        shown.push_back(c);
        cells.heads << ui::qs(std::string(caseQuantities()[c].title));
    }
    // The interval stands beside its time.
    if (!shown.empty() && shown.front() == 0)
        cells.heads.move(2, 3);
    else
        cells.heads.removeAt(2);
    for (std::size_t i = 0; i < all.cases.size(); ++i) {
        const AnsweredCase& answered = all.cases[i];
        const bool base = i == all.baseline;
        std::vector<ui::Cell> row;
        row.push_back({base ? tr("● pinned") : tr("○ pin"), base ? 0.0 : 1.0,
                       base ? tr("The other cases are compared with it") : tr("Click to compare the others with it"),
                       base ? ui::Tone::Accent : ui::Tone::Muted, false});
        QString name = ui::qs(answered.asked.name);
        if (view.question.cases[i].scenario == 0) name += tr("  · open now");
        QString tip = name;
        if (answered.estimate)
            tip += tr("\nby %1: %2").arg(ui::qs(methodTitle(answered.method)), ui::qs(answered.reason));
        if (answered.failure && !answered.estimate)
            tip += QLatin1Char('\n') + ui::windowText(answered.failure->message);
        row.push_back({name, static_cast<double>(i), tip, ui::Tone::Normal, false});
        for (const std::size_t column : shown) {
            row.push_back(quantityCell(all, i, column));
            if (column != 0) continue;
            const auto& time = answered.values[0];
            row.push_back(!time ? ui::Cell{QStringLiteral("–"), 0}
                                : ui::Cell{QStringLiteral("%1 … %2").arg(ui::text(time->low, Dimension::Time),
                                                                         ui::text(time->high, Dimension::Time)),
                                           time->high - time->low, tr("90 % of measured times"), ui::Tone::Muted});
        }
        cells.rows.push_back(std::move(row));
    }
    return cells;
}

QString signedTimeText(double seconds, bool plus) {
    const QString text = ui::text(std::abs(seconds), Dimension::Time);
    return (seconds < 0 ? QStringLiteral("−") : plus && seconds > 0 ? QStringLiteral("+") : QString()) + text;
}

ui::WaterfallData waterfallData(const CompareView& view, std::size_t shown, DifferenceBy by) {
    ui::WaterfallData data;
    if (shown >= view.differences.size()) return data;
    const auto& difference = view.differences[shown][static_cast<std::size_t>(by)];
    if (!difference) return data;
    const CaseComparison& all = view.comparison;
    data.fromName = ui::qs(all.base().asked.name);
    data.toName = ui::qs(all.cases[shown].asked.name);
    data.title = tr("Time, %1 → %2").arg(data.fromName, data.toName);
    data.from = difference->before;
    data.to = difference->after;
    data.fromText = ui::text(data.from, Dimension::Time);
    data.toText = ui::text(data.to, Dimension::Time);
    const double scale = std::max(data.from, data.to);
    for (DifferenceTerm term : difference->terms) {
        // What rounding leaves is nothing to look at; the row stays, so that nobody wonders.
        if (term.of == DifferenceTerm::Of::Overlap && std::abs(term.before) + std::abs(term.after) < 1e-11 * scale)
            term.before = term.after = 0;
        ui::WaterfallRow row;
        row.label = ui::qs(term.label);
        row.change = term.delta();
        row.values = QStringLiteral("%1 → %2").arg(term.inBefore ? signedTimeText(term.before, false) : tr("none"),
                                                   term.inAfter ? signedTimeText(term.after, false) : tr("none"));
        row.delta = row.change == 0 ? QStringLiteral("0") : signedTimeText(row.change, true);
        row.tip = QStringLiteral("%1\n%2, %3").arg(row.label, row.values, row.delta);
        if (data.to != data.from)
            row.tip += tr(" (%1 of the difference)").arg(ui::percentText(row.change / (data.to - data.from)));
        if (term.of == DifferenceTerm::Of::Overlap)
            row.tip += tr("\nTotal minus the sum of operators: overlap, and time outside operators");
        data.rows.push_back(std::move(row));
    }
    QStringList notes;
    for (const std::string& note : difference->notes) notes << ui::qs(note);
    data.note = notes.join(QStringLiteral(". "));
    return data;
}

}  // namespace orrery::app
