#include "app/window/core/assembler.h"

#include <QFile>
#include <QRegularExpression>
#include <QStandardPaths>

#ifdef __unix__
#include <sys/resource.h>
#endif

namespace orrery::app {

namespace {

constexpr int patience = 3000;              ///< ms
constexpr qsizetype longest = 64 * 1024;    ///< characters
constexpr std::size_t memory = 1ull << 30;  ///< bytes that a program may have
constexpr std::size_t output = 1ull << 20;  ///< bytes of a file that it may write

QString programOf(const char* name) {
    const QString target = QStandardPaths::findExecutable(QStringLiteral("x86_64-linux-gnu-") + QLatin1String(name));
    return target.isEmpty() ? QStandardPaths::findExecutable(QLatin1String(name)) : target;
}

Diagnostic refusal(const char* code, const QString& message, const QString& expected, int line = 0) {
    Diagnostic why;
    why.code = code;
    why.message = message.toStdString();
    why.expected = expected.toStdString();
    why.place.line = line;
    return why;
}

}  // namespace

Assembler::Assembler(QObject* parent) : QObject(parent) {
    patience_.setSingleShot(true);
    patience_.setInterval(patience);
    connect(&patience_, &QTimer::timeout, this, [this] {
        fail(refusal("assembly.time", tr("the assembler did not end within %1 s").arg(patience / 1000),
                     tr("a basic block of a few instructions")));
    });
}

Assembler::~Assembler() {
    cancel();
}

bool Assembler::isInstalled() {
    return !programOf("as").isEmpty() && !programOf("objcopy").isEmpty();
}

QString Assembler::whyNot() {
    return isInstalled() ? QString()
                         : tr("Assembly needs the programs as and objcopy: install the package binutils. Machine code "
                              "needs nothing.");
}

Expected<void> Assembler::check(const QString& text) {
    if (text.size() > longest)
        return Unexpected(refusal("assembly.too-long", tr("the text has %1 characters").arg(text.size()),
                                  tr("at most %1").arg(longest)));
    static const QRegularExpression labels(QStringLiteral(R"(^(?:\s*[\w.$]+\s*:)*\s*)"));
    static const QRegularExpression assignment(QStringLiteral(R"(^[\w.$]+\s*=)"));
    const QStringList lines = text.split(QLatin1Char('\n'));
    for (qsizetype i = 0; i < lines.size(); ++i) {
        for (QString statement : lines[i].split(QLatin1Char(';'))) {
            statement.remove(labels);
            if (statement.startsWith(QLatin1Char('.')) || statement.contains(assignment))
                return Unexpected(refusal("assembly.directive",
                                          tr("`%1` is no instruction").arg(statement.section(QLatin1Char(' '), 0, 0)),
                                          tr("instructions and labels; no directives"), static_cast<int>(i) + 1));
        }
    }
    return {};
}

void Assembler::cancel() {
    patience_.stop();
    ++turn_;
    step_ = Step::Idle;
    if (!process_) return;
    process_->disconnect(this);
    process_->kill();
    process_->waitForFinished(200);
    process_->deleteLater();
    process_ = nullptr;
}

void Assembler::assemble(const QString& text, AssemblySyntax syntax) {
    cancel();
    if (const auto fine = check(text); !fine) return fail(fine.error());
    if (!isInstalled()) return fail(refusal("assembly.no-program", whyNot(), tr("GNU as and objcopy on the path")));
    folder_ = std::make_unique<QTemporaryDir>();
    if (!folder_->isValid())
        return fail(refusal("assembly.folder", folder_->errorString(), tr("a folder for temporary files")));
    step_ = Step::Assembling;
    // In front of the first line, so that the numbers of lines stay.
    const QByteArray head =
        syntax == AssemblySyntax::Intel ? QByteArrayLiteral(".intel_syntax noprefix; ") : QByteArray();
    patience_.start();
    run(programOf("as"), {QStringLiteral("--64"), QStringLiteral("-o"), folder_->filePath(QStringLiteral("block.o"))},
        head + text.toUtf8() + '\n');
}

void Assembler::run(const QString& program, const QStringList& arguments, const QByteArray& input) {
    if (process_) process_->deleteLater();
    process_ = new QProcess(this);
    process_->setWorkingDirectory(folder_->path());
#ifdef __unix__
    process_->setChildProcessModifier([] {
        const auto limit = [](auto what, rlim_t most) {
            const rlimit bounds{most, most};
            setrlimit(what, &bounds);
        };
        limit(RLIMIT_AS, memory);
        limit(RLIMIT_FSIZE, output);
        limit(RLIMIT_CPU, patience / 1000);
        limit(RLIMIT_CORE, 0);
    });
#endif
    connect(process_, &QProcess::finished, this, &Assembler::ended);
    connect(process_, &QProcess::errorOccurred, this, [this, program](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) return;
        fail(refusal("assembly.no-program", tr("%1 does not start: %2").arg(program, process_->errorString()),
                     tr("GNU as and objcopy on the path")));
    });
    process_->start(program, arguments);
    process_->write(input);
    process_->closeWriteChannel();
}

void Assembler::fail(Diagnostic why) {
    cancel();
    // Never before assemble() has returned.
    QTimer::singleShot(0, this, [this, turn = turn_, why = std::move(why)] {
        if (turn == turn_) emit refused(why);
    });
}

void Assembler::ended(int status, QProcess::ExitStatus how) {
    const QString said = QString::fromUtf8(process_->readAllStandardError().left(4096));
    if (how != QProcess::NormalExit || status != 0) {
        // `{standard input}:3: Error: no such instruction: `foo'`
        static const QRegularExpression place(QStringLiteral(R"(^\{standard input\}:(\d+): Error: (.+)$)"),
                                              QRegularExpression::MultilineOption);
        const auto match = place.match(said);
        const QString message = match.hasMatch() ? match.captured(2).replace(QLatin1Char('`'), QLatin1Char('\''))
                                : said.isEmpty() ? tr("the assembler failed")
                                                 : said.trimmed().section(QLatin1Char('\n'), -1);
        return fail(refusal("assembly.wrong", message, tr("x86-64 instructions in the syntax that is chosen"),
                            match.captured(1).toInt()));
    }
    if (step_ == Step::Assembling) {
        step_ = Step::Extracting;
        return run(programOf("objcopy"),
                   {QStringLiteral("-O"), QStringLiteral("binary"), QStringLiteral("--only-section=.text"),
                    folder_->filePath(QStringLiteral("block.o")), folder_->filePath(QStringLiteral("block.bin"))},
                   {});
    }
    QFile file(folder_->filePath(QStringLiteral("block.bin")));
    const QByteArray bytes = file.open(QIODevice::ReadOnly) ? file.read(longest) : QByteArray();
    cancel();
    folder_.reset();
    if (bytes.isEmpty())
        return fail(refusal("assembly.empty", tr("there is no instruction"), tr("instructions, one a line")));
    emit assembled({bytes.begin(), bytes.end()});
}

}  // namespace orrery::app
