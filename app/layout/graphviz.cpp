#include "app/layout/graphviz.h"

#include <graphviz/gvc.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery::layout {
namespace {

constexpr double perInch = 72;
constexpr int curveSteps = 5;             // of a Bézier piece that is drawn as lines
constexpr std::size_t curvedUpTo = 1500;  // edges: beyond, routing curves takes longer than all the rest

void set(void* object, const char* name, const std::string& value) {
    std::string attribute = name, text = value, none;
    agsafeset(object, attribute.data(), text.data(), none.data());
}

struct Bounds {
    double left = std::numeric_limits<double>::infinity(), top = left, right = -left, bottom = -left;
    void add(double x, double y) {
        left = std::min(left, x), right = std::max(right, x);
        top = std::min(top, y), bottom = std::max(bottom, y);
    }
};

/// Where the line from the centre of a box towards a point leaves it.
std::array<double, 2> border(const std::array<double, 2>& centre, const Request::Node& box, double x, double y) {
    const double dx = x - centre[0], dy = y - centre[1];
    const double share = std::max(std::abs(dx) / (box.width / 2), std::abs(dy) / (box.height / 2));
    if (share <= 0) return {centre[0], centre[1] + box.height / 2};
    return {centre[0] + dx / share, centre[1] + dy / share};
}

void addCurve(std::vector<double>& points, const bezier& curve) {
    const auto add = [&](double x, double y) { points.push_back(x), points.push_back(-y); };
    if (points.empty()) add(curve.list[0].x, curve.list[0].y);
    for (std::size_t i = 0; i + 3 < static_cast<std::size_t>(curve.size); i += 3) {
        const pointf* p = &curve.list[i];
        for (int step = 1; step <= curveSteps; ++step) {
            const double t = double(step) / curveSteps, s = 1 - t;
            const double a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
            add(a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x, a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y);
        }
    }
}

class Drawing {
public:
    explicit Drawing(const Request& request) : request_(request), dot_(request.engine == "dot") {
        std::string name = "g";
        graph_ = agopen(name.data(), Agdirected, nullptr);
        set(graph_, "rankdir", request.leftToRight ? "LR" : "TB");
        set(graph_, "nodesep", "0.33");
        set(graph_, "ranksep", "0.5");
        set(graph_, "overlap", "prism");
        set(graph_, "sep", "+12");
        set(graph_, "splines", request.edges.size() > curvedUpTo ? "polyline" : "true");
        const auto make = [&](int kind, const char* attribute, const char* value) {
            std::string a = attribute, v = value;
            agattr(graph_, kind, a.data(), v.data());
        };
        make(AGNODE, "shape", "box"), make(AGNODE, "label", ""), make(AGNODE, "fixedsize", "true");
        make(AGNODE, "width", "1"), make(AGNODE, "height", "1");
        make(AGEDGE, "dir", "none");
        if (dot_) addFrames();
        for (std::size_t n = 0; n < request.nodes.size(); ++n) {
            const auto& node = request.nodes[n];
            std::string id = "n" + std::to_string(n);
            Agraph_t* around = dot_ && node.frame >= 0 ? frames_[std::size_t(node.frame)] : graph_;
            nodes_.push_back(agnode(around, id.data(), 1));
            set(nodes_.back(), "width", std::to_string(node.width / perInch));
            set(nodes_.back(), "height", std::to_string(node.height / perInch));
        }
        for (const auto& edge : request.edges) {
            edges_.push_back(agedge(graph_, nodes_[std::size_t(edge[0])], nodes_[std::size_t(edge[1])], nullptr, 1));
        }
    }

    Answer answer() const {
        Answer answer;
        Bounds all;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            const double x = ND_coord(nodes_[n]).x, y = -ND_coord(nodes_[n]).y;
            answer.nodes.push_back({x, y});
            all.add(x - request_.nodes[n].width / 2, y - request_.nodes[n].height / 2);
            all.add(x + request_.nodes[n].width / 2, y + request_.nodes[n].height / 2);
        }
        for (std::size_t e = 0; e < edges_.size(); ++e) {
            std::vector<double> points;
            if (const splines* route = ED_spl(edges_[e]); route != nullptr) {
                for (int i = 0; i < static_cast<int>(route->size); ++i) addCurve(points, route->list[i]);
            }
            finish(points, request_.edges[e], answer);
            for (std::size_t p = 0; p + 1 < points.size(); p += 2) all.add(points[p], points[p + 1]);
            answer.edges.push_back(std::move(points));
        }
        addBoxes(answer, all);
        const auto shift = [&](double& x, double& y) { x -= all.left, y -= all.top; };
        for (auto& node : answer.nodes) shift(node[0], node[1]);
        for (auto& points : answer.edges) {
            for (std::size_t p = 0; p + 1 < points.size(); p += 2) shift(points[p], points[p + 1]);
        }
        for (auto& box : answer.frames) {
            if (box) shift(box->left, box->top);
        }
        if (!answer.nodes.empty()) answer.width = all.right - all.left, answer.height = all.bottom - all.top;
        return answer;
    }

