#include "app/window/explore/learn_points.h"

#include "app/document/commands/search_edits.h"
#include "app/window/form_parts.h"
#include "app/window/studio.h"
#include "study/exploration/learned_points.h"
#include "widgets/common/text.h"

#include <QDateTime>
#include <QFileDialog>
#include <QFileInfo>
#include <QSaveFile>

namespace orrery::app {

namespace {

// What a method's options are told apart by cannot stand in the name of its file.
std::optional<Diagnostic> nameTaken(const QString& file) {
    for (const QChar sign : QStringLiteral(",()"))
        if (file.contains(sign))
            return fail("surrogate.file", "a method names its file between brackets and commas",
                        "a file whose path has no `,`, `(` or `)`", {}, Place{file.toStdString()})
                .value();
    return std::nullopt;
}

}  // namespace

LearnPoints::LearnPoints(Studio& studio, QWidget* parent) : QPushButton(parent), studio_(studio) {
    named(this, "explore.learn", tr("Learn from these points"), {});
    connect(this, &QPushButton::clicked, this, &LearnPoints::ask);
    connect(&work_, &Background::advanced, this, &LearnPoints::showState);
    connect(&work_, &Background::ended, this, &LearnPoints::showState);
    showState();
}

void LearnPoints::setPoints(std::shared_ptr<const SearchProblem> problem, std::shared_ptr<const ExploreView> view) {
    problem_ = std::move(problem);
    view_ = std::move(view);
    showState();
}

void LearnPoints::showState() {
    const bool busy = isBusy();
    QString why;
    if (problem_ && view_) {
        if (const auto able = learnable(*problem_); !able)
            why = tr("%1; needs %2").arg(ui::windowText(able.error().message), ui::windowText(able.error().expected));
    }
    setText(busy ? tr("Stop") : tr("Learn …"));
    setEnabled(busy || (problem_ && view_ && why.isEmpty()));
    setToolTip(!why.isEmpty() ? why
                              : tr("Fits a method to the points of the search. It predicts other values of these knobs "
                                   "at once, with an interval, and can be chosen like any method"));
}

void LearnPoints::ask() {
    if (isBusy()) return work_.cancel();
    QString file = QFileDialog::getSaveFileName(studio_.window, tr("Learn from these points"),
                                                QStringLiteral("learned.json"), tr("Surrogate (*.json)"));
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QStringLiteral(".json");
    learn(file);
}

void LearnPoints::learn(const QString& file) {
    if (!problem_ || !view_ || isBusy()) return;
    if (const auto taken = nameTaken(file)) return studio_.messages.complain(*taken);
    LearnOptions options;
    options.fit.seed = problem_->seed;
    options.name = studio_.document.title().toStdString();
    options.date = QDateTime::currentDateTimeUtc().date().toString(Qt::ISODate).toStdString();
    work_.ask(
        [problem = problem_, view = view_, options](std::stop_token stop, Progress& progress) mutable {
            const auto executor = makeDefaultExecutor();
            options.fit.executor = executor.get();
            options.fit.stop = stop;
            options.fit.progress = &progress;
            return learnPoints(*problem, view->seen, options);
        },
        [this, file](Expected<Surrogate> made) {
            if (!made) {
                if (made.error().code != "surrogate.cancelled") studio_.messages.complain(made.error());
                return;
            }
            QSaveFile out(file);
            const QByteArray text = QByteArray::fromStdString(writeSurrogate(*made));
            if (!out.open(QIODevice::WriteOnly) || out.write(text) != text.size() || !out.commit()) {
                return studio_.messages.complain(fail("export.failed", out.errorString().toStdString(), {},
                                                      "choose another folder", Place{file.toStdString()})
                                                     .value());
            }
            const std::string method = "surrogate(file=" + file.toStdString() + ")";
            if (!studio_.apply(useLearnedEdit(*studio_.document.state(), method))) return;
            const SurrogateTarget::Stated& stated = made->targets.front().stated;
            QString said = tr("Learned from %1 points, and chosen as the method of the search").arg(made->rows);
            if (stated.rows > 0) {
                said += tr(": mean error %1 % on %2 held-out points")
                            .arg(QString::number(100 * stated.mape, 'g', 2))
                            .arg(stated.rows);
            }
            studio_.messages.say(Severity::Note, said);
        });
    showState();
}

}  // namespace orrery::app
