#pragma once

#include <QObject>
#include <QWidget>

namespace orrery::app {

/// Milliseconds since the process was started by exec, to the kernel's clock tick (10 ms); -1 where it cannot be told.
double millisecondsSinceExec();

/// Notes when a window has painted for the first time.
class FirstPaint : public QObject {
    Q_OBJECT
public:
    explicit FirstPaint(QWidget* window);
    double at() const { return at_; }  ///< ms since exec; -1 until then

signals:
    void painted();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    double at_ = -1;
};

}  // namespace orrery::app
