#pragma once

// Runs the real orrery-cli and says what came of it.

#include <QProcess>
#include <QString>
#include <QStringList>

namespace orrery::test {

struct Outcome {
    int exit = -1;
    bool ended = false;    ///< within the time limit
    bool crashed = false;  ///< by a signal
    QString out, error;
    bool sound() const { return ended && !crashed; }
    QByteArray text() const {
        return QString("exit %1, ended %2, crashed %3\n--- out\n%4\n--- error\n%5")
            .arg(exit)
            .arg(ended)
            .arg(crashed)
            .arg(out.left(2000), error.left(2000))
            .toUtf8();
    }
};

inline Outcome cli(const QStringList& arguments, const QString& folder = {}, int milliseconds = 10000,
                   const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment()) {
    QProcess process;
    process.setProcessEnvironment(environment);
    if (!folder.isEmpty()) process.setWorkingDirectory(folder);
    process.start(ORRERY_CLI, arguments);
    Outcome outcome;
    outcome.ended = process.waitForFinished(milliseconds);
    if (!outcome.ended) {
        process.kill();
        process.waitForFinished();
    }
    outcome.crashed = outcome.ended && process.exitStatus() == QProcess::CrashExit;
    outcome.exit = process.exitCode();
    outcome.out = QString::fromUtf8(process.readAllStandardOutput());
    outcome.error = QString::fromUtf8(process.readAllStandardError());
    return outcome;
}

}  // namespace orrery::test
