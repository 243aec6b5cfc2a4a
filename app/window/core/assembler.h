#pragma once

// Assembly to machine code by GNU `as` and `objcopy` (binutils), programs of their own: no shell, a folder that goes
// away, bounded time, memory and size. Only instructions and labels are let through; directives could read files.

#include "base/diagnostic.h"

#include <QObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTimer>

#include <cstdint>
#include <memory>
#include <vector>

namespace orrery::app {

enum class AssemblySyntax { Intel, Att };

class Assembler : public QObject {
    Q_OBJECT
public:
    explicit Assembler(QObject* parent = nullptr);
    ~Assembler() override;

    /// Both programs are there; else a sentence that says what to install.
    static bool isInstalled();
    static QString whyNot();
    /// Code `assembly.directive` or `assembly.too-long` with the line, before any program runs.
    static Expected<void> check(const QString& text);

    /// What runs is given up. One of the two signals follows, later.
    void assemble(const QString& text, AssemblySyntax syntax);
    void cancel();

signals:
    void assembled(const std::vector<std::uint8_t>& code);
    /// Codes `assembly.…`, with the line of the text where it is known.
    void refused(const orrery::Diagnostic& why);

private:
    void run(const QString& program, const QStringList& arguments, const QByteArray& input);
    void ended(int status, QProcess::ExitStatus how);
    void fail(Diagnostic why);

    enum class Step { Idle, Assembling, Extracting };
    Step step_ = Step::Idle;
    std::unique_ptr<QTemporaryDir> folder_;
    QProcess* process_ = nullptr;
    QTimer patience_;
    int turn_ = 0;  ///< counts the questions: what is said of an earlier one is held back
};

}  // namespace orrery::app
