#include "widgets/canvas/tools/move.h"

#include "hardware/edit/tree_edit.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/free_place.h"
#include "widgets/canvas/tools/guides.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace orrery::ui {

namespace {
constexpr std::size_t mostLines = 100;  ///< links drawn along while dragging
}

MoveTool::MoveTool(ToolContext& context, std::vector<int> nodes, const ToolEvent& start)
    : CanvasTool(context), nodes_(std::move(nodes)), start_(start) {
    const Scene& scene = context.scene();
    parent_ = target_ = scene.nodes()[nodes_.front()].parent;
    for (const int node : nodes_) {
        bounds_ |= scene.nodes()[node].box;
        kinds_.push_back(scene.nodes()[node].component->kind);
        oneParent_ = oneParent_ && scene.nodes()[node].parent == parent_;
    }
}

void MoveTool::aim(const ToolEvent& event) {
    const Scene& scene = context_.scene();
    copies_ = event.modifiers & Qt::ControlModifier;
    why_.clear();
    target_ = parent_;
    if (oneParent_ && (event.modifiers & Qt::AltModifier)) return;
    int under = context_.pick(event.scene, nodes_);
    if (under < 0) under = context_.root();
    target_ = holderFrom(scene, under, context_.root(), kinds_);
    if (target_ < 0)
        why_ = whyNot(*scene.nodes()[under].component, kinds_);
    else if (target_ != parent_ || !oneParent_)
        why_ = CanvasView::tr("into %1").arg(qs(nameOf(*scene.nodes()[target_].component)));
}

void MoveTool::move(const ToolEvent& event) {
    if (!moved_) {
        moved_ = true;
        context_.leaveOut(nodes_);
    }
    aim(event);
    by_ = event.scene - start_.scene;
    guides_.clear();
    if (!context_.view.snaps() || (event.modifiers & Qt::ShiftModifier)) return;
    if (targetsOf_ != target_) {
        targets_ = snapTargets(context_, target_, nodes_);
        targetsOf_ = target_;
    }
    Snapped snapped = snapBox(bounds_.translated(by_), targets_);
    by_ += snapped.by;
    guides_ = std::move(snapped.guides);
}

void MoveTool::release(const ToolEvent& event) {
    move(event);
    context_.end();
    const Scene& scene = context_.scene();
    const bool inPlace = target_ == parent_ && oneParent_;
    if (target_ < 0) {
        return context_.refuse({Severity::Error,
                                "canvas.nesting",
                                why_.toStdString(),
                                "a component that can contain it",
                                "drop it on one of the highlighted components",
                                {}});
    }
    if (inPlace && std::abs(by_.x()) < 0.05 && std::abs(by_.y()) < 0.05) return;
    // Where something stands it goes beside that, as placing does; Shift puts it exactly here.
    if (context_.view.snaps() && !(event.modifiers & Qt::ShiftModifier)) {
        const QRectF wanted = bounds_.translated(by_);
        const QPointF free = freePlace(wanted, standing(scene, target_, copies_ ? std::vector<int>{} : nodes_));
        by_ += free - wanted.topLeft();
    }
    ComponentPaths paths;
    std::vector<Placement> places;
    std::vector<std::pair<int, Placement>> arranged;
    for (const int node : nodes_) {
        paths.push_back(scene.path(node));
        places.push_back(scene.placementAt(target_, scene.nodes()[node].box.topLeft() + by_, node));
        arranged.emplace_back(node, places.back());
    }
    const int n = static_cast<int>(nodes_.size());
    if (copies_) {
        if (inPlace) {
            context_.report(context_.editor->duplicate(paths, by_.x(), by_.y()));
        } else {
            const std::vector<Component> parts = copied(*scene.hardware(), paths);
            context_.report(
                context_.editor->add(scene.path(target_), parts, places, context_.roomFor(target_, parts, places)));
        }
    } else if (inPlace) {
        context_.arrange(n == 1 ? CanvasView::tr("Move %1").arg(qs(nameOf(*scene.nodes()[nodes_.front()].component)))
                                : CanvasView::tr("Move %1 components").arg(n),
                         arranged);
    } else {
        std::vector<PlacedAt> frozen = scene.frozen(target_);
        std::set<int> left;
        for (const int node : nodes_) left.insert(scene.nodes()[node].parent);
        left.erase(target_);
        for (const int parent : left) {
            for (PlacedAt& place : scene.frozen(parent)) {
                const bool moves = std::find(paths.begin(), paths.end(), place.path) != paths.end();
                if (!moves) frozen.push_back(std::move(place));
            }
        }
        context_.report(context_.editor->reparent(paths, scene.path(target_), places, frozen));
    }
}

