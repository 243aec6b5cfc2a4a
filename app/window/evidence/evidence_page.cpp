#include "app/window/evidence/evidence_page.h"

#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/calibrate_tab.h"
#include "app/window/evidence/references_tab.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/evidence/versions_tab.h"
#include "hardware/files/catalogue.h"
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

namespace {

/// `GPU`, `TPU`, …, as cards call platforms, by id of the catalogue.
std::map<std::string, QString> groupsOfDevices() {
    std::map<std::string, QString> groups;
    for (const CatalogueEntry& entry : hardwareCatalogue()) groups[entry.id] = ui::qs(entry.group);
    return groups;
}

}  // namespace

EvidencePage::EvidencePage(Studio& /*studio*/, QWidget* parent) : Page(parent), shelf_(new ReferenceShelf(this)) {
    setObjectName(QStringLiteral("evidencePage"));
    setAccessibleName(tr("Evidence"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    tabs_ = new QTabWidget(this);
    tabs_->setObjectName(QStringLiteral("evidence.pages"));
    tabs_->setAccessibleName(tr("Evidence"));
    tabs_->setToolTip(tr("Errors, coverage, references, calibration, versions of software, runs of before"));
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("evidence.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Evidence"));
    tabs_->tabBar()->setToolTip(tr("Errors, coverage, references, calibration, versions of software, runs of before"));
    accuracy_ = new AccuracyTab(shelf_, tabs_);
    calibrate_ = new CalibrateTab(shelf_, tabs_);
    tabs_->addTab(accuracy_, tr("Accuracy and cost"));
    tabs_->addTab(buildCoverage(), tr("Coverage"));
    tabs_->addTab(new ReferencesTab(shelf_, tabs_), tr("References"));
    tabs_->addTab(calibrate_, tr("Calibrate"));
    versions_ = new VersionsTab(shelf_, tabs_);
    tabs_->addTab(versions_, tr("Versions"));
    runs_ = new RunsTab(tabs_);
    tabs_->addTab(runs_, tr("Runs"));
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
    const auto& judged = accuracy_->judgements();
    const auto groups = groupsOfDevices();
    for (std::size_t row = 0; row < judged.size() && row < byPlatform.rows.size(); ++row) {
        if (!judged[row].evaluation) continue;
        const EvaluatedRows& rows = judged[row].evaluation->rows;
        for (std::size_t column = 0; column < byPlatform.columns.size(); ++column) {
            std::vector<std::size_t> chosen;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto& table = (*accuracy_->tables())[static_cast<std::size_t>(rows.ref[i].table)];
                const auto& measured = table.rows[static_cast<std::size_t>(rows.ref[i].row)];
                const auto group = groups.find(table.devices[static_cast<std::size_t>(measured.device)].catalogue);
                if (group != groups.end() && group->second == byPlatform.columns[column]) chosen.push_back(i);
            }
            if (chosen.empty()) continue;
            ui::CoverageCell& cell = byPlatform.cells[row * byPlatform.columns.size() + column];
            cell.rows = static_cast<qint64>(chosen.size());
            cell.error = figuresOf(rows, chosen).errors.mape;
        }
    }
    platforms_->setCoverage(std::move(byPlatform));
    classes_->setCoverage(ui::coverageOf(builtinMethods(), ui::CoverageBy::WorkloadClass));
}

void EvidencePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    shelf_->readShipped();
}

}  // namespace orrery::app
