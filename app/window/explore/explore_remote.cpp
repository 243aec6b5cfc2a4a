#include "app/window/explore/explore_remote.h"

#include "base/hash.h"
#include "store/export/search_lines.h"
#include "store/runs/search_store.h"

#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>

namespace orrery::app {

namespace {

constexpr qsizetype mostError = 1500;  // characters of a command's standard error that are shown
constexpr int endsWithin = 3000;       // ms that a command gets to end by itself

Unexpected wrong(const QString& what, const QString& hint, const QString& expected = {}) {
    return fail("explore.command", what.toStdString(), expected.toStdString(), hint.toStdString());
}

// For the shell that ssh starts at its other end.
QString quotedForShell(const QString& word) {
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
    if (plain.match(word).hasMatch()) return word;
    return QLatin1Char('\'') + QString(word).replace(QLatin1Char('\''), QLatin1String("'\\''")) + QLatin1Char('\'');
}

void end(QProcess& process) {
    if (process.state() == QProcess::NotRunning) return;
    process.terminate();
    if (process.waitForFinished(endsWithin)) return;
    process.kill();
    process.waitForFinished(endsWithin);
}

QString errorEnd(QProcess& process) {
    const QString text = QString::fromUtf8(process.readAllStandardError()).trimmed();
    return text.size() > mostError ? QStringLiteral("… ") + text.right(mostError) : text;
}

}  // namespace

Expected<QStringList> commandWords(const QString& command, const QString& program, const QString& folder,
                                   const QStringList& arguments) {
    const QString example = QStringLiteral("such as `mpirun -n 4 {orrery}`");
    QStringList words = QProcess::splitCommand(command);
    if (words.isEmpty()) return wrong(QStringLiteral("the command is empty"), example);
    if (command.count(QLatin1Char('"')) % 2 != 0)
        return wrong(QStringLiteral("a quote in the command has no end"), example);
    const bool shell = QFileInfo(words.front()).fileName() == QLatin1String("ssh");
    if (!words.contains(QStringLiteral("{arguments}"))) {
        if (!command.contains(QLatin1String("{orrery}")))
            return wrong(QStringLiteral("the command does not contain {orrery}"), example,
                         QStringLiteral("`{orrery}` or `{arguments}`"));
        words << QStringLiteral("{arguments}");
    }
    static const QRegularExpression left(QStringLiteral("\\{[A-Za-z]*\\}"));
    QStringList out;
    for (const QString& word : words) {
        if (word == QLatin1String("{arguments}")) {
            for (const QString& each : arguments) out << (shell ? quotedForShell(each) : each);
            continue;
        }
        QString filled = word;
        filled.remove(QLatin1String("{orrery}")).remove(QLatin1String("{folder}"));
        if (const auto other = left.match(filled); other.hasMatch())
            return wrong(QStringLiteral("the command has %1").arg(other.captured()), example,
                         QStringLiteral("`{orrery}`, `{arguments}` or `{folder}`"));
        filled = word;
        filled.replace(QLatin1String("{orrery}"), shell ? quotedForShell(program) : program);
        out << filled.replace(QLatin1String("{folder}"), shell ? quotedForShell(folder) : folder);
    }
    return out;
}

QString commandLineProgram() {
    const QString here = QCoreApplication::applicationDirPath();
    for (const QString& folder : {here, here + QStringLiteral("/../bin")}) {  // installed or built; from a test
        const QFileInfo file(folder + QStringLiteral("/orrery-cli"));
        if (file.isFile() && file.isExecutable()) return file.canonicalFilePath();
    }
    return QStringLiteral("orrery-cli");
}

Expected<PointAnswers> searchElsewhere(const RemoteSearch& how, const SearchProblem& problem, const AgentInfo& agent,
                                       const std::vector<SearchPart>& files, const SearchOptions& options,
                                       bool* stopped) {
    if (!QDir().mkpath(how.folder))
        return wrong(QStringLiteral("the folder %1 cannot be made").arg(how.folder), QStringLiteral("choose another"));
    for (const auto& [name, text] : files) {
        QFile file(how.folder + QLatin1Char('/') + QString::fromStdString(name));
        if (!file.open(QIODevice::WriteOnly) ||
            file.write(text.data(), qsizetype(text.size())) != qsizetype(text.size()))
            return wrong(QStringLiteral("%1 cannot be written: %2").arg(file.fileName(), file.errorString()),
                         QStringLiteral("free some space, or save the project elsewhere"));
    }
    const QString search = how.folder + QLatin1Char('/') + QString::fromStdString(files.front().name);
    const auto words = commandWords(how.command, commandLineProgram(), how.folder,
                                    {QStringLiteral("search"), search, QStringLiteral("--out"), how.folder,
                                     QStringLiteral("--resume"), QStringLiteral("--progress"), QStringLiteral("json")});
    if (!words) return Unexpected(words.error());

    QProcess process;
    process.start(words->front(), words->mid(1));
    if (!process.waitForStarted())
        return wrong(QStringLiteral("`%1` cannot be started: %2").arg(words->front(), process.errorString()),
                     QStringLiteral("is it installed, and in the search path?"));
    const std::string question = Hash().add(searchProblemText(problem, agent)).hex();
    PointAnswers seen;
    bool finished = false, begun = false;
    QElapsedTimer heard;
    heard.start();
    const auto take = [&](const QByteArray& bytes) -> Expected<bool> {
        heard.restart();
        // A launcher may say something of its own.
        if (!bytes.startsWith('{')) return true;
        auto line =
            readSearchLine(std::string_view(bytes.data(), std::size_t(bytes.size())), problem.objectives.size());
        if (!line) return Unexpected(line.error());
        if (line->kind == SearchLine::Kind::Begin) {
            begun = true;
            if (line->question != question)
                return wrong(QStringLiteral("the command answers another question than this window"),
                             QStringLiteral("is its orrery-cli of this version, with the same presets?"));
        } else if (line->kind == SearchLine::Kind::End) {
            finished = line->finished;
        }
        const std::size_t first = seen.size();
        for (const PointAnswer& each : line->points) seen.add(each);
        if (options.progress) options.progress->advance(seen.size() - first);
        return seen.size() == first || !options.onBatch || options.onBatch(seen, first);
    };
    const auto drain = [&]() -> Expected<bool> {
        while (process.canReadLine()) {
            const auto wanted = take(process.readLine().trimmed());
            if (!wanted || !*wanted) return wanted;
        }
        return true;
    };
    bool wanted = true;
    while (wanted && !options.stop.stop_requested()) {
        const bool running = process.state() != QProcess::NotRunning;
        if (running) process.waitForReadyRead(100);
        const auto drained = drain();
        if (!drained) {
            end(process);
            return Unexpected(drained.error());
        }
        wanted = *drained;
        if (!running) break;
        if (heard.elapsed() > how.silence) {
            end(process);
            const QString said = errorEnd(process);
            return wrong(
                QStringLiteral("the command has printed nothing for %1 s%2")
                    .arg(how.silence / 1000)
                    .arg(said.isEmpty() ? QString() : QStringLiteral(": ") + said),
                QStringLiteral("does the other machine answer? What was stored is kept: Search goes on there"));
        }
    }
    const bool cut = !wanted || options.stop.stop_requested();
    if (stopped) *stopped = cut || !finished;
    if (cut) {
        end(process);
        return seen;
    }
    const bool bad = process.exitStatus() != QProcess::NormalExit || (process.exitCode() != 0 && !finished);
    if (bad || !begun) {
        const QString said = errorEnd(process);
        return wrong(QStringLiteral("the command ended with exit code %1: %2")
                         .arg(process.exitCode())
                         .arg(said.isEmpty() ? QStringLiteral("it said nothing") : said),
                     QStringLiteral("try it in a terminal; what was stored is kept"));
    }
    return seen;
}

}  // namespace orrery::app
