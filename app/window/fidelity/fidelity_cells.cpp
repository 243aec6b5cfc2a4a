#include "app/window/fidelity/fidelity_cells.h"

#include "evaluation/width_shares.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace orrery::app {

namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("orrery::app::fidelity", text);
}
QString time(double seconds) {
    return ui::text(seconds, Dimension::Time);
}
QString sides(double low, double high) {
    return QStringLiteral("[%1 … %2]").arg(time(low), time(high));
}
QString half(double low, double latency, double high) {
    return latency > 0 ? QStringLiteral("±") + ui::percentText((high - low) / 2 / latency) : QString();
}
ui::Cell word(const QString& text, const QString& tip = {}) {
    return {text, 0, tip, ui::Tone::Normal, false};
}
ui::Cell seconds(double value) {
    return {time(value), value, {}};
}

const Estimate* narrowest(const FidelityView& view) {
    if (view.budget) return &view.budget->estimate;
    const Estimate* found = nullptr;
    if (!view.ladder) return found;
    for (const LadderStep& step : view.ladder->steps) {
        if (!step.estimate || widthShares(*step.estimate).operators.empty()) continue;
        const auto wide = [](const Estimate& e) { return e.interval.high.value - e.interval.low.value; };
        if (!found || wide(*step.estimate) <= wide(*found)) found = step.estimate.get();
    }
    return found;
}

}  // namespace

FidelityTable stepCells(const FidelityView& view) {
    FidelityTable table;
    if (view.ladder) {
        table.heads = {tr("Method"), tr("Took"), tr("Answer"), tr("Interval"), tr("So far"), tr("Weight")};
        const LadderStep* last = view.ladder->last();
        for (std::size_t i = 0; i < view.ladder->steps.size(); ++i) {
            const LadderStep& step = view.ladder->steps[i];
            if (!step.estimate) continue;
            const Estimate& e = *step.estimate;
            const bool bound = e.interval.kind == IntervalKind::Bound;
            const double weight = last && last->soFar && i < last->soFar->weights.size() ? last->soFar->weights[i] : 0;
            table.rows.push_back(
                {word(ui::qs(step.method)),
                 seconds(e.cost.value),
                 seconds(e.latency.value),
                 word(bound ? tr("bound") : half(e.interval.low.value, e.latency.value, e.interval.high.value),
                      sides(e.interval.low.value, e.interval.high.value)),
                 step.soFar ? ui::Cell{time(step.soFar->latency) + QStringLiteral("  ") +
                                           half(step.soFar->low, step.soFar->latency, step.soFar->high),
                                       step.soFar->latency, sides(step.soFar->low, step.soFar->high)}
                            : word(QStringLiteral("–")),
                 {bound ? tr("bound") : ui::percentText(weight), weight, {}}});
        }
        return table;
    }
    if (!view.budget) return table;
    table.heads = {tr("Asked"), tr("Kernels"), tr("Took"), tr("Full fidelity for")};
    for (const BudgetAsked& each : view.budget->asked) {
        QStringList kinds;
        for (const std::string& kind : each.kinds) kinds << ui::qs(kind);
        table.rows.push_back({word(ui::qs(each.method)),
                              {tr("%1 of %2").arg(each.kernels).arg(view.budget->kernels), double(each.kernels), {}},
                              seconds(each.seconds),
                              word(kinds.isEmpty() ? QStringLiteral("–") : kinds.join(QStringLiteral(", ")))});
    }
    for (const BudgetFamily& each : view.budget->families) {
        if (each.asked == each.kernels) continue;
        table.rows.push_back(
            {word(tr("%1, not asked").arg(ui::qs(each.name))),
             {tr("%1 of %2").arg(each.kernels - each.asked).arg(each.kernels), double(each.kernels - each.asked), {}},
             {ui::percentText(each.share), each.share, tr("of the time")},
             word(tr("%1 × %2 [%3 … %4]")
                      .arg(ui::qs(each.control))
                      .arg(each.ratio, 0, 'g', 3)
                      .arg(each.low, 0, 'g', 3)
                      .arg(each.high, 0, 'g', 3))});
    }
    return table;
}

FidelityTable widestCells(const FidelityView& view) {
    FidelityTable table;
    const Estimate* answer = narrowest(view);
    if (!answer) return table;
    const WidthShares shares = widthShares(*answer);
    table.heads = {tr("Operator"), tr("Time"), tr("Of variance"), tr("Left without")};
    for (const WidthShare& each : shares.operators) {
        if (table.rows.size() >= 40) break;
        const auto& op = view.question.scenario.workload->graph.operators[static_cast<std::size_t>(each.op)];
        const double time = each.seconds / answer->latency.value;
        table.rows.push_back({word(ui::qs(op.name)),
                              {ui::percentText(time), time, {}},
                              {ui::percentText(each.share), each.share, {}},
                              {QStringLiteral("±") + ui::percentText(each.half), each.half,
                               tr("Interval of the total if this operator were known exactly")}});
        table.operators.push_back(each.op);
    }
    return table;
}