bool MoveTool::cancel() {
    by_ = {};
    guides_.clear();
    context_.leaveOut({});
    return true;
}

QRectF MoveTool::lines(QPainter* painter) const {
    const Scene& scene = context_.scene();
    QRectF area;
    std::size_t count = 0;
    for (const int node : nodes_) {
        for (const int index : scene.linksAt(node)) {
            if (++count > mostLines) return area;
            const SceneLink& link = scene.links()[index];
            const int other = link.from == node ? link.to : link.from;
            if (other < 0) continue;
            const QPointF here = context_.view.toView(scene.nodes()[node].box.center() + by_);
            const QPointF there = context_.view.toView(scene.nodes()[other].box.center() +
                                                       (insideAny(scene, other, nodes_) ? by_ : QPointF()));
            if (painter) painter->drawLine(here, there);
            area |= QRectF(here, there).normalized().adjusted(-1, -1, 1, 1);
        }
    }
    return area;
}

QRectF MoveTool::noteArea() const {
    return paintNote(nullptr, context_.cursor, why_, context_.view.rect(), target_ < 0);
}

void MoveTool::paint(QPainter& painter) const {
    if (!moved_) return;
    const Palette& colours = Theme::instance().colours();
    const Scene& scene = context_.scene();
    if (pictureZoom_ != context_.view.zoom()) {
        picture_ = context_.picture(nodes_, pictureArea_);
        pictureZoom_ = context_.view.zoom();
    }
    if (target_ >= 0 && (target_ != parent_ || !oneParent_)) {
        QColor fill = colours.accent;
        fill.setAlphaF(0.10F);
        painter.setBrush(fill);
        painter.setPen(QPen(colours.accent, 2));
        painter.drawRoundedRect(viewRect(context_, scene.nodes()[target_].box), 4, 4);
    }
    painter.setPen(QPen(colours.mutedText, 1, Qt::DotLine));
    lines(&painter);
    painter.setOpacity(target_ < 0 ? 0.5 : 0.9);
    painter.drawPixmap(context_.view.toView(pictureArea_.topLeft() + by_), picture_);
    painter.setOpacity(1);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(target_ < 0 ? colours.bad : colours.accent, 1.5));
    painter.drawRect(viewRect(context_, bounds_.translated(by_)));
    paintGuides(painter, context_, guides_);
    paintNote(&painter, context_.cursor, why_, context_.view.rect(), target_ < 0);
}

QRectF MoveTool::extent() const {
    if (!moved_) return {};
    QRectF area = viewRect(context_, bounds_.translated(by_)).adjusted(-8, -8, 8, 8);
    area |= viewRect(context_, pictureArea_.translated(by_));
    area |= guidesExtent(context_, guides_) | lines(nullptr) | noteArea();
    if (target_ >= 0 && (target_ != parent_ || !oneParent_))
        area |= viewRect(context_, context_.scene().nodes()[target_].box).adjusted(-3, -3, 3, 3);
    return area & QRectF(context_.view.rect());
}

QCursor MoveTool::cursor() const {
    if (target_ < 0) return Qt::ForbiddenCursor;
    return copies_ ? Qt::DragCopyCursor : Qt::SizeAllCursor;
}

QString MoveTool::hint() const {
    return CanvasView::tr("Esc cancels; Ctrl copies, Alt keeps it in its parent, Shift turns snapping off");
}

}  // namespace orrery::ui
