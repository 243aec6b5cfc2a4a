// What the page shows of a search: pictures, tables, each knob alone.

#include "app/window/explore/explore_page.h"
#include "app/window/explore/explore_text.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/effect_bars.h"
#include "widgets/exploration/history_plot.h"
#include "widgets/exploration/parallel_plot.h"
#include "widgets/exploration/search_plot.h"

#include <QTabWidget>

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery::app {

namespace {

constexpr std::size_t mostTableRows = 500, mostTipLines = 16;

}  // namespace

void ExplorePage::showFindings() {
    if (!run_) return;
    {
        const std::scoped_lock hold(run_->lock);
        if (run_->view == view_ && problem_ == run_->problem && view_) return;
        problem_ = run_->problem;
        run_->spent.push_back(std::exchange(view_, run_->view));
        drawn_ = run_->drawn;
    }
    if (!problem_) return;
    held_ = holds(question_);
    if (view_ && chosen_ >= static_cast<int>(view_->seen.size())) chosen_ = -1;
    std::size_t refused = 0;
    for (std::size_t i = 0; view_ && i < view_->refused.size(); ++i) refused += view_->refused[i].points;
    tabs_->setTabText(RefusedTab, refused == 0 ? tr("No answer")
                                               : tr("No answer (%1)").arg(ui::countText(static_cast<double>(refused))));
    dirty_.fill(true);
    showTab(tabs_->currentIndex());
    choose(chosen_);
}

// One by one, so that no frame waits for all of them; while a search runs they are shown when they are looked at.
void ExplorePage::showOtherTabs() {
    for (int tab = 0; tab < tabs_->count(); ++tab) QTimer::singleShot(0, this, [this, tab] { showTab(tab); });
}

void ExplorePage::showTab(int tab) {
    if (!problem_ || !run_ || tab < 0 || !std::exchange(dirty_[static_cast<std::size_t>(tab)], false)) return;
    switch (tab) {
        case FrontTab:
            plot_->setData(view_ ? view_->plot : nullptr);
            return showTable();
        case ParallelTab:
            return parallel_->setData(view_ ? view_->parallel : nullptr);
        case EffectsTab:
            return showEffects();
        case HistoryTab:
            return showHistory();
        default:
            return showRefused();
    }
}

void ExplorePage::showTable() {
    rows_.clear();
    QStringList heads;
    std::vector<std::vector<ui::Cell>> cells;
    for (const Knob& knob : problem_->space.knobs()) heads << ui::qs(knob.path);
    for (const Objective& objective : problem_->objectives) heads << objectiveText(objective.quantity);
    for (std::size_t n = 0; view_ && n < std::min(view_->front.points.size(), mostTableRows); ++n) {
        const std::size_t at = view_->front.points[n];
        const PointAnswer answer = view_->seen.at(at);
        const auto levels = problem_->space.levelsAt(answer.point);
        std::vector<ui::Cell> row;
        for (std::size_t k = 0; k < levels.size(); ++k) {
            const Knob& knob = problem_->space.knobs()[k];
            row.push_back({ui::qs(knob.values[levels[k]]), knob.numbers[levels[k]]});
        }
        for (std::size_t k = 0; k < answer.values.size(); ++k) {
            const Ranged& value = answer.values[k];
            const auto text = [&](double number) {
                return valueText(number, drawn_.dimensions[k], problem_->objectives[k].quantity);
            };
            QString tip = text(value.value);
            if (!value.sure()) {
                tip += tr(", no interval is known");
            } else if (value.high > value.low) {
                tip += tr(" [%1 … %2], 90 %").arg(text(value.low), text(value.high));
            } else {
                tip += tr(", counted");
            }
            row.push_back(
                {value.sure() ? text(value.value) : text(value.value) + QStringLiteral(" ?"), value.value, tip});
        }
        cells.push_back(std::move(row));
        rows_.push_back(static_cast<int>(at));
    }
    table_->setCells(heads, std::move(cells));
}

void ExplorePage::showEffects() {
    std::vector<KnobEffect> effects;
    PointAnswers alone;
    {
        const std::scoped_lock hold(run_->lock);
        effects = run_->effects;
        alone = run_->alone;
    }
    std::vector<ui::EffectBar> bars;
    const std::size_t width = problem_->objectives.size();
    const double drawn = drawn_.evaluation.refusal.empty() ? drawn_.evaluation.values[0].value : 0;
    for (const KnobEffect& effect : effects) {
        const Knob& knob = problem_->space.knobs()[effect.knob];
        std::optional<std::size_t> first, last;
        QStringList lines;
        const std::size_t stride = (effect.rows.size() + mostTipLines - 1) / mostTipLines;
        for (std::size_t level = 0; level < effect.rows.size(); ++level) {
            const auto row = effect.rows[level];
            if (!row || !alone.answered(*row)) continue;
            if (!first) first = level;
            last = level;
            if (level % stride != 0 && level + 1 != effect.rows.size()) continue;
            lines << QStringLiteral("%1: %2").arg(
                ui::qs(knob.values[level]),
                valueText(alone.value[*row * width], drawn_.dimensions[0], problem_->objectives[0].quantity));
        }
        if (!first || drawn <= 0) continue;
        bars.push_back({ui::qs(knob.path), ui::qs(knob.values[*first]), ui::qs(knob.values[*last]),
                        alone.value[*effect.rows[*first] * width] / drawn,
                        alone.value[*effect.rows[*last] * width] / drawn, lines.join(QLatin1Char('\n'))});
    }
    effects_->setBars(objectiveText(problem_->objectives.front().quantity), std::move(bars));
}

void ExplorePage::showHistory() {
    if (!view_) return history_->setCurves({}, {});
    const SearchHistory& history = view_->history;
    std::vector<ui::HistoryCurve> curves;
    if (!history.volume.empty()) {
        curves.push_back(
            {tr("Hypervolume of the front (%1, %2)")
                 .arg(objectiveText(problem_->objectives[0].quantity), objectiveText(problem_->objectives[1].quantity)),
             history.volume,
             {}});
    }
    for (std::size_t k = 0; k < history.best.size(); ++k) {
        const std::vector<double>& best = history.best[k];
        if (best.empty() || !(best.back() > 0)) continue;
        ui::HistoryCurve curve{tr("Best %1").arg(objectiveText(problem_->objectives[k].quantity)),
                               {},
                               valueText(best.back(), drawn_.dimensions[k], problem_->objectives[k].quantity)};
        for (const double each : best)
            curve.share.push_back(problem_->objectives[k].maximise ? each / best.back() : best.back() / each);
        curves.push_back(std::move(curve));
    }
    history_->setCurves(history.evaluations, std::move(curves));
}

void ExplorePage::showRefused() {
    refusedRows_.clear();
    std::vector<std::vector<ui::Cell>> cells;
    if (view_) {
        for (const ExploreView::Refused& each : view_->refused) {
            if (cells.size() == mostTableRows) break;
            cells.push_back({{ui::countText(static_cast<double>(each.points)), static_cast<double>(each.points)},
                             {ui::windowText(each.why), {}, ui::windowText(each.why)},
                             {ui::qs(problem_->space.labelAt(view_->seen.points[each.first]))}});
            refusedRows_.push_back(static_cast<int>(each.first));
        }
    }
    refused_->setCells({tr("Points"), tr("Why there is no answer"), tr("Such as")}, std::move(cells));
}

}  // namespace orrery::app
