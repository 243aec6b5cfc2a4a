#include "app/window/explore/explore_page.h"

#include "app/document/commands/project_edits.h"
#include "app/document/commands/search_edits.h"
#include "app/window/explore/beside_facts.h"
#include "app/window/explore/explore_command.h"
#include "app/window/explore/explore_form.h"
#include "app/window/explore/explore_text.h"
#include "app/window/explore/learn_points.h"
#include "app/window/lack.h"
#include "app/window/studio.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "widgets/common/veil.h"
#include "widgets/evidence/cells_model.h"
#include "widgets/exploration/parallel_plot.h"
#include "widgets/exploration/search_plot.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QStackedLayout>
#include <QTabWidget>

#include <algorithm>
#include <cmath>

namespace orrery::app {

ExplorePage::ExplorePage(Studio& studio, QWidget* parent) : Page(parent), studio_(studio) {
    setObjectName(QStringLiteral("explorePage"));
    setAccessibleName(tr("Explore"));
    soon_.setSingleShot(true);
    soon_.setInterval(0);
    connect(&soon_, &QTimer::timeout, this, &ExplorePage::follow);
}

ExplorePage::~ExplorePage() = default;

void ExplorePage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    if (stale_) follow();
}

void ExplorePage::follow() {
    stale_ = true;
    if (!isVisible() || !form_) return;
    stale_ = false;
    question_ = exploreQuestion(studio_.document);
    held_ = holds(question_);
    const WorkloadPtr workload = studio_.live.workload();
    offers_.knobs.clear();
    points_ = 0;
    QString why;
    if (!question_.lacks && workload) {
        const Scenario base = scenarioOf(question_, workload);
        const std::string& method = question_.settings.method;
        offers_.knobs = knobOffers(base, method);
        points_ = question_.settings.knobs.empty() ? 0 : 1;
        for (const KnobSetting& setting : question_.settings.knobs) {
            const auto knob = knobOf(setting, base, method);
            if (!knob) why = tr("%1: %2").arg(ui::qs(setting.path), ui::windowText(knob.error().message));
            points_ =
                !knob || points_ > SearchSpace::mostPoints / knob->values.size() ? 0 : points_ * knob->values.size();
            if (points_ == 0) break;
        }
    }
    stack_->setCurrentIndex(question_.lacks ? 0 : 1);
    if (question_.lacks) {
        empty_->setTexts(ui::windowText(question_.lacks->message),
                         ui::sentenceText(ui::windowText(question_.lacks->hint)));
        const Lack lack = lackOf(studio_.document);
        empty_->setButton(lack == Lack::Methods ? QString() : offerFor(lack));  // else it is the task that is refused
        return;
    }
    showLimits();
    form_->setPoints(points_, why);
    showState();
}

// All that an answer adds to what the form offers: an answer alone reads no knob again.
void ExplorePage::showLimits() {
    const WorkloadPtr workload = studio_.live.workload();
    offers_.limits.clear();
    if (workload) {
        offers_.limits = limitOffers(scenarioOf(question_, workload),
                                     snapshot_ ? snapshot_->primaryEstimate() : nullptr, question_.settings.deviceHour);
    }
    form_->setQuestion(question_, offers_);
}

// Labels of figures that an answer has can be objectives.
void ExplorePage::feed(const ui::SnapshotPtr& snapshot) {
    if (!snapshot) return;
    const bool first = !snapshot_ || !snapshot_->primaryEstimate();
    snapshot_ = snapshot;
    QStringList figures;
    if (const Estimate* estimate = snapshot->primaryEstimate()) {
        for (const Figure& figure : estimate->figures)
            if (figures.size() < 12) figures << ui::qs(figure.label);
    }
    if (figures == offers_.figures && !first) return;
    offers_.figures = figures;
    if (!stale_ && isVisible() && form_ && !question_.lacks) return showLimits();
    stale_ = true;
    soon_.start();
}

