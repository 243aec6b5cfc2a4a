#include "widgets/graph/graph_paint.h"

#include "widgets/common/theme.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double radius = 6;
constexpr double readable = 0.45;  // zoom from which words are drawn
constexpr double boxes = 0.12;     // zoom from which boxes have borders and arrows have heads

std::size_t at(std::int32_t index) {
    return static_cast<std::size_t>(index);
}

template <class T>
T of(const std::vector<T>& values, std::int32_t node, T otherwise) {
    return at(node) < values.size() ? values[at(node)] : otherwise;
}

QColor mixed(const QColor& a, const QColor& b, double share) {
    const auto mix = [share](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

struct Fonts {
    QFont title = graphFont(13, true), name = graphFont(11), shape = graphFont(11, false, true);
};

class Painter {
public:
    Painter(QPainter& painter, const GraphScene& scene, const GraphLook& look)
        : p_(painter), scene_(scene), look_(look), colours_(Theme::instance().colours()) {}

    void frames() {
        for (std::size_t f = 0; f < scene_.frames.size(); ++f) {
            const GraphScene::Frame& frame = scene_.frames[f];
            if (!frame.box.intersects(look_.area)) continue;
            const bool hot = static_cast<std::int32_t>(f) == look_.hoveredFrame;
            p_.setPen(QPen(hot ? colours_.accent : colours_.line, hairline()));
            p_.setBrush(mixed(colours_.surface, colours_.window, frame.depth % 2 == 0 ? 0.75 : 0.0));
            if (look_.zoom < boxes)
                p_.drawRect(frame.box);
            else
                p_.drawRoundedRect(frame.box, 8, 8);
            if (look_.zoom >= readable) caption(frame, hot);
        }
    }

    void edges() {
        const bool crowd = look_.zoom < boxes;
        p_.setBrush(Qt::NoBrush);
        p_.setOpacity(look_.progress);
        p_.setRenderHint(QPainter::Antialiasing, !crowd);
        std::vector<std::int32_t> strong;
        const QPen plain(mixed(colours_.surface, colours_.mutedText, crowd ? 0.35 : 0.6), std::max(1.2, hairline()));
        p_.setPen(plain);
        for (const std::int32_t e : scene_.edgesIn(look_.area)) {
            const GraphScene::Edge& edge = scene_.edges[at(e)];
            const bool ends = of<char>(look_.selected, edge.from, 0) || of<char>(look_.selected, edge.to, 0) ||
                              (look_.hovered >= 0 && (edge.from == look_.hovered || edge.to == look_.hovered));
            if (e == look_.hoveredEdge || (ends && !crowd)) {
                strong.push_back(e);
                continue;
            }
            p_.setOpacity(look_.progress *
                          (of<char>(look_.dimmed, edge.from, 0) && of<char>(look_.dimmed, edge.to, 0) ? 0.35 : 1));
            draw(edge, plain.color());
        }
        p_.setOpacity(look_.progress);
        for (const std::int32_t e : strong) {
            p_.setPen(QPen(colours_.accent, std::max(2.0, 1.5 * hairline())));
            p_.setBrush(Qt::NoBrush);
            draw(scene_.edges[at(e)], colours_.accent);
        }
        p_.setOpacity(1);
    }

    void nodes() {
        const bool crowd = look_.zoom < boxes;
        p_.setRenderHint(QPainter::Antialiasing, !crowd);
        // Gliding nodes may come from outside of the area that the index knows.
        const bool gliding = look_.from && look_.progress < 1;
        std::vector<std::int32_t> shown;
        if (gliding && scene_.nodes.size() <= 3000) {
            for (std::size_t n = 0; n < scene_.nodes.size(); ++n) shown.push_back(static_cast<std::int32_t>(n));
        } else {
            shown = scene_.nodesIn(look_.area.adjusted(-8, -8, 8, 8));
        }
        for (const std::int32_t n : shown) {
            const GraphScene::Node& node = scene_.nodes[at(n)];
            const QRectF box = look_.boxOf(node);
            if (!box.intersects(look_.area)) continue;
            p_.setOpacity(of<char>(look_.dimmed, n, 0) ? 0.28 : 1);
            if (crowd)
                bar(n, node, box);
            else
                card(n, node, box);
        }
        p_.setOpacity(1);
        for (const std::int32_t n : shown) outline(n, look_.boxOf(scene_.nodes[at(n)]));
    }

private:
    QString valueOf(std::int32_t n) const { return look_.value ? look_.value(n) : QString(); }
    double hairline() const { return 1 / look_.zoom; }

    QColor colourOf(const GraphScene::Node& node) const {
        return node.kind == GraphScene::NodeKind::Terminal ? colours_.mutedText
                                                           : Theme::instance().operatorColour(node.family);
    }

    void draw(const GraphScene::Edge& edge, const QColor& colour) {
        if (look_.zoom < boxes) {
            p_.drawPolyline(edge.line);
            return;
        }
        p_.drawPath(edge.path);
        const qsizetype last = edge.line.size() - 1;
        if (last < 1) return;
        // Along the end of the path, whose last control point says where it comes from.
        const QPointF tip = edge.line[last];
        const QPainterPath::Element before = edge.path.elementAt(edge.path.elementCount() - 2);
        QLineF along(tip, QPointF(before.x, before.y));
        if (along.length() < 1) along = QLineF(tip, edge.line[last - 1]);
        if (along.length() < 0.1) return;
        const QPointF back = (along.p2() - along.p1()) / along.length() * 8;
        const QPointF side(-back.y() * 0.45, back.x() * 0.45);
        const QPen pen = p_.pen();
        p_.setPen(Qt::NoPen);
        p_.setBrush(colour);
        p_.drawPolygon(QPolygonF{tip, tip + back + side, tip + back - side});
        p_.setPen(pen);
        p_.setBrush(Qt::NoBrush);
    }

    void caption(const GraphScene::Frame& frame, bool hot) {
        const QRectF bar = scene_.caption(frame);
        const QRectF sign(bar.left() + 8, bar.top() + 6, 12, 12);
        p_.setPen(QPen(hot ? colours_.accent : colours_.mutedText, 1.2));
        p_.setBrush(Qt::NoBrush);
        p_.drawRoundedRect(sign, 2, 2);
        p_.drawLine(sign.center() - QPointF(3, 0), sign.center() + QPointF(3, 0));
        p_.setFont(fonts_.name);
        p_.setPen(hot ? colours_.accent : colours_.mutedText);
        const QRectF room = bar.adjusted(26, 0, -8, 0);
        p_.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, elided(fonts_.name, frame.caption, room.width()));
    }

    QString elided(const QFont& font, const QString& text, double width) {
        return QFontMetricsF(font).elidedText(text, Qt::ElideMiddle, std::max(width, 0.0));
    }

    void bar(std::int32_t n, const GraphScene::Node& node, const QRectF& box) {
        const QColor heat = of(look_.fill, n, QColor());
        QRectF shown = box;
        const double least = 1.2 * hairline();
        if (shown.height() < least) shown.setHeight(least);
        p_.fillRect(shown, heat.isValid() ? heat : colourOf(node));
    }

    void card(std::int32_t n, const GraphScene::Node& node, const QRectF& box) {
        const QColor heat = of(look_.fill, n, QColor());
        const bool heated = heat.isValid();
        const QColor paper = heated                                        ? heat
                             : node.kind == GraphScene::NodeKind::Terminal ? colours_.raised
                                                                           : colours_.surface;
        const QColor border = n == look_.hovered ? colours_.accent
                              : heated           ? mixed(heat, colours_.text, 0.25)
                                                 : colours_.line;
        const double corner = node.compact ? box.height() / 2 : radius;
        p_.setPen(QPen(border, std::max(1.0, hairline())));
        if (node.stacked) {
            p_.setBrush(mixed(paper, colours_.window, 0.4));
            p_.drawRoundedRect(box.translated(5, 5), corner, corner);
            p_.drawRoundedRect(box.translated(2.5, 2.5), corner, corner);
        }
        p_.setBrush(paper);
        p_.drawRoundedRect(box, corner, corner);
        const bool words = look_.zoom >= readable;
        if (!heated) {
            p_.setPen(Qt::NoPen);
            p_.setBrush(colourOf(node));
            if (!words && node.kind != GraphScene::NodeKind::Terminal)
                p_.drawRoundedRect(box.adjusted(3, 3, -3, -3), corner, corner);
            else if (node.compact)
                p_.drawEllipse(QPointF(box.left() + 11, box.center().y()), 3, 3);
            else
                p_.drawRoundedRect(QRectF(box.left() + 4, box.top() + 6, 4, box.height() - 12), 2, 2);
        }
        if (!words) return headline(node, box, heated ? heat : colourOf(node));
        const QColor ink = heated ? Theme::instance().inkOn(heat) : colours_.text;
        const QColor soft = heated ? ink : colours_.mutedText;
        if (node.compact)
            line(n, node, box, ink, soft);
        else
            lines(n, node, box, ink, soft);
        if (node.kind == GraphScene::NodeKind::Group) group(node, box, ink, heated);
    }

    /// From afar only the title, as large as can be read.
    void headline(const GraphScene::Node& node, const QRectF& box, const QColor& paper) {
        const double size = 10 / look_.zoom;
        if (node.compact || size > box.height() * 0.75) return;
        QFont font = fonts_.title;
        font.setPixelSize(static_cast<int>(size));
        p_.setFont(font);
        p_.setPen(Theme::instance().inkOn(paper));
        p_.drawText(box, Qt::AlignCenter, elided(font, node.title, box.width() - 10));
    }

    /// One line: a view, or an input or output of the graph.
    void line(std::int32_t n, const GraphScene::Node& node, const QRectF& box, const QColor& ink, const QColor& soft) {
        QRectF room = box.adjusted(19, 0, -10, 0);
        p_.setFont(fonts_.name);
        p_.setPen(node.kind == GraphScene::NodeKind::Terminal ? ink : soft);
        const QString text = node.third.isEmpty() ? valueOf(n) : node.third;
        const double shape = text.isEmpty() ? 0 : QFontMetricsF(fonts_.shape).horizontalAdvance(text) + 8;
        p_.drawText(room, Qt::AlignLeft | Qt::AlignVCenter, elided(fonts_.name, node.title, room.width() - shape));
        p_.setFont(fonts_.shape);
        p_.setPen(soft);
        p_.drawText(room, Qt::AlignRight | Qt::AlignVCenter, elided(fonts_.shape, text, room.width()));
    }

    void lines(std::int32_t n, const GraphScene::Node& node, const QRectF& box, const QColor& ink, const QColor& soft) {
        const QRectF room = box.adjusted(14, 7, -10, -6);
        const bool isGroup = node.kind == GraphScene::NodeKind::Group;
        const QString value = valueOf(n);
        p_.setFont(fonts_.name);
        double used = isGroup ? 20 : 0;
        if (!value.isEmpty()) {
            p_.setPen(ink);
            const QRectF place = isGroup ? room.adjusted(0, 17, 0, 0) : room;
            p_.drawText(QRectF(place.topLeft(), QSizeF(place.width(), 16)), Qt::AlignRight | Qt::AlignVCenter, value);
            if (!isGroup) used = QFontMetricsF(fonts_.name).horizontalAdvance(value) + 8;
        }
        p_.setFont(fonts_.title);
        p_.setPen(ink);
        p_.drawText(QRectF(room.topLeft(), QSizeF(room.width(), 17)), Qt::AlignLeft | Qt::AlignVCenter,
                    elided(fonts_.title, node.title, room.width() - used));
        p_.setFont(fonts_.name);
        p_.setPen(soft);
        p_.drawText(QRectF(room.left(), room.top() + 17, room.width(), 16), Qt::AlignLeft | Qt::AlignVCenter,
                    elided(fonts_.name, node.second, room.width() - (isGroup ? 50 : 0)));
        if (node.third.isEmpty()) return;
        p_.setFont(fonts_.shape);
        p_.drawText(QRectF(room.left(), room.top() + 33, room.width(), 16), Qt::AlignLeft | Qt::AlignVCenter,
                    elided(fonts_.shape, node.third, room.width()));
    }

    void group(const GraphScene::Node& node, const QRectF& box, const QColor& ink, bool heated) {
        const QRectF sign(box.right() - 22, box.top() + 10, 12, 12);
        p_.setPen(QPen(ink, 1.2));
        p_.setBrush(Qt::NoBrush);
        p_.drawRoundedRect(sign, 2, 2);
        p_.drawLine(sign.center() - QPointF(3, 0), sign.center() + QPointF(3, 0));
        p_.drawLine(sign.center() - QPointF(0, 3), sign.center() + QPointF(0, 3));
        // What is inside, by kind.
        const QRectF strip(box.left() + 14, box.bottom() - 14, box.width() - 24, 5);
        double left = strip.left();
        p_.setPen(Qt::NoPen);
        for (const auto& [kind, share] : node.mix) {
            const double width = strip.width() * double(share);
            p_.setBrush(heated ? ink : Theme::instance().operatorColour(kind));
            p_.drawRect(QRectF(left, strip.top(), std::max(width - 1, 0.5), strip.height()));
            left += width;
        }
    }

    void outline(std::int32_t n, const QRectF& box) {
        const bool selected = of<char>(look_.selected, n, 0), matched = of<char>(look_.matched, n, 0);
        const bool current = n == look_.current, found = n == look_.match;
        if (!selected && !matched && !current && !found) return;
        const double width = std::max(2.0, 2 * hairline());
        p_.setBrush(Qt::NoBrush);
        const double corner = scene_.nodes[at(n)].compact ? box.height() / 2 + 2 : radius + 2;
        if (matched || found) {
            p_.setPen(QPen(colours_.warning, found ? width * 2 : width, found ? Qt::SolidLine : Qt::DashLine));
            p_.drawRoundedRect(box.adjusted(-5, -5, 5, 5), corner + 2, corner + 2);
        }
        if (selected) {
            p_.setPen(QPen(colours_.accent, width));
            p_.drawRoundedRect(box.adjusted(-2, -2, 2, 2), corner, corner);
        } else if (current) {
            p_.setPen(QPen(colours_.accent, width / 2, Qt::DotLine));
            p_.drawRoundedRect(box.adjusted(-3, -3, 3, 3), corner, corner);
        }
    }

    QPainter& p_;
    const GraphScene& scene_;
    const GraphLook& look_;
    const Palette& colours_;
    Fonts fonts_;
};

}  // namespace

