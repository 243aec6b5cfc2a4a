#include "app/window/jobs.h"

#include "app/document/kept_answers.h"
#include "app/window/studio.h"
#include "store/export/exports.h"
#include "store/project/project.h"
#include "widgets/messages/jobs_panel.h"

#include <QDateTime>
#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QUrl>

namespace orrery::app {

Jobs::Jobs(Studio& studio) : studio_(studio) {
    connect(&studio.runs, &RunController::started, this, [this](int run) {
        studio_.docks.dock(QStringLiteral("jobs"))->content();
        const int job = panel_->addJob(studio_.runs.name(run), tr("results"), studio_.runs.progress(run));
        panel_->setState(job, ui::JobState::Running);
        jobOfRun_[run] = job;
        runOfJob_[job] = run;
        studio_.docks.revealSmall(QStringLiteral("jobs"));
    });
    connect(&studio.runs, &RunController::finished, this, [this](int run, RunState state, const QString& message) {
        const ui::JobState shown = state == RunState::Done        ? ui::JobState::Done
                                   : state == RunState::Cancelled ? ui::JobState::Cancelled
                                                                  : ui::JobState::Failed;
        panel_->setState(jobOfRun_[run], shown, message);
        studio_.messages.log(state == RunState::Failed ? Severity::Error : Severity::Note,
                             tr("Run %1: %2").arg(studio_.runs.name(run), message));
        const auto study = studio_.runs.study(run);
        if (study && keepAnswers(*study, studio_.runs.results(run), studio_.runs.calibrations(run).get()))
            studio_.live.ask();
    });
    connect(&studio.runs, &RunController::failed, &studio.messages, &Messages::complain);
}

void Jobs::addActions() {
    const QString run = tr("Run");
    Actions& a = studio_.actions;
    a.add({"runStart", run, tr("&Run"), tr("Runs all methods on all scenarios of the project and stores the results"),
           "media-playback-start", QKeySequence(Qt::Key_F5)},
          [this] { studio_.runs.start(); });
    a.addToggle({"runLive",
                 run,
                 tr("&Live"),
                 tr("Evaluate the live methods on every edit"),
                 {},
                 QKeySequence(Qt::CTRL | Qt::Key_L)},
                true, [this](bool on) { studio_.live.setEnabled(on); });
    a.add({"runCancel", run, tr("&Cancel runs"), tr("Stops all runs; finished results are kept"), "process-stop",
           QKeySequence(Qt::SHIFT | Qt::Key_F5)},
          [this] { studio_.runs.cancelAll(); });
}

void Jobs::addDock() {
    studio_.docks.add(QStringLiteral("jobs"), tr("Jobs"), tr("Runs and their progress"), [this](QWidget* parent) {
        panel_ = new ui::JobsPanel(parent);
        connect(panel_, &ui::JobsPanel::cancelRequested, this,
                [this](int job) { studio_.runs.cancel(runOfJob_[job]); });
        connect(panel_, &ui::JobsPanel::openRequested, this, [this](int job) { open(runOfJob_[job]); });
        connect(panel_, &ui::JobsPanel::runningChanged, this, [this](int running) {
            studio_.docks.dock(QStringLiteral("jobs"))
                ->setTitleNote(running > 0 ? tr("%n running", nullptr, running) : QString());
        });
        return panel_.data();
    });
}

QString Jobs::open(int run) {
    const RunController& runs = studio_.runs;
    const std::shared_ptr<const Study> study = runs.study(run);
    const std::vector<StudyResult> results = runs.results(run);
    if (!study || results.empty()) {
        studio_.messages.say(Severity::Note, tr("%1 has no results yet").arg(runs.name(run)));
        return {};
    }
    const QString stamp = QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd-hh-mm-ss-zzz"));
    const QString file =
        runs.storeFile().chopped(int(qstrlen(".sqlite"))) + QLatin1Char('-') + stamp + QStringLiteral(".html");
    QDir().mkpath(QFileInfo(file).absolutePath());
    if (auto saved = saveFileAtomically(file.toStdString(), reportHtml(*study, results)); !saved) {
        studio_.messages.complain(saved.error());
        return {};
    }
    studio_.messages.say(Severity::Note, tr("The report of %1 is %2").arg(runs.name(run), file));
    QDesktopServices::openUrl(QUrl::fromLocalFile(file));
    return file;
}

}  // namespace orrery::app