FidelityTable adviceCells(const FidelityView& view) {
    FidelityTable table;
    if (!view.advice) return table;
    const bool wanted = view.question.value > 0;
    table.heads = {QString(),  tr("Method"),    tr("Answer"), tr("Off on rows"),
                   tr("Rows"), tr("On common"), tr("Inside"), tr("Takes")};
    if (wanted) table.heads << tr("Below %1").arg(time(view.question.value));
    for (const Advice& each : view.advice->methods) {
        const QString tip = reasonsOf(each);
        std::vector<ui::Cell> row;
        row.push_back({ui::qs(toText(each.verdict)), static_cast<double>(each.verdict), tip,
                       each.verdict == AdviceVerdict::Recommended ? ui::Tone::Good
                       : each.verdict >= AdviceVerdict::TooSlow   ? ui::Tone::Muted
                                                                  : ui::Tone::Normal,
                       false});
        row.push_back(word(ui::qs(each.method), tip));
        const ui::Cell none{QStringLiteral("–"), std::nan(""), {}, ui::Tone::Muted};
        if (each.answer) {
            const Estimate& e = *each.answer;
            row.push_back({time(e.latency.value), e.latency.value, sides(e.interval.low.value, e.interval.high.value)});
        } else {
            row.push_back(none);
        }
        if (each.evidence.empty()) {
            row.insert(row.end(), {none, none, none, none});
        } else {
            const AdviceEvidence& e = each.evidence.front();
            row.push_back({ui::percentText(e.mape), e.mape, ui::qs(e.what)});
            row.push_back({e.sameDevice ? QString::number(e.rows) : tr("%1 elsewhere").arg(e.rows), double(e.rows),
                           ui::qs(e.what)});
            if (each.comparedError)
                row.push_back({ui::percentText(*each.comparedError), *each.comparedError,
                               tr("Mean error on the rows that all ranked methods predict")});
            else
                row.push_back(none);
            row.push_back({ui::percentText(e.coverage90), e.coverage90, tr("of 90 % intervals")});
        }
        const auto takes = each.measured ? each.measured : each.stated;
        row.push_back(takes ? seconds(*takes) : none);
        if (wanted) {
            row.push_back(word(each.decides == "below"   ? tr("yes")
                               : each.decides == "above" ? tr("no")
                               : each.decides.empty()    ? QStringLiteral("–")
                                                         : tr("cannot tell")));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

QString headlineOf(const FidelityView& view) {
    if (view.ladder) {
        const auto& far = view.ladder->last()->soFar;
        if (!far) return tr("no less than %1").arg(time(view.ladder->last()->estimate->latency.value));
        return QStringLiteral("%1 %2  %3")
            .arg(time(far->latency), sides(far->low, far->high), half(far->low, far->latency, far->high));
    }
    if (view.budget) {
        const Estimate& e = view.budget->estimate;
        return QStringLiteral("%1 %2  %3")
            .arg(time(e.latency.value), sides(e.interval.low.value, e.interval.high.value),
                 half(e.interval.low.value, e.latency.value, e.interval.high.value));
    }
    if (!view.advice || view.advice->methods.empty()) return {};
    QStringList best;
    for (const Advice& each : view.advice->methods)
        if (each.verdict == AdviceVerdict::Recommended) best << ui::qs(each.title);
    return best.isEmpty() ? tr("No method can be recommended") : best.join(QStringLiteral(", "));
}

QString sentenceOf(const FidelityView& view) {
    if (view.ladder) {
        QStringList from;
        if (const auto& far = view.ladder->last()->soFar)
            for (std::size_t i = 0; i < far->weights.size() && i < view.ladder->steps.size(); ++i)
                if (far->weights[i] >= 0.01)
                    from << QStringLiteral("%1 %2").arg(ui::qs(view.ladder->steps[i].method),
                                                        ui::percentText(far->weights[i]));
        QString text = tr("from %1").arg(from.join(QStringLiteral(", ")));
        if (!view.ladder->notAsked.empty()) text += tr("; %1 not asked").arg(view.ladder->notAsked.size());
        return text;
    }
    if (view.budget) {
        return tr("%1; %2 used, of which %3 to choose the methods; full fidelity would take %4 for all kernels")
            .arg(ui::qs(view.budget->ended), time(view.budget->seconds), time(view.budget->choosing),
                 time(view.budget->statedOnce));
    }
    if (!view.advice) return {};
    if (!view.advice->gap.empty()) return ui::qs(view.advice->gap);
    const QString present = tr("%1 reference rows of such kernels are loaded, %2 of this device")
                                .arg(view.advice->rows)
                                .arg(view.advice->sameDeviceRows);
    if (view.advice->commonRows == 0) return present;
    return tr("%1; ranked on %2 that all %3 comparable methods predict")
        .arg(present)
        .arg(view.advice->commonRows)
        .arg(view.advice->comparable);
}

QString reasonsOf(const Advice& advice) {
    QStringList lines{ui::qs(advice.title)};
    for (const std::string& reason : advice.reasons) lines << ui::qs(reason);
    lines << tr("Breaks where: %1").arg(ui::qs(advice.failureMode));
    return lines.join(QLatin1Char('\n'));
}

QString twinOf(const FidelityQuestion& question) {
    switch (question.mode) {
        case FidelityMode::Ladder:
            return QStringLiteral("orrery-cli run … --ladder");
        case FidelityMode::Within:
        case FidelityMode::To: {
            QString text = question.mode == FidelityMode::Within
                               ? QStringLiteral("orrery-cli run … --within '%1'").arg(time(question.value))
                               : QStringLiteral("orrery-cli run … --to %1%").arg(100 * question.value, 0, 'g', 3);
            if (!question.full.empty()) text += QStringLiteral(" --full '%1'").arg(ui::qs(question.full));
            return text;
        }
        case FidelityMode::Advice:
            break;
    }
    QString text = QStringLiteral("orrery-cli advise … --data %1").arg(ui::qs(toText(question.data)));
    if (question.value > 0) text += QStringLiteral(" --latency '%1'").arg(time(question.value));
    return text;
}

}  // namespace orrery::app
