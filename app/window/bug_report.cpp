#include "app/window/bug_report.h"

#include "app/window/exports.h"
#include "app/window/log_file.h"
#include "app/window/settings.h"
#include "app/window/studio.h"
#include "base/text/read_file.h"
#include "base/text/tar_writer.h"
#include "base/version.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMainWindow>
#include <QScreen>
#include <QSysInfo>

#include <thread>

namespace orrery::app {

namespace {

constexpr std::size_t mostBytesOfAFile = std::size_t{256} << 20;

QString bugWords(const char* text) {
    return QCoreApplication::translate("BugReport", text);
}

std::string withoutHome(QByteArray text) {
    if (const QByteArray home = QDir::homePath().toUtf8(); home.size() > 1) text.replace(home, "~");
    return text.toStdString();
}

QString contentsText(const BugReportContents& allowed) {
    QStringList lines{QStringLiteral("A report about a bug in Orrery, made on %1.")
                          .arg(QDateTime::currentDateTimeUtc().toString(Qt::ISODate)),
                      {},
                      QStringLiteral("versions.txt  versions of the program and the system"),
                      QStringLiteral("orrery.log    the lines of the log panel, newest last")};
    if (allowed.project) lines << QStringLiteral("project.yaml  the project that was open");
    for (const QString& file : allowed.files) lines << QStringLiteral("files/%1").arg(QFileInfo(file).fileName());
    if (!allowed.project && allowed.files.isEmpty())
        lines << QString() << QStringLiteral("The project is not included, because you did not choose to include it.");
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

}  // namespace

QString versionsText() {
    QStringList lines;
    const auto line = [&](const char* what, const QString& value) {
        lines << QStringLiteral("%1: %2").arg(QLatin1String(what), value);
    };
    line("Orrery", ui::qs(buildVersion()));
    line("Qt", QStringLiteral("%1, built for %2").arg(QLatin1String(qVersion()), QLatin1String(QT_VERSION_STR)));
    line("Compiler", QLatin1String(__VERSION__));
    line("System", QSysInfo::prettyProductName());
    line("Kernel", QSysInfo::kernelType() + QLatin1Char(' ') + QSysInfo::kernelVersion());
    line("Processor", QStringLiteral("%1, %2 threads")
                          .arg(QSysInfo::currentCpuArchitecture())
                          .arg(std::thread::hardware_concurrency()));
    line("Platform", QGuiApplication::platformName());
    for (const QScreen* screen : QGuiApplication::screens()) {
        line("Screen", QStringLiteral("%1 × %2 at scale %3")
                           .arg(screen->size().width())
                           .arg(screen->size().height())
                           .arg(screen->devicePixelRatio()));
    }
    const Preferences chosen = readPreferences();
    line("Preferences",
         QStringLiteral("%1, motion %2, autosave %3, threads %4")
             .arg(chosen.dark ? QStringLiteral("dark") : QStringLiteral("light"),
                  chosen.animated ? QStringLiteral("on") : QStringLiteral("off"),
                  chosen.autosave ? QStringLiteral("on") : QStringLiteral("off"), QString::number(chosen.threads)));
    return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

Expected<void> writeBugReport(const QString& file, const BugReportContents& allowed) {
    std::vector<TarText> texts{{"README.txt", contentsText(allowed).toStdString()},
                               {"versions.txt", versionsText().toStdString()},
                               {"orrery.log", withoutHome(readLogFile())}};
    if (allowed.project) texts.push_back({"project.yaml", *allowed.project});
    for (const QString& each : allowed.files) {
        Expected<std::string> text = readFile(each.toStdString(), mostBytesOfAFile);
        if (!text) return tl::unexpected(text.error());
        texts.push_back({"files/" + QFileInfo(each).fileName().toStdString(), std::move(*text)});
    }
    const Expected<std::string> packed = packedTar(texts, QDateTime::currentSecsSinceEpoch());
    if (!packed) return tl::unexpected(packed.error());
    if (const QString problem = ui::writeText(file, QByteArray::fromStdString(*packed)); !problem.isEmpty())
        return Unexpected(exportFailed(file, problem));
    return {};
}

void saveBugReport(Studio& studio) {
    const QString without = bugWords("Log and versions (*.tar.gz)"),
                  with = bugWords("Log, versions and the project (*.tar.gz)");
    QString chosen;
    QString file = QFileDialog::getSaveFileName(studio.window, bugWords("Save a bug report"),
                                                QStringLiteral("orrery-bug-report.tar.gz"),
                                                without + QStringLiteral(";;") + with, &chosen);
    if (file.isEmpty()) return;
    if (QFileInfo(file).suffix().isEmpty()) file += QStringLiteral(".tar.gz");
    BugReportContents allowed;
    if (chosen == with) allowed.project = studio.document.yaml();
    if (const Expected<void> done = writeBugReport(file, allowed); !done) return studio.messages.complain(done.error());
    studio.messages.say(Severity::Note, bugWords("Wrote %1. Attach it to your report.").arg(file));
}

}  // namespace orrery::app
