#include "widgets/canvas/tools/measure.h"

#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/tools/guides.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QApplication>

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>

namespace orrery::ui {

std::optional<Hops> fewestHops(const Scene& scene, int from, int to) {
    // Breadth first over links; standing in a node also means standing in its outer ones, below what holds both ends.
    const auto reach = [&](int node) {
        std::vector<int> chain;
        for (; node > 0; node = scene.nodes()[node].parent) {
            if (insideAny(scene, from, {node}) && insideAny(scene, to, {node})) break;
            chain.push_back(node);
        }
        return chain;
    };
    struct Step {
        int before = -1;
        int link = -1;
    };
    std::unordered_map<int, Step> seen;
    std::deque<int> queue;
    for (const int node : reach(from)) {
        seen.emplace(node, Step{});
        queue.push_back(node);
    }
    const std::vector<int> goals = reach(to);
    while (!queue.empty()) {
        const int node = queue.front();
        queue.pop_front();
        if (std::find(goals.begin(), goals.end(), node) != goals.end()) {
            Hops hops;
            for (int at = node; at >= 0; at = seen[at].before) {
                hops.nodes.push_back(at);
                if (seen[at].link >= 0) hops.links.push_back(seen[at].link);
            }
            std::reverse(hops.nodes.begin(), hops.nodes.end());
            std::reverse(hops.links.begin(), hops.links.end());
            return hops;
        }
        for (const int index : scene.linksAt(node)) {
            const SceneLink& link = scene.links()[index];
            const int other = link.from == node ? link.to : link.from;
            if (other < 0) continue;
            for (const int next : reach(other)) {
                if (!seen.emplace(next, Step{node, index}).second) continue;
                queue.push_back(next);
            }
        }
    }
    return std::nullopt;
}

void MeasureTool::update(const ToolEvent& event) {
    to_ = event;
    const QPointF d = to_.scene - from_.scene;
    text_ = CanvasView::tr("%1 units (%2 across, %3 down)")
                .arg(qRound(std::hypot(d.x(), d.y())))
                .arg(qRound(std::abs(d.x())))
                .arg(qRound(std::abs(d.y())));
    links_.clear();
    toNode_ = context_.pick(event.scene);
    const Scene& scene = context_.scene();
    if (fromNode_ <= 0 || toNode_ <= 0 || fromNode_ == toNode_) return;
    const auto hops = fewestHops(scene, fromNode_, toNode_);
    if (!hops) {
        text_ += "\n" + CanvasView::tr("no links lead from %1 to %2")
                            .arg(qs(nameOf(*scene.nodes()[fromNode_].component)),
                                 qs(nameOf(*scene.nodes()[toNode_].component)));
        return;
    }
    links_ = hops->links;
    QStringList names;
    for (const int node : hops->nodes) names << qs(nameOf(*scene.nodes()[node].component));
    const QString count = links_.size() == 1 ? CanvasView::tr("1 hop") : CanvasView::tr("%1 hops").arg(links_.size());
    text_ += "\n" + count + ": " + names.join(QStringLiteral(" → "));
}

void MeasureTool::press(const ToolEvent& event) {
    if (state_ == State::Measuring) return;  // the second click of two
    state_ = State::Measuring;
    from_ = event;
    fromNode_ = context_.pick(event.scene);
    update(event);
}

void MeasureTool::move(const ToolEvent& event) {
    if (state_ == State::Measuring) update(event);
}

void MeasureTool::release(const ToolEvent& event) {
    if (state_ != State::Measuring) return;
    update(event);
    if ((event.view - from_.view).manhattanLength() >= QApplication::startDragDistance()) state_ = State::Shown;
}

bool MeasureTool::cancel() {
    const bool was = state_ != State::Idle;
    state_ = State::Idle;
    links_.clear();
    return was;
}

void MeasureTool::paint(QPainter& painter) const {
    if (state_ == State::Idle) return;
    const Palette& colours = Theme::instance().colours();
    painter.setPen(QPen(colours.accent, 3));
    for (const int link : links_)
        painter.drawPolyline(context_.view.transform().map(context_.scene().links()[link].line));
    const QPointF a = context_.view.toView(from_.scene), b = context_.view.toView(to_.scene);
    painter.setPen(QPen(colours.text, 1));
    painter.drawLine(a, b);
    for (const QPointF& end : {a, b}) {
        painter.drawLine(end - QPointF(5, 0), end + QPointF(5, 0));
        painter.drawLine(end - QPointF(0, 5), end + QPointF(0, 5));
    }
    paintNote(&painter, b, text_, context_.view.rect());
}

QRectF MeasureTool::extent() const {
    if (state_ == State::Idle) return {};
    const QPointF a = context_.view.toView(from_.scene), b = context_.view.toView(to_.scene);
    QRectF area = QRectF(a, b).normalized().adjusted(-6, -6, 6, 6) | paintNote(nullptr, b, text_, context_.view.rect());
    for (const int link : links_)
        area |= viewRect(context_, context_.scene().links()[link].line.boundingRect()).adjusted(-3, -3, 3, 3);
    return area & QRectF(context_.view.rect());
}

QString MeasureTool::hint() const {
    return CanvasView::tr("Drag from one component to another: distance, and hops over links");
}

}  // namespace orrery::ui
