#include "app/window/bug_report.h"
#include "app/window/command_line.h"
#include "app/window/evidence/paper.h"
#include "app/window/main_window.h"
#include "app/window/settings.h"
#include "app/window/startup_clock.h"
#include "app/window/unattended.h"
#include "widgets/common/theme.h"

#include <QApplication>
#include <QScreen>
#include <QTextStream>
#include <QTimer>

#include <algorithm>
#include <cstdio>

namespace {

/// Which platform plug-in suits: a program that only writes files needs no display.
void choosePlatform(int argc, char** argv) {
    if (qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) return;
    const bool display = qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY");
    for (int at = 1; at < argc && !display; ++at) {
        const QByteArray word(argv[at]);
        if (word.startsWith("--report") || word.startsWith("--screenshot") || word.startsWith("--startup-report") ||
            word.startsWith("--paper") || word.startsWith("--bug-report") || word == "--help" || word == "-h" ||
            word == "--version" || word == "-v") {
            qputenv("QT_QPA_PLATFORM", "offscreen");
        }
    }
}

void print(std::FILE* to, const QString& text) {
    QTextStream stream(to);
    stream << text;
}

/// The offscreen platform says on each resize that it does not tell window managers about it. There is none.
void withoutPlatformChatter(QtMsgType type, const QMessageLogContext& context, const QString& message) {
    if (message.contains(QLatin1String("propagateSizeHints"))) return;
    if (message.startsWith(QLatin1String("QStandardPaths: XDG_RUNTIME_DIR"))) return;
    const QByteArray line = qFormatLogMessage(type, context, message).toLocal8Bit();
    std::fprintf(stderr, "%s\n", line.constData());
}

}  // namespace

int main(int argc, char** argv) {
    using namespace orrery;
    choosePlatform(argc, argv);
    qInstallMessageHandler(withoutPlatformChatter);
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("orrery"));
    QApplication::setApplicationDisplayName(QStringLiteral("Orrery"));
    QApplication::setOrganizationName(QStringLiteral("orrery"));
    QApplication::setDesktopFileName(QStringLiteral("orrery"));

    const app::ParsedCommandLine parsed = app::parseCommandLine(QApplication::arguments());
    if (parsed.status) {
        print(*parsed.status == 0 ? stdout : stderr, parsed.text);
        return *parsed.status;
    }
    const app::CommandLine& line = parsed.line;
    ui::initialiseApplicationLook();
    if (!line.paperFolder.isEmpty()) {
        const QString problem = app::writePaper(line.paperFolder);
        if (!problem.isEmpty()) print(stderr, QStringLiteral("orrery: %1\n").arg(problem));
        return problem.isEmpty() ? 0 : 1;
    }
    if (!line.bugReport.isEmpty()) {
        const Expected<void> done = app::writeBugReport(line.bugReport, {.project = {}, .files = line.files});
        if (!done) print(stderr, QStringLiteral("%1\n").arg(QString::fromStdString(toText(done.error()))));
        return done ? 0 : 1;
    }
    app::MainWindow window;
    if (line.dark) window.setTheme(*line.dark);
    if (line.size.isValid()) {
        window.resize(line.size);
    } else if (!line.headless()) {  // a projector or a small laptop
        constexpr QSize frame(2, 32);
        window.resize(window.size().boundedTo(window.screen()->availableSize() - frame));
    }

    app::FirstPaint firstPaint(&window);
    bool painted = false, ready = false;
    double readyAt = -1;
    const auto reportStart = [&] {
        if (!line.startupReport || !painted || !ready) return;
        if (firstPaint.at() < 0 || readyAt < 0) {
            print(stderr, QStringLiteral("orrery: the time since the start is not known without /proc\n"));
            return QApplication::exit(1);
        }
        print(stdout, QStringLiteral("first_paint_ms %1\nready_ms %2\n")
                          .arg(firstPaint.at(), 0, 'f', 0)
                          .arg(std::max(readyAt, firstPaint.at()), 0, 'f', 0));
        QApplication::exit(0);
    };
    QObject::connect(&firstPaint, &app::FirstPaint::painted, &window, [&] {
        painted = true;
        reportStart();
    });
    QObject::connect(&window, &app::MainWindow::ready, &window, [&] {
        ready = true;
        readyAt = app::millisecondsSinceExec();
        if (line.startupReport) {
            QTimer::singleShot(0, &window, reportStart);
        } else if (line.headless()) {
            auto* unattended = new app::Unattended(window, line, &window);
            QObject::connect(unattended, &app::Unattended::ended, &window,
                             [](int status) { QApplication::exit(status); });
            unattended->start();
        } else {
            app::openRequested(window, line);
            if (line.layout) app::arrangeRequested(window, *line.layout);
            window.offerRecovery();
        }
    });
    window.show();
    return QApplication::exec();
}
