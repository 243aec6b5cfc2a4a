// The mouse and the keys of TimelineView.

#include "widgets/plots/hover_card.h"
#include "widgets/plots/timeline_view.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QWheelEvent>

#include <cmath>

namespace orrery::ui {

void TimelineView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || model_.empty()) return;
    setFocus(Qt::MouseFocusReason);
    pressed_ = event->pos();
    pressedMap_ = map_;
    pressedScroll_ = scroll_;
    if (overviewRect().contains(pressed_)) {
        drag_ = Drag::Overview;
        return overviewTo(pressed_.x());
    }
    const bool area = event->modifiers() & Qt::ShiftModifier || areaNext_ || rulerRect().contains(pressed_);
    drag_ = area ? Drag::Area : Drag::Pressed;
    areaNext_ = false;
    unsetCursor();
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    mouse_ = event->pos();
    if (!(event->buttons() & Qt::LeftButton)) return hoverAt(mouse_);
    const QPoint moved = mouse_ - pressed_;
    if (drag_ == Drag::Pressed && moved.manhattanLength() > 4) {
        drag_ = Drag::Pan;
        card_->hide();
        setCursor(Qt::ClosedHandCursor);
    }
    if (drag_ == Drag::Pan) {
        TimeMap map = pressedMap_;
        map.pan(-moved.x() * map.perPixel(), double(model_.begin()), double(model_.end()));
        whole_ = false;
        scroll_ = pressedScroll_;
        scrollRows(-moved.y());
        setMap(map);
    } else if (drag_ == Drag::Area) {
        markArea(pressed_, mouse_);
    } else if (drag_ == Drag::Overview) {
        overviewTo(mouse_.x());
    }
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const Drag drag = std::exchange(drag_, Drag::None);
    unsetCursor();
    if (drag == Drag::Area && (event->pos() - pressed_).manhattanLength() <= 4) setArea({});
    if (drag != Drag::Pressed) return;
    const std::int64_t span = spanAt(event->pos());
    const int op = span >= 0 ? model_.timeline()->spans[std::size_t(span)].op : -1;
    const bool toggles = event->modifiers() & Qt::ControlModifier;
    current_ = span;
    if (toggles && op >= 0)
        selection()->toggle(op);
    else if (!toggles && op >= 0)
        selection()->select({op});
    else if (!toggles)
        selection()->clear();
    update();
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (model_.empty()) return;
    spanAt(event->pos()) >= 0 ? fit() : fitAll();
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    if (model_.empty()) return;
    const double ticks = (event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x()) / 120.0;
    const bool rowsFit = int(model_.rows().size()) * rowHeight_ <= rowsRect().height();
    if (event->modifiers() & Qt::ControlModifier)
        zoomAt(std::pow(1.25, ticks), event->position().x());
    else if (event->modifiers() & Qt::ShiftModifier || event->angleDelta().y() == 0 || rowsFit)
        panBy(-ticks * 0.1);
    else
        scrollRows(int(-ticks * rowHeight_ * 2));
    event->accept();
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Find)) return openSearch();
    const double about = rect().contains(mouse_) && mouse_.x() > gutter_ ? mouse_.x() : gutter_ + map_.width / 2;
    if (!model_.empty() && !(event->modifiers() & Qt::ControlModifier)) {
        switch (event->key()) {
            case Qt::Key_W:
            case Qt::Key_Plus:
                return zoomAt(1.4, about);
            case Qt::Key_S:
            case Qt::Key_Minus:
                return zoomAt(1 / 1.4, about);
            case Qt::Key_A:
            case Qt::Key_Left:
                return panBy(-0.15);
            case Qt::Key_D:
            case Qt::Key_Right:
                return panBy(0.15);
            case Qt::Key_Up:
                return scrollRows(-rowHeight_);
            case Qt::Key_Down:
                return scrollRows(rowHeight_);
            case Qt::Key_F:
                return fit();
            case Qt::Key_Home:
                return fitAll();
            case Qt::Key_Period:
                return step(1);
            case Qt::Key_Comma:
                return step(-1);
            case Qt::Key_R: {
                const auto range = model_.extent(selection()->operators());
                if (range.first < range.second)
                    return setArea(Area{double(range.first), double(range.second), 0, int(model_.rows().size()) - 1});
                areaNext_ = true;
                return setCursor(Qt::CrossCursor);
            }
            default:
                break;
        }
    }
    if (event->key() == Qt::Key_Escape) {
        if (drag_ == Drag::Pan) {
            drag_ = Drag::None;
            unsetCursor();
            scroll_ = pressedScroll_;
            return setMap(pressedMap_);
        }
        if (search_->isVisible()) {
            search_->hide();
            return setFocus();
        }
        if (areaNext_) {
            areaNext_ = false;
            return unsetCursor();
        }
        if (area_) return setArea({});
        if (!selection()->operators().isEmpty() || current_ >= 0) {
            current_ = -1;
            return selection()->clear();
        }
    }
    ResultView::keyPressEvent(event);
}

void TimelineView::leaveEvent(QEvent*) {
    mouse_ = {-1, -1};
    hovered_ = -1;
    card_->hide();
    selection()->hover(-1);
    update();
}

}  // namespace orrery::ui
