#include "app/window/evidence/evidence_page.h"

#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/calibrate_tab.h"
#include "app/window/evidence/device_tab.h"
#include "app/window/evidence/references_tab.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/evidence/schedule_search_tab.h"
#include "app/window/evidence/schedules_tab.h"
#include "app/window/evidence/survey_tab.h"
#include "app/window/evidence/transfer_tab.h"
#include "app/window/evidence/versions_tab.h"
#include "app/window/studio.h"
#include "evaluation/row_facets.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/coverage_matrix.h"

#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QTimer>
#include <QVBoxLayout>

#include <map>
#include <string>
#include <vector>

namespace orrery::app {

EvidencePage::EvidencePage(Studio& studio, QWidget* parent)
    : Page(parent), studio_(studio), shelf_(new ReferenceShelf(this)) {
    setObjectName(QStringLiteral("evidencePage"));
    setAccessibleName(tr("Evidence"));
}

void EvidencePage::build() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    tabs_ = new QTabWidget(this);
    tabs_->setObjectName(QStringLiteral("evidence.pages"));
    tabs_->setAccessibleName(tr("Evidence"));
    tabs_->setToolTip(
        tr("Errors, survey, coverage, references, calibration, versions of software, transfer between devices, earlier "
           "runs, your device, schedules of a compiler"));
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("evidence.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Evidence"));
    tabs_->tabBar()->setToolTip(
        tr("Errors, survey, coverage, references, calibration, versions of software, transfer between devices, earlier "
           "runs, your device, schedules of a compiler"));
    accuracy_ = new AccuracyTab(shelf_, ui::stackOf(tabs_));
    tabs_->addTab(accuracy_, tr("Accuracy and cost"));
    addOtherTabs();
    column->addWidget(tabs_);
    connect(accuracy_, &AccuracyTab::judged, this, [this] {
        coverageIsOld_ = true;
        refreshCoverage();
    });
    connect(tabs_, &QTabWidget::currentChanged, this, [this](int tab) {
        makeTab(tab);
        refreshCoverage();
    });
    joinAccuracy();
    QTimer::singleShot(0, this, &EvidencePage::makeNextTab);
}

void EvidencePage::addOtherTabs() {
    const auto add = [this](const QString& title, std::function<QWidget*(QWidget*)> make) {
        makers_[tabs_->addTab(new QWidget(tabs_), title)] = std::move(make);
    };
    add(tr("Survey"), [this](QWidget* pages) {
        survey_ = new SurveyTab(accuracy_, pages);
        connect(survey_, &SurveyTab::openRequested, this, [this](Facet facet, const QString& word, int judgement) {
            accuracy_->narrowTo(facet, word.toStdString(), judgement);
            tabs_->setCurrentWidget(accuracy_);
        });
        return survey_;
    });
    add(tr("Coverage"), [this](QWidget*) { return buildCoverage(); });
    add(tr("References"), [this](QWidget* pages) { return new ReferencesTab(shelf_, pages); });
    add(tr("Calibrate"), [this](QWidget* pages) {
        calibrate_ = new CalibrateTab(shelf_, pages);
        connect(calibrate_, &CalibrateTab::useRequested, this, &EvidencePage::calibrationChosen);
        return calibrate_;
    });
    add(tr("Versions"), [this](QWidget* pages) { return versions_ = new VersionsTab(shelf_, pages); });
    add(tr("Transfer"), [this](QWidget* pages) { return transfer_ = new TransferTab(shelf_, pages); });
    add(tr("Runs"), [this](QWidget* pages) {
        runs_ = new RunsTab(pages);
        joinRuns();
        return runs_;
    });
    add(tr("Bring your device"), [this](QWidget* pages) { return device_ = new DeviceTab(pages); });
    add(tr("Schedules"), [this](QWidget* pages) {
        scheduleKinds_ = new QTabWidget(pages);
        scheduleKinds_->setObjectName(QStringLiteral("schedules.kinds"));
        scheduleKinds_->setAccessibleName(tr("Schedules of a log, or of a drawn device"));
        scheduleKinds_->setToolTip(tr("What a compiler tried and measured, or a search on a device that is drawn"));
        scheduleKinds_->setDocumentMode(true);
        schedules_ = new SchedulesTab(ui::stackOf(scheduleKinds_));
        scheduleSearch_ =
            new ScheduleSearchTab([this] { return studio_.document.hardware(); }, ui::stackOf(scheduleKinds_));
        scheduleKinds_->addTab(schedules_, tr("Tuning log"));
        scheduleKinds_->addTab(scheduleSearch_, tr("Search on a drawn device"));
        return scheduleKinds_;
    });
}

