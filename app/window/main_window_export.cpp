#include "app/document/run_controller.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/main_window.h"
#include "app/window/report.h"
#include "app/window/snapshot_feeder.h"
#include "store/export/exports.h"
#include "store/project/project.h"

#include <QDateTime>
#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QUrl>

namespace orrery::app {

void MainWindow::exportView(ui::ResultView* view) {
    if (!view) return;
    const QString filter = view->csv().isEmpty() ? tr("PNG (*.png);;SVG (*.svg);;PDF (*.pdf)")
                                                 : tr("PNG (*.png);;SVG (*.svg);;PDF (*.pdf);;CSV (*.csv)");
    QString chosen;
    QString file = QFileDialog::getSaveFileName(this, tr("Export %1").arg(view->title()),
                                                view->id() + QStringLiteral(".png"), filter, &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    if (const QString problem = view->exportTo(file); !problem.isEmpty()) {
        return complain({Severity::Error,
                         "export.failed",
                         problem.toStdString(),
                         {},
                         "choose another folder",
                         {file.toStdString(), 0, 0, {}}});
    }
    say(Severity::Note, tr("Wrote %1").arg(file));
}

QString MainWindow::openRun(int run) {
    const std::shared_ptr<const Study> study = runs_->study(run);
    const std::vector<StudyResult> results = runs_->results(run);
    if (!study || results.empty()) {
        say(Severity::Note, tr("%1 has no results yet").arg(runs_->name(run)));
        return {};
    }
    const QString stamp = QDateTime::currentDateTime().toString(QStringLiteral("yyyy-MM-dd-hh-mm-ss-zzz"));
    const QString file =
        runs_->storeFile().chopped(int(qstrlen(".sqlite"))) + QLatin1Char('-') + stamp + QStringLiteral(".html");
    QDir().mkpath(QFileInfo(file).absolutePath());
    if (auto saved = saveFileAtomically(file.toStdString(), reportHtml(*study, results)); !saved) {
        complain(saved.error());
        return {};
    }
    say(Severity::Note, tr("The report of %1 is %2").arg(runs_->name(run), file));
    QDesktopServices::openUrl(QUrl::fromLocalFile(file));
    return file;
}

void MainWindow::exportAll() {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Export every picture to"));
    if (folder.isEmpty()) return;
    int written = 0;
    for (const QString& id : resultViewIds()) {
        ui::ResultView* view = resultView(id);
        feeder_->feedAll();
        QStringList endings = {QStringLiteral("png"), QStringLiteral("svg"), QStringLiteral("pdf")};
        if (!view->csv().isEmpty()) endings << QStringLiteral("csv");
        for (const QString& ending : endings) {
            const QString file = QDir(folder).filePath(id + QLatin1Char('.') + ending);
            if (const QString problem = view->exportTo(file); !problem.isEmpty()) {
                return complain({Severity::Error,
                                 "export.failed",
                                 problem.toStdString(),
                                 {},
                                 "choose another folder",
                                 {file.toStdString(), 0, 0, {}}});
            }
            ++written;
        }
    }
    say(Severity::Note, tr("Wrote %n file(s) to %1", nullptr, written).arg(folder));
}

Expected<QStringList> MainWindow::exportReport(const QString& folder) {
    if (!live_->snapshot()) {
        return fail("report.nothing", "there is no answer to report", "a device, a workload and a method",
                    "open an example or choose them in the library");
    }
    QList<ui::ResultView*> views;
    for (const QString& id : resultViewIds()) {
        ui::ResultView* view = resultView(id);
        // A view that was never shown has no size yet.
        if (!view->isVisible()) view->resize(1200, 760);
        views << view;
    }
    feeder_->feedAll();
    Expected<QStringList> written = writeReport(folder, *live_->snapshot(), views);
    if (!written) return written;
    const QString drawing = QDir(folder).filePath(QStringLiteral("hardware.svg"));
    if (const QString problem = hardwarePage_->canvas()->exportTo(drawing); !problem.isEmpty()) {
        return fail("report.picture", problem.toStdString(), {}, "choose another folder",
                    {drawing.toStdString(), 0, 0, {}});
    }
    written->append(drawing);
    return written;
}

void MainWindow::exportReportInteractive() {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Write the report to"));
    if (folder.isEmpty()) return;
    const Expected<QStringList> written = exportReport(folder);
    if (!written) return complain(written.error());
    say(Severity::Note, tr("Wrote the report to %1").arg(folder));
}

}  // namespace orrery::app