void ExplorePage::start() {
    if (isBusy()) return work_.cancel();
    if (stale_) follow();  // an edit of just now
    const WorkloadPtr workload = studio_.live.workload();
    if (question_.lacks || !workload || points_ == 0) return;
    choose(-1);
    auto before = std::exchange(run_, std::make_shared<ExploreRun>());
    run_->question = question_;
    run_->agent = question_.settings.agent;
    run_->command = command_->command();
    run_->folder = searchFolder();
    const auto calibrations = studio_.live.calibrations();
    work_.start([run = run_, before = std::move(before), workload, calibrations](
                    std::stop_token stop, Progress& progress) mutable -> Background::Finish {
        before.reset();  // here, for it may hold much
        explore(*run, workload, calibrations.get(), stop, progress);
        return {};
    });
    showState();
}

void ExplorePage::saveView(QSettings& settings) const {
    settings.setValue(QStringLiteral("command"), command_ ? command_->command() : lastCommand_);
}

void ExplorePage::restoreView(const QSettings& settings) {
    lastCommand_ = settings.value(QStringLiteral("command")).toString();
    if (command_) command_->setCommand(lastCommand_);
}

// Beside the project, where other machines may see it too and a later search goes on.
QString ExplorePage::searchFolder() const {
    const QString file = studio_.document.file();
    const QFileInfo project(file);
    return file.isEmpty()
               ? QDir::tempPath() + QStringLiteral("/orrery-search-%1").arg(QCoreApplication::applicationPid())
               : project.absolutePath() + QLatin1Char('/') + project.completeBaseName() + QStringLiteral(".search");
}

void ExplorePage::turn(const ComponentPath& path, const QString& attribute) {
    const HardwarePtr hardware = studio_.document.hardware();
    if (!hardware) return;
    turnSetting(usualKnob(*hardware, pathText(hardware->root, path) + "." + attribute.toStdString()));
}

void ExplorePage::turnPath(const QString& path) {
    // What a serving run has is turned in a search over that run.
    const ProjectState& state = *studio_.document.state();
    const bool serving = path.startsWith(QLatin1String("serving."));
    const std::string run(toText(TaskKind::ServingRun));
    if (serving && !state.scenarios.empty() && state.scenarios.front().task != run &&
        !studio_.apply(setTaskEdit(state, run)))
        return;
    const ExploreQuestion asked = exploreQuestion(studio_.document);
    const WorkloadPtr workload = studio_.live.workload();
    if (asked.lacks) return studio_.messages.complain(*asked.lacks);
    if (!workload) return studio_.messages.say(Severity::Note, tr("The model is still loading. Try again in a moment"));
    turnSetting(usualKnob(scenarioOf(asked, workload), path.toStdString(), asked.settings.method));
}

void ExplorePage::turnSetting(Expected<KnobSetting> knob) {
    if (!knob) return studio_.messages.complain(knob.error());
    SearchSettings next = studio_.document.state()->search.value_or(SearchSettings{});
    const std::string own = knob->path;
    if (std::ranges::find(next.knobs, own, &KnobSetting::path) == next.knobs.end()) {
        if (next.knobs.empty()) startSearch(next, *studio_.document.hardware(), studio_.live.snapshot().get());
        next.knobs.push_back(std::move(*knob));
        if (!studio_.apply(setSearchEdit(*studio_.document.state(), next, tr("Add the knob %1").arg(ui::qs(own)))))
            return;
    }
    studio_.router.show(this);
}

bool ExplorePage::answers(const ExploreQuestion& question) const {
    if (!run_) return false;
    const ExploreQuestion& its = run_->question;
    return its.settings == question.settings && its.hardware == question.hardware && its.recipe == question.recipe &&
           its.plan == question.plan && its.task == question.task && its.software == question.software;
}

// A design that was taken over from the front differs in what the knobs turn alone: the points are what they were.
bool ExplorePage::holds(const ExploreQuestion& question) const {
    if (answers(question)) return true;
    const WorkloadPtr workload = studio_.live.workload();
    return run_ && problem_ && workload && !question.lacks && run_->question.settings == question.settings &&
           problem_->space.differsByKnobs(scenarioOf(question, workload));
}

