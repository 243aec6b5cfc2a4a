#pragma once

// The thread behind the live views. It holds one question at a time and at most one that waits; a newer question
// replaces the one that waits and stops the one that runs.

#include "app/document/workload_cache.h"
#include "base/executor.h"
#include "evaluation/reference_index.h"
#include "learning/calibration.h"
#include "widgets/common/snapshot.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace orrery::app {

struct LiveQuestion {
    quint64 revision = 0;
    quint64 generation = 0;  ///< changes when another project or pair is shown: older answers are worthless then
    HardwarePtr hardware;
    std::optional<WorkloadRecipe> recipe;
    std::vector<std::string> methods;                    ///< ids or choices, in the order shown
    std::shared_ptr<const CalibrationSet> calibrations;  ///< null: what ships
    std::shared_ptr<const ReferenceIndex> truth;         ///< null: no kernels are loaded
};

struct LiveAnswer {
    quint64 revision = 0;
    quint64 generation = 0;
    ui::SnapshotPtr snapshot;  ///< null if there is no workload to ask about
    WorkloadPtr workload;
    std::optional<Diagnostic> failure;  ///< why there is no snapshot
};

class LiveWorker {
public:
    /// `deliver` is called on the worker's thread.
    LiveWorker(std::shared_ptr<WorkloadCache> cache, int threads, std::function<void(LiveAnswer)> deliver);
    ~LiveWorker();

    void ask(LiveQuestion question);
    bool busy() const;
    quint64 cancelled() const;  ///< questions that a newer one stopped or replaced

private:
    void run(const std::stop_token& quit);
    std::optional<LiveAnswer> answer(const LiveQuestion& question, const std::stop_token& stop);

    using Clock = std::chrono::steady_clock;

    std::shared_ptr<WorkloadCache> cache_;
    std::function<void(LiveAnswer)> deliver_;
    int threads_;
    mutable std::mutex mutex_;
    std::condition_variable_any wake_;
    std::optional<LiveQuestion> waiting_;
    std::optional<std::stop_source> running_;
    quint64 runningGeneration_ = 0;
    Clock::time_point delivered_;
    quint64 cancelled_ = 0;
    std::unique_ptr<Executor> executor_;
    std::jthread thread_;  ///< last: it uses everything above
};

}  // namespace orrery::app
