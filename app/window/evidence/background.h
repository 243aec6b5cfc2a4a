#pragma once

// One job at a time on a thread of its own; what it found is taken over on the GUI thread. The newest question wins.

#include "base/progress.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

namespace orrery::app {

class Background : public QObject {
    Q_OBJECT
public:
    using Finish = std::function<void()>;  ///< runs on the GUI thread
    using Job = std::function<Finish(std::stop_token, Progress&)>;

    explicit Background(QObject* parent = nullptr);
    ~Background() override;
    /// Ends a job under way first and forgets it.
    void start(Job job);
    /// The job ends early, and what it returns then is taken over.
    void cancel();
    bool isRunning() const { return worker_.joinable(); }
    double fraction() const { return state_ ? state_->progress.fraction() : 0; }

signals:
    void advanced();  ///< at most thirty times a second while a job runs
    void ended();     ///< after its finish

private:
    void drain();

    struct State {
        Progress progress;
        std::atomic<bool> done{false};
        Finish finish;  ///< written before `done`
    };
    std::shared_ptr<State> state_;
    QTimer due_;
    std::jthread worker_;  ///< last: ends before what it writes to goes
};

}  // namespace orrery::app
