#include "app/window/evidence/evidence_page.h"

#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/calibrate_tab.h"
#include "app/window/evidence/device_tab.h"
#include "app/window/evidence/references_tab.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/evidence/survey_tab.h"
#include "app/window/evidence/transfer_tab.h"
#include "app/window/evidence/versions_tab.h"
#include "evaluation/row_facets.h"
#include "widgets/common/tab_stack.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/coverage_matrix.h"

#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
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
        tr("Errors, survey, coverage, references, calibration, versions of software, transfer between devices, runs of "
           "before, your device"));
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("evidence.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Evidence"));
    tabs_->tabBar()->setToolTip(
        tr("Errors, survey, coverage, references, calibration, versions of software, transfer between devices, runs of "
           "before, your device"));
    QWidget* pages = ui::stackOf(tabs_);
    accuracy_ = new AccuracyTab(shelf_, pages);
    calibrate_ = new CalibrateTab(shelf_, pages);
    tabs_->addTab(accuracy_, tr("Accuracy and cost"));
    survey_ = new SurveyTab(accuracy_, pages);
    tabs_->addTab(survey_, tr("Survey"));
    tabs_->addTab(buildCoverage(), tr("Coverage"));
    tabs_->addTab(new ReferencesTab(shelf_, pages), tr("References"));
    tabs_->addTab(calibrate_, tr("Calibrate"));
    versions_ = new VersionsTab(shelf_, pages);
    tabs_->addTab(versions_, tr("Versions"));
    transfer_ = new TransferTab(shelf_, pages);
    tabs_->addTab(transfer_, tr("Transfer"));
    runs_ = new RunsTab(pages);
    tabs_->addTab(runs_, tr("Runs"));
    device_ = new DeviceTab(pages);
    tabs_->addTab(device_, tr("Bring your device"));
    column->addWidget(tabs_);
    // Counted over when it is looked at: the tab in front has enough to show at once.
    const auto coverage = [this] {
        if (coverageIsOld_ && tabs_->currentWidget() == platforms_->parentWidget()) showCoverage();
    };
    connect(accuracy_, &AccuracyTab::judged, this, [this, coverage] {
        coverageIsOld_ = true;
        coverage();
    });
    connect(tabs_, &QTabWidget::currentChanged, this, coverage);
    connect(survey_, &SurveyTab::openRequested, this, [this](Facet facet, const QString& word, int judgement) {
        accuracy_->narrowTo(facet, word.toStdString(), judgement);
        tabs_->setCurrentWidget(accuracy_);
    });
    connect(calibrate_, &CalibrateTab::useRequested, this, &EvidencePage::calibrationChosen);
    showCoverage();
    joinTabs();
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
