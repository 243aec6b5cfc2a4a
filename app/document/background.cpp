#include "app/document/background.h"

#include <QPointer>

#include <algorithm>
#include <utility>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace orrery::app {
namespace {

#ifdef __linux__
// As <linux/sched/types.h> has it, which cannot stand beside the C library's headers.
struct Scheduling {
    std::uint32_t size = sizeof(Scheduling), policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;
};
#endif

// How much more the calling thread gives way than it did, and for how long it wants a core at a time. Where all cores
// are busy the window comes first. Threads that a thread starts are like it, those of the engine's pool among them.
// From Linux 6.12 on a thread with short turns need not wait for the end of a longer one's; older kernels know no turns
// and refuse nothing. Whoever chose another policy for the program keeps it.
void takeTurns([[maybe_unused]] int nicer, [[maybe_unused]] std::chrono::nanoseconds turn) {
#ifdef __linux__
    constexpr std::uint32_t usual = 0, mostNice = 19;
    Scheduling now;
    if (syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != usual) return;
    now.size = sizeof now;
    now.nice = std::min<std::int32_t>(now.nice + nicer, mostNice);
    now.runtime = static_cast<std::uint64_t>(turn.count());
    syscall(SYS_sched_setattr, 0, &now, 0);
#endif
}

}  // namespace

Background::Background(QObject* parent) : QObject(parent) {
    using namespace std::chrono_literals;
    takeTurns(0, 200us);
    tick_.setInterval(frame);
    due_.setSingleShot(true);
    due_.setTimerType(Qt::PreciseTimer);
    connect(&tick_, &QTimer::timeout, this, &Background::advanced);
    connect(&due_, &QTimer::timeout, this, &Background::deliver);
}

Background::~Background() {
    {
        const std::lock_guard lock(mutex_);
        waiting_.reset();
        forgotten_ = true;
        if (running_) running_->request_stop();
    }
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void Background::start(Job job, Newest newest) {
    Turn turn;
    turn.number = ++asked_;
    turn.job = std::move(job);
    progress_ = turn.progress;
    {
        const std::lock_guard lock(mutex_);
        if (newest == Newest::Wins) found_.reset();
        if (running_ && (newest == Newest::Wins || Clock::now() - found_at_ < starvation)) {
            forgotten_ = true;
            running_->request_stop();
        }
        waiting_ = std::move(turn);
    }
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& quit) { work(quit); });
    wake_.notify_one();
    tick_.start();
    emit advanced();
}

void Background::cancel() {
    const std::lock_guard lock(mutex_);
    // A job that waits still has its turn, and sees at once that it is to stop: every newest job comes to an end.
    if (waiting_) {
        waiting_->stop.request_stop();
    } else if (running_) {
        running_->request_stop();
    }
}

void Background::work(const std::stop_token& quit) {
    using namespace std::chrono_literals;
    takeTurns(5, 3ms);
    while (true) {
        Turn turn;
        {
            std::unique_lock lock(mutex_);
            if (!wake_.wait(lock, quit, [this] { return waiting_.has_value(); })) return;
            turn = std::move(*std::exchange(waiting_, std::nullopt));
            running_ = turn.stop;
            forgotten_ = false;
        }
        Finish finish = turn.job(turn.stop.get_token(), *turn.progress);
        {
            const std::lock_guard lock(mutex_);
            running_.reset();
            if (forgotten_) continue;
            found_at_ = Clock::now();
            found_ = Found{turn.number, std::move(finish)};
            done_.notify_all();
            if (std::exchange(posted_, true)) continue;
        }
        QMetaObject::invokeMethod(this, &Background::settle, Qt::QueuedConnection);
    }
}

void Background::settle() {
    using std::chrono::ceil, std::chrono::milliseconds;
    const auto left = ceil<milliseconds>(delivered_ + frame - Clock::now());
    left.count() > 0 ? due_.start(left) : deliver();
}

void Background::deliver() {
    std::optional<Found> found;
    {
        const std::lock_guard lock(mutex_);
        posted_ = false;
        found = std::exchange(found_, std::nullopt);
    }
    if (!found) return;
    told_ = found->number;
    delivered_ = Clock::now();
    if (!isRunning()) tick_.stop();
    const QPointer<Background> self(this);
    if (found->finish) found->finish();
    // The finish may have begun the next job, or let this go.
    if (self && !isRunning()) emit ended();
}

void Background::wait() {
    if (!isRunning()) return;
    {
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return found_ && found_->number == asked_; });
    }
    deliver();
}

}  // namespace orrery::app
