#include "app/document/live_worker.h"

#include "base/progress.h"
#include "evaluation/shipped_references.h"

#include <utility>

namespace orrery::app {

namespace {

// While a drag goes on, an answer to a question that is not quite the newest still shows something: unless the last
// answer is younger than this, the running question is let finish.
constexpr auto starvation = std::chrono::milliseconds(100);

ui::Answer answerOf(const std::string& id, int colour, const Scenario& scenario, EstimateContext& context) {
    ui::Answer answer;
    answer.method = QString::fromStdString(id);
    answer.colour = colour;
    answer.title = QString::fromStdString(methodTitle(id));
    auto choice = methodChoice(id, builtinMethods());
    if (!choice) {
        answer.failure = choice.error();
        return answer;
    }
    context.options = choice->options;
    Expected<Estimate> estimate = orrery::estimate(*findMethod(choice->id), scenario, context);
    if (estimate) {
        answer.estimate = std::make_shared<const Estimate>(std::move(*estimate));
    } else {
        answer.failure = estimate.error();
    }
    return answer;
}

}  // namespace

LiveWorker::LiveWorker(std::shared_ptr<WorkloadCache> cache, int threads, std::function<void(LiveAnswer)> deliver)
    : cache_(std::move(cache)), deliver_(std::move(deliver)), threads_(threads) {
    thread_ = std::jthread([this](const std::stop_token& quit) { run(quit); });
}

LiveWorker::~LiveWorker() {
    const std::lock_guard lock(mutex_);
    if (running_) running_->request_stop();
    thread_.request_stop();
}

void LiveWorker::ask(LiveQuestion question) {
    {
        const std::lock_guard lock(mutex_);
        if (waiting_) ++cancelled_;
        const bool worthless = running_ && question.generation != runningGeneration_;
        if (running_ && (worthless || Clock::now() - delivered_ < starvation)) running_->request_stop();
        waiting_ = std::move(question);
    }
    wake_.notify_one();
}

bool LiveWorker::busy() const {
    const std::lock_guard lock(mutex_);
    return waiting_ || running_;
}

quint64 LiveWorker::cancelled() const {
    const std::lock_guard lock(mutex_);
    return cancelled_;
}

void LiveWorker::run(const std::stop_token& quit) {
    executor_ = makeDefaultExecutor(threads_);
    while (true) {
        LiveQuestion question;
        std::stop_token stop;
        {
            std::unique_lock lock(mutex_);
            if (!wake_.wait(lock, quit, [this] { return waiting_.has_value(); })) return;
            question = *std::exchange(waiting_, std::nullopt);
            running_.emplace();
            runningGeneration_ = question.generation;
            stop = running_->get_token();
        }
        std::optional<LiveAnswer> answered = answer(question, stop);
        {
            const std::lock_guard lock(mutex_);
            running_.reset();
            if (answered) {
                delivered_ = Clock::now();
            } else {
                ++cancelled_;
            }
        }
        if (quit.stop_requested()) return;
        if (answered) deliver_(std::move(*answered));
    }
}

std::optional<LiveAnswer> LiveWorker::answer(const LiveQuestion& question, const std::stop_token& stop) {
    LiveAnswer answer{question.revision, question.generation, nullptr, nullptr, std::nullopt};
    if (!question.recipe) return answer;
    Expected<WorkloadPtr> workload = cache_->get(*question.recipe);
    if (stop.stop_requested()) return std::nullopt;
    if (!workload) {
        answer.failure = workload.error();
        return answer;
    }
    answer.workload = *workload;
    if (!question.hardware) return answer;

    auto snapshot = std::make_shared<ui::Snapshot>();
    snapshot->revision = question.revision;
    snapshot->scenario = {question.hardware, answer.workload};
    snapshot->calibrations = question.calibrations;
    if (Expected<DeviceView> view = deviceView(*question.hardware)) {
        snapshot->device = std::make_shared<const DeviceView>(std::move(*view));
    }
    EstimateContext context{*executor_, stop};
    context.calibrations = question.calibrations.get();
    for (std::size_t at = 0; at < question.methods.size(); ++at) {
        const Method* method = findMethod(question.methods[at]);
        if (method && !method->card.live) continue;
        snapshot->answers.push_back(answerOf(question.methods[at], static_cast<int>(at), snapshot->scenario, context));
        if (stop.stop_requested()) return std::nullopt;
    }
    snapshot->reference = referenceFor(snapshot->scenario);
    if (question.truth) {
        for (const OperatorTruth& each : question.truth->truthOf(snapshot->scenario))
            snapshot->references.push_back({each.op, each.seconds, each.kind != ReferenceKind::Simulated,
                                            QString::fromStdString(each.table->name)});
    }
    answer.snapshot = std::move(snapshot);
    return answer;
}

}  // namespace orrery::app