    Agraph_t* graph() const { return graph_; }

private:
    void addFrames() {
        for (std::size_t f = 0; f < request_.frames.size(); ++f) {
            const auto& frame = request_.frames[f];
            std::string id = "cluster" + std::to_string(f);
            Agraph_t* around = frame.parent >= 0 ? frames_[std::size_t(frame.parent)] : graph_;
            frames_.push_back(agsubg(around, id.data(), 1));
            set(frames_.back(), "margin", "12");
            // An empty table keeps the room of the title, without asking for a font.
            const std::string table = "<TABLE BORDER=\"0\" FIXEDSIZE=\"TRUE\" WIDTH=\"" +
                                      std::to_string(std::max(1, int(frame.width) - 24)) + "\" HEIGHT=\"" +
                                      std::to_string(std::max(1, int(request_.titleHeight) - 8)) +
                                      "\"><TR><TD></TD></TR></TABLE>";
            std::string text = table, label = "label", none;
            char* html = agstrdup_html(graph_, text.data());
            agsafeset(frames_.back(), label.data(), html, none.data());
            agstrfree(graph_, html);
        }
    }

    /// Ends at the borders, which clipping misses by a little; a straight line where there is no route.
    void finish(std::vector<double>& points, const std::array<std::int32_t, 2>& edge, const Answer& answer) const {
        const auto from = std::size_t(edge[0]), to = std::size_t(edge[1]);
        if (points.size() >= 4) return;
        const auto a = border(answer.nodes[from], request_.nodes[from], answer.nodes[to][0], answer.nodes[to][1]);
        const auto b = border(answer.nodes[to], request_.nodes[to], answer.nodes[from][0], answer.nodes[from][1]);
        points = {a[0], a[1], b[0], b[1]};
    }

    void addBoxes(Answer& answer, Bounds& all) const {
        std::vector<Bounds> around(request_.frames.size());
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            for (std::int32_t f = request_.nodes[n].frame; f >= 0; f = request_.frames[std::size_t(f)].parent) {
                const auto& node = request_.nodes[n];
                around[std::size_t(f)].add(answer.nodes[n][0] - node.width / 2, answer.nodes[n][1] - node.height / 2);
                around[std::size_t(f)].add(answer.nodes[n][0] + node.width / 2, answer.nodes[n][1] + node.height / 2);
            }
        }
        answer.frames.resize(request_.frames.size());
        for (std::size_t f = 0; f < request_.frames.size(); ++f) {
            if (!(around[f].left <= around[f].right)) continue;  // nothing in it
            if (dot_) {
                const boxf box = GD_bb(frames_[f]);
                around[f] = {box.LL.x, -box.UR.y, box.UR.x, -box.LL.y};
            }
            const Bounds& b = around[f];
            answer.frames[f] = Answer::Box{b.left, b.top, b.right - b.left, b.bottom - b.top};
            all.add(b.left, b.top), all.add(b.right, b.bottom);
        }
    }

    const Request& request_;
    bool dot_;
    Agraph_t* graph_ = nullptr;
    std::vector<Agraph_t*> frames_;
    std::vector<Agnode_t*> nodes_;
    std::vector<Agedge_t*> edges_;
};

}  // namespace

std::optional<Answer> layOut(const Request& request) {
    if (request.nodes.empty()) {
        Answer nothing;
        nothing.frames.resize(request.frames.size());
        return nothing;
    }
    GVC_t* context = gvContext();
    std::string program = request.engine, verbose = "-v";
    char* arguments[] = {program.data(), verbose.data(), nullptr};
    gvParseArgs(context, 2, arguments);
    const Drawing drawing(request);
    if (gvLayout(context, drawing.graph(), request.engine.c_str()) != 0) return std::nullopt;
    return drawing.answer();  // the process ends: nothing is freed
}

}  // namespace orrery::layout
