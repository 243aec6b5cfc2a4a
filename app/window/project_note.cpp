#include "app/window/project_note.h"

#include "app/document/document.h"
#include "widgets/common/icon_button.h"
#include "widgets/common/label.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QPainter>

namespace orrery::app {

ProjectNote::ProjectNote(const Document& document, QWidget* parent) : QWidget(parent), document_(document) {
    setObjectName(QStringLiteral("projectNote"));
    setAccessibleName(tr("The project's note"));
    const int unit = ui::Theme::instance().unit();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(unit * 3 / 2, unit / 2, unit / 2, unit / 2);
    row->setSpacing(unit);
    words_ = new ui::Label({}, ui::FontRole::Body, ui::Tone::Normal, this);
    words_->setObjectName(QStringLiteral("projectNote.words"));
    words_->setWordWrap(true);
    words_->setTextFormat(Qt::PlainText);
    row->addWidget(words_, 1);
    auto* close =
        new ui::IconButton(QStringLiteral("×"), tr("Hide the note"), QStringLiteral("projectNote.close"), this);
    row->addWidget(close, 0, Qt::AlignTop);
    connect(close, &QAbstractButton::clicked, this, [this] { setWanted(false); });
    connect(&document, &Document::replaced, this, [this] {
        setWanted(true);
        refresh();
    });
    connect(&document, &Document::projectChanged, this, &ProjectNote::refresh);
    refresh();
}

void ProjectNote::setWanted(bool wanted) {
    if (wanted == wanted_) return;
    wanted_ = wanted;
    refresh();
    emit wantedChanged(wanted);
}

void ProjectNote::refresh() {
    const std::string& said = document_.state()->description;
    words_->setFullText(ui::windowText(said));
    setVisible(wanted_ && !said.empty());
}

void ProjectNote::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const ui::Palette& colours = ui::Theme::instance().colours();
    painter.fillRect(rect(), colours.raised);
    painter.fillRect(0, 0, 3, height(), colours.accent);
    painter.setPen(colours.faintLine);
    painter.drawLine(0, height() - 1, width(), height() - 1);
}

}  // namespace orrery::app
