// The mouse and the keys of RooflinePlot.

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/hover_card.h"
#include "widgets/plots/operator_facts.h"
#include "widgets/plots/roofline_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <qcustomplot.h>

#include <cmath>

namespace orrery::ui {
namespace {

constexpr double clickSlop = 4;  // pixels that a click may tremble

}  // namespace

void RooflinePlot::stepSelection(int by) {
    const auto& points = scene_.now.points;
    if (points.empty()) return;
    const int count = int(points.size());
    int at = by > 0 ? 0 : count - 1;
    for (int i = 0; i < count; ++i) {
        if (scene_.isSelected(points[std::size_t(i)])) {
            at = (i + by + count) % count;
            break;
        }
    }
    const auto& members = points[std::size_t(at)].members;
    selection()->select(QSet<int>(members.begin(), members.end()));
}

void RooflinePlot::mousePressed(const QPointF& pixel, Qt::KeyboardModifiers modifiers) {
    setFocus(Qt::MouseFocusReason);
    pressed_ = mouse_ = pixel;
    pressedRanges_ = ranges_;
    drag_ = modifiers & Qt::ShiftModifier ? Drag::Select : Drag::Pressed;
}

void RooflinePlot::mouseMoved(const QPointF& pixel, Qt::MouseButtons buttons) {
    mouse_ = pixel;
    mouseInside_ = true;
    if (!(buttons & Qt::LeftButton)) return hoverAt(pixel);
    if (drag_ == Drag::Pressed && QLineF(pressed_, pixel).length() > clickSlop) drag_ = Drag::Pan;
    if (drag_ == Drag::Pan) {
        const LogAxes now = axes();
        glide_.stop();
        scene_.now = target_;
        fitted_ = false;
        card_->hide();
        setRanges({shifted(pressedRanges_.x, (pressed_.x() - pixel.x()) / now.area.width()),
                   shifted(pressedRanges_.y, (pixel.y() - pressed_.y()) / now.area.height())});
        replot();
    } else if (drag_ == Drag::Select) {
        replotOverlay();
    }
}

void RooflinePlot::mouseReleased(const QPointF& pixel, Qt::KeyboardModifiers modifiers) {
    const Drag drag = std::exchange(drag_, Drag::None);
    if (drag == Drag::Select) {
        QSet<int> chosen = modifiers & Qt::ControlModifier ? selection()->operators() : QSet<int>{};
        for (const int i : pointsInside(scene_.now, axes(), QRectF(pressed_, pixel).normalized()))
            for (const int op : scene_.now.points[std::size_t(i)].members) chosen.insert(op);
        selection()->select(chosen);
        replotOverlay();
    } else if (drag == Drag::Pressed) {
        const int at = pickPoint(scene_.now, axes(), largestRadius(axes().area), pixel);
        if (at < 0) {
            if (!(modifiers & Qt::ControlModifier)) selection()->clear();
        } else {
            const auto& members = scene_.now.points[std::size_t(at)].members;
            const QSet<int> ops(members.begin(), members.end());
            if (!(modifiers & Qt::ControlModifier)) return selection()->select(ops);
            QSet<int> chosen = selection()->operators();
            chosen.contains(ops) ? chosen.subtract(ops) : chosen.unite(ops);
            selection()->select(chosen);
        }
    }
}

void RooflinePlot::hoverAt(const QPointF& pixel) {
    const LogAxes now = axes();
    const int at = now.area.contains(pixel) ? pickPoint(scene_.now, now, largestRadius(now.area), pixel) : -1;
    const Estimate* estimate = snapshot() ? snapshot()->primaryEstimate() : nullptr;
    if (at >= 0 && estimate) {
        const RooflinePoint& point = scene_.now.points[std::size_t(at)];
        HoverCard::Lines lines = operatorCard(*snapshot(), *estimate, point.op);
        if (point.members.size() > 1)
            lines.emplace_back(
                tr("Same place"),
                tr("%1 operators, %2 of the time").arg(point.members.size()).arg(percentText(point.share)));
        const double roof = scene_.now.roofAt(point.intensity);
        if (roof > 0) lines.emplace_back(tr("Of its roof"), percentText(point.attained / roof));
        if (point.low > 0)
            lines.emplace_back(tr("90 % interval"), QStringLiteral("%1 – %2").arg(text(FlopsPerSecond(point.low)),
                                                                                  text(FlopsPerSecond(point.high))));
        if (point.reference > 0)
            lines.emplace_back(point.referenceMeasured ? tr("Measured") : tr("Simulated"),
                               text(FlopsPerSecond(point.reference)));
        card_->showAt(plot_->mapTo(this, pixel.toPoint()), Theme::instance().operatorColour(point.kind),
                      operatorName(*snapshot(), point.op), lines);
        selection()->hover(point.op);
    } else {
        card_->hide();
        selection()->hover(-1);
    }
    replotOverlay();
}

void RooflinePlot::leave() {
    mouseInside_ = false;
    card_->hide();
    selection()->hover(-1);
    replotOverlay();
}

bool RooflinePlot::eventFilter(QObject* watched, QEvent* event) {
    if (watched != plot_) return ResultView::eventFilter(watched, event);
    switch (event->type()) {
        case QEvent::MouseButtonPress: {
            auto* mouse = static_cast<QMouseEvent*>(event);
            if (mouse->button() != Qt::LeftButton) return false;
            mousePressed(mouse->position(), mouse->modifiers());
            return true;
        }
        case QEvent::MouseMove: {
            auto* mouse = static_cast<QMouseEvent*>(event);
            mouseMoved(mouse->position(), mouse->buttons());
            return true;
        }
        case QEvent::MouseButtonRelease: {
            auto* mouse = static_cast<QMouseEvent*>(event);
            if (mouse->button() != Qt::LeftButton) return false;
            mouseReleased(mouse->position(), mouse->modifiers());
            return true;
        }
        case QEvent::MouseButtonDblClick:
            fit();
            return true;
        case QEvent::Wheel: {
            auto* wheel = static_cast<QWheelEvent*>(event);
            zoomAt(wheel->position(), std::pow(1.0015, wheel->angleDelta().y()));
            return true;
        }
        case QEvent::Leave:
            leave();
            return false;
        default:
            return false;
    }
}

void RooflinePlot::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_F:
        case Qt::Key_Home:
            return fit();
        case Qt::Key_P:
            return scene_.baselines.empty() || event->modifiers() & Qt::ShiftModifier ? pinBaseline()
                                                                                      : clearBaselines();
        case Qt::Key_Period:
            return stepSelection(1);
        case Qt::Key_Comma:
            return stepSelection(-1);
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoomAt(axes().area.center(), 1.4);
        case Qt::Key_Minus:
            return zoomAt(axes().area.center(), 1 / 1.4);
        case Qt::Key_Escape:
            if (drag_ != Drag::None) {
                if (drag_ == Drag::Pan) setRanges(pressedRanges_);
                drag_ = Drag::None;
                return replot();
            }
            if (!selection()->operators().isEmpty()) return selection()->clear();
            break;
        default:
            break;
    }
    ResultView::keyPressEvent(event);
}

}  // namespace orrery::ui