void ExplorePage::showState() {
    if (!form_) return;
    const bool asSearched = answers(question_), held = asSearched || held_;
    const bool busy = isBusy();
    go_->setText(busy ? tr("Stop")
                 : points_ > 0
                     ? tr("Search %1 points")
                           .arg(ui::countText(static_cast<double>(
                               question_.settings.evaluations > 0 ? std::min(points_, question_.settings.evaluations)
                                                                  : points_)))
                     : tr("Search"));
    const auto agent = searchAgent(question_.settings.agent);
    const bool endless =
        agent && question_.settings.evaluations == 0 && ((*agent)->needsBudget || points_ > mostGridPoints);
    go_->setEnabled(busy || (points_ > 0 && !endless && studio_.live.workload()));
    go_->setToolTip(endless ? tr("Set a number of points: this agent uses all of them")
                            : tr("Evaluates the points on all CPU cores and keeps the Pareto front"));
    bar_->setVisible(busy);
    bar_->setValue(static_cast<int>(work_.fraction() * 1000));
    headline_->setFullText(tr("%1 on %2").arg(question_.model, question_.design));
    QString said = tr("Vary numbers of this question and see the best combinations (Pareto front)");
    bool bad = false;
    if (run_) {
        const std::scoped_lock hold(run_->lock);
        if (run_->refusal) {
            said = ui::windowText(run_->refusal->message);
            if (!run_->refusal->expected.empty()) said += tr("; needs %1").arg(ui::windowText(run_->refusal->expected));
            bad = true;
        } else if (run_->view) {
            const PointAnswers& seen = run_->view->seen;
            const std::size_t broken = run_->view->broken;
            std::size_t refused = 0;
            for (const ExploreView::Refused& each : run_->view->refused) refused += each.points;
            said = tr("%1 points, %2 on the front, %3 more may be on it")
                       .arg(ui::countText(static_cast<double>(seen.size())),
                            ui::countText(static_cast<double>(run_->view->front.points.size())),
                            ui::countText(static_cast<double>(run_->view->front.possible.size())));
            if (broken > 0) said += tr(" · %1 break a constraint").arg(ui::countText(static_cast<double>(broken)));
            if (refused > 0) {
                said += tr(" · %1 have no answer: %2")
                            .arg(ui::countText(static_cast<double>(refused)),
                                 ui::windowText(run_->view->refused.front().why));
            }
            if (run_->stopped) said += tr(" · stopped");
            if (!held) said += tr(" · answers the previous question");
            if (held && !asSearched) said = tr("Points of the original design: %1").arg(said);
        } else if (busy) {
            said = tr("Each knob alone first …");
        }
    }
    // A search is pressed, not live: its view stands until the next one, and says whose it is.
    if (plot_) {
        plot_->setDrawnAsSearched(asSearched);
        const QString shows = tr("Every combination by two of its numbers, and the front of the best.");
        plot_->setEmptySentence(
            shows + QLatin1Char(' ') +
            (question_.settings.knobs.empty() ? tr("Add knobs at the left, then press Search.") : tr("Press Search.")));
    }
    if (view_ && !busy && !held)
        veil_->drop(tr("This is the answer to an earlier question. Press Search to update it."));
    else
        veil_->lift();
    sub_->setTone(bad ? ui::Tone::Bad : ui::Tone::Muted);
    sub_->setFullText(said);
    export_->setEnabled(view_ != nullptr && !busy);
    learn_->setPoints(busy ? nullptr : problem_, view_);
}

// How a value stands to that of the question as it was drawn; empty where that has none.
QString ExplorePage::againstDrawn(std::size_t objective, double value) const {
    if (!drawn_.evaluation.refusal.empty() || objective >= drawn_.evaluation.values.size()) return {};
    const double drawn = drawn_.evaluation.values[objective].value;
    if (!(drawn > 0) || !std::isfinite(value)) return {};
    return tr("%1 × as drawn").arg(QString::number(value / drawn, 'g', 3));
}

