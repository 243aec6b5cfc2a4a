#include "app/window/lessons/task_row.h"

#include "app/window/form_parts.h"
#include "app/window/lessons/lesson_run.h"
#include "base/text/words.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace orrery::app {

namespace {

const LessonTask& taskOf(const LessonRun& run, int task) {
    return run.current().tasks[static_cast<std::size_t>(task)];
}

ui::Label* wrapped(const QString& text, ui::FontRole role, ui::Tone tone, QWidget* parent) {
    auto* label = new ui::Label(text, role, tone, parent);
    label->setWordWrap(true);
    label->setTextFormat(Qt::MarkdownText);
    return label;
}

}  // namespace

TaskRow::TaskRow(LessonRun& run, int task, QWidget* parent) : QWidget(parent), run_(run), task_(task) {
    setObjectName(QStringLiteral("lesson.task%1").arg(task + 1));
    const LessonTask& asked = taskOf(run, task);
    const int unit = ui::Theme::instance().unit();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(unit);
    tick_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Muted, this);
    tick_->setObjectName(QStringLiteral("lesson.tick%1").arg(task + 1));
    row->addWidget(tick_, 0, Qt::AlignTop);
    auto* column = new QVBoxLayout;
    column->setSpacing(unit / 2);
    row->addLayout(column, 1);
    text_ = wrapped(ui::qs(asked.text), ui::FontRole::Body, ui::Tone::Normal, this);
    column->addWidget(text_);
    auto* controls = new QHBoxLayout;
    controls->setSpacing(unit / 2);
    const QByteArray number = QByteArray::number(task + 1);
    if (asked.answer) {
        line_ = named(new QLineEdit(this), "lesson.answer" + number, tr("Answer"), tr("Your number; Enter checks it"));
        line_->setPlaceholderText(tr("number"));
        controls->addWidget(line_, 1);
        check_ = named(new QPushButton(tr("Check"), this), "lesson.check" + number, tr("Check the answer"),
                       tr("Compares your number with the computed one"));
        controls->addWidget(check_);
        connect(line_, &QLineEdit::returnPressed, this, &TaskRow::check);
        connect(check_, &QPushButton::clicked, this, &TaskRow::check);
        line_->setMinimumWidth(line_->fontMetrics().horizontalAdvance(QStringLiteral("0000000")));
        column->addLayout(controls);
        controls = new QHBoxLayout;  // below: a narrow panel has no room for all in one line
        controls->setSpacing(unit / 2);
    }
    controls->addStretch(1);
    hint_ = named(new QPushButton(tr("Hint"), this), "lesson.hint" + number, tr("Hint"), tr("Where to look"));
    show_ = named(new QPushButton(tr("Show me"), this), "lesson.show" + number, tr("Show me"),
                  tr("Makes the change; Undo takes it back"));
    controls->addWidget(hint_);
    controls->addWidget(show_);
    column->addLayout(controls);
    word_ = wrapped({}, ui::FontRole::Small, ui::Tone::Muted, this);
    word_->setObjectName(QStringLiteral("lesson.word%1").arg(task + 1));
    word_->hide();
    column->addWidget(word_);
    show_->hide();
    hint_->setVisible(!asked.hint.empty());
    connect(hint_, &QPushButton::clicked, this, &TaskRow::hint);
    connect(show_, &QPushButton::clicked, this, [this] { run_.showMe(task_); });
    refresh();
}

void TaskRow::hint() {
    const LessonTask& asked = taskOf(run_, task_);
    word_->setTone(ui::Tone::Muted);
    word_->setText(ui::windowText(asked.hint));
    word_->show();
    show_->setVisible(!asked.changes.empty());
    hint_->setVisible(asked.changes.empty());
    emit told(word_);
}

void TaskRow::check() {
    QString typed = line_->text().trimmed();
    const auto given = numberIn(typed.replace(QLatin1Char(','), QLatin1Char('.')).toStdString());
    const std::optional<bool> right = given ? run_.answer(task_, *given) : std::nullopt;
    if (right == true) return;  // the tick says so
    word_->setTone(ui::Tone::Warning);
    word_->setText(!given   ? tr("Type a number, such as 12.5.")
                   : !right ? tr("There is no answer to compare with yet. Wait a moment, then try again.")
                            : tr("Not yet. Look again, or ask for the hint."));
    word_->show();
    emit told(word_);
}

void TaskRow::refresh() {
    const bool done = run_.done(run_.step(), task_);
    tick_->setText(done ? QStringLiteral("☑") : QStringLiteral("☐"));
    tick_->setTone(done ? ui::Tone::Good : ui::Tone::Muted);
    tick_->setAccessibleName(done ? tr("Done") : tr("To be done"));
    if (!done) return;
    for (QWidget* each : {static_cast<QWidget*>(line_), static_cast<QWidget*>(check_)})
        if (each) each->setEnabled(false);
    hint_->hide();
    show_->hide();
    word_->hide();
}

}  // namespace orrery::app
