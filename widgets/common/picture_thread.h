#pragma once

// Pictures that take longer than a frame, drawn beside the window's thread: the newest wish wins, and nobody ever waits
// for one that is no longer wanted.

#include <QImage>
#include <QObject>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace orrery::ui {

class PictureThread : public QObject {
    Q_OBJECT
public:
    /// Runs on the other thread, so it owns all that it reads; a null image where it was stopped.
    using Draw = std::function<QImage(const std::stop_token&)>;

    explicit PictureThread(QObject* parent = nullptr);
    /// Waits for the drawing under way, which is told to stop.
    ~PictureThread() override;
    /// Never waits. What is being drawn is told to stop and its picture forgotten.
    void ask(Draw draw);
    void drop();  ///< what was asked for is no longer wanted
    bool isWaiting() const { return waiting_; }

signals:
    void drawn(const QImage& picture);  ///< of the newest wish

private:
    struct Wish {
        quint64 number = 0;
        Draw draw;
        std::stop_source stop;
    };
    void work(const std::stop_token& quit);

    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::optional<Wish> wish_;  ///< under the mutex, as is `drawing_`
    std::optional<std::stop_source> drawing_;
    quint64 asked_ = 0;
    bool waiting_ = false;
    std::jthread thread_;  ///< made with the first wish; last: ends before the rest goes
};

}  // namespace orrery::ui