QString ExplorePage::pointText(int point) const {
    const PointAnswer answer = view_->seen.at(static_cast<std::size_t>(point));
    QString text = ui::qs(problem_->space.labelAt(answer.point));
    if (!answer.refusal.empty()) return text + QStringLiteral(": ") + ui::qs(answer.refusal);
    for (std::size_t k = 0; k < answer.values.size(); ++k) {
        const double value = answer.values[k].value;
        text += QStringLiteral(" · %1 %2")
                    .arg(objectiveText(problem_->objectives[k].quantity),
                         valueText(value, drawn_.dimensions[k], problem_->objectives[k].quantity));
        if (const QString against = againstDrawn(k, value); !against.isEmpty())
            text += QStringLiteral(" (%1)").arg(against);
        if (!answer.values[k].sure()) text += tr(" (no interval is known)");
    }
    return text;
}

// What a dot is, under the cursor: the values of its knobs first, for they tell it from its neighbours.
QString ExplorePage::pointTip(int point) const {
    if (!view_ || !problem_ || point < 0 || static_cast<std::size_t>(point) >= view_->seen.size()) return {};
    const PointAnswer answer = view_->seen.at(static_cast<std::size_t>(point));
    QStringList lines;
    const auto levels = problem_->space.levelsAt(answer.point);
    for (std::size_t k = 0; k < levels.size(); ++k) {
        const Knob& knob = problem_->space.knobs()[k];
        lines << QStringLiteral("%1  %2").arg(ui::qs(knob.path), ui::qs(knob.values[levels[k]]));
    }
    for (std::size_t k = 0; k < answer.values.size(); ++k) {
        const Ranged& value = answer.values[k];
        const auto text = [&](double number) {
            return valueText(number, drawn_.dimensions[k], problem_->objectives[k].quantity);
        };
        QString line = tr("%1: %2").arg(objectiveText(problem_->objectives[k].quantity), text(value.value));
        if (value.sure() && value.high > value.low)
            line += QStringLiteral(" [%1 … %2]").arg(text(value.low), text(value.high));
        if (const QString against = againstDrawn(k, value.value); !against.isEmpty())
            line += QStringLiteral(" · ") + against;
        lines << line;
    }
    return lines.join(QLatin1Char('\n'));
}

void ExplorePage::choose(int point) {
    chosen_ = point;
    if (!plot_) return;
    plot_->setCurrent(point);
    parallel_->setCurrent(point);
    const auto row = std::ranges::find(rows_, point);
    const QSignalBlocker quiet(table_);
    table_->setCurrentRow(point < 0 || row == rows_.end() ? -1 : static_cast<int>(row - rows_.begin()));
    chosenText_->setFullText(point >= 0 && view_ ? pointText(point) : tr("Click a dot or a row to choose a point"));
    use_->setEnabled(point >= 0 && view_ && view_->seen.answered(static_cast<std::size_t>(point)));
    showBeside(point);
}

void ExplorePage::showBeside(int point) {
    // A search under way has its own use for the cores.
    if (!use_->isEnabled() || work_.isRunning()) return;
    beside_.ask(
        [problem = problem_, at = view_->seen.points[static_cast<std::size_t>(point)],
         calibrations = studio_.live.calibrations()](const std::stop_token& stop, Progress&) {
            return besideText(*problem, at, calibrations.get(), stop);
        },
        [this, point, view = view_](const QString& text) {
            if (chosen_ == point && view_ == view) chosenText_->setFullText(pointText(point) + text);
        });
}

void ExplorePage::useChosen() {
    if (chosen_ < 0 || !view_) return;
    const auto levels = problem_->space.levelsAt(view_->seen.points[static_cast<std::size_t>(chosen_)]);
    std::vector<std::string> values;
    for (std::size_t k = 0; k < levels.size(); ++k) values.push_back(problem_->space.knobs()[k].values[levels[k]]);
    studio_.apply(usePointEdit(*studio_.document.state(), problem_->space.knobs(), values));
}

}  // namespace orrery::app
