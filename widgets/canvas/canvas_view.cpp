#include "widgets/canvas/canvas_view_state.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QAccessible>
#include <QPaintEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace orrery::ui {

CanvasView::CanvasView(ComponentSelection* selection, QWidget* parent)
    : QWidget(parent), state_(std::make_unique<State>(*this, *selection)), selection_(selection) {
    setObjectName("canvasView");
    setAccessibleName(tr("Hardware canvas"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAcceptDrops(true);
    setAttribute(Qt::WA_OpaquePaintEvent);
    state_->tool = makeTool(Tool::Select, state_->context, {});
    connect(selection, &ComponentSelection::changed, this, [this] { state_->followSelection(); });
    connect(&Theme::instance(), &Theme::changed, this, [this] { state_->paintAgain(); });
    state_->edge.setInterval(16);
    connect(&state_->edge, &QTimer::timeout, this, [this] { state_->followEdge(); });
    state_->say();
}

CanvasView::~CanvasView() = default;

void CanvasView::setEditor(CanvasEditor* editor) {
    if (state_->context.busy()) cancel();
    state_->context.editor = editor;
    state_->overlayChanged();
}

void CanvasView::setDesign(HardwarePtr hardware, PlacementsPtr placements, bool fit) {
    const bool same = hardware == state_->scene.hardware();
    if (same && placements == state_->scene.placements() && !fit) return;
    if (!same) {
        // A drag of nodes that may be gone: it ends as by Esc, before its node numbers change meaning.
        if (state_->context.busy()) {
            state_->context.gesture->cancel();
            state_->context.end();
        }
        state_->context.hovered = -1;
        state_->context.leaveOut({});
    }
    state_->scene.setDesign(hardware, placements);
    if (!same) {
        state_->scene.setProblems(state_->problems);
        state_->tool->designChanged();
        if (fit || (hardware && !componentAt(hardware->root, state_->entered))) {
            state_->entered.clear();
            emit enteredChanged(state_->entered);
        }
    }
    if (const auto& nodes = state_->scene.changedNodes()) {
        state_->paintAgain(*nodes);
    } else {
        state_->paintAgain(state_->scene.changed());
    }
    state_->followSelection();
    if (fit || (!same && state_->fitsNoMore())) fitAll();
    state_->overlayChanged();
    emit designChanged();
}

void CanvasView::setProblems(const Diagnostics& problems) {
    if (problems == state_->problems) return;
    state_->problems = problems;
    state_->scene.setProblems(problems);
    state_->paintAgain();
}

const std::vector<ComponentLoad>& CanvasView::loads() const {
    return state_->loads;
}

void CanvasView::setLoads(std::vector<ComponentLoad> loads) {
    if (loads == state_->loads) return;
    std::vector<int> nodes;
    const auto note = [&](const std::vector<ComponentLoad>& some, const std::vector<ComponentLoad>& others) {
        for (const ComponentLoad& load : some) {
            if (std::ranges::find(others, load) != others.end()) continue;
            if (const int node = state_->scene.find(load.path); node >= 0) nodes.push_back(node);
        }
    };
    note(loads, state_->loads);
    note(state_->loads, loads);
    state_->loads = std::move(loads);
    state_->paintAgain(nodes);
}

void CanvasView::setHeat(std::vector<ComponentHeat> heat) {
    if (heat == state_->heat) return;
    state_->heat = std::move(heat);
    state_->paintAgain();
}

const std::vector<ComponentHeat>& CanvasView::heat() const {
    return state_->heat;
}

void CanvasView::setIgnored(std::vector<ComponentPath> ignored) {
    if (ignored == state_->ignored) return;
    state_->ignored = std::move(ignored);
    state_->paintAgain();
}

void CanvasView::setMarks(std::vector<Mark> marks) {
    state_->marks = std::move(marks);
    state_->paintAgain();
}

void CanvasView::setFound(std::vector<ComponentPath> found) {
    if (found == state_->found) return;
    state_->found = std::move(found);
    state_->paintAgain();
}

void CanvasView::setLibrary(std::function<std::vector<Component>(const QString&)> library) {
    state_->library = std::move(library);
}

const Scene& CanvasView::scene() const {
    return state_->scene;
}
CanvasView::Tool CanvasView::tool() const {
    return state_->kind;
}

void CanvasView::setTool(Tool tool) {
    if (state_->context.busy()) cancel();
    const bool same = tool == state_->kind && tool != Tool::Place;
    if (same) return;
    state_->kind = tool;
    state_->tool = makeTool(tool, state_->context, state_->placing);
    state_->overlayChanged();
    emit toolChanged(tool);
}

void CanvasView::startPlacing(Component part) {
    startPlacing(std::vector<Component>{std::move(part)});
}

void CanvasView::startPlacing(std::vector<Component> parts) {
    state_->placing = std::move(parts);
    setTool(Tool::Place);
    setFocus(Qt::OtherFocusReason);
}

std::vector<PlacedAt> CanvasView::roomFor(const ComponentPath& holder, const std::vector<Component>& parts,
                                          const std::vector<Placement>& places) const {
    const int node = state_->scene.find(holder);
    return node < 0 ? std::vector<PlacedAt>{} : state_->context.roomFor(node, parts, places);
}

void CanvasView::cancel() {
    State& state = *state_;
    QToolTip::hideText();
    if (state.context.busy()) {
        state.context.gesture->cancel();
        state.context.end();
    } else if (state.tool->cancel()) {
        // The tool stays; what it had begun is gone.
    } else if (state.kind != Tool::Select) {
        setTool(Tool::Select);
    } else {
        selection_->clear();
    }
    state.dropEnded();
    state.overlayChanged();
}

bool CanvasView::snaps() const {
    return state_->snaps;
}
void CanvasView::setSnaps(bool on) {
    state_->snaps = on;
}
bool CanvasView::showsGrid() const {
    return state_->grid;
}

void CanvasView::setShowsGrid(bool on) {
    state_->grid = on;
    state_->paintAgain();
}

PaintOptions CanvasView::State::options() const {
    PaintOptions options;
    options.transform = QTransform(zoom, 0, 0, zoom, origin.x(), origin.y());
    options.selected = selectedNodes;
    options.entered = context.root();
    options.leftOut = context.leftOut;
    options.grid = grid;
    for (const ComponentLoad& load : loads) {
        if (const int node = scene.find(load.path); node >= 0)
            options.loads.push_back({node, load.share, load.text, load.colour});
    }
    for (const ComponentHeat& each : heat) {
        if (const int node = scene.find(each.path); node >= 0) options.heat.push_back({node, each.heat, each.text});
    }
    for (const ComponentPath& path : ignored) {
        if (const int node = scene.find(path); node > 0) options.ignored.push_back(node);
    }
    for (const Mark& mark : marks) {
        if (const int node = scene.find(mark.path); node >= 0) options.marks.push_back({node, mark.colour});
    }
    for (const ComponentPath& path : found) {
        if (const int node = scene.find(path); node > 0)
            options.marks.push_back({shownAs(scene, node, zoom), Theme::instance().colours().accent});
    }
    return options;
}

QRectF CanvasView::State::toView(const QRectF& area) const {
    return {area.topLeft() * zoom + origin, area.size() * zoom};
}

void CanvasView::State::paintAgain() {
    stale = QRect(QPoint(), view.size());
    view.update();
}

void CanvasView::State::paintAgain(const QRectF& area) {
    if (area.isEmpty() && area.width() <= 0 && area.height() <= 0) return;
    const double reach = paintReach(zoom);
    const QRect dirty =
        toView(area.adjusted(-reach, -reach, reach, reach)).toAlignedRect().adjusted(-2, -2, 2, 2) & view.rect();
    stale += dirty;
    view.update(dirty);
}

void CanvasView::State::paintAgain(const std::vector<int>& nodes) {
    for (const int node : nodes) {
        const int link = scene.linkOf(node);
        if (link >= 0) {
            paintAgain(scene.links()[static_cast<std::size_t>(link)].line.boundingRect().adjusted(-1, -1, 1, 1));
        }
        int last = -1;
        for (int at = node; at >= 0; at = scene.nodes()[static_cast<std::size_t>(at)].parent) {
            const int shown = shownAs(scene, at, zoom);
            if (shown == last) continue;
            last = shown;
            const SceneNode& what = scene.nodes()[static_cast<std::size_t>(shown)];
            // Around an open box only the caption tells of what is inside.
            const bool caption = shown == at && at != node && showsInside(scene, at, zoom);
            paintAgain(caption ? QRectF(what.box.topLeft(), QPointF(what.box.right(), what.origin.y())) : what.box);
        }
    }
}

void CanvasView::State::refreshBackground() {
    const double ratio = view.devicePixelRatioF();
    if (background.size() != view.size() * ratio || background.devicePixelRatioF() != ratio) {
        background = QPixmap(view.size() * ratio);
        background.setDevicePixelRatio(ratio);
        stale = view.rect();
    }
    if (stale.isEmpty()) return;
    // Many small areas (a moved box and its links) cost a walk each; beyond a few, one walk is cheaper.
    const QRegion areas = stale.rectCount() > 6 ? QRegion(stale.boundingRect()) : stale;
    QPainter painter(&background);
    PaintOptions how = options();
    for (const QRect& area : areas) {
        painter.setClipRect(area);
        how.exposed = QRectF((area.topLeft() - origin) / zoom, QSizeF(area.size()) / zoom);
        paintScene(painter, scene, how);
    }
    stale = {};
}

void CanvasView::paintEvent(QPaintEvent* event) {
    State& state = *state_;
    state.refreshBackground();
    QPainter painter(this);
    const QRect area = event->rect();
    const double ratio = state.background.devicePixelRatioF();
    painter.drawPixmap(QRectF(area), state.background, QRectF(area.topLeft() * ratio, QSizeF(area.size()) * ratio));
    painter.setRenderHint(QPainter::Antialiasing);
    // One that can be drawn on stands on a page that says how.
    if (!state.scene.hardware() && !state.context.editor) {
        painter.setPen(Theme::instance().colours().mutedText);
        painter.setFont(Theme::instance().font(FontRole::Body));
        painter.drawText(rect(), Qt::AlignCenter, tr("No design. Draw one, or choose a device from the library."));
    }
    state.tool->paint(painter);
    if (state.context.busy()) state.context.gesture->paint(painter);
    if (hasFocus()) {
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(Theme::instance().colours().accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

QRectF CanvasView::State::overlayExtent() const {
    QRectF extent = tool->extent();
    if (context.busy()) extent |= context.gesture->extent();
    return extent;
}

void CanvasView::State::overlayChanged() {
    const QRectF now = overlayExtent();
    view.update(overlay.toAlignedRect().adjusted(-3, -3, 3, 3));
    view.update(now.toAlignedRect().adjusted(-3, -3, 3, 3));
    overlay = now;
    const CanvasTool* what = active();
    if (view.cursor().shape() != what->cursor().shape()) view.setCursor(what->cursor());
    static const QString none;
    const QString words = what->hint();
    if (words != view.property("hint").toString()) {
        view.setProperty("hint", words);
        emit view.hintChanged(words);
    }
}

void CanvasView::State::dropEnded() {
    if (!context.ended) return;
    context.gesture.reset();
    context.ended = false;
    context.leaveOut({});
}

void CanvasView::State::followSelection() {
    // Only what was and what is selected is painted again.
    for (const QRectF& area : selectedAreas) paintAgain(area);
    selectedAreas.clear();
    selectedNodes.clear();
    for (const ComponentPath& path : context.selection.paths()) {
        const int node = scene.find(path);
        if (node < 0 || scene.nodes()[node].hidden) continue;
        selectedNodes.push_back(node);
        const int link = scene.linkOf(node);
        selectedAreas.push_back(link >= 0 ? scene.links()[link].line.boundingRect().adjusted(-1, -1, 1, 1)
                                          : scene.nodes()[node].box);
    }
    if (selectedAreas.size() > 64) {
        QRectF all;
        for (const QRectF& area : selectedAreas) all |= area;
        selectedAreas = {all};
    }
    for (const QRectF& area : selectedAreas) paintAgain(area);
    nudgeGesture = 0;
    say();
    overlayChanged();
}

void CanvasView::State::say() {
    QString words = view.tr("Arrows move, Tab goes to the next part, Enter goes in, Backspace goes out");
    if (const auto& paths = context.selection.paths(); paths.size() == 1 && currentNode() >= 0) {
        words = describe(scene, currentNode()).remove('\n');
    } else if (!paths.empty()) {
        words = view.tr("%1 components selected").arg(paths.size());
    }
    if (words == said) return;
    said = words;
    view.setAccessibleDescription(words);
    QAccessibleEvent event(&view, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

int CanvasView::State::currentNode() const {
    if (context.selection.paths().empty()) return -1;
    return scene.find(context.selection.current());
}

ToolEvent CanvasView::State::event(const QPointF& at, Qt::MouseButton button, Qt::KeyboardModifiers modifiers) const {
    return {at, (at - origin) / zoom, button, modifiers};
}

}  // namespace orrery::ui
