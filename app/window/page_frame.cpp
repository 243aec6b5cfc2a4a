#include "app/window/page_frame.h"

#include "app/window/page.h"
#include "widgets/common/theme.h"

#include <QEvent>
#include <QScrollBar>

namespace orrery::app {

PageFrame::PageFrame(const Make& make, QWidget* parent) : QScrollArea(parent), page_(make(viewport())) {
    const PageCard card = page_->card();
    setObjectName(card.id + QStringLiteral(".frame"));
    setAccessibleName(card.title);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setWidget(page_);
}

QSize PageFrame::sizeHint() const {
    return page_->sizeHint();
}

QSize PageFrame::minimumSizeHint() const {
    const int unit = ui::Theme::instance().unit();
    return {20 * unit, 15 * unit};
}

bool PageFrame::event(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest) fit();
    return QScrollArea::event(event);
}

void PageFrame::resizeEvent(QResizeEvent* event) {
    fit();
    QScrollArea::resizeEvent(event);
}

// Not by setWidgetResizable(): pages whose text wraps would get the height that they like, and not the least.
void PageFrame::fit() {
    const QSize least = page_->minimumSizeHint().expandedTo(page_->minimumSize());
    QSize room = maximumViewportSize();
    const bool tall = least.height() > room.height();
    if (tall) room.rwidth() -= verticalScrollBar()->sizeHint().width();
    if (least.width() > room.width()) {
        room.rheight() -= horizontalScrollBar()->sizeHint().height();
        if (!tall && least.height() > room.height()) room.rwidth() -= verticalScrollBar()->sizeHint().width();
    }
    page_->resize(room.expandedTo(least));
}

}  // namespace orrery::app
