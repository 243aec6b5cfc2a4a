// The training page as a page of the window.

#include "app/window/shown_export.h"
#include "app/window/studio.h"
#include "app/window/training/cases_view.h"
#include "app/window/training/plan_form.h"
#include "app/window/training/training_page.h"
#include "store/export/exports.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/training/step_timeline.h"

#include <QSettings>
#include <QStackedLayout>
#include <QTabWidget>

namespace orrery::app {

PageCard TrainingPage::card() const {
    return {QStringLiteral("training"),
            tr("Training"),
            tr("A training step of a plan on the drawn cluster, and better plans"),
            QStringLiteral("office-chart-area-stacked"),
            {},
            true,
            {},
            true};
}

bool TrainingPage::accepts(const OpenFile& file) const {
    return file.kind == QLatin1String("training-cases");
}

void TrainingPage::open(const QString& path) {
    Expected<TrainingCases> read = readTrainingCases(path.toStdString());
    if (!read) {
        studio_.messages.complain(read.error());
        emit opened(path, false);
        return;
    }
    studio_.layouts.showProject();
    studio_.router.show(this);
    studio_.docks.setAside(true);
    make();
    casesOpen_ = true;
    stack_->setCurrentIndex(2);
    cases_->setCases(std::move(*read));
    studio_.messages.log(Severity::Note, tr("Opened %1").arg(path));
    emit opened(path, true);
}

void TrainingPage::join(Studio& studio) {
    const auto changed = [this] {
        stale_ = true;
        soon_.start();
    };
    for (const auto signal : {&Document::hardwareChanged, &Document::workloadChanged, &Document::scenarioChanged,
                              &Document::methodsChanged, &Document::pricesChanged})
        connect(&studio.document, signal, this, changed);
    connect(&studio.document, &Document::replaced, this, [this, changed] {
        pinned_.reset();
        casesOpen_ = false;
        question_ = {};
        changed();
    });
    connect(&studio.live, &LiveController::busyChanged, this, [this] {
        if (form_ && isVisible() && !answer_) showHeadline();
    });
    studio.actions.add({"training.pin",
                        tr("Training"),
                        tr("&Pin the plan"),
                        tr("Keeps the current training plan to compare others with it"),
                        {},
                        {}},
                       [this] {
                           studio_.router.show(this);
                           pin(!isPinned());
                       });
}

void TrainingPage::exportFront() {
    if (!shown() || (!current_ && !quick_)) {
        studio_.messages.say(Severity::Note, tr("There is no answer to export yet"), {},
                             QStringLiteral("training.export"));
        return;
    }
    ShownExport what{QStringLiteral("training-step"), tabs_->currentWidget(), [this] { return csvOf(*figures_); }, {}};
    if (const auto& timed = timeline_->data().estimate;
        timed && snapshot_ && current_ && !timed->timeline.spans.empty())
        what.trace = [this, timed] { return chromeTrace(snapshot_->scenario, *timed); };
    exportShown(studio_, what);
}

std::vector<MenuPart> TrainingPage::menus() {
    return {};
}

std::vector<ui::PaletteEntry> TrainingPage::findable() {
    std::vector<ui::PaletteEntry> found;
    const auto tab = [&](const QString& text, int at) {
        found.push_back({text, tr("Training"), {}, {}, [this, at] {
                             studio_.router.show(this);
                             if (tabs_) tabs_->setCurrentIndex(at);
                         }});
    };
    tab(tr("Training step over time"), 0);
    tab(tr("Memory of every stage"), 1);
    tab(tr("Devices of the plan"), 2);
    tab(tr("Better plans for the training step"), 3);
    tab(tr("Figures of the training step"), 4);
    return found;
}

bool TrainingPage::goTo(const Place& place) {
    if (!place.path.starts_with("plan/") && place.path != "plan") return false;
    if (studio_.document.state()->scenarios.empty()) return false;
    const std::string& task = studio_.document.state()->scenarios.front().task;
    if (!task.starts_with("training-step")) return false;
    studio_.router.show(this);
    return true;
}

void TrainingPage::saveView(QSettings& settings) const {
    settings.setValue(QStringLiteral("tab"), tabs_ ? tabs_->currentIndex() : tab_);
    settings.setValue(QStringLiteral("fill"), form_ ? form_->fills() : fills_);
}

void TrainingPage::restoreView(const QSettings& settings) {
    fills_ = settings.value(QStringLiteral("fill"), true).toBool();
    tab_ = settings.value(QStringLiteral("tab"), 0).toInt();
    if (!form_) return;
    form_->setFills(fills_);
    tabs_->setCurrentIndex(tab_);
}

}  // namespace orrery::app
