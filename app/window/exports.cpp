#include "app/window/exports.h"

#include "app/window/report.h"
#include "app/window/result_docks.h"
#include "app/window/studio.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/veil.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMainWindow>

#include <algorithm>
#include <optional>

namespace orrery::app {

namespace {

QString words(const char* text, int number = -1) {
    return QCoreApplication::translate("Exports", text, nullptr, number);
}

/// Nothing is written as an answer to a question that it does not answer.
std::optional<Diagnostic> lateAnswer(const Studio& studio) {
    if (!studio.live.snapshot() || studio.live.upToDate()) return std::nullopt;
    return Diagnostic{Severity::Error,
                      "export.late",
                      "the views show the answer to an earlier question",
                      "the answer to the current question",
                      "wait until it has come; with Live off, ask for it with Ctrl+L",
                      {}};
}

/// The views that show something of the newest answer, seen or not.
QList<ui::ResultView*> filledViews(Studio& studio, const ResultDocks& results) {
    QList<ui::ResultView*> views;
    for (const QString& id : ResultDocks::ids()) {
        ui::ResultView* view = results.view(id);
        // A view that was never shown has no size yet.
        if (!view->isVisible()) view->resize(1200, 760);
        views << view;
    }
    studio.feeder.feedAll();
    views.removeIf([](const ui::ResultView* view) { return view->isEmpty(); });
    return views;
}

void exportAll(Studio& studio, const ResultDocks& results) {
    const QString folder = QFileDialog::getExistingDirectory(studio.window, words("Export every picture to"));
    if (folder.isEmpty()) return;
    const Expected<QStringList> written = exportPictures(studio, results, folder);
    if (!written) return studio.messages.complain(written.error());
    studio.messages.say(Severity::Note, words("Wrote %n file(s) to %1", static_cast<int>(written->size())).arg(folder));
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

void exportWith(Studio& studio, const QWidget& shown, const QString& title, const QString& name, const QString& filter,
                const std::function<QString(const QString&)>& write) {
    if (refusesLate(studio, shown)) return;
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
           words("Write every picture as PNG, SVG and PDF, and the data as CSV and LaTeX"), "document-export",
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E)},
          [&studio, &results] { exportAll(studio, results); });
    a.add({"fileReport", file, words("Export &report…"),
           words("Write a folder with the report as HTML and PDF, pictures, CSV and JSON"), "document-export",
           QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R)},
          [&studio, &results] { exportReportTo(studio, results); });
}

bool refusesLate(Studio& studio, const QWidget& shown) {
    const QString why = ui::Veil::lateIn(shown);
    if (why.isEmpty()) return false;
    studio.messages.complain({Severity::Error,
                              "export.late",
                              "what is shown is not the answer to the current question: " + why.toStdString(),
                              "an answer to the current question",
                              "wait until it has come, or ask for it",
                              {}});
    return true;
}

void copyView(Studio& studio, ui::ResultView* view) {
    if (!view) return;
    if (const auto late = lateAnswer(studio)) return studio.messages.complain(*late);
    if (refusesLate(studio, *view)) return;
    view->copyPicture();
    studio.messages.log(Severity::Note, words("Copied the picture of %1").arg(view->title()));
}

void exportView(Studio& studio, ui::ResultView* view) {
    if (!view) return;
    if (const auto late = lateAnswer(studio)) return studio.messages.complain(*late);
    if (refusesLate(studio, *view)) return;
    const QString filter = view->csv().isEmpty()
                               ? words("PNG (*.png);;SVG (*.svg);;PDF (*.pdf)")
                               : words("PNG (*.png);;SVG (*.svg);;PDF (*.pdf);;CSV (*.csv);;TEX table (*.tex)");
    QString chosen;
    QString file = QFileDialog::getSaveFileName(studio.window, words("Export %1").arg(view->title()),
                                                view->id() + QStringLiteral(".png"), filter, &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    if (const QString problem = view->exportTo(file); !problem.isEmpty())
        return studio.messages.complain(exportFailed(file, problem));
    studio.messages.say(Severity::Note, words("Wrote %1").arg(file));
}

Expected<QStringList> exportPictures(Studio& studio, const ResultDocks& results, const QString& folder) {
    if (auto late = lateAnswer(studio)) return Unexpected(std::move(*late));
    const ui::PaperLook look;
    QStringList written;
    for (ui::ResultView* view : filledViews(studio, results)) {
        QStringList endings = {QStringLiteral("png"), QStringLiteral("svg"), QStringLiteral("pdf")};
        if (!view->csv().isEmpty()) endings << QStringLiteral("csv") << QStringLiteral("tex");
        for (const QString& ending : endings) {
            const QString file = QDir(folder).filePath(view->id() + QLatin1Char('.') + ending);
            if (const QString problem = view->exportTo(file); !problem.isEmpty())
                return Unexpected(exportFailed(file, problem));
            written << file;
        }
    }
    if (!written.isEmpty()) return written;
    return fail("export.nothing", "no result view shows an answer, so there is no picture to write",
                "a device, a workload and a method that answers",
                "export a page's own pictures from its menu, or write a report (Ctrl+Shift+R)");
}

Expected<QStringList> exportReport(Studio& studio, const ResultDocks& results, const QString& folder) {
    const ui::PaperLook look;
    QStringList written;
    const ui::SnapshotPtr snapshot = studio.live.snapshot();
    const bool answered = snapshot && std::ranges::any_of(snapshot->answers, [](const ui::Answer& answer) {
                              return answer.estimate != nullptr;
                          });
    if (answered) {
        if (auto late = lateAnswer(studio)) return Unexpected(std::move(*late));
        Expected<QStringList> passes = writeReport(folder, *snapshot, filledViews(studio, results));
        if (!passes) return passes;
        written = *passes;
    }
    // A page may show an answer where the live question has none: a fleet, a search, a judgement.
    const auto pages = studio.router.pages();
    if (!answered && std::ranges::none_of(pages, &Page::showsAnswer)) {
        return fail("report.nothing", "no page shows an answer for a report",
                    "a device, a workload and a method that answers", "open an example or choose them in the library");
    }
    if (!QDir().mkpath(folder)) return Unexpected(exportFailed(folder, words("the folder cannot be made")));
    for (Page* page : pages) {
        Expected<QStringList> more = page->report(folder);
        if (!more) return more;
        written += *more;
    }
    return written;
}

}  // namespace orrery::app
