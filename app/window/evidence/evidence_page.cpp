#include "app/window/evidence/evidence_page.h"

#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/calibrate_tab.h"
#include "app/window/evidence/references_tab.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/coverage_matrix.h"

#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace orrery::app {

EvidencePage::EvidencePage(QWidget* parent) : QWidget(parent), shelf_(new ReferenceShelf(this)) {
    setObjectName(QStringLiteral("evidencePage"));
    setAccessibleName(tr("Evidence"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    tabs_ = new QTabWidget(this);
    tabs_->setObjectName(QStringLiteral("evidence.pages"));
    tabs_->setAccessibleName(tr("Evidence"));
    tabs_->setToolTip(tr("Errors, coverage, references, calibration"));
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("evidence.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Evidence"));
    tabs_->tabBar()->setToolTip(tr("Errors, coverage, references, calibration"));
    accuracy_ = new AccuracyTab(shelf_, tabs_);
    calibrate_ = new CalibrateTab(shelf_, tabs_);
    tabs_->addTab(accuracy_, tr("Accuracy and cost"));
    tabs_->addTab(buildCoverage(), tr("Coverage"));
    tabs_->addTab(new ReferencesTab(shelf_, tabs_), tr("References"));
    tabs_->addTab(calibrate_, tr("Calibrate"));
    column->addWidget(tabs_);
    connect(accuracy_, &AccuracyTab::judged, this, &EvidencePage::showCoverage);
    connect(calibrate_, &CalibrateTab::useRequested, this, &EvidencePage::calibrationChosen);
    showCoverage();
}

QWidget* EvidencePage::buildCoverage() {
    auto* split = new QSplitter(Qt::Vertical, tabs_);
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
    ui::Coverage byPlatform = ui::coverageOf(builtinMethods(), ui::CoverageBy::Platform);
    // All loaded references are of GPUs; a judged method gets its error there.
    const auto gpu = std::ranges::find(byPlatform.columns, QStringLiteral("GPU"));
    if (gpu != byPlatform.columns.end()) {
        const auto column = static_cast<std::size_t>(gpu - byPlatform.columns.begin());
        const auto& judged = accuracy_->judgements();
        for (std::size_t row = 0; row < judged.size() && row < byPlatform.rows.size(); ++row) {
            if (!judged[row].evaluation) continue;
            ui::CoverageCell& cell = byPlatform.cells[row * byPlatform.columns.size() + column];
            cell.rows = static_cast<qint64>(judged[row].evaluation->rows.size());
            cell.error = judged[row].evaluation->figures.errors.mape;
        }
    }
    platforms_->setCoverage(std::move(byPlatform));
    classes_->setCoverage(ui::coverageOf(builtinMethods(), ui::CoverageBy::WorkloadClass));
}

void EvidencePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    shelf_->readShipped();
}

}  // namespace orrery::app
