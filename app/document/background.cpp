#include "app/document/background.h"

#include "widgets/common/turns.h"

#include <QPointer>

#include <utility>

namespace orrery::app {

Background::Background(QObject* parent) : QObject(parent) {
    ui::comeFirst();
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
    ui::giveWay();
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
