#include "app/window/lessons/lesson_run.h"

#include "app/document/commands/edit.h"
#include "app/window/serving/serving_page.h"
#include "app/window/settings.h"
#include "app/window/studio.h"
#include "store/lessons/lesson_facts.h"
#include "widgets/common/text.h"

#include <algorithm>

namespace orrery::app {

namespace {

constexpr const char* finishedKey = "lessons/finished";

}  // namespace

LessonRun::LessonRun(Studio& studio, QObject* parent) : QObject(parent), studio_(studio) {
    connect(&studio.live, &LiveController::snapshotReady, this, &LessonRun::look);
    connect(&studio.document, &Document::projectChanged, this, &LessonRun::look, Qt::QueuedConnection);
    connect(&studio.document, &Document::replaced, this, [this] {
        if (lesson_ && studio_.document.title() != ui::qs(lesson_->project.name)) leave();
        left_.reset();
    });
    connect(&studio, &Studio::ready, this, [this] {
        if (auto* serving = studio_.router.page<ServingPage>())
            connect(serving, &ServingPage::answered, this, &LessonRun::look);
    });
}

void LessonRun::open(const QString& file) {
    Expected<Lesson> lesson = readLessonFile(file.toStdString());
    if (!lesson) return studio_.messages.complain(lesson.error());
    if (!holdsExerciseAlone() && !studio_.files.maybeSave()) return;
    lesson_.reset();
    studio_.files.start(lesson->project);
    lesson_ = std::move(*lesson);
    done_.clear();
    for (const LessonStep& step : lesson_->steps) done_.emplace_back(step.tasks.size(), false);
    state_ = {};
    begun_ = false;
    studio_.inspection.showSelected();
    goTo(0);
    studio_.layouts.showProject();
    emit opened();
}

bool LessonRun::holdsExerciseAlone() const {
    return studio_.document.file().isEmpty() && (lesson_ || (left_ && left_ == studio_.document.state()));
}

void LessonRun::leave() {
    if (lesson_) left_ = studio_.document.state();
    lesson_.reset();
    state_ = {};
    emit changed();
}

void LessonRun::goTo(int step) {
    if (!lesson_ || step < 0 || step >= static_cast<int>(lesson_->steps.size())) return;
    step_ = step;
    stepBegun_ = false;
    state_.before.clear();
    const LessonStep& at = current();
    studio_.layouts.showProject();
    if (Page* page = studio_.router.page(ui::qs(at.page))) {
        // A layout without pages still shows what the inspector holds; a page that stands alone has to be seen.
        if (page->card().alone) studio_.layouts.showPages(true);
        studio_.router.show(page);
    }
    if (!at.panel.empty()) studio_.docks.reveal(ui::qs(at.panel));
    inspectWhatChanges();
    studio_.docks.reveal(QStringLiteral("lesson"));  // also beside a page that puts the docks aside
    look();
    emit changed();
}

// The inspector shows what the step is about, also where no canvas is seen to select it on.
void LessonRun::inspectWhatChanges() {
    const HardwarePtr hardware = studio_.document.hardware();
    for (const LessonTask& task : current().tasks) {
        for (const auto& [key, value] : task.changes) {
            const auto dot = key.rfind('.');
            if (dot == std::string::npos) {
                if (key != "plan" && key != "hardware") return studio_.inspection.showWorkload();
                continue;
            }
            if (!hardware) continue;
            if (const auto part = findComponent(hardware->root, key.substr(0, dot)))
                return studio_.inspection.showComponent(*part);
        }
    }
}

bool LessonRun::done(int step, int task) const {
    return lesson_ && done_[static_cast<std::size_t>(step)][static_cast<std::size_t>(task)];
}

bool LessonRun::stepDone(int step) const {
    return lesson_ && std::ranges::all_of(done_[static_cast<std::size_t>(step)], [](bool each) { return each; });
}

bool LessonRun::finished() const {
    if (!lesson_) return false;
    for (int step = 0; step < static_cast<int>(lesson_->steps.size()); ++step)
        if (!stepDone(step)) return false;
    return true;
}

QStringList LessonRun::finishedLessons() {
    return openSettings()->value(finishedKey).toStringList();
}

void LessonRun::tick(int task) {
    auto ticked = done_[static_cast<std::size_t>(step_)].begin() + task;
    if (*ticked) return;
    *ticked = true;
    if (!finished()) return;
    QStringList all = finishedLessons();
    if (const QString id = ui::qs(lesson_->head.id); !all.contains(id))
        openSettings()->setValue(finishedKey, all << id);
}

bool LessonRun::servingIsCurrent() const {
    if (!studio_.document.state()->serving) return true;
    const auto* page = studio_.router.page<ServingPage>();
    return page && !page->isBusy() && !page->runs().empty() && page->question() == *studio_.document.state()->serving;
}

LessonFacts LessonRun::facts() const {
    LessonFacts facts;
    const ui::SnapshotPtr& snapshot = studio_.live.snapshot();
    addDesignFacts(facts, *snapshot->scenario.hardware);
    addQuestionFacts(facts, *snapshot->scenario.workload, snapshot->scenario.plan);
    for (const ui::Answer& answer : snapshot->answers)
        if (answer.estimate) addAnswerFacts(facts, answer.method.toStdString(), *answer.estimate);
    if (const auto& study = studio_.document.state()->serving) {
        addServingQuestion(facts, *study);
        const ui::ServingRuns& runs = studio_.router.page<ServingPage>()->runs();
        for (std::size_t i = 0; i < runs.size(); ++i) addServingFacts(facts, static_cast<int>(i), runs[i]->metrics);
    }
    return facts;
}

void LessonRun::look() {
    if (!lesson_) return;
    const ui::SnapshotPtr& snapshot = studio_.live.snapshot();
    const bool answers = snapshot && snapshot->scenario.hardware && snapshot->scenario.workload;
    if (!answers || !studio_.live.upToDate() || !servingIsCurrent()) return;
    state_.now = facts();
    if (!begun_) state_.start = state_.now;
    begun_ = true;
    if (!stepBegun_) state_.before = state_.now;
    stepBegun_ = true;
    const auto& tasks = current().tasks;
    for (std::size_t task = 0; task < tasks.size(); ++task)
        if (isDone(tasks[task], state_)) tick(static_cast<int>(task));
    emit changed();
}

std::optional<bool> LessonRun::answer(int task, double given) {
    if (!lesson_ || !begun_) return std::nullopt;
    const auto at = static_cast<std::size_t>(task);
    const auto right = isRight(current().tasks[at], given, state_);
    if (right == true && !done(step_, task)) {
        tick(task);
        emit changed();
    }
    return right;
}

void LessonRun::showMe(int task) {
    if (!lesson_) return;
    const LessonTask& asked = current().tasks[static_cast<std::size_t>(task)];
    for (const auto& [key, value] : asked.changes) {
        auto after = doChange(toProject(*studio_.document.state()), key, value);
        if (!after) return studio_.messages.complain(after.error());
        Edit edit;
        edit.after = toState(std::move(*after));
        edit.subject = tr("Lesson: %1 = %2").arg(ui::qs(key), ui::qs(value));
        if (!studio_.apply(std::move(edit))) return;
    }
}

}  // namespace orrery::app
