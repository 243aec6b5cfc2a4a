#include "app/window/lessons/lesson_panel.h"

#include "app/window/form_parts.h"
#include "app/window/lessons/hand_out.h"
#include "app/window/lessons/lesson_run.h"
#include "app/window/lessons/task_row.h"
#include "app/window/studio.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QFileDialog>
#include <QHBoxLayout>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QScrollBar>
#include <QStackedLayout>
#include <QStyleOptionButton>
#include <QStylePainter>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace orrery::app {

namespace {

/// Scrolls up and down only, so it is never narrower than what stands in it.
class UpDownArea : public QScrollArea {
public:
    using QScrollArea::QScrollArea;
    QSize minimumSizeHint() const override {
        const int bar = verticalScrollBar()->sizeHint().width();
        return {widget() ? widget()->minimumSizeHint().width() + bar : bar, QScrollArea::minimumSizeHint().height()};
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (watched == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
        return QScrollArea::eventFilter(watched, event);
    }
};

/// A button whose words break into lines: a title is read whole in a narrow dock.
class TitleButton : public QPushButton {
public:
    explicit TitleButton(QWidget* parent) : QPushButton(parent) {
        QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Minimum);
        policy.setHeightForWidth(true);
        setSizePolicy(policy);
    }
    int heightForWidth(int width) const override {
        const QRect lines = fontMetrics().boundingRect({0, 0, width - 2 * margin(), 10000}, wrapped, text());
        return std::max(QPushButton::sizeHint().height(), lines.height() + margin());
    }
    QSize sizeHint() const override { return {QPushButton::sizeHint().width(), heightForWidth(width())}; }
    QSize minimumSizeHint() const override { return {0, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QStylePainter painter(this);
        QStyleOptionButton option;
        initStyleOption(&option);
        const QString words = std::exchange(option.text, {});
        painter.drawControl(QStyle::CE_PushButton, option);
        painter.setPen(palette().color(QPalette::ButtonText));
        painter.drawText(rect().adjusted(margin(), 0, -margin(), 0), wrapped, words);
    }
    void resizeEvent(QResizeEvent* event) override {
        QPushButton::resizeEvent(event);
        if (event->oldSize().width() != width()) updateGeometry();
    }

private:
    static constexpr int wrapped = Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignVCenter;
    static int margin() { return ui::Theme::instance().unit(); }
};

QScrollArea* scrolling(QWidget* content, QWidget* parent, const char* id, const QString& name) {
    auto* area = named(new UpDownArea(parent), id, name, name);
    area->setFrameShape(QFrame::NoFrame);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setWidget(content);
    return area;
}

/// Lines break neither between a number and its unit nor within that.
QString unitsTogether(QString text) {
    static const QRegularExpression within(QStringLiteral("(?<=[A-Za-z])/(?=(s|B|byte|token|cycle)\\b)"));
    static const QRegularExpression before(QStringLiteral("(?<=\\d) (?=[kMGTP]?(FLOP|B|bit|s|token)\\b)"));
    text.replace(before, QString(QChar(QChar::Nbsp)));
    return text.replace(within, QStringLiteral("\u2060/\u2060"));
}

ui::Label* paragraph(ui::FontRole role, ui::Tone tone, QWidget* parent) {
    auto* label = new ui::Label({}, role, tone, parent);
    label->setWordWrap(true);
    return label;
}

}  // namespace

LessonPanel::LessonPanel(Studio& studio, LessonRun& run, QWidget* parent)
    : QWidget(parent), studio_(studio), run_(run) {
    setObjectName(QStringLiteral("lessonPanel"));
    setAccessibleName(tr("Lesson"));
    stack_ = new QStackedLayout(this);
    stack_->addWidget(buildList());
    stack_->addWidget(buildStep());
    connect(&run_, &LessonRun::changed, this, &LessonPanel::show);
    show();
}

QWidget* LessonPanel::buildList() {
    const int unit = ui::Theme::instance().unit();
    auto* content = new QWidget(this);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(unit, unit, unit, unit);
    column->setSpacing(unit / 2);
    for (const LessonHead& head : shippedLessons()) {
        auto* open = named(new TitleButton(content), ("lesson.open." + head.id).c_str(), ui::qs(head.title),
                           QStringLiteral("%1. %2").arg(ui::qs(head.title), ui::qs(head.summary)));
        connect(open, &QPushButton::clicked, this, [this, file = ui::qs(head.file)] { run_.open(file); });
        column->addWidget(open);
        lessons_.push_back(open);
        auto* summary = paragraph(ui::FontRole::Small, ui::Tone::Muted, content);
        summary->setText(tr("%1 About %2 minutes.").arg(ui::qs(head.summary)).arg(head.minutes));
        column->addWidget(summary);
        column->addSpacing(unit / 2);
    }
    column->addStretch(1);
    return scrolling(content, this, "lesson.list", tr("Lessons"));
}

QWidget* LessonPanel::buildStep() {
    const int unit = ui::Theme::instance().unit();
    auto* page = new QWidget(this);
    auto* outer = new QVBoxLayout(page);
    outer->setContentsMargins(unit, unit, unit, unit);
    outer->setSpacing(unit / 2);
    title_ = new ui::Label({}, ui::FontRole::Title, ui::Tone::Normal, page);
    title_->setObjectName(QStringLiteral("lesson.title"));
    title_->setBold(true);
    title_->setElided(true);
    place_ = new ui::Label({}, ui::FontRole::Small, ui::Tone::Muted, page);
    place_->setObjectName(QStringLiteral("lesson.place"));
    place_->setElided(true);
    outer->addWidget(title_);
    outer->addWidget(place_);

    auto* content = new QWidget(page);
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, unit / 2, 0, 0);
    column->setSpacing(unit);
    heading_ = paragraph(ui::FontRole::Title, ui::Tone::Normal, content);
    column->addWidget(heading_);
    text_ = paragraph(ui::FontRole::Body, ui::Tone::Normal, content);
    text_->setObjectName(QStringLiteral("lesson.text"));
    text_->setTextFormat(Qt::MarkdownText);
    column->addWidget(text_);
    tasks_ = new QVBoxLayout;
    tasks_->setSpacing(unit);
    column->addLayout(tasks_);
    column->addStretch(1);
    // At the end of the step: its text has the room.
    auto* others = new QHBoxLayout;
    others->setSpacing(unit / 2);
    list_ = named(new QPushButton(tr("All lessons"), content), "lesson.leave", tr("All lessons"),
                  tr("Leaves the lesson; the project stays as it is"));
    paper_ = named(new QPushButton(tr("Hand-out…"), content), "lesson.handOut", tr("Hand-out"),
                   tr("The lesson on paper, as PDF, HTML or Markdown"));
    others->addWidget(list_);
    others->addWidget(paper_);
    column->addLayout(others);
    scroll_ = scrolling(content, page, "lesson.scroll", tr("The step"));
    outer->addWidget(scroll_, 1);
    praise_ = paragraph(ui::FontRole::Body, ui::Tone::Good, page);  // below, not inside: the end is seen at once
    praise_->setObjectName(QStringLiteral("lesson.praise"));
    outer->addWidget(praise_);

    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(unit / 2);
    back_ = named(new QPushButton(tr("Back"), page), "lesson.back", tr("Back"), tr("The step before"));
    next_ = named(new QPushButton(tr("Next"), page), "lesson.next", tr("Next"), tr("The next step"));
    next_->setDefault(true);
    buttons->addWidget(back_);
    buttons->addWidget(next_);
    outer->addLayout(buttons);
    connect(back_, &QPushButton::clicked, this, [this] { run_.goTo(run_.step() - 1); });
    connect(next_, &QPushButton::clicked, this, [this] {
        if (run_.finished() && run_.step() + 1 == static_cast<int>(run_.lesson()->steps.size())) return run_.leave();
        run_.goTo(run_.step() + 1);
    });
    connect(list_, &QPushButton::clicked, this, [this] { run_.leave(); });
    connect(paper_, &QPushButton::clicked, this, &LessonPanel::saveHandOut);
    return page;
}

