#include "app/window/page_frame.h"

#include "app/window/page.h"
#include "widgets/common/theme.h"

#include <QScrollBar>

namespace orrery::app {

PageFrame::PageFrame(Page* page, QWidget* parent) : QScrollArea(parent), page_(page) {
    const PageCard card = page->card();
    setObjectName(card.id + QStringLiteral(".frame"));
    setAccessibleName(card.title);
    setToolTip(QString());
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setWidgetResizable(true);
    setWidget(page);
}

QSize PageFrame::sizeHint() const {
    return page_->sizeHint();
}

QSize PageFrame::minimumSizeHint() const {
    const int unit = ui::Theme::instance().unit();
    return {20 * unit, 15 * unit};
}

}  // namespace orrery::app
