#include "widgets/graph/graph_view.h"

#include "widgets/common/theme.h"
#include "widgets/graph/graph_view_state.h"
#include "widgets/plots/hover_card.h"

#include <QHelpEvent>

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr int mostReadable = 20000;  // nodes that unfoldAll() goes up to
constexpr int mostRefinable = 4000;  // nodes that Graphviz can place while somebody waits

const VisibleGraph nothingVisible;
const GraphHierarchy noGroups;
const GraphScene emptyScene;

bool sameOperators(const WorkloadPtr& a, const WorkloadPtr& b) {
    return a && b && a->graph.operators.size() == b->graph.operators.size() &&
           std::equal(a->graph.operators.begin(), a->graph.operators.end(), b->graph.operators.begin(),
                      [](const Operator& x, const Operator& y) { return x.name == y.name; });
}

}  // namespace

GraphView::GraphView(Selection* selection, QWidget* parent)
    : QWidget(parent), state_(std::make_unique<State>(this, selection)), selection_(selection) {
    setObjectName(QStringLiteral("workloadGraph"));
    setAccessibleName(tr("Operator graph"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setMinimumSize(120, 80);
    state_->card = new HoverCard(this);
    state_->glide.setInterval(15);
    connect(&state_->glide, &QTimer::timeout, this, [this] {
        const int whole = Theme::instance().glideMilliseconds();
        state_->look.progress = whole > 0 ? std::min(1.0, double(state_->glideClock.elapsed()) / whole) : 1;
        if (state_->look.progress >= 1) {
            state_->glide.stop();
            state_->look.from = nullptr;
        }
        update();
    });
    connect(&state_->worker, &GraphWorker::made, this, [this](const GraphPicturePtr& next) { state_->show(next); });
    connect(&state_->graphviz, &GraphvizLayout::progress, this,
            [this](double, const QString& stage) { Q_EMIT layoutRunning(true, stage); });
    connect(&state_->graphviz, &GraphvizLayout::failed, this, [this](const QString& why) {
        state_->refining = nullptr;
        Q_EMIT layoutRunning(false, {});
        Q_EMIT layoutRefused(why);
    });
    connect(&state_->graphviz, &GraphvizLayout::finished, this, [this](const LayoutResult& result) {
        const GraphPicturePtr base = std::exchange(state_->refining, nullptr);
        Q_EMIT layoutRunning(false, {});
        if (!base || base != state_->picture) return;  // folded or loaded anew meanwhile
        auto next = std::make_shared<GraphPicture>(*base);
        next->scene = ui::placed(base->parts, result, false);
        state_->show(next);
    });
    connect(selection_, &Selection::changed, this, [this] {
        state_->mark();
        if (selection_->operators().size() == 1 && state_->picture) {
            const auto op = static_cast<std::size_t>(*selection_->operators().begin());
            if (op < state_->picture->scene.nodeOf.size()) state_->ensureVisible(state_->picture->scene.nodeOf[op]);
        }
        update();
    });
    connect(selection_, &Selection::hoverChanged, this, [this](int op) {
        const GraphScene* scene = state_->scene();
        const bool known = scene && op >= 0 && static_cast<std::size_t>(op) < scene->nodeOf.size();
        const int node = known ? scene->nodeOf[static_cast<std::size_t>(op)] : -1;
        if (node == state_->look.hovered || (op < 0 && underMouse())) return;
        state_->look.hovered = node;
        update();
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        state_->recolour();
        update();
    });
}

GraphView::~GraphView() = default;

void GraphView::setWorkload(WorkloadPtr workload) {
    State& s = *state_;
    if (workload == s.workload) return;
    const bool same = sameOperators(s.workload, workload);
    const bool related = same || (workload && s.workload && s.workload->recipe.source == workload->recipe.source);
    s.workload = std::move(workload);
    cancelLayout();
    if (!same) {
        s.measured.clear();
        s.stored.clear();
    }
    s.look.hovered = s.look.hoveredEdge = s.look.hoveredFrame = -1;
    s.card->hide();
    if (!related) {
        s.open.reset();
        s.placed = false;
        s.drawnOnce = s.announced = false;
        s.reveal = -1;
        s.anchor.reset();
        s.picture = nullptr;
        s.look.current = -1;
        s.minimap.setScene(nullptr, {});
        s.from.clear();
    }
    s.remeasure();
    s.search();
    if (s.workload) s.request();
    update();
}

void GraphView::setSnapshot(SnapshotPtr snapshot) {
    state_->snapshot = std::move(snapshot);
    // Answers come many times a second while a slider is dragged: a graph that nobody sees waits for its turn.
    state_->stale = !isVisible();
    if (state_->stale) return;
    state_->remeasure();
    update();
}

void GraphView::showEvent(QShowEvent*) {
    if (std::exchange(state_->stale, false)) state_->remeasure();
}

void GraphView::setMeasured(std::vector<double> seconds) {
    state_->measured = std::move(seconds);
    state_->remeasure();
    update();
}

void GraphView::setStored(std::vector<StoredAnswers> stored) {
    state_->stored = std::move(stored);
    state_->remeasure();
    update();
}

void GraphView::setMetric(const QString& id) {
    if (state_->metric == id) return;
    state_->metric = id;
    state_->recolour();
    update();
}

QString GraphView::metric() const {
    return state_->metric;
}

void GraphView::setThreshold(double share) {
    state_->threshold = std::clamp(share, 0.0, 1.0);
    state_->recolour();
    update();
}

void GraphView::setFolded(int group, bool folded) {
    State& s = *state_;
    if (!s.picture || group < 0 || static_cast<std::size_t>(group) >= s.picture->open.size()) return;
    if (!s.open) s.open = s.picture->open;
    auto& open = *s.open;
    if (open[static_cast<std::size_t>(group)] != folded) return;
    // What was clicked stays where it is: the box of a folded group, the caption of an unfolded one.
    const GraphScene& scene = s.picture->scene;
    const int node = scene.nodeOfGroup(group);
    if (node >= 0)
        s.anchor = {group, toView(scene.nodes[static_cast<std::size_t>(node)].box.center())};
    else if (const GraphScene::Frame* frame = scene.frameOf(group))
        s.anchor = {group, toView(scene.caption(*frame).center())};
    open[static_cast<std::size_t>(group)] = !folded;
    s.request();
}

bool GraphView::isFolded(int group) const {
    const State& s = *state_;
    const auto& open = s.open ? *s.open : s.picture ? s.picture->open : std::vector<bool>();
    return group < 0 || static_cast<std::size_t>(group) >= open.size() || !open[static_cast<std::size_t>(group)];
}

void GraphView::foldAll() {
    if (!state_->picture) return;
    state_->open = std::vector<bool>(state_->picture->open.size(), false);
    state_->request();
}

void GraphView::unfoldAll() {
    if (!state_->picture) return;
    state_->open = openAtFirst(state_->workload->graph, *state_->picture->hierarchy, mostReadable);
    // Runs of alike groups stay folded at first, but were asked for now.
    if (state_->workload->graph.operators.size() <= static_cast<std::size_t>(mostReadable))
        state_->open->assign(state_->open->size(), true);
    state_->request();
}

void GraphView::setLeftToRight(bool on) {
    if (state_->leftToRight == on) return;
    state_->leftToRight = on;
    state_->placed = false;
    state_->request();
}

bool GraphView::isLeftToRight() const {
    return state_->leftToRight;
}

void GraphView::refineLayout() {
    State& s = *state_;
    if (!s.picture || s.worker.isBusy()) return;
    if (!GraphvizLayout::isAvailable())
        return Q_EMIT layoutRefused(tr("The layout program of Graphviz was not found beside the studio."));
    if (s.picture->scene.nodes.size() > static_cast<std::size_t>(mostRefinable))
        return Q_EMIT layoutRefused(
            tr("%1 nodes are too many for Graphviz: fold some groups first.").arg(s.picture->scene.nodes.size()));
    s.refining = s.picture;
    Q_EMIT layoutRunning(true, tr("Graphviz"));
    s.graphviz.start(s.picture->parts.layout, GraphvizLayout::Engine::Dot);
}

void GraphView::cancelLayout() {
    if (!state_->refining) return;
    state_->refining = nullptr;
    state_->graphviz.cancel();
    Q_EMIT layoutRunning(false, {});
}

const std::vector<HeatMetric>& GraphView::metrics() const {
    return state_->metrics;
}

const HeatMetric* GraphView::shownMetric() const {
    return state_->shown();
}

const VisibleGraph& GraphView::visible() const {
    return state_->picture ? state_->picture->visible : nothingVisible;
}

const GraphHierarchy& GraphView::hierarchy() const {
    return state_->picture ? *state_->picture->hierarchy : noGroups;
}

const GraphScene& GraphView::scene() const {
    return state_->picture ? state_->picture->scene : emptyScene;
}

bool GraphView::isSettled() const {
    return !state_->worker.isBusy() && !state_->refining && !state_->glide.isActive();
}

int GraphView::currentNode() const {
    return state_->look.current;
}

void GraphView::State::request() {
    if (!workload) return;
    GraphRequest wanted;
    wanted.workload = workload;
    wanted.leftToRight = leftToRight;
    wanted.widths = graphTextWidths();
    if (picture && picture->workload == workload) {
        wanted.hierarchy = picture->hierarchy;
        wanted.open = open;
    } else if (picture) {
        wanted.scopes.emplace();
        const std::vector<bool>& unfolded = open ? *open : picture->open;
        for (std::size_t g = 0; g < picture->hierarchy->groups.size() && g < unfolded.size(); ++g) {
            if (unfolded[g]) wanted.scopes->push_back(picture->hierarchy->groups[g].scope);
        }
    }
    if (refining) view->cancelLayout();
    worker.start(std::move(wanted));
}

void GraphView::State::show(GraphPicturePtr next) {
    if (next->workload != workload) return;                              // another one was set meanwhile
    if (drag == Drag::Pressed || drag == Drag::Band) drag = Drag::None;  // what was pressed is no longer there
    const GraphPicturePtr before = std::exchange(picture, std::move(next));
    const GraphScene& scene = picture->scene;
    const std::int64_t currentKey =
        before && look.current >= 0 ? before->scene.nodes[static_cast<std::size_t>(look.current)].key() : -1;
    open = picture->open;
    look.hovered = look.hoveredEdge = look.hoveredFrame = look.current = -1;
    card->hide();
    std::unordered_map<std::int64_t, QRectF> old;
    if (before && before->hierarchy->groups.size() == picture->hierarchy->groups.size()) {
        for (const GraphScene::Node& node : before->scene.nodes) old.emplace(node.key(), node.box);
        for (const GraphScene::Frame& frame : before->scene.frames)
            old.emplace((std::int64_t{1} << 32) + frame.group, before->scene.caption(frame));
    }
    if (currentKey >= 0) {
        for (std::size_t n = 0; n < scene.nodes.size(); ++n) {
            if (scene.nodes[n].key() == currentKey) look.current = static_cast<int>(n);
        }
    }
    const QPointF oldOrigin = origin;
    if (!placed) {
        place();
    } else if (anchor) {
        const int node = scene.nodeOfGroup(anchor->first);
        const GraphScene::Frame* frame = scene.frameOf(anchor->first);
        if (node >= 0)
            origin = scene.nodes[static_cast<std::size_t>(node)].box.center() - anchor->second / zoom;
        else if (frame)
            origin = scene.caption(*frame).center() - anchor->second / zoom;
    } else if (!old.empty()) {
        // The box nearest to the middle that stands in both drawings stays where it is.
        const QPointF middle = view->toScene(view->rect().center());
        double nearest = 0;
        const GraphScene::Node* kept = nullptr;
        for (const GraphScene::Node& node : scene.nodes) {
            const auto found = old.find(node.key());
            if (found == old.end()) continue;
            const double off = QLineF(found->second.center(), middle).length();
            if (!kept || off < nearest) kept = &node, nearest = off;
        }
        if (kept) origin += kept->box.center() - old.at(kept->key()).center();
    }
    anchor.reset();
    // Each box comes from where it, or the group that held it, was on the screen.
    from.clear();
    if (!old.empty() && Theme::instance().glideMilliseconds() > 0 && scene.nodes.size() <= 3000) {
        const QPointF shift = origin - oldOrigin;
        const auto& groups = picture->hierarchy->groups;
        for (const GraphScene::Node& node : scene.nodes) {
            auto found = old.find(node.key());
            std::int32_t group = node.op >= 0      ? picture->hierarchy->groupOf[static_cast<std::size_t>(node.op)]
                                 : node.group >= 0 ? groups[static_cast<std::size_t>(node.group)].parent
                                                   : -1;
            for (; found == old.end() && group >= 0; group = groups[static_cast<std::size_t>(group)].parent)
                found = old.find((std::int64_t{1} << 32) + group);
            if (found != old.end()) from.emplace(node.key(), found->second.translated(shift));
        }
        look.from = &from;
        look.progress = 0;
        glideClock.restart();
        glide.start();
    } else {
        look.from = nullptr;
        look.progress = 1;
    }
    recolour();
    mark();
    if (reveal >= 0 && static_cast<std::size_t>(reveal) < scene.nodeOf.size()) {
        const int node = scene.nodeOf[static_cast<std::size_t>(std::exchange(reveal, -1))];
        setCurrent(node, false);
        centreOn(node);
    }
    drawnOnce = true;
    Q_EMIT view->pictureChanged();
    view->update();
}

}  // namespace orrery::ui
