#include "app/document/live_controller.h"

#include "app/document/document.h"
#include "store/project/study_file.h"

#include <algorithm>
#include <utility>

namespace orrery::app {

LiveController::LiveController(Document& document, std::shared_ptr<WorkloadCache> cache, QObject* parent)
    : QObject(parent),
      document_(document),
      cache_(std::move(cache)),
      executor_(std::make_shared<std::unique_ptr<Executor>>()) {
    soon_.setSingleShot(true);
    soon_.setInterval(0);
    connect(&soon_, &QTimer::timeout, this, &LiveController::request);
    patience_.setSingleShot(true);
    patience_.setInterval(500);
    connect(&patience_, &QTimer::timeout, this,
            [this] { setLate(tr("This answers the previous question. The new answer is on its way.")); });
    const auto change = [this] {
        changed_ = true;
        if (enabled_) return soon_.start();
        setLate(tr("This answers the previous question. Live evaluation is off (Ctrl+L)."));
    };
    connect(&document_, &Document::replaced, this, &LiveController::forget);
    connect(&document_, &Document::scenarioChanged, this, [this] { ++generation_; });
    connect(&document_, &Document::hardwareChanged, this, change);
    connect(&document_, &Document::workloadChanged, this, change);
    connect(&document_, &Document::methodsChanged, this, change);
    connect(&document_, &Document::scenarioChanged, this, change);
    connect(&document_, &Document::replaced, this, change);
}

LiveController::~LiveController() = default;

void LiveController::setEnabled(bool enabled) {
    enabled_ = enabled;
    if (enabled && !upToDate()) soon_.start();
}

void LiveController::setPrimary(int answer) {
    if (!snapshot_ || answer < 0 || answer >= static_cast<int>(snapshot_->answers.size())) return;
    chosen_ = snapshot_->answers[static_cast<std::size_t>(answer)].method;
    if (answer == snapshot_->primary) return;
    choosePrimary(snapshot_);
    emit snapshotReady(snapshot_);
}

// A method that does not answer this question gives way to the best that does, and comes back when it answers again.
void LiveController::choosePrimary(ui::SnapshotPtr& snapshot) const {
    if (!snapshot || chosen_.isEmpty()) return;
    const auto& answers = snapshot->answers;
    const auto at = std::ranges::find(answers, chosen_, &ui::Answer::method);
    if (at == answers.end() || !at->estimate) return;
    auto changed = std::make_shared<ui::Snapshot>(*snapshot);
    changed->primary = static_cast<int>(at - answers.begin());
    snapshot = std::move(changed);
}

// What is shown belongs to a project that is no longer open.
void LiveController::forget() {
    ++generation_;
    chosen_.clear();
    patience_.stop();
    if (std::exchange(workload_, nullptr)) emit workloadReady(nullptr);
    if (std::exchange(snapshot_, nullptr)) emit snapshotReady(nullptr);
    setLate({});
}

void LiveController::setCalibrations(std::shared_ptr<const CalibrationSet> calibrations) {
    calibrations_ = std::move(calibrations);
    ask();
}

void LiveController::setTruth(std::shared_ptr<const ReferenceIndex> truth) {
    truth_ = std::move(truth);
    ask();
}

bool LiveController::upToDate() const {
    return !changed_ && shown_ >= asked_ && !soon_.isActive();
}

void LiveController::ask() {
    soon_.start();
}

void LiveController::request() {
    LiveQuestion question;
    changed_ = false;
    question.revision = asked_ = document_.revision();
    question.generation = generation_;
    question.hardware = document_.hardware();
    if (const ProjectWorkload* workload = document_.workload()) question.recipe = workload->recipe;
    if (!document_.state()->scenarios.empty()) {
        const ScenarioRef& asked = document_.state()->scenarios.front();
        question.plan = asked.plan;
        if (auto task = taskOf(asked, document_.state()->serving)) question.task = std::move(*task);
    }
    question.methods = document_.state()->methods;
    question.calibrations = calibrations_;
    question.truth = truth_;
    setBusy(true);
    if (snapshot_ && !patience_.isActive()) patience_.start();
    // An answer to a pair that is no longer shown is worthless, however long views have waited.
    const bool same = std::exchange(askedGeneration_, generation_) == generation_;
    work_.ask(
        [question = std::move(question), cache = cache_, executor = executor_](std::stop_token stop, Progress&) {
            if (!*executor) *executor = makeDefaultExecutor(0);
            return answerLive(question, *cache, **executor, stop);
        },
        [this](std::optional<LiveAnswer> answer) {
            if (answer) take(std::move(*answer));
        },
        same ? Background::Newest::LetsItFinish : Background::Newest::Wins);
}

void LiveController::take(LiveAnswer answer) {
    if (answer.generation != generation_ || answer.revision < shown_) return;  // stale: a newer one is on its way
    shown_ = answer.revision;
    if (answer.workload != workload_) {
        workload_ = answer.workload;
        emit workloadReady(workload_);
    }
    patience_.stop();
    if (shown_ < asked_) patience_.start();
    choosePrimary(answer.snapshot);
    snapshot_ = std::move(answer.snapshot);
    emit snapshotReady(snapshot_);
    if (enabled_ || upToDate()) setLate({});
    if (answer.failure) emit failed(*answer.failure);
    if (shown_ >= asked_) setBusy(false);
}

void LiveController::setLate(const QString& why) {
    const QString said = snapshot_ ? why : QString();
    if (said == late_) return;
    late_ = said;
    emit lateChanged(late_);
}

void LiveController::setBusy(bool busy) {
    if (busy == busy_) return;
    busy_ = busy;
    emit busyChanged(busy);
}

}  // namespace orrery::app
