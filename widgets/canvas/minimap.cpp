#include "widgets/canvas/minimap.h"

#include "widgets/canvas/canvas_view.h"
#include "widgets/common/theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QTimer>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {
constexpr double leastBox = 2;  ///< pixels; smaller ones are left out with all inside them
}

Minimap::Minimap(CanvasView* view, QWidget* parent) : QWidget(parent), view_(view) {
    setObjectName("canvasMinimap");
    setAccessibleName(tr("Overview of the drawing"));
    setToolTip(tr("The whole drawing. Click or drag to move the view; arrows move it too, the wheel zooms"));
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::PointingHandCursor);
    // While one edits, the overview follows when there is time; the viewport's rectangle follows at once.
    auto* later = new QTimer(this);
    later->setSingleShot(true);
    later->setInterval(100);
    connect(later, &QTimer::timeout, this, &Minimap::forget);
    connect(view, &CanvasView::designChanged, later, qOverload<>(&QTimer::start));
    connect(view, &CanvasView::viewChanged, this, qOverload<>(&QWidget::update));
    connect(&Theme::instance(), &Theme::changed, this, &Minimap::forget);
}

void Minimap::forget() {
    picture_ = {};
    update();
}

double Minimap::zoom() const {
    const QRectF bounds = view_->scene().bounds();
    if (bounds.isEmpty()) return 1;
    return std::min((width() - 8) / bounds.width(), (height() - 8) / bounds.height());
}

QPointF Minimap::origin() const {
    return QRectF(rect()).center() - view_->scene().bounds().center() * zoom();
}
QPointF Minimap::toScene(const QPointF& at) const {
    return (at - origin()) / zoom();
}

QRectF Minimap::viewport() const {
    const QRectF area = view_->visibleArea();
    return {area.topLeft() * zoom() + origin(), area.size() * zoom()};
}

void Minimap::paintEvent(QPaintEvent*) {
    const Palette& colours = Theme::instance().colours();
    QPainter painter(this);
    if (picture_.isNull()) {
        const double ratio = devicePixelRatioF();
        picture_ = QPixmap(size() * ratio);
        picture_.setDevicePixelRatio(ratio);
        picture_.fill(colours.surface);
        if (!view_->scene().bounds().isEmpty()) {
            // Boxes alone: words would be longer than what they name.
            QPainter into(&picture_);
            into.setPen(QPen(colours.mutedText, 0.5));
            const std::vector<SceneNode>& nodes = view_->scene().nodes();
            for (std::size_t i = 0; i < nodes.size();) {
                const SceneNode& node = nodes[i];
                const QRectF box(node.box.topLeft() * zoom() + origin(), node.box.size() * zoom());
                const bool seen = !node.hidden && std::min(box.width(), box.height()) >= leastBox;
                if (seen) {
                    into.setBrush(node.depth % 2 == 0 ? colours.raised : colours.surface);
                    into.drawRect(box);
                }
                i = seen ? i + 1 : static_cast<std::size_t>(node.next);
            }
        }
    }
    painter.drawPixmap(0, 0, picture_);
    painter.setPen(colours.line);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
    if (view_->scene().bounds().isEmpty()) {
        painter.setPen(colours.mutedText);
        painter.setFont(Theme::instance().font(FontRole::Small));
        painter.drawText(rect(), Qt::AlignCenter, tr("Overview"));
        return;
    }
    const QRectF shown = viewport() & QRectF(rect()).adjusted(1, 1, -1, -1);
    QColor veil = colours.window;
    veil.setAlphaF(0.4F);
    painter.setClipRegion(QRegion(rect()).subtracted(QRegion(shown.toAlignedRect())));
    painter.fillRect(rect().adjusted(1, 1, -1, -1), veil);
    painter.setClipping(false);
    painter.setPen(QPen(hasFocus() ? colours.text : colours.accent, hasFocus() ? 2 : 1.5));
    painter.drawRect(shown);
}

void Minimap::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const QRectF shown = viewport();
    grabbed_ = shown.contains(event->position()) ? event->position() - shown.center() : QPointF();
    view_->centreOn(toScene(event->position() - grabbed_));
}

void Minimap::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) view_->centreOn(toScene(event->position() - grabbed_));
}

void Minimap::wheelEvent(QWheelEvent* event) {
    const double turn = event->angleDelta().y() / 120.0;
    view_->setZoom(view_->zoom() * std::pow(1.2, turn), QRectF(view_->rect()).center());
    event->accept();
}

void Minimap::keyPressEvent(QKeyEvent* event) {
    const QRectF area = view_->visibleArea();
    QPointF by;
    switch (event->key()) {
        case Qt::Key_Left:
            by.setX(-0.2 * area.width());
            break;
        case Qt::Key_Right:
            by.setX(0.2 * area.width());
            break;
        case Qt::Key_Up:
            by.setY(-0.2 * area.height());
            break;
        case Qt::Key_Down:
            by.setY(0.2 * area.height());
            break;
        default:
            return QWidget::keyPressEvent(event);
    }
    view_->centreOn(area.center() + by);
}

void Minimap::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    forget();
}

}  // namespace orrery::ui
