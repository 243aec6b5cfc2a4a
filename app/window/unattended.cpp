#include "app/window/unattended.h"

#include "app/window/main_window.h"
#include "app/window/page.h"
#include "app/window/snapshot_feeder.h"
#include "app/window/studio.h"
#include "widgets/common/theme.h"

#include <QTextStream>

#include <cstdio>

namespace orrery::app {

namespace {

constexpr qint64 patience = 120'000;  ///< ms for an answer

void print(std::FILE* to, const QString& text) {
    QTextStream stream(to);
    stream << text << Qt::endl;
}

}  // namespace

void openRequested(MainWindow& window, const CommandLine& line) {
    if (!line.example.isEmpty()) window.openExample(line.example);
    for (const QString& file : line.files) window.openFile(file);
}

void arrangeRequested(MainWindow& window, Layout layout, bool asShipped) {
    window.setLayoutMode(layout, asShipped);
    Studio& studio = window.studio();
    if (const Page* front = studio.router.front()) studio.docks.setAside(front->card().alone);
}

Unattended::Unattended(MainWindow& window, CommandLine line, QObject* parent)
    : QObject(parent), window_(window), line_(std::move(line)) {
    poll_.setInterval(20);
    connect(&poll_, &QTimer::timeout, this, &Unattended::check);
}

void Unattended::start() {
    ui::Theme::instance().setAnimated(false);
    openRequested(window_, line_);
    const bool project = !line_.example.isEmpty() || !line_.files.isEmpty();
    if (line_.layout && project) arrangeRequested(window_, *line_.layout, true);
    since_.start();
    poll_.start();
}

void Unattended::check() {
    const bool project = !line_.example.isEmpty() || !line_.files.isEmpty();
    const Page* front = window_.studio().router.front();
    const bool answered = window_.live().snapshot() && window_.live().upToDate() && window_.feeder().settled();
    const bool busy = front && front->isBusy() && since_.elapsed() < patience / 2;
    // A drawing alone asks nothing: its picture can be taken all the same.
    const bool drawing =
        line_.reportFolder.isEmpty() && window_.document().hardware() && !window_.document().workload();
    calm_ = (!project || answered || drawing) && !busy ? calm_ + 1 : 0;
    if (calm_ > 5) return finish();
    if (since_.elapsed() < patience && (window_.document().hardware() || since_.elapsed() < patience / 4)) return;
    poll_.stop();
    print(stderr, tr("orrery: the question has no answer"));
    for (const Diagnostic& problem : window_.currentProblems()) {
        print(stderr, QString::fromStdString(orrery::toText(problem)));
    }
    emit ended(1);
}

void Unattended::finish() {
    poll_.stop();
    int status = 0;
    if (!line_.reportFolder.isEmpty()) {
        const Expected<QStringList> written = window_.exportReport(line_.reportFolder);
        if (written) {
            for (const QString& file : *written) print(stdout, file);
        } else {
            print(stderr, QString::fromStdString(orrery::toText(written.error())));
            status = 1;
        }
    }
    if (!line_.screenshot.isEmpty()) {
        if (window_.grab().save(line_.screenshot)) {
            print(stdout, line_.screenshot);
        } else {
            print(stderr, tr("orrery: %1 cannot be written").arg(line_.screenshot));
            status = 1;
        }
    }
    emit ended(status);
}

}  // namespace orrery::app
