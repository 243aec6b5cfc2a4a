#include "app/window/log_file.h"

#include "app/window/settings.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"

#include <QDateTime>
#include <QDir>
#include <QFile>

namespace orrery::app {

namespace {

constexpr qint64 mostBytes = 512 * 1024;

}  // namespace

QString logFile() {
    return stateFolder() + QStringLiteral("/orrery.log");
}

void appendToLogFile(Severity severity, const QString& text) {
    QFile file(logFile());
    if (file.size() > mostBytes) {
        const QByteArray kept = readLogFile().right(mostBytes / 2);
        ui::writeText(file.fileName(), kept.mid(kept.indexOf('\n') + 1));
    }
    QDir().mkpath(stateFolder());
    if (!file.open(QIODevice::Append)) return;
    QString line = text;
    line.replace(QLatin1Char('\n'), QLatin1String("\n    "));
    file.write(QStringLiteral("%1 %2: %3\n")
                   .arg(QDateTime::currentDateTime().toString(Qt::ISODate), ui::qs(toText(severity)), line)
                   .toUtf8());
}

QByteArray readLogFile() {
    QFile file(logFile());
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace orrery::app
