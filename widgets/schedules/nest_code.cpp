#include "widgets/schedules/nest_code.h"

#include "widgets/common/theme.h"
#include "widgets/schedules/nest_marks.h"

#include <QTextBlock>
#include <QTextCursor>

namespace orrery::ui {

NestCode::NestCode(QWidget* parent) : QPlainTextEdit(parent) {
    setObjectName(QStringLiteral("schedules.code"));
    setAccessibleName(tr("Code of the loop nest"));
    setToolTip(tr("The program of the schedule: loops with their extents, and what each is bound to"));
    setReadOnly(true);
    setUndoRedoEnabled(false);
    setLineWrapMode(NoWrap);
    setFrameShape(NoFrame);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setFont(Theme::instance().font(FontRole::Mono));
    connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] {
        if (quiet_ || nest_.lines.empty()) return;
        const int line = textCursor().blockNumber() - before_;
        if (line == current_ || line < 0 || line >= static_cast<int>(nest_.lines.size())) return;
        current_ = line;
        highlight();
        emit lineChosen(line);
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        setFont(Theme::instance().font(FontRole::Mono));
        recolour();
    });
}

void NestCode::setNest(const ScheduleNest& nest) {
    nest_ = nest;
    before_ = nest.unroll > 0 ? 1 : 0;
    current_ = -1;
    quiet_ = true;
    setPlainText(QString::fromStdString(codeOf(nest)).trimmed());
    quiet_ = false;
    recolour();
}

void NestCode::setSentence(const QString& text) {
    nest_ = {};
    current_ = -1;
    setPlainText({});
    setPlaceholderText(text);
    highlight();
}

// What follows the `#` in the colour of its mark, statements in the muted one.
void NestCode::recolour() {
    quiet_ = true;
    for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
        const int line = block.blockNumber() - before_;
        const bool inside = line >= 0 && line < static_cast<int>(nest_.lines.size());
        const NestLine* told = inside ? &nest_.lines[static_cast<std::size_t>(line)] : nullptr;
        const auto paint = [&](qsizetype from, const QColor& colour) {
            QTextCursor cursor(block);
            cursor.setPosition(block.position() + static_cast<int>(from));
            cursor.movePosition(QTextCursor::EndOfBlock, QTextCursor::KeepAnchor);
            QTextCharFormat format;
            format.setForeground(colour);
            cursor.setCharFormat(format);
        };
        const Palette& colours = Theme::instance().colours();
        paint(0, told && told->loop ? colours.text : colours.mutedText);
        const qsizetype hash = block.text().indexOf(QLatin1Char('#'));
        if (told && told->loop && hash >= 0) paint(hash, markColour(told->mark));
    }
    quiet_ = false;
    highlight();
}

void NestCode::setCurrentLine(int line) {
    if (line == current_) return;
    current_ = line;
    const QTextBlock block = document()->findBlockByNumber(line + before_);
    if (line >= 0 && block.isValid()) {
        quiet_ = true;
        setTextCursor(QTextCursor(block));
        quiet_ = false;
    }
    highlight();
}

void NestCode::highlight() {
    QList<QTextEdit::ExtraSelection> marks;
    const QTextBlock block = document()->findBlockByNumber(current_ + before_);
    if (current_ >= 0 && block.isValid()) {
        QTextEdit::ExtraSelection mark;
        mark.cursor = QTextCursor(block);
        mark.format.setBackground(Theme::instance().colours().selection);
        mark.format.setProperty(QTextFormat::FullWidthSelection, true);
        marks << mark;
    }
    setExtraSelections(marks);
}

}  // namespace orrery::ui