void LessonPanel::makeRows() {
    for (TaskRow* row : rows_) row->deleteLater();
    rows_.clear();
    for (std::size_t task = 0; task < run_.current().tasks.size(); ++task) {
        rows_.push_back(new TaskRow(run_, static_cast<int>(task), this));
        tasks_->addWidget(rows_.back());
        // A hint, and what is said of an answer, stand below their button: in a low window below what is seen.
        connect(rows_.back(), &TaskRow::told, this, [this](QWidget* words) {
            QTimer::singleShot(0, words, [this, words] {
                scroll_->widget()->layout()->activate();
                scroll_->ensureWidgetVisible(words, 0, ui::Theme::instance().unit());
            });
        });
    }
    scroll_->verticalScrollBar()->setValue(0);
}

void LessonPanel::show() {
    const Lesson* lesson = run_.lesson();
    stack_->setCurrentIndex(lesson ? 1 : 0);
    if (!lesson) {
        shown_ = nullptr;
        return showList();
    }
    const LessonStep& step = run_.current();
    if (shown_ != &step) makeRows();
    shown_ = &step;
    title_->setFullText(ui::qs(lesson->head.title));
    const int steps = static_cast<int>(lesson->steps.size());
    place_->setFullText(tr("Step %1 of %2").arg(run_.step() + 1).arg(steps));
    heading_->setText(ui::qs(step.title));
    text_->setText(unitsTogether(ui::qs(toText(step.text, run_.state()))));
    for (TaskRow* row : rows_) row->refresh();
    back_->setEnabled(run_.step() > 0);
    showEnd();
}

