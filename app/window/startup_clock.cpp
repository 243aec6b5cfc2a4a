#include "app/window/startup_clock.h"

#include <QEvent>
#include <QFile>
#include <QTimer>

#include <unistd.h>

#include <ctime>

namespace orrery::app {

double millisecondsSinceExec() {
    QFile file(QStringLiteral("/proc/self/stat"));
    if (!file.open(QIODevice::ReadOnly)) return -1;
    const QByteArray stat = file.readAll();
    // Field 22, starttime in clock ticks since boot; the name in field 2 may hold blanks, so count from its bracket.
    const QList<QByteArray> fields = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
    if (fields.size() < 20) return -1;
    timespec now{};
    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return -1;
    const double started = fields[19].toDouble() / static_cast<double>(sysconf(_SC_CLK_TCK));
    return (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 - started) * 1000;
}

FirstPaint::FirstPaint(QWidget* window) : QObject(window) {
    window->installEventFilter(this);
}

bool FirstPaint::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Paint && at_ < 0) {
        watched->removeEventFilter(this);
        // The children paint in the same pass; the next turn of the loop comes after all of them.
        QTimer::singleShot(0, this, [this] {
            at_ = millisecondsSinceExec();
            emit painted();
        });
    }
    return QObject::eventFilter(watched, event);
}

}  // namespace orrery::app
