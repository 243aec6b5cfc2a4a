#include "app/window/exports.h"

#include "app/window/report.h"
#include "app/window/result_docks.h"
#include "app/window/studio.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>

namespace orrery::app {

namespace {

QString words(const char* text, int number = -1) {
    return QCoreApplication::translate("Exports", text, nullptr, number);
}

void exportAll(Studio& studio, const ResultDocks& results) {
    const QString folder = QFileDialog::getExistingDirectory(studio.window, words("Export every picture to"));
    if (folder.isEmpty()) return;
    int written = 0;
    for (const QString& id : ResultDocks::ids()) {
        ui::ResultView* view = results.view(id);
        studio.feeder.feedAll();
        QStringList endings = {QStringLiteral("png"), QStringLiteral("svg"), QStringLiteral("pdf")};
        if (!view->csv().isEmpty()) endings << QStringLiteral("csv");
        for (const QString& ending : endings) {
            const QString file = QDir(folder).filePath(id + QLatin1Char('.') + ending);
            if (const QString problem = view->exportTo(file); !problem.isEmpty())
                return studio.messages.complain(exportFailed(file, problem));
            ++written;
        }
    }
    studio.messages.say(Severity::Note, words("Wrote %n file(s) to %1", written).arg(folder));
}

void exportReportTo(Studio& studio, const ResultDocks& results) {
    const QString folder = QFileDialog::getExistingDirectory(studio.window, words("Write the report to"));
    if (folder.isEmpty()) return;
    const Expected<QStringList> written = exportReport(studio, results, folder);
    if (!written) return studio.messages.complain(written.error());
    studio.messages.say(Severity::Note, words("Wrote the report to %1").arg(folder));
}

}  // namespace

Diagnostic exportFailed(const QString& file, const QString& problem) {
    return {Severity::Error,         "export.failed",
            problem.toStdString(),   {},
            "choose another folder", {file.toStdString(), 0, 0, {}}};
}

void exportWith(Studio& studio, const QString& title, const QString& name, const QString& filter,
                const std::function<QString(const QString&)>& write) {
    QString chosen;
    QString file = QFileDialog::getSaveFileName(studio.window, title, name, filter, &chosen);
    if (file.isEmpty()) return;
    // `CSV of the table (*.csv)`
    if (QFileInfo(file).suffix().isEmpty()) file += chosen.section(QLatin1Char('*'), 1).remove(QLatin1Char(')'));
    if (const QString problem = write(file); !problem.isEmpty())
        return studio.messages.complain(exportFailed(file, problem));
    studio.messages.say(Severity::Note, words("Wrote %1").arg(file));
}

void addExportActions(Studio& studio, const ResultDocks& results) {
    const QString file = words("File");
    Actions& a = studio.actions;
    a.add({"fileExport", file, words("&Export pictures…"),
           words("Write every picture as PNG, SVG or PDF, and the data as CSV"), "document-export",
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E)},
          [&studio, &results] { exportAll(studio, results); });
    a.add({"fileReport", file, words("Export &report…"),
           words("Write a folder with an HTML report, pictures, CSV and JSON"), "document-export",
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R)},
          [&studio, &results] { exportReportTo(studio, results); });
}

void exportView(Studio& studio, ui::ResultView* view) {
    if (!view) return;
    const QString filter = view->csv().isEmpty() ? words("PNG (*.png);;SVG (*.svg);;PDF (*.pdf)")
                                                 : words("PNG (*.png);;SVG (*.svg);;PDF (*.pdf);;CSV (*.csv)");
    QString chosen;
    QString file = QFileDialog::getSaveFileName(studio.window, words("Export %1").arg(view->title()),
                                                view->id() + QStringLiteral(".png"), filter, &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    if (const QString problem = view->exportTo(file); !problem.isEmpty())
        return studio.messages.complain(exportFailed(file, problem));
    studio.messages.say(Severity::Note, words("Wrote %1").arg(file));
}

Expected<QStringList> exportReport(Studio& studio, const ResultDocks& results, const QString& folder) {
    if (!studio.live.snapshot()) {
        return fail("report.nothing", "there is no answer to report", "a device, a workload and a method",
                    "open an example or choose them in the library");
    }
    QList<ui::ResultView*> views;
    for (const QString& id : ResultDocks::ids()) {
        ui::ResultView* view = results.view(id);
        // A view that was never shown has no size yet.
        if (!view->isVisible()) view->resize(1200, 760);
        views << view;
    }
    studio.feeder.feedAll();
    Expected<QStringList> written = writeReport(folder, *studio.live.snapshot(), views);
    if (!written) return written;
    for (Page* page : studio.router.pages()) {
        Expected<QStringList> more = page->report(folder);
        if (!more) return more;
        *written += *more;
    }
    return written;
}

}  // namespace orrery::app
