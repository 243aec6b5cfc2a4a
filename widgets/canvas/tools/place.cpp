#include "widgets/canvas/tools/place.h"

#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/free_place.h"
#include "widgets/canvas/tools/guides.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

namespace orrery::ui {

PlaceTool::PlaceTool(ToolContext& context, std::vector<Component> parts)
    : CanvasTool(context), parts_(std::move(parts)), boxes_(sideBySide(parts_)) {
    QRectF all;
    for (const QRectF& box : boxes_) all |= box;
    size_ = all.size();
    for (const Component& part : parts_) kinds_.push_back(part.kind);
}

void PlaceTool::press(const ToolEvent& event) {
    move(event);
    pressed_ = true;
}

void PlaceTool::move(const ToolEvent& event) {
    const Scene& scene = context_.scene();
    if (scene.nodes().empty()) return;
    aimed_ = true;
    under_ = context_.pick(event.scene);
    if (under_ < 0 || scene.linkOf(under_) >= 0) under_ = under_ < 0 ? context_.root() : scene.nodes()[under_].parent;
    target_ = holderFrom(scene, under_, context_.root(), kinds_);
    ghost_ = QRectF(QPointF(), size_);
    ghost_.moveCenter(event.scene);
    guides_.clear();
    if (!context_.view.snaps() || (event.modifiers & Qt::ShiftModifier) || target_ < 0) return;
    Snapped snapped = snapBox(ghost_, snapTargets(context_, target_, {}));
    ghost_.translate(snapped.by);
    guides_ = std::move(snapped.guides);
    const QPointF free = freePlace(ghost_, standing(scene, target_));
    if (free == ghost_.topLeft()) return;
    ghost_.moveTo(free);
    guides_.clear();
}

void PlaceTool::release(const ToolEvent& event) {
    if (!std::exchange(pressed_, false)) return;
    move(event);
    const QPointF corner = ghost_.topLeft();
    placeInto(target_, &corner, event.modifiers & Qt::ShiftModifier);
}

void PlaceTool::placeInto(int holder, const QPointF* topLeft, bool again) {
    if (!context_.editor) return;
    const Scene& scene = context_.scene();
    if (holder < 0) return refuse();
    std::vector<Placement> places;
    std::vector<PlacedAt> frozen;
    if (topLeft) {
        for (const QRectF& box : boxes_) places.push_back(scene.placementAt(holder, *topLeft + box.topLeft()));
        frozen = context_.roomFor(holder, parts_, places);
    }
    ToolContext& context = context_;  // this tool may be gone when the view changes tools
    const std::vector<Component> parts = parts_;
    const bool made = context.report(context.editor->add(scene.path(holder), parts, places, frozen));
    // By keyboard nobody has pointed at the place, which may lie outside of the view.
    if (made && !topLeft) context.view.ensureVisible(context.selection.current());
    if (made && !again) context.view.setTool(CanvasView::Tool::Select);
}

void PlaceTool::refuse() const {
    if (context_.scene().nodes().empty() || under_ < 0) return;
    context_.refuse({Severity::Error,
                     "canvas.nesting",
                     whyNot(*context_.scene().nodes()[under_].component, kinds_).toStdString(),
                     "a component that can contain it",
                     "click one of the highlighted components",
                     {}});
}

bool PlaceTool::key(QKeyEvent* event) {
    if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter) return false;
    const Scene& scene = context_.scene();
    if (scene.nodes().empty()) return true;
    under_ = context_.selection.paths().empty() ? context_.root() : scene.find(context_.selection.current());
    if (under_ < 0) under_ = context_.root();
    placeInto(holderFrom(scene, under_, context_.root(), kinds_), nullptr, event->modifiers() & Qt::ShiftModifier);
    return true;
}

bool PlaceTool::cancel() {
    pressed_ = aimed_ = false;
    return false;  // Esc leaves the tool at once: the ghost is all there is to stop
}

QString PlaceTool::what() const {
    return parts_.size() == 1 ? qs(nameOf(parts_.front())) : CanvasView::tr("%1 parts").arg(parts_.size());
}

QString PlaceTool::note() const {
    const Scene& scene = context_.scene();
    if (target_ < 0) return whyNot(*scene.nodes()[under_].component, kinds_);
    return CanvasView::tr("%1 into %2").arg(what(), qs(nameOf(*scene.nodes()[target_].component)));
}

void PlaceTool::paint(QPainter& painter) const {
    if (!aimed_) return;
    const Palette& colours = Theme::instance().colours();
    if (target_ >= 0) {
        QColor fill = colours.accent;
        fill.setAlphaF(0.10F);
        painter.setBrush(fill);
        painter.setPen(QPen(colours.accent, 2));
        painter.drawRoundedRect(viewRect(context_, context_.scene().nodes()[target_].box), 4, 4);
    }
    painter.setFont(Theme::instance().font(FontRole::Small));
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const QRectF box = viewRect(context_, boxes_[i].translated(ghost_.topLeft()));
        painter.setOpacity(0.85);
        painter.setBrush(colours.raised);
        painter.setPen(QPen(target_ < 0 ? colours.bad : colours.accent, 1.5, Qt::DashLine));
        painter.drawRoundedRect(box, 4, 4);
        painter.setOpacity(1);
        painter.setPen(colours.text);
        if (box.height() > 14) painter.drawText(box.adjusted(4, 0, -4, 0), Qt::AlignCenter, qs(nameOf(parts_[i])));
    }
    paintGuides(painter, context_, guides_);
    paintNote(&painter, context_.cursor, note(), context_.view.rect(), target_ < 0);
}

QRectF PlaceTool::extent() const {
    if (!aimed_ || context_.scene().nodes().empty()) return {};
    QRectF area = viewRect(context_, ghost_).adjusted(-3, -3, 3, 3) | guidesExtent(context_, guides_) |
                  paintNote(nullptr, context_.cursor, note(), context_.view.rect());
    if (target_ >= 0) area |= viewRect(context_, context_.scene().nodes()[target_].box).adjusted(-3, -3, 3, 3);
    return area & QRectF(context_.view.rect());
}

QString PlaceTool::hint() const {
    return CanvasView::tr("Click where %1 goes, or Enter to put it into the selected component; Shift keeps placing")
        .arg(what());
}

}  // namespace orrery::ui
