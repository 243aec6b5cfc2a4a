#include "app/window/evidence/background.h"

namespace orrery::app {

Background::Background(QObject* parent) : QObject(parent) {
    due_.setInterval(33);
    connect(&due_, &QTimer::timeout, this, &Background::drain);
}

Background::~Background() = default;

void Background::start(Job job) {
    if (worker_.joinable()) {
        worker_.request_stop();
        worker_.join();
    }
    state_ = std::make_shared<State>();
    worker_ = std::jthread([job = std::move(job), state = state_](std::stop_token stop) {
        state->finish = job(stop, state->progress);
        state->done.store(true, std::memory_order_release);
    });
    due_.start();
    emit advanced();
}

void Background::cancel() {
    worker_.request_stop();
}

void Background::drain() {
    if (!state_ || !state_->done.load(std::memory_order_acquire)) return emit advanced();
    due_.stop();
    worker_.join();
    const auto state = std::exchange(state_, nullptr);
    if (state->finish) state->finish();
    // The finish may have begun the next job.
    if (!isRunning()) emit ended();
}

}  // namespace orrery::app
