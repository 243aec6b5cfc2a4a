// One schedule in the explorer: its loops, its features, why the model says what it says; and all of it as files.

#include "app/document/background.h"
#include "app/window/evidence/schedules_tab.h"
#include "app/window/shown_export.h"
#include "app/window/state_line.h"
#include "base/text/latex_table.h"
#include "learning/schedules/schedule_features.h"
#include "learning/schedules/schedule_nest.h"
#include "widgets/common/label.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/schedules/nest_code.h"
#include "widgets/schedules/nest_picture.h"
#include "widgets/schedules/reason_bars.h"
#include "widgets/schedules/schedule_scatter.h"

#include <QComboBox>
#include <QFileInfo>

#include <cmath>

namespace orrery::app {

namespace {

QString valueText(const ScheduleFact& fact) {
    if (fact.bytes) return ui::text(fact.value, Dimension::Data);
    return fact.value >= 1e4 ? ui::text(fact.value, Dimension::Number) : QString::number(fact.value, 'g', 4);
}

QString withHint(const Diagnostic& why) {
    return ui::windowText(why.message) + QStringLiteral(". ") + ui::windowText(why.hint) + QLatin1Char('.');
}

// Below this nothing is seen of it.
constexpr double leastShown = 5e-4;

}  // namespace

void SchedulesTab::showSchedule(int place) {
    const ScheduleGroup* chosen = group();
    if (!chosen) return;
    current_ = place;
    reasons_.reset();
    const TunedRow& row = log_->rows[chosen->rows[static_cast<std::size_t>(place)]];
    const auto nest = scheduleNestOf(row);
    if (nest) {
        code_->setNest(*nest);
        picture_->setNest(*nest);
        basis_->setFullText(ui::qs(nest->basis) + QLatin1Char('.'));
    } else {
        code_->setSentence(withHint(nest.error()));
        picture_->setNest({});
        basis_->setFullText({});
    }
    scatter_->setCurrent(place);
    showFacts();
    showReasons();
    askReasons();
}

void SchedulesTab::showFacts() {
    const TunedRow& row = log_->rows[group()->rows[static_cast<std::size_t>(current_)]];
    std::vector<std::vector<ui::Cell>> cells;
    for (const ScheduleFact& fact : scheduleFactsOf(row)) {
        const double adds = reasons_ ? reasons_->features[fact.feature] : 0;
        const bool seen = std::abs(adds) >= leastShown;
        cells.push_back({{ui::qs(fact.group), 0, {}, ui::Tone::Muted, false},
                         {ui::qs(fact.name), 0, {}, ui::Tone::Normal, false},
                         {valueText(fact), fact.value, QString::number(fact.value, 'g', 12), ui::Tone::Normal, true},
                         {seen ? ui::signedPercentText(adds) : QStringLiteral("–"),
                          -std::abs(adds),
                          {},
                          seen ? ui::Tone::Normal : ui::Tone::Muted,
                          true}});
    }
    facts_->setCells({tr("About"), tr("Feature"), tr("Value"), tr("Adds")}, std::move(cells));
}

void SchedulesTab::askReasons() {
    if (!explored_) return;
    why_->ask([log = log_, explored = explored_, place = static_cast<std::size_t>(current_)](
                  std::stop_token stop, Progress&) { return reasonsOf(log->rows, *explored, place, stop); },
              [this, explored = explored_, place = current_](ScheduleReasons reasons) {
                  if (explored != explored_ || place != current_) return;
                  reasons_ = std::make_unique<ScheduleReasons>(std::move(reasons));
                  showFacts();
                  showReasons();
              });
}

void SchedulesTab::showReasons() {
    if (!explored_ || current_ < 0) {
        bars_->setEmptyText(group() && group()->mixed
                                ? tr("A model that predicts times uses only the operator, not its schedule.")
                                : tr("The effect of each feature on the prediction appears here."));
        return bars_->clear();
    }
    const TunedRow& row = log_->rows[explored_->group.rows[static_cast<std::size_t>(current_)]];
    const bool all = whose_->currentIndex() == 1;
    if (!all && !reasons_) return;  // those of the schedule before stay until these have come
    std::vector<ui::Reason> reasons;
    for (const ScheduleFact& fact : scheduleFactsOf(row)) {
        const double adds = all ? explored_->looksAt[fact.feature] : reasons_->features[fact.feature];
        if (std::abs(adds) < leastShown) continue;
        reasons.push_back({ui::qs(fact.name), all ? QString() : valueText(fact), adds});
    }
    if (all) return bars_->setReasons(tr("Mean effect of each feature on the prediction"), std::move(reasons), false);
    QString title = tr("Predicted %1 of the best; mean of all others %2")
                        .arg(ui::percentText(reasons_->rate), ui::percentText(reasons_->mean));
    if (reasons_->places < 1)
        title = tr("Predicted per used slot %1, mean of the others %2; it uses %3 of the GPU's slots")
                    .arg(ui::percentText(reasons_->rate), ui::percentText(reasons_->mean),
                         ui::percentText(reasons_->places));
    bars_->setReasons(title, std::move(reasons), true);
}

std::string SchedulesTab::scheduleCsv() const {
    return explored_ ? exploredCsv(log_->rows, *explored_) : csvOf(*list_);
}

// Why there are no bars.
QString SchedulesTab::whyNoReasons() const {
    if (group()->mixed) return tr("there is nothing to draw: a model of times does not use the schedule");
    return explored_ ? tr("there is nothing to draw: what the model looks at is not known yet")
                     : tr("there is nothing to draw: no model has been fitted");
}

QString SchedulesTab::exportTo(const QString& file) const {
    if (!group()) return tr("No log is open yet");
    if (current_ < 0) return tr("The schedules are still being listed");
    // `its.nest.svg` is of the kind `nest`, `its.resnest.csv` of none that is known here.
    const QString ending = QFileInfo(file).suffix().toLower();
    const QString kind = QFileInfo(QFileInfo(file).completeBaseName()).suffix().toLower();
    const auto write = [&](const std::string& text) { return ui::writeText(file, QByteArray::fromStdString(text)); };
    const auto picture = [&](const ui::FigureView& view, const QString& missing) {
        return view.isEmpty() ? missing : view.exportTo(file);
    };
    const auto noLoops = [&] {
        const auto nest = scheduleNestOf(log_->rows[group()->rows[static_cast<std::size_t>(current_)]]);
        return nest ? QString() : tr("there are no loops to write: %1").arg(withHint(nest.error()));
    };
    if (ending == QLatin1String("txt"))
        return picture_->isEmpty() ? noLoops() : write(code_->toPlainText().toStdString() + '\n');
    if (kind == QLatin1String("features") && ending == QLatin1String("csv")) return write(csvOf(*facts_));
    if (kind == QLatin1String("nest")) return picture(*picture_, noLoops());
    if (kind == QLatin1String("why")) return picture(*bars_, whyNoReasons());
    if (ending == QLatin1String("csv")) return write(scheduleCsv());
    if (ending == QLatin1String("tex")) return write(latexTable(scheduleCsv()));
    return picture(*scatter_, tr("there is nothing to draw: no model has been fitted"));
}

void SchedulesTab::chooseFile() {
    askAndSave(
        this,
        {tr("Export"),
         "schedules.export.dialog",
         {tr("CSV of the schedules (*.csv)"), tr("TEX table of the schedules (*.tex)"),
          tr("SVG: predicted against measured (*.svg)"), tr("PDF: predicted against measured (*.pdf)"),
          tr("PNG: predicted against measured (*.png)"), tr("Code of the loop nest (*.txt)"),
          tr("SVG of the loop nest (*.nest.svg)"), tr("CSV of the loop nest (*.nest.csv)"),
          tr("CSV of the features (*.features.csv)"), tr("SVG of what the model looks at (*.why.svg)"),
          tr("CSV of what the model looks at (*.why.csv)")}},
        [this](const QString& file) { return exportTo(file); }, *state_);
}

}  // namespace orrery::app
