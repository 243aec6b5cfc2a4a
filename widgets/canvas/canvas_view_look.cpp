// Where the view looks: pan, zoom, fit, entering a component.

#include "widgets/canvas/canvas_view_state.h"

#include <QResizeEvent>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {
constexpr double leastZoom = 0.002, mostZoom = 16;
constexpr double closestFit = 2;  ///< zoom at which all of a small drawing is shown
constexpr double fitMargin = 24;  ///< pixels around what is fitted
}  // namespace

QTransform CanvasView::transform() const {
    return {state_->zoom, 0, 0, state_->zoom, state_->origin.x(), state_->origin.y()};
}
QPointF CanvasView::toScene(const QPointF& view) const {
    return (view - state_->origin) / state_->zoom;
}
QPointF CanvasView::toView(const QPointF& scene) const {
    return scene * state_->zoom + state_->origin;
}
QRectF CanvasView::visibleArea() const {
    return {toScene({0, 0}), QSizeF(size()) / state_->zoom};
}
double CanvasView::zoom() const {
    return state_->zoom;
}

void CanvasView::State::setView(double newZoom, const QPointF& newOrigin) {
    // Whole pixels: a pan then shifts the painted background, and lines stay crisp.
    const QPointF whole(std::round(newOrigin.x()), std::round(newOrigin.y()));
    if (newZoom == zoom && whole == origin) return;
    fitted = false;
    const QPoint by = (whole - origin).toPoint();
    const bool pans = newZoom == zoom && !background.isNull() && background.devicePixelRatioF() == 1.0 &&
                      std::abs(by.x()) < view.width() && std::abs(by.y()) < view.height();
    zoom = newZoom;
    origin = whole;
    if (pans) {
        QRegion exposed;
        background.scroll(by.x(), by.y(), background.rect(), &exposed);
        stale.translate(by);
        stale += exposed;
    } else {
        stale = view.rect();
    }
    view.update();
    overlay = overlayExtent();
    emit view.viewChanged();
}

void CanvasView::setZoom(double zoom, const QPointF& fixedInView) {
    zoom = std::clamp(zoom, leastZoom, mostZoom);
    const QPointF fixed = toScene(fixedInView);
    state_->setView(zoom, fixedInView - fixed * zoom);
}

namespace {
void fit(CanvasView& view, CanvasView::State& state, const QRectF& area, double most) {
    if (area.isEmpty() || view.width() < 8 || view.height() < 8) return;
    const double room = std::min(fitMargin, 0.1 * std::min(view.width(), view.height()));
    const double zoom =
        std::clamp(std::min((view.width() - 2 * room) / area.width(), (view.height() - 2 * room) / area.height()),
                   leastZoom, most);
    state.setView(zoom, QRectF(view.rect()).center() - area.center() * zoom);
}
}  // namespace

void CanvasView::fitAll() {
    const Scene& scene = state_->scene;
    if (!scene.nodes().empty()) fit(*this, *state_, scene.nodes()[state_->context.root()].box, closestFit);
    state_->fitted = true;
}

bool CanvasView::State::fitsNoMore() const {
    if (!fitted || scene.nodes().empty()) return false;
    const QRectF shown = view.visibleArea(), all = scene.nodes()[context.root()].box;
    // Less than half as wide and as high as the view, as when much was undone.
    return !shown.contains(all) ||
           (zoom < closestFit && std::max(all.width() / shown.width(), all.height() / shown.height()) < 0.5);
}

void CanvasView::fitSelection() {
    QRectF area;
    for (const int node : state_->selectedNodes) {
        const int link = state_->scene.linkOf(node);
        area |= link >= 0 ? state_->scene.links()[link].line.boundingRect().adjusted(-8, -8, 8, 8)
                          : state_->scene.nodes()[node].box;
    }
    if (area.isEmpty()) return fitAll();
    fit(*this, *state_, area, 4);
}

void CanvasView::centreOn(const QPointF& scene) {
    state_->setView(state_->zoom, QRectF(rect()).center() - scene * state_->zoom);
}

void CanvasView::ensureVisible(const ComponentPath& path) {
    const Scene& scene = state_->scene;
    int node = scene.find(path);
    if (node < 0) return;
    if (!insideAny(scene, node, {state_->context.root()})) enter({});
    while (scene.nodes()[node].hidden) node = scene.nodes()[node].parent;
    const int link = scene.linkOf(node);
    const QRectF area =
        link >= 0 ? scene.links()[link].line.boundingRect().adjusted(-8, -8, 8, 8) : scene.nodes()[node].box;
    // Too small to be shown at this zoom, or larger than the view: fit what holds it.
    if (link < 0 && shownAs(scene, node, state_->zoom) != node) return fit(*this, *state_, area, 1);
    if (visibleArea().contains(area) || visibleArea().contains(area.center())) return;
    centreOn(area.center());
}

void CanvasView::enter(const ComponentPath& path) {
    const int node = state_->scene.find(path);
    if (node < 0 || state_->scene.linkOf(node) >= 0) return;
    if (path != state_->entered) {
        if (state_->context.busy()) cancel();
        state_->entered = path;
        state_->paintAgain();
        emit enteredChanged(path);
    }
    fitAll();
}

void CanvasView::leave() {
    if (state_->entered.empty()) return fitAll();
    const ComponentPath inside = state_->entered;
    ComponentPath out = inside;
    out.pop_back();
    enter(out);
    selection_->select({inside});
}

const ComponentPath& CanvasView::entered() const {
    return state_->entered;
}

void CanvasView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    state_->stale = rect();
    if (state_->fitted) {
        fitAll();
    } else if (!event->oldSize().isEmpty()) {
        // The middle stays in the middle when docks open and close.
        const QSizeF grown = event->size() - event->oldSize();
        state_->setView(state_->zoom, state_->origin + QPointF(grown.width(), grown.height()) / 2);
    }
    emit viewChanged();
}

}  // namespace orrery::ui
