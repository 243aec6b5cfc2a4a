#include "widgets/messages/log_panel.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QTextBlock>
#include <QToolButton>
#include <QVBoxLayout>

namespace orrery::ui {
namespace {
constexpr std::size_t most = 5000;
}

LogPanel::LogPanel(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("log"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(8, 4, 8, 4);
    search_ = new QLineEdit(this);
    search_->setObjectName(QStringLiteral("log.search"));
    search_->setAccessibleName(tr("Filter the log"));
    search_->setPlaceholderText(tr("Filter"));
    search_->setToolTip(tr("Show lines that contain this text"));
    search_->setClearButtonEnabled(true);
    search_->setMaximumWidth(320);
    top->addWidget(search_, 1);
    top->addStretch(0);
    auto* clear = new QToolButton(this);
    clear->setObjectName(QStringLiteral("log.clear"));
    clear->setText(tr("Clear"));
    clear->setAccessibleName(tr("Clear the log"));
    clear->setToolTip(tr("Forget all lines"));
    clear->setAutoRaise(true);
    top->addWidget(clear);
    column->addLayout(top);
    text_ = new QPlainTextEdit(this);
    text_->setObjectName(QStringLiteral("log.text"));
    text_->setAccessibleName(tr("Log"));
    text_->setToolTip(tr("What happened, newest last; select and Ctrl+C to copy"));
    text_->setReadOnly(true);
    text_->setUndoRedoEnabled(false);
    text_->setFrameShape(QFrame::NoFrame);
    text_->setLineWrapMode(QPlainTextEdit::NoWrap);
    text_->setMaximumBlockCount(static_cast<int>(most));
    text_->setPlaceholderText(tr("A log of the program: files read, answers, warnings."));
    column->addWidget(text_, 1);
    const auto restyle = [this] {
        text_->setFont(Theme::instance().font(FontRole::Mono));
        rebuild();
    };
    restyle();
    connect(&Theme::instance(), &Theme::changed, this, restyle);
    connect(search_, &QLineEdit::textChanged, this, &LogPanel::rebuild);
    connect(clear, &QToolButton::clicked, this, [this] {
        entries_.clear();
        rebuild();
    });
}

void LogPanel::append(Severity severity, const QString& message, const QDateTime& when) {
    if (entries_.size() >= 2 * most)
        entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(most));
    entries_.push_back({severity, message, when});
    write(entries_.size() - 1);
}

void LogPanel::write(std::size_t at) {
    const Entry& entry = entries_[at];
    if (!search_->text().isEmpty() && !entry.message.contains(search_->text(), Qt::CaseInsensitive)) return;
    QScrollBar* bar = text_->verticalScrollBar();
    const bool following = bar->value() >= bar->maximum() - 4;
    const Palette& colours = Theme::instance().colours();
    QTextCursor cursor(text_->document());
    cursor.movePosition(QTextCursor::End);
    QTextCharFormat format;
    if (!text_->document()->isEmpty()) cursor.insertBlock();
    format.setForeground(colours.mutedText);
    cursor.insertText(entry.when.toString(QStringLiteral("HH:mm:ss.zzz  ")), format);
    format.setForeground(entry.severity == Severity::Error     ? colours.bad
                         : entry.severity == Severity::Warning ? colours.warning
                                                               : colours.text);
    QString message = entry.message;
    cursor.insertText(message.replace(QLatin1Char('\n'), QStringLiteral("  ")), format);
    if (following) bar->setValue(bar->maximum());
}

void LogPanel::rebuild() {
    text_->clear();
    const std::size_t first = entries_.size() > most ? entries_.size() - most : 0;
    for (std::size_t at = first; at < entries_.size(); ++at) write(at);
}

}  // namespace orrery::ui
