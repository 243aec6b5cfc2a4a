#include "app/document/run_controller.h"

#include "app/document/document.h"
#include "app/document/workload_cache.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include <algorithm>
#include <atomic>

namespace orrery::app {

struct RunController::Job {
    int number = 0;
    QString name, store;
    ProjectStatePtr state;
    int threads = 0;
    std::shared_ptr<const CalibrationSet> calibrations;
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
    std::shared_ptr<Study> study = std::make_shared<Study>();
    std::stop_source stop;
    QMutex mutex;
    std::vector<StudyResult> results;  ///< under mutex until ended
    std::optional<Diagnostic> failure;
    std::size_t told = 0;
    std::atomic<bool> ended = false;
    bool reported = false;
    std::jthread thread;
};

RunController::RunController(Document& document, std::shared_ptr<WorkloadCache> cache, QString storeFolder,
                             QObject* parent)
    : QObject(parent), document_(document), cache_(std::move(cache)), storeFolder_(std::move(storeFolder)) {
    timer_.setInterval(33);
    connect(&timer_, &QTimer::timeout, this, &RunController::drain);
}

RunController::~RunController() {
    for (const auto& job : jobs_) job->stop.request_stop();
    for (const auto& job : jobs_) {
        if (job->thread.joinable()) job->thread.join();
    }
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
    auto job = std::make_shared<Job>();
    job->number = static_cast<int>(jobs_.size());
    job->state = state;
    job->name = document_.title();
    job->store = storeFile();
    job->threads = threads_;
    job->calibrations = calibrations_;
    job->study->name = job->name.toStdString();
    job->study->methods = state->methods;
    job->progress->setTotal(state->scenarios.size() * state->methods.size());
    QDir().mkpath(QFileInfo(job->store).absolutePath());
    jobs_.push_back(job);
    emit started(job->number);
    job->thread = std::jthread([this, job] { work(job); });
    timer_.start();
    return job->number;
}

void RunController::work(const std::shared_ptr<Job>& job) {
    Study& study = *job->study;
    const auto give = [&](const Diagnostic& why) {
        job->failure = why;
        job->ended = true;
    };
    std::vector<Scenario> scenarios;
    for (const ScenarioRef& reference : job->state->scenarios) {
        const int hardware = job->state->hardwareIndex(reference.hardware);
        const int workload = job->state->workloadIndex(reference.workload);
        if (hardware < 0 || workload < 0) continue;
        const auto& recipe = job->state->workloads[static_cast<std::size_t>(workload)].recipe;
        Expected<WorkloadPtr> loaded = cache_->get(recipe);
        if (!loaded) return give(loaded.error());
        scenarios.push_back({job->state->hardware[static_cast<std::size_t>(hardware)], *loaded});
        if (job->stop.stop_requested()) break;
    }
    {
        const QMutexLocker lock(&job->mutex);
        study.scenarios = std::move(scenarios);
    }
    job->progress->setTotal(study.scenarios.size() * study.methods.size());

    Expected<std::unique_ptr<RunStore>> store = RunStore::open(job->store.toStdString());
    std::optional<Diagnostic> unstored;
    Expected<std::int64_t> stored = store ? (*store)->beginRun(study) : Unexpected(store.error());
    if (!stored) unstored = stored.error();

    const std::unique_ptr<Executor> executor = makeDefaultExecutor(job->threads);
    StudyOptions options;
    options.executor = executor.get();
    options.stop = job->stop.get_token();
    options.progress = job->progress.get();
    options.calibrations = job->calibrations.get();
    options.onResult = [&](const StudyResult& result) {
        if (stored) {
            if (Expected<void> added = (*store)->add(*stored, study, result); !added) unstored = added.error();
        }
        const QMutexLocker lock(&job->mutex);
        job->results.push_back(result);
    };
    std::vector<StudyResult> all = runStudy(study, options);
    if (stored) (void)(*store)->finishRun(*stored);
    {
        const QMutexLocker lock(&job->mutex);
        job->results = std::move(all);
    }
    job->failure = unstored;
    job->ended = true;
}

void RunController::drain() {
    bool more = false;
    for (const auto& job : jobs_) {
        if (job->reported) continue;
        const bool ended = job->ended;
        std::size_t count = 0, failures = 0;
        {
            const QMutexLocker lock(&job->mutex);
            count = job->results.size();
            for (const StudyResult& result : job->results) failures += result.failure.has_value();
        }
        if (count != job->told) emit resultsArrived(job->number, static_cast<int>(job->told = count));
        if (!ended) {
            more = true;
            continue;
        }
        job->reported = true;
        job->thread.join();
        if (job->failure) emit failed(*job->failure);
        const bool nothing = job->failure && count == 0;
        const RunState state = job->stop.stop_requested() ? RunState::Cancelled
                               : nothing                  ? RunState::Failed
                                                          : RunState::Done;
        QString message = tr("%n result(s)", nullptr, static_cast<int>(count - failures));
        if (failures > 0) message += tr(", %n without an answer", nullptr, static_cast<int>(failures));
        if (nothing) message = QString::fromStdString(job->failure->message);
        emit finished(job->number, state, message);
    }
    if (!more) timer_.stop();
}

void RunController::cancel(int run) {
    if (run >= 0 && run < static_cast<int>(jobs_.size())) jobs_[static_cast<std::size_t>(run)]->stop.request_stop();
}

int RunController::running() const {
    return static_cast<int>(std::ranges::count_if(jobs_, [](const auto& job) { return !job->reported; }));
}

std::shared_ptr<const Progress> RunController::progress(int run) const {
    return jobs_.at(static_cast<std::size_t>(run))->progress;
}

QString RunController::name(int run) const {
    return jobs_.at(static_cast<std::size_t>(run))->name;
}

std::shared_ptr<const Study> RunController::study(int run) const {
    return jobs_.at(static_cast<std::size_t>(run))->study;
}

std::vector<StudyResult> RunController::results(int run) const {
    Job& job = *jobs_.at(static_cast<std::size_t>(run));
    const QMutexLocker lock(&job.mutex);
    return job.results;
}

}  // namespace orrery::app
