#include "app/document/run_controller.h"

#include "store/project/study_file.h"

#include "app/document/background.h"
#include "app/document/document.h"
#include "app/document/workload_cache.h"
#include "widgets/common/text.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <mutex>

namespace orrery::app {

struct RunController::Job {
    /// What the run writes and the window reads.
    struct Shared {
        std::mutex mutex;
        std::vector<StudyResult> results;  ///< under the mutex, and so is the study until the run has ended
        std::shared_ptr<Study> study = std::make_shared<Study>();
    };
    int number = 0;
    QString name;
    std::shared_ptr<const CalibrationSet> calibrations;
    std::shared_ptr<const Progress> progress;
    std::shared_ptr<Shared> shared = std::make_shared<Shared>();
    std::size_t told = 0;
    bool cancelled = false;
    std::optional<Diagnostic> failure;
    Background* work = nullptr;  ///< a child of the controller; null once it has ended
};

namespace {

/// What a run needs to know of the project, as it was when the run began.
struct RunQuestion {
    ProjectStatePtr state;
    QString store;
    int threads = 0;
    std::shared_ptr<const CalibrationSet> calibrations;
};

/// Why nothing was answered or stored; nothing if all went well. `Shared` as in RunController::Job.
template <class Shared>
std::optional<Diagnostic> runAll(const RunQuestion& question, WorkloadCache& cache, Shared& shared,
                                 const std::stop_token& stop, Progress& progress) {
    Study& study = *shared.study;
    std::vector<Scenario> scenarios;
    for (const ScenarioRef& reference : question.state->scenarios) {
        const int hardware = question.state->hardwareIndex(reference.hardware);
        const int workload = question.state->workloadIndex(reference.workload);
        if (hardware < 0 || workload < 0) continue;
        const auto& recipe = question.state->workloads[static_cast<std::size_t>(workload)].recipe;
        Expected<WorkloadPtr> loaded = cache.get(recipe);
        if (!loaded) return loaded.error();
        auto task = taskOf(reference, question.state->serving);
        if (!task) return task.error();
        scenarios.push_back({question.state->hardware[static_cast<std::size_t>(hardware)], *loaded, reference.plan,
                             std::move(*task)});
        if (stop.stop_requested()) break;
    }
    {
        const std::lock_guard lock(shared.mutex);
        study.scenarios = std::move(scenarios);
    }
    progress.setTotal(study.scenarios.size() * study.methods.size());

    Expected<std::unique_ptr<RunStore>> store = RunStore::open(question.store.toStdString());
    std::optional<Diagnostic> unstored;
    Expected<std::int64_t> stored = store ? (*store)->beginRun(study) : Unexpected(store.error());
    if (!stored) unstored = stored.error();

    const std::unique_ptr<Executor> executor = makeDefaultExecutor(question.threads);
    StudyOptions options;
    options.executor = executor.get();
    options.stop = stop;
    options.progress = &progress;
    options.calibrations = question.calibrations.get();
    options.onResult = [&](const StudyResult& result) {
        if (stored) {
            if (Expected<void> added = (*store)->add(*stored, study, result); !added) unstored = added.error();
        }
        const std::lock_guard lock(shared.mutex);
        shared.results.push_back(result);
    };
    std::vector<StudyResult> all = runStudy(study, options);
    if (stored) (void)(*store)->finishRun(*stored);
    const std::lock_guard lock(shared.mutex);
    shared.results = std::move(all);
    return unstored;
}

}  // namespace

RunController::RunController(Document& document, std::shared_ptr<WorkloadCache> cache, QString storeFolder,
                             QObject* parent)
    : QObject(parent), document_(document), cache_(std::move(cache)), storeFolder_(std::move(storeFolder)) {}

RunController::~RunController() {
    cancelAll();
}

QString RunController::storeFile() const {
    if (!document_.file().isEmpty()) return document_.file() + QStringLiteral(".runs.sqlite");
    return storeFolder_ + QStringLiteral("/untitled.runs.sqlite");
}

int RunController::start() {
    const ProjectStatePtr state = document_.state();
    if (state->scenarios.empty() || state->methods.empty()) {
        emit failed(Diagnostic{Severity::Error,
                               "run.nothing",
                               "there is nothing to run",
                               "a device, a workload and at least one method",
                               "choose them in the library",
                               {}});
        return -1;
    }
    RunQuestion question{state, storeFile(), threads_, calibrations_};
    QDir().mkpath(QFileInfo(question.store).absolutePath());
    Job& job = *jobs_.emplace_back(std::make_unique<Job>());
    job.number = static_cast<int>(jobs_.size()) - 1;
    job.name = document_.title();
    job.calibrations = calibrations_;
    job.shared->study->name = job.name.toStdString();
    job.shared->study->methods = state->methods;
    job.work = new Background(this);
    connect(job.work, &Background::advanced, this, [this, &job] { tell(job); });
    connect(job.work, &Background::ended, this, [this, &job] { end(job); });
    job.work->ask(
        [question = std::move(question), cache = cache_, shared = job.shared](std::stop_token stop,
                                                                              Progress& progress) {
            progress.setTotal(question.state->scenarios.size() * question.state->methods.size());
            return runAll(question, *cache, *shared, stop, progress);
        },
        [&job](std::optional<Diagnostic> failure) { job.failure = std::move(failure); });
    job.progress = job.work->progress();
    emit started(job.number);
    return job.number;
}

void RunController::tell(Job& job) {
    std::size_t count = 0;
    {
        const std::lock_guard lock(job.shared->mutex);
        count = job.shared->results.size();
    }
    if (count != job.told) emit resultsArrived(job.number, static_cast<int>(job.told = count));
}

void RunController::end(Job& job) {
    tell(job);
    std::exchange(job.work, nullptr)->deleteLater();
    const std::vector<StudyResult>& results = job.shared->results;
    const auto failures =
        std::ranges::count_if(results, [](const StudyResult& result) { return result.failure.has_value(); });
    if (job.failure) emit failed(*job.failure);
    const bool nothing = job.failure && results.empty();
    const RunState state = job.cancelled ? RunState::Cancelled : nothing ? RunState::Failed : RunState::Done;
    QString message = tr("%n result(s)", nullptr, static_cast<int>(std::ssize(results) - failures));
    if (failures > 0) message += tr(", %n without an answer", nullptr, static_cast<int>(failures));
    if (nothing) message = ui::windowText(job.failure->message);
    emit finished(job.number, state, message);
}

void RunController::cancel(int run) {
    if (run < 0 || run >= static_cast<int>(jobs_.size())) return;
    Job& job = *jobs_[static_cast<std::size_t>(run)];
    if (!job.work) return;
    job.cancelled = true;
    job.work->cancel();
}

void RunController::cancelAll() {
    for (const auto& job : jobs_) cancel(job->number);
}

int RunController::running() const {
    return static_cast<int>(std::ranges::count_if(jobs_, [](const auto& job) { return job->work != nullptr; }));
}

std::shared_ptr<const Progress> RunController::progress(int run) const {
    return jobs_.at(static_cast<std::size_t>(run))->progress;
}

QString RunController::name(int run) const {
    return jobs_.at(static_cast<std::size_t>(run))->name;
}

std::shared_ptr<const Study> RunController::study(int run) const {
    return jobs_.at(static_cast<std::size_t>(run))->shared->study;
}

std::shared_ptr<const CalibrationSet> RunController::calibrations(int run) const {
    return jobs_.at(static_cast<std::size_t>(run))->calibrations;
}

std::vector<StudyResult> RunController::results(int run) const {
    Job::Shared& shared = *jobs_.at(static_cast<std::size_t>(run))->shared;
    const std::lock_guard lock(shared.mutex);
    return shared.results;
}

}  // namespace orrery::app
