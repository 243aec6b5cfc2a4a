#include "widgets/common/picture_thread.h"

#include "widgets/common/turns.h"

#include <utility>

namespace orrery::ui {

PictureThread::PictureThread(QObject* parent) : QObject(parent) {}

PictureThread::~PictureThread() {
    drop();
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
}

void PictureThread::ask(Draw draw) {
    {
        const std::scoped_lock hold(mutex_);
        if (drawing_) drawing_->request_stop();
        wish_ = Wish{++asked_, std::move(draw), {}};
    }
    waiting_ = true;
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& quit) { work(quit); });
    wake_.notify_one();
}

void PictureThread::drop() {
    const std::scoped_lock hold(mutex_);
    if (drawing_) drawing_->request_stop();
    wish_.reset();
    ++asked_;
    waiting_ = false;
}

void PictureThread::work(const std::stop_token& quit) {
    giveWay();
    while (true) {
        Wish wish;
        {
            std::unique_lock lock(mutex_);
            if (!wake_.wait(lock, quit, [this] { return wish_.has_value(); })) return;
            wish = std::move(*std::exchange(wish_, std::nullopt));
            drawing_ = wish.stop;
        }
        QImage picture = wish.draw(wish.stop.get_token());
        wish.draw = {};  // what it held may be large: it goes here, not on the window's thread
        {
            const std::scoped_lock hold(mutex_);
            drawing_.reset();
        }
        if (wish.stop.stop_requested()) continue;
        QMetaObject::invokeMethod(
            this,
            [this, number = wish.number, picture = std::move(picture)] {
                if (number != asked_) return;
                waiting_ = false;
                emit drawn(picture);
            },
            Qt::QueuedConnection);
    }
}

}  // namespace orrery::ui