void LessonPanel::showList() {
    const QStringList finished = LessonRun::finishedLessons();
    const auto heads = shippedLessons();
    for (std::size_t i = 0; i < std::min(lessons_.size(), heads.size()); ++i) {
        const LessonHead& head = heads[i];
        const bool done = finished.contains(ui::qs(head.id));
        lessons_[i]->setText(QStringLiteral("%1%2. %3")
                                 .arg(done ? QStringLiteral("☑ ") : QString())
                                 .arg(head.order)
                                 .arg(ui::qs(head.title)));
        lessons_[i]->setAccessibleName(done ? tr("%1, done").arg(ui::qs(head.title)) : ui::qs(head.title));
    }
}

void LessonPanel::showEnd() {
    const int steps = static_cast<int>(run_.lesson()->steps.size());
    const bool last = run_.step() + 1 == steps;
    const bool end = last && run_.finished();
    QStringList open;
    for (int step = 0; step < steps; ++step)
        if (!run_.stepDone(step)) open << QString::number(step + 1);
    praise_->setVisible(run_.stepDone(run_.step()));
    praise_->setText(
        run_.finished() ? tr("The lesson is done.")
        : !last         ? tr("This step is done. Press Next for the next one.")
        : open.size() == 1
            ? tr("This step is done. Step %1 still has an open box.").arg(open.front())
            : tr("This step is done. Steps %1 still have open boxes.").arg(open.join(QStringLiteral(", "))));
    next_->setText(end ? tr("All lessons") : tr("Next"));
    next_->setAccessibleName(next_->text());
    next_->setToolTip(end ? tr("To the list of lessons") : tr("The next step"));
    next_->setEnabled(end || !last);
    list_->setVisible(!end);
}

void LessonPanel::saveHandOut() {
    if (!run_.lesson()) return;
    const QString file = QFileDialog::getSaveFileName(studio_.window, tr("Save the hand-out"),
                                                      ui::qs(run_.lesson()->head.id) + QStringLiteral(".pdf"),
                                                      tr("PDF (*.pdf);;HTML (*.html);;Markdown (*.md)"));
    if (file.isEmpty()) return;
    if (studio_.messages.report(writeHandOut(*run_.lesson(), run_.state().start, file)))
        studio_.messages.log(Severity::Note, tr("Wrote %1").arg(file));
}

}  // namespace orrery::app
