#include "app/window/report.h"

#include "app/window/evidence/paper.h"
#include "store/export/exports.h"
#include "store/project/project.h"
#include "widgets/common/result_view.h"

#include <QDir>
#include <QFileInfo>

namespace orrery::app {

SnapshotStudy studyOf(const ui::Snapshot& snapshot) {
    SnapshotStudy made;
    made.study.name = snapshot.scenario.name();
    made.study.scenarios.push_back(snapshot.scenario);
    for (const ui::Answer& answer : snapshot.answers) {
        made.study.methods.push_back(answer.method.toStdString());
        made.results.push_back({0, answer.method.toStdString(), answer.estimate, answer.failure});
    }
    return made;
}

Expected<QStringList> writeReport(const QString& folder, const ui::Snapshot& snapshot,
                                  const QList<ui::ResultView*>& views) {
    QStringList written;
    if (!QDir().mkpath(folder)) {
        return fail("report.folder", "the report folder cannot be made", "a folder that may be written",
                    "choose another folder", {folder.toStdString(), 0, 0, {}});
    }
    const QDir into(folder);
    for (ui::ResultView* view : views) {
        const QString file = into.filePath(view->id() + QStringLiteral(".png"));
        if (const QString problem = view->exportTo(file); !problem.isEmpty()) {
            return fail("report.picture", problem.toStdString(), {}, "choose another folder",
                        {file.toStdString(), 0, 0, {}});
        }
        written << file;
    }
    const SnapshotStudy made = studyOf(snapshot);
    const auto write = [&](const char* name, const std::string& content) -> Expected<void> {
        const QString file = into.filePath(QLatin1String(name));
        Expected<void> saved = saveFileAtomically(file.toStdString(), content);
        if (saved) written << file;
        return saved;
    };
    Expected<void> done = write("report.html", reportHtml(made.study, made.results));
    if (done) done = write("report.json", runJson(made.study, made.results));
    if (done) done = write("comparison.csv", comparisonCsv(made.study, made.results));
    if (const Estimate* primary = snapshot.primaryEstimate()) {
        if (done) done = write("operators.csv", operatorsCsv(snapshot.scenario, *primary));
        if (done) done = write("timeline.json", chromeTrace(snapshot.scenario, *primary));
    }
    if (!done) return Unexpected(done.error());
    const QString pdf = into.filePath(QStringLiteral("report.pdf"));
    if (const QString problem = writePdf(into.filePath(QStringLiteral("report.html")), pdf); !problem.isEmpty())
        return fail("report.pdf", problem.toStdString(), {}, "choose another folder", {pdf.toStdString(), 0, 0, {}});
    written << pdf;
    return written;
}

}  // namespace orrery::app
