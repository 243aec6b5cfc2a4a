// The evidence page as a page of the window: references for all views, calibrations for all answers.

#include "app/window/evidence/accuracy_tab.h"
#include "app/window/evidence/evidence_page.h"
#include "app/window/evidence/reference_shelf.h"
#include "app/window/evidence/runs_tab.h"
#include "app/window/exports.h"
#include "app/window/studio.h"
#include "app/window/welcome/example_head.h"
#include "widgets/common/text.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QTimer>

namespace orrery::app {

PageCard EvidencePage::card() const {
    return {QStringLiteral("evidence"),
            tr("Evidence"),
            tr("How far to trust each method: errors, references, calibration"),
            QStringLiteral("office-chart-scatter"),
            {},
            true,
            {}};
}

Expected<QStringList> EvidencePage::report(const QString& folder) {
    QStringList files;
    if (!accuracy_->compared()) return files;
    for (const char* name : {"accuracy.svg", "accuracy.csv", "accuracy.matrix.csv", "accuracy.json"}) {
        const QString file = folder + QLatin1Char('/') + QLatin1String(name);
        if (const QString problem = accuracy_->exportTo(file); !problem.isEmpty())
            return Unexpected(exportFailed(file, problem));
        files << file;
    }
    return files;
}

void EvidencePage::exportAccuracy(Studio& studio) {
    QString chosen;
    QString file =
        QFileDialog::getSaveFileName(this, tr("Export the judgement"), QStringLiteral("accuracy.svg"),
                                     tr("SVG (*.svg);;PDF (*.pdf);;PNG (*.png);;CSV of all rows (*.csv);;CSV of the "
                                        "matrix (*.matrix.csv);;JSON (*.json);;TEX table (*.tex)"),
                                     &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QLatin1Char('.') + chosen.left(3).toLower();
    if (const QString problem = accuracy_->exportTo(file); !problem.isEmpty())
        return studio.messages.complain(exportFailed(file, problem));
    studio.messages.say(Severity::Note, tr("Wrote %1").arg(file));
}

void EvidencePage::join(Studio& studio) {
    connect(accuracy_, &AccuracyTab::exportRequested, this, [this, &studio] { exportAccuracy(studio); });
    accuracy_->setChoices([&studio] {
        QStringList choices;
        for (const std::string& method : studio.document.state()->methods) choices << ui::qs(method);
        return choices;
    });
    connect(&studio.files, &ProjectFiles::exampleOpened, this, [this, &studio](const Example& example) {
        if (exampleOpens(example.file) != QLatin1String("evidence")) return;
        studio.layouts.showProject();
        studio.router.show(this);
        tabs_->setCurrentWidget(accuracy_);
        accuracy_->judgeOnceRead();
    });
    runs_->setSource([&studio] { return studio.runs.storeFile(); });
    connect(&studio.runs, &RunController::finished, runs_, &RunsTab::refresh);
    connect(this, &EvidencePage::calibrationChosen, this,
            [this, &studio](const std::shared_ptr<const Calibration>& calibration) {
                // Later ones come before what ships.
                const auto& before = studio.live.calibrations();
                auto all = std::make_shared<CalibrationSet>(before ? *before : shippedCalibrations().set);
                all->add(calibration);
                accuracy_->setCalibrations(all);
                studio.live.setCalibrations(all);
                studio.runs.setCalibrations(all);
                studio.messages.say(Severity::Note,
                                    tr("Answers now use the new calibration of %1").arg(ui::qs(calibration->method)),
                                    tr("For this session. Save it to keep it."), QStringLiteral("calibration"));
            });
    connect(shelf_, &ReferenceShelf::changed, this, [this, &studio] { studio.live.setTruth(shelf_->index()); });
    // Measured operators are marked in the roofline from the start, not only once Evidence was looked at.
    connect(&studio, &Studio::ready, this, [this] { QTimer::singleShot(300, shelf_, &ReferenceShelf::readShipped); });
}

}  // namespace orrery::app
