#pragma once

// The longest time in which a window took no event, and the longest that it worked itself meanwhile; what is between
// them it waited for a core.

#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

#include <algorithm>
#include <ctime>
#include <functional>

namespace orrery::app::test {

class EventLoopWatch {
public:
    /// `onBeat` is called about every millisecond with the number of the beat.
    explicit EventLoopWatch(std::function<void(int)> onBeat = {}) : onBeat_(std::move(onBeat)) {
        timer_.setTimerType(Qt::PreciseTimer);
        QObject::connect(&timer_, &QTimer::timeout, [this] { beat(); });
        since_.start();
        worked_ = worked();
        timer_.start(1);
    }
    void stop() { timer_.stop(); }
    double longest() const { return static_cast<double>(longest_) / 1e6; }  ///< ms
    double busiest() const { return static_cast<double>(busiest_) / 1e6; }  ///< ms of this thread's own work

private:
    static qint64 worked() {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return qint64{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    }
    void beat() {
        longest_ = std::max(longest_, since_.nsecsElapsed());
        busiest_ = std::max(busiest_, worked() - worked_);
        worked_ = worked();
        since_.restart();
        if (onBeat_) onBeat_(++beats_);
    }

    std::function<void(int)> onBeat_;
    QTimer timer_;
    QElapsedTimer since_;
    qint64 longest_ = 0, busiest_ = 0, worked_ = 0;
    int beats_ = 0;
};

/// Takes every event as it comes until `done`; false after so many milliseconds. QTest's own waits sleep for ten
/// milliseconds between events, which a watch would count.
inline bool waitTakingEvents(const std::function<bool()>& done, int milliseconds) {
    if (done()) return true;
    QEventLoop loop;
    QTimer poll, most;
    bool ended = false;
    QObject::connect(&poll, &QTimer::timeout, &loop, [&] {
        if ((ended = done())) loop.quit();
    });
    most.setSingleShot(true);
    QObject::connect(&most, &QTimer::timeout, &loop, &QEventLoop::quit);
    poll.start(20);
    most.start(milliseconds);
    loop.exec();
    return ended;
}

}  // namespace orrery::app::test
