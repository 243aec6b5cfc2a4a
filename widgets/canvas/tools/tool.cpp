#include "widgets/canvas/tools/tool.h"

#include "hardware/edit/tree_edit.h"
#include "hardware/check/validate.h"
#include "widgets/canvas/canvas_view_state.h"
#include "widgets/canvas/free_place.h"
#include "widgets/canvas/tools/link.h"
#include "widgets/canvas/tools/measure.h"
#include "widgets/canvas/tools/pan.h"
#include "widgets/canvas/tools/place.h"
#include "widgets/canvas/tools/select.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QToolTip>

#include <algorithm>

namespace orrery::ui {

namespace {
constexpr double linkReach = 5;             ///< pixels from a link's line that count as on it
}  // namespace

std::unique_ptr<CanvasTool> makeTool(CanvasView::Tool kind, ToolContext& context, const std::vector<Component>& parts) {
    switch (kind) {
        case CanvasView::Tool::Place:
            return std::make_unique<PlaceTool>(context, parts);
        case CanvasView::Tool::Link:
            return std::make_unique<LinkTool>(context);
        case CanvasView::Tool::Pan:
            return std::make_unique<PanTool>(context);
        case CanvasView::Tool::Measure:
            return std::make_unique<MeasureTool>(context);
        case CanvasView::Tool::Select:
            break;
    }
    return std::make_unique<SelectTool>(context);
}

const Scene& ToolContext::scene() const {
    return view.scene();
}

int ToolContext::root() const {
    const int node = scene().find(view.entered());
    return std::max(node, 0);
}

int ToolContext::pick(const QPointF& point, const std::vector<int>& without) const {
    const Scene& drawing = scene();
    if (drawing.nodes().empty() || !drawing.nodes()[root()].box.contains(point)) return -1;
    const double least = leastShown(view.zoom());
    int node = drawing.at(point, least);
    if (!without.empty() && node >= 0 && insideAny(drawing, node, without)) {
        // Down from the root again, past what is being dragged.
        node = 0;
        for (bool deeper = true; deeper;) {
            deeper = false;
            const SceneNode& outer = drawing.nodes()[node];
            if (outer.folded || std::min(outer.box.width(), outer.box.height()) < least) break;
            std::vector<int> found;
            drawing.childrenWithin(node, QRectF(point, QSizeF(0.01, 0.01)), found);
            for (auto child = found.rbegin(); child != found.rend(); ++child) {
                if (!drawing.nodes()[*child].box.contains(point) || insideAny(drawing, *child, without)) continue;
                node = *child;
                deeper = true;
                break;
            }
        }
    }
    if (node < 0 || !insideAny(drawing, node, {root()})) return -1;
    if (!without.empty()) return node;
    // A link runs over its parent; a box that stands on the line hides it.
    const int link = drawing.linkAt(point, linkReach / view.zoom());
    if (link < 0) return node;
    const int line = drawing.links()[link].node;
    const int owner = drawing.nodes()[line].parent;
    return insideAny(drawing, owner, {node}) && insideAny(drawing, line, {root()}) ? line : node;
}

std::vector<int> ToolContext::selectedBoxes() const {
    const Scene& drawing = scene();
    std::vector<int> nodes;
    for (const ComponentPath& path : selection.paths()) {
        const int node = drawing.find(path);
        if (node > 0 && !drawing.nodes()[node].hidden && drawing.linkOf(node) < 0) nodes.push_back(node);
    }
    std::sort(nodes.begin(), nodes.end());
    std::vector<int> tops;
    for (const int node : nodes) {
        if (tops.empty() || node >= drawing.nodes()[tops.back()].next) tops.push_back(node);
    }
    return tops;
}

void ToolContext::begin(std::unique_ptr<CanvasTool> next) {
    gesture = std::move(next);
    ended = false;
}

void ToolContext::end() {
    if (gesture) ended = true;
}

void ToolContext::leaveOut(std::vector<int> nodes) {
    if (nodes == leftOut) return;
    QRectF area;
    for (const auto* list : {&leftOut, &nodes}) {
        for (const int node : *list) {
            if (node >= static_cast<int>(scene().nodes().size())) continue;
            area |= scene().nodes()[node].box;
            for (const int link : scene().linksAt(node)) area |= scene().links()[link].line.boundingRect();
        }
    }
    leftOut = std::move(nodes);
    view.state_->paintAgain(area);
}

void ToolContext::arrange(const QString& words, const std::vector<std::pair<int, Placement>>& places) {
    view.state_->arrange(words, places);
}

std::vector<PlacedAt> ToolContext::aside(const ComponentPath& holder, const Hardware& design, Placements next) const {
    if (scene().nodes().size() > mostForRoom) return {};
    Scene after;
    after.setDesign(std::make_shared<const Hardware>(design), std::make_shared<const Placements>(std::move(next)));
    return pushedAside(scene(), after, holder);
}

std::vector<PlacedAt> ToolContext::roomFor(int holder, const std::vector<Component>& parts,
                                           const std::vector<Placement>& places) const {
    std::vector<PlacedAt> stay = scene().frozen(holder);
    const Hardware& design = *scene().hardware();
    if (scene().nodes().size() > mostForRoom) return stay;
    const ComponentPath path = scene().path(holder);
    const auto edit = added(design, path, parts);
    if (!edit) return stay;  // the editor will say why
    Placements next = scene().placements() ? *scene().placements() : Placements{};
    for (const PlacedAt& place : stay) next.at[placementKey(design.root, place.path)] = place.at;
    for (std::size_t i = 0; i < std::min(places.size(), edit->made.size()); ++i)
        next.at[placementKey(edit->design.root, edit->made[i])] = places[i];
    for (PlacedAt& place : aside(path, edit->design, std::move(next))) stay.push_back(std::move(place));
    return stay;
}

bool ToolContext::report(const Expected<ComponentPaths>& made) {
    return view.state_->report(made);
}

QPixmap ToolContext::picture(const std::vector<int>& nodes, QRectF& area) const {
    const CanvasView::State& state = *view.state_;
    area = {};
    for (const int node : nodes) area |= scene().nodes()[node].box;
    const double reach = paintReach(state.zoom);
    // What lies far outside of the view is not painted: it comes into sight only by a pan, which is rare in a drag.
    area = area.adjusted(-reach, -reach, reach, reach) &
           view.visibleArea().adjusted(-view.width() / state.zoom, -view.height() / state.zoom,
                                       view.width() / state.zoom, view.height() / state.zoom);
    const double ratio = view.devicePixelRatioF();
    QPixmap picture((area.size() * state.zoom * ratio).toSize().expandedTo({1, 1}));
    picture.setDevicePixelRatio(ratio);
    picture.fill(Qt::transparent);
    PaintOptions options = state.options();
    options.transform = QTransform(state.zoom, 0, 0, state.zoom, -area.x() * state.zoom, -area.y() * state.zoom);
    options.exposed = area;
    options.leftOut.clear();
    options.background = false;
    options.grid = false;
    QPainter painter(&picture);
    paintNodes(painter, scene(), options, nodes, {});
    return picture;
}

void ToolContext::refuse(const Diagnostic& why) {
    QString text = windowText(why.message);
    if (!why.expected.empty()) text += "\n" + view.tr("Expected: %1").arg(windowText(why.expected));
    if (!why.hint.empty()) text += "\n" + windowText(why.hint);
    QToolTip::showText(view.mapToGlobal(cursor.toPoint()), text, &view, {}, 6000);
    emit view.refused(why);
}

bool insideAny(const Scene& scene, int node, const std::vector<int>& tops) {
    return std::any_of(tops.begin(), tops.end(),
                       [&](int top) { return node >= top && node < scene.nodes()[top].next; });
}

int holderFrom(const Scene& scene, int node, int root, const std::vector<ComponentKind>& kinds) {
    for (; node >= 0; node = scene.nodes()[node].parent) {
        const ComponentKind outer = scene.nodes()[node].component->kind;
        if (std::all_of(kinds.begin(), kinds.end(), [&](ComponentKind kind) { return mayContain(outer, kind); }))
            return node;
        if (node == root) return -1;
    }
    return -1;
}

QString whyNot(const Component& holder, const std::vector<ComponentKind>& kinds) {
    for (const ComponentKind kind : kinds) {
        if (mayContain(holder.kind, kind)) continue;
        return QObject::tr("A %1 cannot hold a %2").arg(qs(label(holder.kind)).toLower(), qs(label(kind)));
    }
    return QObject::tr("%1 cannot contain all of these").arg(qs(nameOf(holder)));
}

QRectF paintNote(QPainter* painter, const QPointF& at, const QString& text, const QRectF& within, bool bad) {
    if (text.isEmpty()) return {};
    const Theme& theme = Theme::instance();
    const QFont font = theme.font(FontRole::Small);
    const QFontMetricsF metrics(font);
    QRectF card = metrics.boundingRect(QRectF(0, 0, 360 * theme.scale(), 1000), Qt::TextWordWrap, text);
    card = QRectF(at + QPointF(16, 18), card.size() + QSizeF(14, 8));
    if (card.right() > within.right()) card.moveRight(at.x() - 8);
    if (card.bottom() > within.bottom()) card.moveBottom(at.y() - 8);
    card.moveLeft(std::max(card.left(), within.left()));
    card.moveTop(std::max(card.top(), within.top()));
    if (painter) {
        const Palette& colours = theme.colours();
        painter->setPen(QPen(bad ? colours.bad : colours.line, 1));
        painter->setBrush(colours.raised);
        painter->drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
        painter->setPen(bad ? colours.bad : colours.text);
        painter->setFont(font);
        painter->drawText(card.adjusted(7, 4, -7, -4), Qt::TextWordWrap, text);
    }
    return card.adjusted(-1, -1, 1, 1);
}

}  // namespace orrery::ui
