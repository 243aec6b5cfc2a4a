// The workload page within the window: answers to it, its wishes to the document.

#include "app/document/background.h"
#include "app/document/commands/project_edits.h"
#include "app/document/commands/serving_edits.h"
#include "app/document/live_controller.h"
#include "app/document/run_controller.h"
#include "app/window/dock_set.h"
#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/reference_shelf.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/main_window.h"
#include "app/window/mapping/mapping_page.h"
#include "app/window/serving/serving_page.h"
#include "app/window/snapshot_feeder.h"
#include "app/window/stored_runs.h"
#include "app/window/workload/workload_page.h"
#include "widgets/common/text.h"

#include <QElapsedTimer>

namespace orrery::app {

namespace {

/// What the undo list calls the step from one list of what-ifs to the next.
QString wordsOf(const std::vector<WhatIf>& before, const std::vector<WhatIf>& after) {
    if (after.empty()) return MainWindow::tr("Take back the what-ifs");
    for (std::size_t i = 0; i < after.size(); ++i) {
        const bool same = i < before.size() && before[i] == after[i];
        if (!same && after.size() >= before.size())
            return MainWindow::tr("What if: %1").arg(ui::qs(orrery::toText(after[i])));
        if (!same) return MainWindow::tr("Take back: %1").arg(ui::qs(orrery::toText(before[i])));
    }
    return MainWindow::tr("Take back: %1").arg(ui::qs(orrery::toText(before.back())));
}

}  // namespace

void MainWindow::wireWorkloadPage() {
    feeder_->addFollower([this](const ui::SnapshotPtr& snapshot) { workloadPage_->setSnapshot(snapshot); });
    feeder_->addFollower([this](const ui::SnapshotPtr&) { showLoads(); });
    const auto listRuns = [this] {
        const auto runs = storedRuns(runs_->storeFile());
        if (!runs) log(Severity::Warning, ui::qs(orrery::toText(runs.error())));
        workloadPage_->setRuns(runs.value_or(std::vector<RunChoice>{}));
    };
    connect(runs_, &RunController::finished, this, listRuns);
    connect(document_, &Document::fileChanged, this, listRuns);
    connect(document_, &Document::replaced, this, [this, listRuns] {
        workloadPage_->setStored({});
        listRuns();
    });
    connect(this, &MainWindow::ready, this, listRuns);
    connect(workloadPage_, &WorkloadPage::runChosen, this, &MainWindow::showStoredRun);
    const auto showMapping = [this] { mappingPage_->setScenario(document_->hardware(), live_->workload()); };
    connect(live_, &LiveController::workloadReady, mappingPage_, showMapping);
    connect(document_, &Document::hardwareChanged, mappingPage_, showMapping);
    connect(document_, &Document::replaced, mappingPage_, showMapping);
    wireServing();
    evidencePage_->runs()->setSource([this] { return runs_->storeFile(); });
    connect(runs_, &RunController::finished, evidencePage_->runs(), &RunsTab::refresh);
    connect(evidencePage_, &EvidencePage::calibrationChosen, this,
            [this](const std::shared_ptr<const Calibration>& calibration) {
                // Later ones come before what ships.
                auto all = live_->calibrations() ? std::make_shared<CalibrationSet>(*live_->calibrations())
                                                 : std::make_shared<CalibrationSet>(shippedCalibrations().set);
                all->add(calibration);
                evidencePage_->accuracy()->setCalibrations(all);
                live_->setCalibrations(all);
                runs_->setCalibrations(all);
                say(Severity::Note, tr("Answers now use the new calibration of %1").arg(ui::qs(calibration->method)),
                    tr("For this session. Save it to keep it."), QStringLiteral("calibration"));
            });
    connect(evidencePage_->shelf(), &ReferenceShelf::changed, this,
            [this] { live_->setTruth(evidencePage_->shelf()->index()); });
    connect(workloadPage_, &WorkloadPage::workloadClicked, this, &MainWindow::inspectWorkload);
    connect(workloadPage_, &WorkloadPage::whatIfsRequested, this, [this](const std::vector<WhatIf>& all) {
        const ProjectWorkload* workload = document_->workload();
        if (!workload || workload->recipe.whatIfs == all) return;
        report(document_->apply(setWhatIfsEdit(*document_->state(), document_->workloadIndex(), all,
                                               wordsOf(workload->recipe.whatIfs, all))));
    });
    connect(workloadPage_, &WorkloadPage::operatorActivated, this, [this](int op) {
        selection_.select({op});
        docks_->reveal(QStringLiteral("inspector"));
    });
    connect(workloadPage_, &WorkloadPage::showInRooflineRequested, this,
            [this] { docks_->reveal(QStringLiteral("roofline")); });
    connect(workloadPage_, &WorkloadPage::refused, this, &MainWindow::complain);
    connect(workloadPage_, &WorkloadPage::noted, this, [this](const QString& text, const QString& detail) {
        say(Severity::Note, text, detail, QStringLiteral("workload-page"));
    });
}

void MainWindow::showStoredRun(std::int64_t run) {
    const WorkloadPtr workload = live_->workload();
    if (run == 0 || !workload) return workloadPage_->setStored({});
    // Estimates of large models are megabytes of JSON: read beside the window.
    const auto read = [file = runs_->storeFile(), run, workload](std::stop_token, Progress&) {
        return answersOfRun(file, run, *workload);
    };
    Background::once(this, read, [this, workload](Expected<std::vector<ui::StoredAnswers>> answers) {
        if (live_->workload() != workload) return workloadPage_->setStored({});
        if (!answers) complain(answers.error());
        workloadPage_->setStored(answers ? std::move(*answers) : std::vector<ui::StoredAnswers>{});
    });
}

void MainWindow::wireServing() {
    const auto show = [this] {
        const auto& study = document_->state()->serving;
        const int named = study ? document_->state()->hardwareIndex(study->hardware) : -1;
        const auto& state = *document_->state();
        servingPage_->setHardware(named < 0 ? document_->hardware() : state.hardware[static_cast<std::size_t>(named)],
                                  named < 0 ? document_->placements() : state.placementsOf(named));
        servingPage_->setQuestion(study ? *study : ServingPage::usualQuestion());
    };
    for (const auto signal :
         {&Document::hardwareChanged, &Document::layoutChanged, &Document::servingChanged, &Document::replaced})
        connect(document_, signal, servingPage_, show);
    // What is dragged, or typed in one go, is one entry of the undo list.
    connect(
        servingPage_, &ServingPage::edited, this,
        [this, since = QElapsedTimer(), gesture = 0](const ServingStudy& study) mutable {
            if (!since.isValid() || since.elapsed() > 800) gesture = document_->newGesture();
            since.start();
            report(document_->apply(setServingEdit(*document_->state(), study, ServingPage::usualQuestion()), gesture));
        });
}

}  // namespace orrery::app