QFont graphFont(int pixels, bool bold, bool mono) {
    QFont font = Theme::instance().font(mono ? FontRole::Mono : FontRole::Body);
    font.setPixelSize(pixels);
    if (bold) font.setWeight(QFont::DemiBold);
    return font;
}

TextWidths graphTextWidths() {
    TextWidths widths;
    const QFontMetricsF title(graphFont(13, true)), name(graphFont(11)), shape(graphFont(11, false, true));
    for (std::size_t i = 0; i < 256; ++i) {
        const QChar letter(static_cast<char16_t>(i));
        widths.title[i] = static_cast<float>(title.horizontalAdvance(letter));
        widths.name[i] = static_cast<float>(name.horizontalAdvance(letter));
        widths.shape[i] = static_cast<float>(shape.horizontalAdvance(letter));
    }
    return widths;
}

QRectF GraphLook::boxOf(const GraphScene::Node& node) const {
    if (!from || progress >= 1) return node.box;
    const auto found = from->find(node.key());
    if (found == from->end()) return node.box;
    const QPointF start = found->second.center();
    QRectF box = node.box;
    box.moveCenter(start + (node.box.center() - start) * progress);
    return box;
}

void paintGraph(QPainter& painter, const GraphScene& scene, const GraphLook& look) {
    painter.setRenderHint(QPainter::Antialiasing);
    Painter paint(painter, scene, look);
    paint.frames();
    paint.edges();
    paint.nodes();
}

}  // namespace orrery::ui
