#include "app/window/core/answer_side.h"

#include "app/window/form_parts.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/veil.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QVBoxLayout>

namespace orrery::app {

namespace {

QString sideWords(const char* text) {
    return QCoreApplication::translate("AnswerSide", text);
}

}  // namespace

AnswerSide::AnswerSide(QWidget* parent, QString id, const QString& headlineBefore)
    : widget(new QWidget(parent)), column(new QVBoxLayout(widget)), head(new QHBoxLayout), id_(std::move(id)) {
    const int unit = ui::Theme::instance().unit();
    column->setContentsMargins(0, unit, unit, 0);
    column->setSpacing(unit / 2);
    headline = new ui::Label(headlineBefore, ui::FontRole::Title, ui::Tone::Normal, widget);
    headline->setObjectName(id_ + QStringLiteral(".headline"));
    headline->setElided(true);
    sub = new ui::Label({}, ui::FontRole::Body, ui::Tone::Muted, widget);
    sub->setObjectName(id_ + QStringLiteral(".sub"));
    sub->setElided(true);
    head->addWidget(headline, 1);
    column->addLayout(head);
    column->addWidget(sub);
}

void AnswerSide::addRun(const QString& name, const QString& tip, int whole) {
    progress = named(new QProgressBar(widget), qPrintable(id_ + QStringLiteral(".progress")), name, tip);
    progress->setRange(0, whole);
    progress->setTextVisible(false);
    progress->setFixedWidth(12 * ui::Theme::instance().unit());
    cancel = named(new QPushButton(sideWords("Stop"), widget), qPrintable(id_ + QStringLiteral(".cancel")),
                   sideWords("Stop the run"), sideWords("Stops the run. The previous run stays on screen"));
    head->addWidget(progress);
    head->addWidget(cancel);
}

QSplitter* AnswerSide::addPanes(const QString& name) {
    auto* panes = named(new QSplitter(Qt::Vertical, widget), qPrintable(id_ + QStringLiteral(".split")), name,
                        sideWords("Drag the border to give one side more room"));
    panes->setChildrenCollapsible(false);
    return panes;
}

void AnswerSide::finish(QSplitter* panes) {
    panes->setStretchFactor(0, 1);
    panes->setStretchFactor(1, 0);
    // A splitter would take the veil for one of its panes.
    auto* held = new QWidget(widget);
    held->setObjectName(id_ + QStringLiteral(".answer"));
    auto* inside = new QVBoxLayout(held);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->addWidget(panes);
    column->addWidget(held, 1);
    veil = new ui::Veil(held);
}

QString refusalText(const Diagnostic& why) {
    QString said = ui::windowText(why.message);
    if (!why.expected.empty()) said += sideWords(". Expected: %1").arg(ui::windowText(why.expected));
    if (!why.hint.empty()) said += sideWords(". %1").arg(ui::windowText(why.hint));
    return said;
}

}  // namespace orrery::app
