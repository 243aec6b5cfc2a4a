// The evidence page as a page of the window: references for all views, calibrations for all answers.

#include "app/document/commands/project_edits.h"
#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/reference_shelf.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/evidence/schedule_search_tab.h"
#include "app/window/evidence/schedules_tab.h"
#include "app/window/exports.h"
#include "app/window/studio.h"
#include "app/window/workload/workload_page.h"
#include "widgets/common/text.h"
#include "widgets/graph/graph_view.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QTimer>

namespace orrery::app {

namespace {

// Graph and drawing follow the window's question, so that the row becomes it.
void drawQuestion(Studio& studio, const Scenario& question, const QStringList& methods) {
    std::vector<std::string> chosen;
    for (const QString& each : methods) chosen.push_back(each.toStdString());
    const QString name = ui::qs(question.workload->name);
    if (!studio.apply(askQuestionEdit(*studio.document.state(), question, chosen, QObject::tr("Ask %1").arg(name))))
        return;
    studio.layouts.showProject();
    auto* workload = studio.router.page<WorkloadPage>();
    if (!workload) return;
    workload->wantMetric(QStringLiteral("ratio/") + methods.join(QLatin1Char('/')));
    studio.router.show(workload);
    workload->graph()->fitAll();
    studio.messages.say(Severity::Note, QObject::tr("%1 is the window's question now").arg(name),
                        QObject::tr("The graph shows time by %1 as a multiple of time by %2, the drawing what limits. "
                                    "Undo goes back.")
                            .arg(methods.back(), methods.front()));
}

// Tables and JSON that hold one are opened on the tab itself: other pages read such files, too.
bool isTuningLog(const QString& path) {
    return path.endsWith(QLatin1String(".log"), Qt::CaseInsensitive);
}

}  // namespace

PageCard EvidencePage::card() const {
    return {QStringLiteral("evidence"),
            tr("Evidence"),
            tr("How far to trust each method: errors, references, calibration"),
            QStringLiteral("office-chart-scatter"),
            {},
            true,
            {}};
}

bool EvidencePage::isBusy() const {
    return accuracy_ && accuracy_->isJudging();
}

bool EvidencePage::showsAnswer() const {
    return accuracy_ && accuracy_->compared();
}

Expected<QStringList> EvidencePage::report(const QString& folder) {
    if (!showsAnswer()) return QStringList();
    const QString own = folder + QStringLiteral("/comparison");
    if (!QDir().mkpath(own)) return Unexpected(exportFailed(own, tr("the folder cannot be made")));
    return accuracy_->writeReport(own);
}

bool EvidencePage::accepts(const OpenFile& file) const {
    return file.kind == QLatin1String("judging") || isTuningLog(file.path);
}

std::vector<FileFilter> EvidencePage::filters() const {
    return {{tr("Tuning logs"), {QStringLiteral(".log")}}};
}

std::vector<ui::PaletteEntry> EvidencePage::findable() {
    std::vector<ui::PaletteEntry> found;
    const auto tab = [&](const QString& text, const QString& detail, const QString& title) {
        found.push_back({text, tr("Evidence"), detail, {}, [this, title] { comeTo(title); }});
    };
    tab(tr("Survey of methods"), tr("Which kinds of method measurements confirm, and where"), tr("Survey"));
    tab(tr("Versions of software"), tr("How stale predictions are after an update, and what repairs them"),
        tr("Versions"));
    tab(tr("Transfer between devices"), tr("Fitted on one device, judged on another"), tr("Transfer"));
    tab(tr("Runs of this project"), tr("Earlier answers, and what is different since the baseline"), tr("Runs"));
    tab(tr("Bring your device"), tr("What to measure on a device, and the predictions for all other networks"),
        tr("Bring your device"));
    const auto schedules = [&](const QString& text, const QString& detail, int kind) {
        found.push_back({text, tr("Evidence"), detail, {}, [this, kind] {
                             comeTo(tr("Schedules"));
                             scheduleKinds_->setCurrentIndex(kind);
                         }});
    };
    schedules(tr("Schedule explorer"),
              tr("A tuning log of AutoTVM or Ansor: loops, features, predicted against measured"), 0);
    schedules(tr("Search schedules on a drawn device"),
              tr("Tiles, orders and vectors of a product: which is the fastest, and how soon it is found"), 1);
    return found;
}

void EvidencePage::open(const QString& path) {
    if (isTuningLog(path)) {
        comeTo(tr("Schedules"));
        scheduleKinds_->setCurrentWidget(schedules_);
        schedules_->openLog(path);
        return emit opened(path, false);
    }
    const auto read = readJudgingFile(path.toStdString());
    if (!read) {
        studio_.messages.complain(read.error());
        return emit opened(path, false);
    }
    comeToAccuracy();
    accuracy_->ask(*read, path);
    emit opened(path, false);
}

void EvidencePage::saveJudging() {
    QString file = QFileDialog::getSaveFileName(this, tr("Save the page"), QStringLiteral("judging.yaml"),
                                                tr("Comparison of methods (*.yaml)"));
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QStringLiteral(".yaml");
    if (const QString problem = accuracy_->saveTo(file); !problem.isEmpty())
        return studio_.messages.complain(exportFailed(file, problem));
    studio_.messages.say(Severity::Note, tr("Wrote %1").arg(file),
                         tr("The same on the command line: %1").arg(ui::qs(judgingCommand(file.toStdString()))));
}

void EvidencePage::importResults() {
    auto* dialog = new QFileDialog(this, tr("Import results"));
    dialog->setObjectName(QStringLiteral("accuracy.import.dialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Results of another tool (*.csv)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, accuracy_, &AccuracyTab::importResults);
    dialog->open();
}

void EvidencePage::exportAccuracy() {
    QString chosen;
    QString file =
        QFileDialog::getSaveFileName(this, tr("Export the judgement"), QStringLiteral("accuracy.svg"),
                                     tr("SVG (*.svg);;PDF (*.pdf);;PNG (*.png);;CSV of all rows (*.csv);;CSV of the "
                                        "matrix (*.matrix.csv);;JSON (*.json);;TEX table (*.tex);;HTML report, all "
                                        "figures and tables beside it (*.html)"),
                                     &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty())
        file += QLatin1Char('.') +
                (chosen.startsWith(QLatin1String("HTML")) ? QStringLiteral("html") : chosen.left(3).toLower());
    if (file.endsWith(QLatin1String(".html"))) {
        // Everything has its place in one folder, which is named as the file.
        const QString folder = file.chopped(5);
        if (!QDir().mkpath(folder))
            return studio_.messages.complain(exportFailed(folder, tr("the folder cannot be made")));
        return accuracy_->writePage(folder);
    }
    if (const QString problem = accuracy_->exportTo(file); !problem.isEmpty())
        return studio_.messages.complain(exportFailed(file, problem));
    studio_.messages.say(Severity::Note, tr("Wrote %1").arg(file));
}

void EvidencePage::join(Studio& studio) {
    connect(&studio.files, &ProjectFiles::exampleOpened, this, [this](const Example& example) {
        if (example.opens != card().id) return;
        comeToAccuracy();
        accuracy_->judgeOnceRead();
    });
    connect(&studio.runs, &RunController::finished, this, [this] {
        if (runs_) runs_->refresh();
    });
    connect(shelf_, &ReferenceShelf::changed, this, [this] { studio_.live.setTruth(shelf_->index()); });
    // Measured operators are marked in the roofline from the start, not only once Evidence was looked at.
    connect(&studio, &Studio::ready, this, [this] { QTimer::singleShot(300, shelf_, &ReferenceShelf::readShipped); });
}

void EvidencePage::joinRuns() {
    runs_->setSource([this] { return studio_.runs.storeFile(); });
}

void EvidencePage::joinAccuracy() {
    connect(accuracy_, &AccuracyTab::exportRequested, this, &EvidencePage::exportAccuracy);
    connect(accuracy_, &AccuracyTab::importRequested, this, &EvidencePage::importResults);
    connect(accuracy_, &AccuracyTab::saveRequested, this, &EvidencePage::saveJudging);
    connect(accuracy_, &AccuracyTab::refused, &studio_.messages, &Messages::complain);
    connect(accuracy_, &AccuracyTab::drawingRequested, this,
            [this](const Scenario& question, const QStringList& methods) { drawQuestion(studio_, question, methods); });
    connect(accuracy_, &AccuracyTab::pageWritten, this, [this](const QString& folder, const QString& problem) {
        if (!problem.isEmpty()) return studio_.messages.complain(exportFailed(folder, problem));
        studio_.messages.say(Severity::Note, tr("Wrote every figure and table to %1").arg(folder));
    });
    accuracy_->setChoices([this] {
        QStringList choices;
        for (const std::string& method : studio_.document.state()->methods) choices << ui::qs(method);
        return choices;
    });
    connect(this, &EvidencePage::calibrationChosen, this, &EvidencePage::useCalibration);
}

// Later ones come before what ships.
void EvidencePage::useCalibration(const std::shared_ptr<const Calibration>& calibration) {
    const auto& before = studio_.live.calibrations();
    auto all = std::make_shared<CalibrationSet>(before ? *before : shippedCalibrations().set);
    all->add(calibration);
    accuracy_->setCalibrations(all);
    studio_.live.setCalibrations(all);
    studio_.runs.setCalibrations(all);
    studio_.messages.say(Severity::Note,
                         tr("Answers now use the new calibration of %1").arg(ui::qs(calibration->method)),
                         tr("For this session. Save it to keep it."), QStringLiteral("calibration"));
}

void EvidencePage::comeTo(const QString& tab) {
    studio_.layouts.showProject(true);
    studio_.router.show(this);
    make();
    for (int at = 0; at < tabs_->count(); ++at)
        if (tabs_->tabText(at) == tab) tabs_->setCurrentIndex(at);
}

void EvidencePage::comeToAccuracy() {
    studio_.layouts.showProject(true);
    studio_.router.show(this);
    make();
    tabs_->setCurrentWidget(accuracy_);
}

}  // namespace orrery::app
