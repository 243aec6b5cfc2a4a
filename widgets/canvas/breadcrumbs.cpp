#include "widgets/canvas/breadcrumbs.h"

#include "widgets/canvas/canvas_view.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QToolButton>

namespace orrery::ui {

Breadcrumbs::Breadcrumbs(CanvasView* view, QWidget* parent)
    : QWidget(parent), view_(view), row_(new QHBoxLayout(this)) {
    setObjectName("canvasBreadcrumbs");
    setAccessibleName(tr("Where the canvas is"));
    row_->setContentsMargins(0, 0, 0, 0);
    row_->setSpacing(0);
    connect(view, &CanvasView::enteredChanged, this, &Breadcrumbs::build);
    connect(view, &CanvasView::designChanged, this, &Breadcrumbs::build);
    build();
}

void Breadcrumbs::build() {
    QStringList names;
    const HardwarePtr& hardware = view_->scene().hardware();
    const ComponentPath& entered = view_->entered();
    for (std::size_t depth = 0; hardware && depth <= entered.size(); ++depth) {
        const ComponentPath path(entered.begin(), entered.begin() + static_cast<std::ptrdiff_t>(depth));
        const Component* component = componentAt(hardware->root, path);
        if (!component) break;
        names << (depth == 0 && component->name.empty() ? qs(hardware->name) : qs(nameOf(*component)));
    }
    if (names == shown_) return;
    shown_ = names;
    while (QLayoutItem* item = row_->takeAt(0)) {
        if (item->widget()) item->widget()->deleteLater();
        delete item;
    }
    for (int depth = 0; depth < names.size(); ++depth) {
        if (depth > 0) {
            auto* arrow = new QLabel(QStringLiteral("›"), this);
            arrow->setEnabled(false);
            row_->addWidget(arrow);
        }
        auto* step = new QToolButton(this);
        const bool last = depth == names.size() - 1;
        step->setObjectName(QStringLiteral("canvasCrumb%1").arg(depth));
        step->setAutoRaise(true);
        step->setText(step->fontMetrics().elidedText(names[depth], Qt::ElideRight, 180));
        step->setAccessibleName(last ? tr("%1, shown now").arg(names[depth]) : tr("Out to %1").arg(names[depth]));
        step->setToolTip(last ? tr("%1: click to fit it into the view (F)").arg(names[depth])
                              : tr("Leave to %1 (Backspace: one level)").arg(names[depth]));
        if (last) {
            QFont bold = step->font();
            bold.setBold(true);
            step->setFont(bold);
        }
        connect(step, &QToolButton::clicked, view_, [this, depth] {
            ComponentPath path = view_->entered();
            path.resize(std::min<std::size_t>(path.size(), static_cast<std::size_t>(depth)));
            view_->enter(path);
            view_->setFocus(Qt::OtherFocusReason);
        });
        row_->addWidget(step);
    }
    row_->addStretch(1);
}

void Breadcrumbs::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Left)
        focusNextPrevChild(false);
    else if (event->key() == Qt::Key_Right)
        focusNextPrevChild(true);
    else
        QWidget::keyPressEvent(event);
}

}  // namespace orrery::ui
