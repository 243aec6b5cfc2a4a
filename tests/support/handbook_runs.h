#pragma once

// Commands of the handbook with what they print below them, to be held against what they print today.

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QString>
#include <QStringList>

namespace orrery::test {

inline QString handbookPage(const QString& name) {
    QFile file(QStringLiteral(ORRERY_SOURCE "/resources/handbook/") + name);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

struct HandbookRun {
    QStringList arguments;  ///< after `orrery-cli`
    QStringList shown;      ///< lines below it, but for empty ones and `…`
};

/// The first indented command of a page, and the indented lines below it.
inline HandbookRun firstRun(const QString& page) {
    HandbookRun run;
    QString command;
    for (const QString& line : page.split(QLatin1Char('\n'))) {
        const bool indented = line.startsWith(QLatin1String("    "));
        const QString text = indented ? line.mid(4) : line;
        if (command.isEmpty() || command.endsWith(QLatin1Char('\\'))) {
            if (command.isEmpty() && !text.startsWith(QLatin1String("orrery-cli "))) continue;
            command = command.chopped(command.isEmpty() ? 0 : 1) + text.trimmed();
            continue;
        }
        if (text.trimmed().isEmpty()) continue;
        if (!indented) break;
        if (text.trimmed() != QStringLiteral("…")) run.shown << text;
    }
    run.arguments = QProcess::splitCommand(command.replace(QLatin1Char('\''), QLatin1Char('"'))).mid(1);
    return run;
}

/// The first line of the page that the command does not print, in its order; empty: it prints all. A line may leave
/// out its end.
inline QString notPrinted(const HandbookRun& run, const QString& out) {
    QStringList printed = out.split(QLatin1Char('\n'));
    for (const QString& line : run.shown) {
        while (!printed.isEmpty() && !printed.front().startsWith(line)) printed.removeFirst();
        if (printed.isEmpty()) return line;
    }
    return {};
}

}  // namespace orrery::test
