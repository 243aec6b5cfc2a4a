#pragma once

// Work off the GUI thread, for everything that runs: one thread, one job at a time, the newest question wins, and what
// a job found is taken over on the GUI thread. A job that fails returns its failure as a value, like any other result.

#include "base/progress.h"

#include <QObject>
#include <QTimer>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace orrery::app {

class Background : public QObject {
    Q_OBJECT
public:
    using Finish = std::function<void()>;  ///< runs on the GUI thread; may be empty
    using Job = std::function<Finish(std::stop_token, Progress&)>;
    /// What becomes of a job under way when another is started.
    enum class Newest {
        Wins,         ///< it is told to stop and forgotten
        LetsItFinish  ///< the same while answers come; it may finish if none came for `starvation`, so a drag shows
                      ///< some
    };
    static constexpr std::chrono::milliseconds frame{
        33};  ///< at least so long between two finishes, and two `advanced`
    static constexpr std::chrono::milliseconds starvation{100};

    explicit Background(QObject* parent = nullptr);
    /// Tells the job under way to stop and waits for it; no finish runs any more. Hold it as the last member where jobs
    /// use other members.
    ~Background() override;

    /// Never waits. Of jobs that wait for their turn only the newest is kept.
    void start(Job job, Newest newest = Newest::Wins);
    /// The same for a value: `take(work(stop, progress))`, the second on the GUI thread.
    template <class Work, class Take>
    void ask(Work work, Take take, Newest newest = Newest::Wins);
    /// A job of its own thread that nothing follows, cancels or replaces; ends before its owner goes.
    template <class Work, class Take>
    static void once(QObject* owner, Work work, Take take);

    /// The newest job ends early, and what it returns then is taken over.
    void cancel();
    /// Until the newest job has ended; then runs its finish.
    void wait();
    bool isRunning() const { return asked_ != told_; }  ///< until the newest job's finish begins
    double fraction() const { return isRunning() ? progress_->fraction() : 0; }
    /// Of the newest job; null before the first.
    std::shared_ptr<const Progress> progress() const { return progress_; }

signals:
    void advanced();  ///< when a job is started, and at most thirty times a second while one runs
    void ended();     ///< after the newest job's finish

private:
    struct Turn {
        std::uint64_t number = 0;
        Job job;
        std::shared_ptr<Progress> progress = std::make_shared<Progress>();
        std::stop_source stop;
    };
    struct Found {
        std::uint64_t number = 0;
        Finish finish;
    };
    void work(const std::stop_token& quit);
    void settle();
    void deliver();

    using Clock = std::chrono::steady_clock;

    std::mutex mutex_;
    std::condition_variable_any wake_, done_;
    std::optional<Turn> waiting_;  ///< under the mutex, as are those up to `posted_`
    std::optional<std::stop_source> running_;
    bool forgotten_ = false;              ///< what runs was replaced
    std::optional<Found> found_;          ///< newest not yet taken over
    Clock::time_point found_at_;          ///< when a job last ended that was not forgotten
    bool posted_ = false;                 ///< the GUI thread knows of `found_`
    std::uint64_t asked_ = 0, told_ = 0;  ///< numbers of the newest job and of the last one taken over
    std::shared_ptr<Progress> progress_;
    Clock::time_point delivered_;
    QTimer tick_, due_;
    std::jthread thread_;  ///< made with the first job
};

template <class Work, class Take>
void Background::ask(Work work, Take take, Newest newest) {
    start(
        [work = std::move(work), take = std::move(take)](std::stop_token stop, Progress& progress) mutable -> Finish {
            auto found = std::make_shared<decltype(work(stop, progress))>(work(stop, progress));
            return [found, take]() mutable { take(std::move(*found)); };
        },
        newest);
}

template <class Work, class Take>
void Background::once(QObject* owner, Work work, Take take) {
    auto* own = new Background(owner);
    connect(own, &Background::ended, own, &QObject::deleteLater);
    own->ask(std::move(work), std::move(take));
}

}  // namespace orrery::app
