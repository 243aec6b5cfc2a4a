#include "app/document/commands/comparison_edits.h"
#include "app/window/compare/compare_page.h"
#include "app/window/compare/compare_table.h"
#include "app/window/form_parts.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/hardware/limit_marks.h"
#include "app/window/studio.h"
#include "app/window/workload/workload_page.h"
#include "hardware/attribute_at.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/comparison/break_even_plot.h"
#include "widgets/comparison/waterfall_plot.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/graph/graph_view.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QTabWidget>

#include <cmath>

namespace orrery::app {

namespace {

struct CurveUnit {
    double factor = 1;
    QString unit;
    ui::TickText ticks = ui::TickText::Number;
};
CurveUnit curveUnit(Dimension dimension, double about) {
    if (dimension == Dimension::Time) return {1, {}, ui::TickText::Seconds};
    if (dimension == Dimension::Fraction) return {1, {}, ui::TickText::Percent};
    if (dimension == Dimension::Count || dimension == Dimension::Number) return {};
    // The prefix in which the value in the middle reads well.
    const QString said = ui::text(about, dimension);
    const auto space = said.lastIndexOf(QLatin1Char(' '));
    const auto one = parseMeasure("1 " + said.mid(space + 1).toStdString(), dimension);
    if (space < 0 || !one || !(one->si > 0)) return {};
    return {1 / one->si, said.mid(space + 1)};
}

}  // namespace

void ComparePage::showDetails() {
    if (!tabs_) return;
    showWaterfall();
    if (tabs_->currentIndex() == 1) askChanges();
    if (tabs_->currentIndex() == 2) {
        fillAttributes();
        askBreakEven();
    }
}

void ComparePage::showWaterfall() {
    const bool other = view_ && chosen_ >= 0 && chosen_ != static_cast<int>(view_->comparison.baseline);
    const auto* task =
        other ? &view_->comparison.cases[static_cast<std::size_t>(chosen_)].asked.scenario.task : nullptr;
    waterfall_->setEmptySentence(
        !task || (!std::holds_alternative<ServingRun>(*task) &&
                  sameQuestion(view_->comparison.base(), view_->comparison.cases[static_cast<std::size_t>(chosen_)]))
            ? tr("Choose a case and a baseline to see the difference of each operator. Press Keep this as A, then "
                 "change the design.")
            : tr("Operators show where the time of two passes or two steps goes. The figures of a serving run are in "
                 "the table: first token, output tokens, goodput, SLO attainment, tokens per dollar."));
    waterfall_->setData(other ? waterfallData(*view_, static_cast<std::size_t>(chosen_),
                                              static_cast<DifferenceBy>(std::max(0, by_->currentIndex())))
                              : ui::WaterfallData{});
}

// Operators of the graph that the window shows, where the case is its question.
void ComparePage::chooseTerm(int row) {
    const CaseQuestion* shown = caseAt(chosen_);
    if (!view_ || !shown || shown->scenario != 0 || row < 0) return;
    const auto& difference =
        view_->differences[static_cast<std::size_t>(chosen_)][static_cast<std::size_t>(by_->currentIndex())];
    if (!difference || row >= static_cast<int>(difference->terms.size())) return;
    QSet<int> operators;
    for (const std::int32_t op : difference->terms[static_cast<std::size_t>(row)].operatorsAfter) operators.insert(op);
    studio_.selection.select(operators);
}

void ComparePage::askChanges() {
    effects_.reset();
    if (!view_ || chosen_ < 0 || chosen_ == static_cast<int>(view_->comparison.baseline)) {
        changing_.cancel();
        return changes_->setCells({}, {});
    }
    const auto calibrations = studio_.live.calibrations();
    changing_.ask(
        [view = view_, at = static_cast<std::size_t>(chosen_), calibrations](std::stop_token stop, Progress& progress) {
            const auto executor = makeDefaultExecutor();
            return changeEffects(
                view->comparison.base(), view->comparison.cases[at],
                {.executor = executor.get(), .stop = stop, .progress = &progress, .calibrations = calibrations.get()});
        },
        [this](const Expected<ChangeEffects>& effects) { showChanges(effects); });
}

void ComparePage::showChanges(const Expected<ChangeEffects>& effects) {
    effects_.reset();
    if (effects) effects_ = *effects;
    std::vector<std::vector<ui::Cell>> rows;
    const auto word = [](const QString& text, ui::Tone tone = ui::Tone::Normal) {
        return ui::Cell{text, 0, text, tone, false};
    };
    if (!effects) {
        if (effects.error().code == "study.cancelled") return;
        return changes_->setCells({tr("Change")}, {{word(ui::windowText(effects.error().message), ui::Tone::Bad)}});
    }
    const double before = effects->before.value;
    const auto timed = [&](const Ranged& time, std::vector<ui::Cell>& row) {
        row.push_back(
            {ui::text(time.value, Dimension::Time), time.value,
             QStringLiteral("%1 … %2").arg(ui::text(time.low, Dimension::Time), ui::text(time.high, Dimension::Time))});
        const double delta = time.value - before;
        row.push_back({delta == 0 ? QStringLiteral("0")
                                  : QStringLiteral("%1  %2").arg(signedTimeText(delta, true),
                                                                 ui::signedPercentText(delta / before)),
                       delta,
                       {},
                       ui::Tone::Normal});
    };
    for (const ChangeEffect& each : effects->changes) {
        std::vector<ui::Cell> row{word(ui::qs(each.text)), word(ui::qs(each.path), ui::Tone::Muted)};
        if (each.alone) {
            timed(*each.alone, row);
        } else {
            row.push_back({QStringLiteral("–"), 0, ui::windowText(each.why), ui::Tone::Muted});
            row.push_back({ui::windowText(each.why), 0, ui::windowText(each.why), ui::Tone::Muted, false});
        }
        rows.push_back(std::move(row));
    }
    std::vector<ui::Cell> all{word(effects->changes.empty() ? tr("The designs are the same") : tr("All together")),
                              word({})};
    timed(effects->after, all);
    rows.push_back(std::move(all));
    changes_->setCells({tr("Change, old → new"), tr("Part"), tr("Time with it alone"),
                        tr("Against %1").arg(ui::text(before, Dimension::Time))},
                       std::move(rows));
}

void ComparePage::fillAttributes() {
    const bool other = view_ && chosen_ >= 0 && chosen_ != static_cast<int>(view_->comparison.baseline);
    const QSignalBlocker a(attribute_), b(mover_), c(quantity_);
    const CaseComparison* all = other ? &view_->comparison : nullptr;
    // What was kept with a case is asked again when the case is chosen.
    const auto kept = keptBreakEven();
    const bool anew = kept && kept != evenShown_;
    evenShown_ = kept;
    const int whose = anew ? (kept->ofBaseline ? 1 : 0) : mover_->currentIndex();
    if (anew) selectData(quantity_, ui::qs(kept->quantity));
    mover_->clear();
    if (!all) return attribute_->clear();
    const auto& its = all->cases[static_cast<std::size_t>(chosen_)];
    mover_->addItem(ui::qs(its.asked.name), chosen_);
    mover_->addItem(ui::qs(all->base().asked.name), static_cast<int>(all->baseline));
    mover_->setCurrentIndex(whose == 1 ? 1 : 0);
    const AnsweredCase& mover = mover_->currentIndex() == 1 ? all->base() : its;
    const AnsweredCase& still = mover_->currentIndex() == 1 ? its : all->base();
    const QString wanted = anew ? ui::qs(kept->attribute) : attribute_->currentText();
    attribute_->clear();
    QStringList paths;
    for (const TurnableNumber& each : turnableNumbers(mover.asked.scenario.hardware->root)) paths << ui::qs(each.path);
    paths << QStringLiteral("batch") << QStringLiteral("sequence");
    attribute_->addItems(paths);
    // What differs first, else a memory's rate.
    QString first;
    for (const Difference& each :
         differences(mover.asked.scenario.hardware->root, still.asked.scenario.hardware->root)) {
        if (each.what != Difference::What::Changed) continue;
        for (const QString& path : paths)
            if (first.isEmpty() && path.endsWith(QLatin1Char('.') + ui::qs(each.attribute)) &&
                ui::qs(pathText(mover.asked.scenario.hardware->root, *each.before))
                    .endsWith(path.section(QLatin1Char('.'), 0, 0)))
                first = path;
    }
    for (const QString& path : paths)
        if (first.isEmpty() && path.endsWith(QLatin1String(".bandwidth"))) first = path;
    attribute_->setCurrentText(!wanted.isEmpty() && paths.contains(wanted) ? wanted : first);
}

void ComparePage::askBreakEven() {
    even_.reset();
    const bool other = view_ && chosen_ >= 0 && chosen_ != static_cast<int>(view_->comparison.baseline);
    const QString path = attribute_->currentText().trimmed();
    if (!other || path.isEmpty()) {
        evening_.cancel();
        return showBreakEven();
    }
    const CaseComparison& all = view_->comparison;
    const auto& its = all.cases[static_cast<std::size_t>(chosen_)];
    const AnsweredCase& mover = mover_->currentIndex() == 1 ? all.base() : its;
    const AnsweredCase& still = mover_->currentIndex() == 1 ? its : all.base();
    evenMover_ = ui::qs(mover.asked.name);
    evenStill_ = ui::qs(still.asked.name);
    const std::string quantity = quantity_->currentData().toString().toStdString();
    const auto& goal = still.values[*caseQuantity(quantity)];
    if (!goal || !sameQuestion(mover, still)) {
        evening_.cancel();
        even_ = Unexpected(fail("compare.no-answer", "the other case has no such number", "another column").value());
        return showBreakEven();
    }
    const auto calibrations = studio_.live.calibrations();
    BreakEvenQuestion question{.subject = mover.asked.scenario,
                               .deviceHour = mover.asked.deviceHour,
                               .path = path.toStdString(),
                               .quantity = quantity,
                               .method = mover.method,
                               .goal = *goal,
                               .drawn = all.base().asked.scenario.hardware};
    evening_.ask(
        [question = std::move(question), calibrations](std::stop_token stop, Progress& progress) {
            const auto executor = makeDefaultExecutor();
            return breakEven(
                question,
                {.executor = executor.get(), .stop = stop, .progress = &progress, .calibrations = calibrations.get()});
        },
        [this](Expected<BreakEven> found) {
            even_ = std::move(found);
            showBreakEven();
        });
    showBreakEven();
}

void ComparePage::showBreakEven() {
    ui::BreakEvenCurve curve;
    evenText_->setTone(ui::Tone::Normal);
    const auto kept = keptBreakEven();
    const bool isKept = kept && kept->attribute == attribute_->currentText().trimmed().toStdString() &&
                        kept->quantity == quantity_->currentData().toString().toStdString() &&
                        kept->ofBaseline == (mover_->currentIndex() == 1);
    evenKeep_->setChecked(isKept);
    evenKeep_->setEnabled(isKept || (even_ && *even_));
    if (!even_) {
        evenText_->setFullText(evening_.isRunning() ? tr("Looking …") : QString());
        return curve_->setCurve({});
    }
    if (!*even_) {
        evenText_->setTone(ui::Tone::Bad);
        evenText_->setFullText(ui::windowText(even_->error().message));
        return curve_->setCurve({});
    }
    const BreakEven& found = **even_;
    const std::size_t column = *caseQuantity(found.quantity);
    if (found.crossings.empty())
        evenText_->setFullText(tr("No break-even: %1").arg(ui::qs(found.none)));
    else
        evenText_->setFullText(tr("%1 is level with %2 with %3").arg(evenMover_, evenStill_, ui::qs(toText(found))));
    if (isKept && kept->found != toText(found))
        evenText_->setFullText(tr("%1 · when it was kept: %2").arg(evenText_->text(), ui::qs(kept->found)));
    CurveUnit x = curveUnit(found.dimension, std::sqrt(found.from * found.to));
    if (found.perCycle) x.unit.replace(QLatin1String("/s"), QLatin1String("/cycle"));
    const CurveUnit y = curveUnit(caseQuantities()[column].dimension, found.goal.value);
    for (const BreakEvenPoint& point : found.points) {
        if (!(point.value.value > 0) || !std::isfinite(point.value.value)) continue;
        curve.x.push_back(point.at * x.factor);
        curve.value.push_back(point.value.value * y.factor);
        curve.low.push_back(point.value.low * y.factor);
        curve.high.push_back(point.value.high * y.factor);
    }
    curve.xName = ui::qs(found.path) + (x.unit.isEmpty() ? QString() : QStringLiteral(", ") + x.unit);
    curve.yName = quantity_->currentText() + (y.unit.isEmpty() ? QString() : QStringLiteral(", ") + y.unit);
    curve.title = tr("%1 over %2").arg(quantity_->currentText(), curve.xName);
    curve.xTicks = x.ticks;
    curve.yTicks = y.ticks;
    curve.goal = found.goal.value * y.factor;
    curve.goalLow = found.goal.low * y.factor;
    curve.goalHigh = found.goal.high * y.factor;
    curve.goalName = evenStill_;
    curve.curveName = evenMover_;
    for (const Crossing& each : found.crossings) curve.crossings.push_back(each.at * x.factor);
    if (found.drawn > 0) curve.drawn = found.drawn * x.factor;
    curve_->setCurve(std::move(curve));
}

std::optional<KeptBreakEven> ComparePage::keptBreakEven() const {
    const CaseQuestion* shown = caseAt(chosen_);
    const ProjectState& state = *studio_.document.state();
    if (!shown || shown->scenario >= static_cast<int>(state.scenarios.size())) return std::nullopt;
    return breakEvenOf(state.scenarios[static_cast<std::size_t>(shown->scenario)]);
}

void ComparePage::keepBreakEvenAnswer() {
    const CaseQuestion* shown = caseAt(chosen_);
    const bool keep = evenKeep_->isChecked() && even_ && *even_;
    std::optional<KeptBreakEven> kept;
    if (keep)
        kept = {attribute_->currentText().trimmed().toStdString(), quantity_->currentData().toString().toStdString(),
                mover_->currentIndex() == 1, toText(**even_)};
    evenShown_ = kept;
    if (shown) studio_.apply(keepBreakEvenEdit(*studio_.document.state(), shown->scenario, std::move(kept)));
    showBreakEven();
}

// The question of the window against the baseline: on its graph and on its drawing.
void ComparePage::showHeat() {
    if (!view_ || view_->comparison.baseline == 0 || view_->question.cases.front().scenario != 0) return dropHeat();
    const AnsweredCase& base = view_->comparison.base();
    if (!base.estimate) return dropHeat();
    const bool first = !heated_;
    heated_ = true;
    ui::Answer answer;
    answer.method = ui::qs(base.method);
    answer.title = ui::qs(methodTitle(base.method));
    answer.estimate = base.estimate;
    const QString name = ui::qs(base.asked.name);
    if (auto* hardware = studio_.router.page<HardwarePage>()) {
        auto before = std::make_shared<ui::Snapshot>();
        before->scenario = base.asked.scenario;
        if (auto device = deviceView(*base.asked.scenario.hardware))
            before->device = std::make_shared<const DeviceView>(std::move(*device));
        before->answers = {answer};
        hardware->limits().holdAgainst(std::move(before), name);
    }
    auto* workload = studio_.router.page<WorkloadPage>();
    if (workload) workload->holdAgainst({QStringLiteral("compare"), name, {answer}}, first);
    if (first && workload) {
        studio_.messages.say(
            Severity::Note,
            tr("Graph and drawing show the difference to %1: blue is faster, vermilion slower").arg(name));
        studio_.router.show(workload);
        workload->graph()->fitAll();
    }
}

void ComparePage::dropHeat() {
    if (!heated_) return;
    heated_ = false;
    if (auto* hardware = studio_.router.page<HardwarePage>()) hardware->limits().holdAgainst({}, {});
    if (auto* workload = studio_.router.page<WorkloadPage>()) workload->setStored({});
}

}  // namespace orrery::app