void EvidencePage::makeTab(int tab) {
    auto maker = makers_.extract(tab);
    if (!maker) return;
    QWidget* waiting = tabs_->widget(tab);
    const bool front = tabs_->currentIndex() == tab;
    const QString title = tabs_->tabText(tab);
    const QSignalBlocker quiet(tabs_);
    QWidget* made = maker.mapped()(ui::stackOf(tabs_));
    tabs_->removeTab(tab);
    tabs_->insertTab(tab, made, title);
    if (front) tabs_->setCurrentIndex(tab);
    waiting->deleteLater();
}

void EvidencePage::makeNextTab() {
    if (makers_.empty()) return;
    makeTab(makers_.begin()->first);
    QTimer::singleShot(0, this, &EvidencePage::makeNextTab);
}

// Counted over when it is looked at: the tab in front has enough to show at once.
void EvidencePage::refreshCoverage() {
    if (coverageIsOld_ && platforms_ && tabs_->currentWidget() == platforms_->parentWidget()) showCoverage();
}

QWidget* EvidencePage::buildCoverage() {
    auto* split = new QSplitter(Qt::Vertical, ui::stackOf(tabs_));
    split->setObjectName(QStringLiteral("coverage.split"));
    split->setAccessibleName(tr("Coverage"));
    split->setToolTip(tr("Above: by platform. Below: by class of workload"));
    split->setChildrenCollapsible(false);
    platforms_ = new ui::CoverageMatrix(split);
    platforms_->setObjectName(QStringLiteral("coverage.platforms"));
    classes_ = new ui::CoverageMatrix(split);
    classes_->setObjectName(QStringLiteral("coverage.classes"));
    classes_->setAccessibleName(tr("Coverage by class of workload"));
    split->addWidget(platforms_);
    split->addWidget(classes_);
    showCoverage();
    return split;
}

void EvidencePage::showCoverage() {
    coverageIsOld_ = false;
    const auto& judged = accuracy_->judgements();
    const auto measured = [&](ui::Coverage coverage, Facet facet) {
        // A line for each method that is built in; fewer are judged, others beside them.
        for (std::size_t row = 0; row < coverage.rows.size(); ++row) {
            const auto found = std::ranges::find_if(judged, [&](const Judgement& each) {
                return each.evaluation && each.method.toStdString() == builtinMethods()[row].card.id;
            });
            if (found == judged.end()) continue;
            const EvaluatedRows& rows = found->evaluation->rows;
            std::map<QString, std::vector<std::size_t>> chosen;
            for (std::size_t i = 0; i < rows.size(); ++i)
                chosen[ui::qs(facetOf(facet, *accuracy_->tables(), rows.ref[i]))].push_back(i);
            for (std::size_t column = 0; column < coverage.columns.size(); ++column) {
                const auto there = chosen.find(coverage.columns[column]);
                if (there == chosen.end()) continue;
                ui::CoverageCell& cell = coverage.cells[row * coverage.columns.size() + column];
                cell.rows = static_cast<qint64>(there->second.size());
                cell.error = figuresOf(rows, there->second).errors.mape;
            }
        }
        return coverage;
    };
    platforms_->setCoverage(measured(ui::coverageOf(builtinMethods(), ui::CoverageBy::Platform), Facet::Platform));
    classes_->setCoverage(
        measured(ui::coverageOf(builtinMethods(), ui::CoverageBy::WorkloadClass), Facet::WorkloadClass));
}

void EvidencePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    shelf_->readShipped();
}

}  // namespace orrery::app
