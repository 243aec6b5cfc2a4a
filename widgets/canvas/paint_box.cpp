#include "hardware/walk.h"
#include "widgets/canvas/natural_size.h"
#include "widgets/canvas/paint_parts.h"
#include "widgets/canvas/paint_text.h"
#include "widgets/common/glyphs.h"
#include "widgets/common/text.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {
namespace {

constexpr double captionSize = 13;
constexpr double numberSize = 11;
constexpr double largestCaption = 19;
constexpr double largestSummary = 26;

const SceneNode& nodeOf(const PaintState& state, int node) {
    return state.scene.nodes()[static_cast<std::size_t>(node)];
}

double radius(const PaintState& state, ComponentKind kind) {
    const double scene = kind == ComponentKind::Link                                    ? 12
                         : kind == ComponentKind::Die || kind == ComponentKind::Package ? 6
                                                                                        : 4;
    return std::min(scene * state.zoom, 12.0);
}

// Copies look like a stack of cards behind the first.
void paintStack(const PaintState& state, const Component& component, const QRectF& box, const BoxLook& look) {
    if (component.count <= 1 || box.width() < 12) return;
    const double step = std::clamp(4 * state.zoom, 1.5, 5.0);
    state.painter.setPen(QPen(look.border, 1));
    state.painter.setBrush(look.fill);
    const double round = radius(state, component.kind);
    for (int card = component.count > 2 ? 2 : 1; card > 0; --card)
        state.painter.drawRoundedRect(box.translated(card * step, card * step), round, round);
}

void paintShape(const PaintState& state, const Component& component, const QRectF& box, const BoxLook& look) {
    if (box.width() < 7 || box.height() < 7) {
        state.painter.fillRect(box, mixed(look.fill, look.hue, 0.35));
        return;
    }
    paintStack(state, component, box, look);
    // Lines stand on pixels, so that they are sharp.
    const QRectF sharp(QPointF(std::round(box.left()) + 0.5, std::round(box.top()) + 0.5),
                       QPointF(std::round(box.right()) - 0.5, std::round(box.bottom()) - 0.5));
    state.painter.setPen(QPen(look.border, 1));
    state.painter.setBrush(look.fill);
    const double round = radius(state, component.kind);
    state.painter.drawRoundedRect(sharp, round, round);
}

// Copies as a pill at the right end of a caption. Returns the room it took.
double paintCopies(const PaintState& state, const Component& component, const QRectF& line, double pixels,
                   const BoxLook& look) {
    const QString copies = copiesText(component);
    if (copies.isEmpty() || pixels < leastText) return 0;
    const double width = textWidth(copies, pixels, true) + pixels * 0.8;
    if (width > line.width() * 0.6) return 0;
    const QRectF pill(line.right() - width, line.center().y() - pixels * 0.72, width, pixels * 1.44);
    state.painter.setPen(Qt::NoPen);
    state.painter.setBrush(mixed(look.fill, look.hue, 0.22));
    state.painter.drawRoundedRect(pill, pill.height() / 2, pill.height() / 2);
    paintLine(state.painter, pill, copies, pixels, true, Theme::instance().colours().text, Qt::AlignHCenter);
    return width + pixels * 0.4;
}

// Glyph, name and copies on one line. Returns what is left of it, to the right of the name.
QRectF paintCaption(const PaintState& state, const Component& component, const QRectF& line, double pixels,
                    const BoxLook& look) {
    if (pixels < leastText || line.height() < pixels || line.width() < pixels * 2) return {};
    const QString name = qs(nameOf(component));
    const double glyphSide = std::round(pixels * 1.15);
    const double pillWidth =
        copiesText(component).isEmpty() ? 0 : textWidth(copiesText(component), pixels * 0.88, true) + pixels * 1.2;
    QRectF rest = line;
    const bool hasGlyph =
        line.width() > glyphSide + pixels * 0.5 + std::min(textWidth(name, pixels, true), pixels * 4) + pillWidth;
    if (hasGlyph) {
        paintGlyph(state.painter, component.kind,
                   QRectF(std::round(line.left()), std::round(line.center().y() - glyphSide / 2), glyphSide, glyphSide),
                   look.hue);
        rest.setLeft(rest.left() + glyphSide + pixels * 0.45);
    }
    rest.setRight(rest.right() - paintCopies(state, component, rest, std::max(leastText, pixels * 0.88), look));
    const double width = paintLine(state.painter, rest, name, pixels, true, Theme::instance().colours().text);
    rest.setLeft(rest.left() + width + pixels);
    return rest;
}

double captionPixels(const PaintState& state, double room) {
    const double scale = Theme::instance().scale();
    const double wanted = std::clamp(captionSize * scale * state.zoom, leastText * scale, largestCaption * scale);
    return std::floor(std::min(wanted, room / 1.25));
}

}  // namespace

QColor mixed(const QColor& a, const QColor& b, double share) {
    return QColor::fromRgbF(static_cast<float>(a.redF() + (b.redF() - a.redF()) * share),
                            static_cast<float>(a.greenF() + (b.greenF() - a.greenF()) * share),
                            static_cast<float>(a.blueF() + (b.blueF() - a.blueF()) * share));
}

BoxLook lookOf(const PaintState& state, int node, bool open) {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const SceneNode& shown = nodeOf(state, node);
    BoxLook look;
    look.hue = theme.kindColour(shown.component->kind);
    if (open) {
        look.fill = shown.depth == 0 ? colours.surface : shown.depth % 2 ? colours.raised : colours.surface;
        look.border = mixed(colours.line, look.hue, shown.depth == 0 ? 0 : 0.35);
    } else {
        look.fill = mixed(colours.surface, look.hue, theme.mode() == Mode::Dark ? 0.16 : 0.09);
        look.border = mixed(colours.line, look.hue, 0.55);
    }
    look.selected = state.selected.contains(node);
    look.hovered = !state.options.forExport && state.options.hovered == node;
    if (look.hovered && !look.selected) look.border = mixed(look.border, colours.accent, 0.6);
    return look;
}

void paintCard(const PaintState& state, int node, const QRectF& box) {
    const Component& component = *nodeOf(state, node).component;
    const BoxLook look = lookOf(state, node, false);
    paintShape(state, component, box, look);
    const double zoom = state.zoom;
    const double padding = std::clamp(8 * zoom, 3.0, 12.0);
    const QRectF inside = box.adjusted(padding, std::min(padding, 3 * zoom), -padding, -std::min(padding, 3 * zoom));
    if (inside.width() < 2 * leastText || inside.height() < leastText + 1) return;
    if (component.kind == ComponentKind::Topology) {
        paintTopology(state, node, box);
        return;
    }
    const QSizeF grid = gridSize(component);
    const bool closed = !partsIn(component).empty();
    if (!grid.isEmpty() && !closed) paintArrayGrid(state, node);
    const QStringList lines = summaryLines(state.scene, state.facts, node);
    // A leaf at its natural size writes at the size of the drawing; what is closed uses the room that it has.
    double pixels = captionPixels(state, inside.height());
    if (closed && grid.isEmpty()) {
        const double widest = std::max(textWidth(qs(nameOf(component)), 10, true) / 10 + 1.6, 4.0);
        const double byWidth = inside.width() / (widest + 2.5);
        const double byHeight = inside.height() / (1.5 * (1 + std::min<double>(2, static_cast<double>(lines.size()))));
        pixels = std::floor(std::clamp(std::min(byWidth, byHeight), pixels, largestSummary));
    }
    const double step = std::round(pixels * 1.5);
    const double numberPixels = std::floor(std::max(leastText, pixels * numberSize / captionSize));
    const double numberStep = std::round(numberPixels * 1.45);
    double room = inside.height() - step;
    if (!grid.isEmpty()) room = std::min(room, numberStep);
    auto shown = static_cast<qsizetype>(std::max(0.0, std::floor((room + 1) / numberStep)));
    shown = std::min(shown, lines.size());
    const double used = step + static_cast<double>(shown) * numberStep;
    double y = inside.top();
    if (closed && grid.isEmpty()) y += std::max(0.0, (inside.height() - used) / 2);
    if (!closed && grid.isEmpty() && inside.height() < step * 1.6) y = inside.center().y() - step / 2;
    paintCaption(state, component, QRectF(inside.left(), y, inside.width(), step), pixels, look);
    y += step;
    if (!grid.isEmpty()) y = inside.bottom() - numberStep;
    // Short of lines, numbers share them.
    QStringList written = lines.mid(0, shown);
    if (shown > 0 && shown < lines.size() && shown <= 2) {
        for (qsizetype next = shown; next < lines.size(); ++next) {
            const QString joined = written.last() + QStringLiteral(" · ") + lines[next];
            if (textWidth(joined, numberPixels, false) > inside.width()) break;
            written.last() = joined;
        }
    }
    const QColor ink = mixed(Theme::instance().colours().text, Theme::instance().colours().mutedText, 0.8);
    for (const QString& line : written) {
        paintLine(state.painter, QRectF(inside.left(), y, inside.width(), numberStep), line, numberPixels, false, ink);
        y += numberStep;
    }
}

void paintFrame(const PaintState& state, int node, const QRectF& box) {
    const SceneNode& shown = nodeOf(state, node);
    const Component& component = *shown.component;
    const BoxLook look = lookOf(state, node, true);
    paintShape(state, component, box, look);
    if (shown.depth == 0 && state.options.grid && !state.options.forExport) paintGridDots(state);
    // Nothing stands between the border and the contents: the caption may use a part of their margin.
    const double room = std::floor((shown.origin.y() - shown.box.top()) * state.zoom - 3);
    const double height = std::min(room, std::max((headerHeight + 6) * state.zoom, leastText * 1.4));
    const double pixels = captionPixels(state, height);
    const double padding = std::clamp(10 * state.zoom, 4.0, 14.0);
    const QRectF line(box.left() + padding, box.top() + 2, box.width() - 2 * padding, height);
    const QRectF rest = paintCaption(state, component, line, pixels, look);
    if (rest.width() < 60 || pixels < leastText) return;
    const double numberPixels = std::floor(std::max(leastText, pixels * numberSize / captionSize));
    // The numbers that fit, whole ones only.
    QStringList numbers;
    if (const QStringList* device = state.facts.device(node)) numbers = *device;
    for (const QString& number : numbersOf(component)) {
        if (!numbers.contains(number)) numbers << number;
    }
    QString text;
    for (const QString& number : numbers) {
        const QString longer = text.isEmpty() ? number : text + QStringLiteral(" · ") + number;
        if (textWidth(longer, numberPixels, false) > rest.width()) break;
        text = longer;
    }
    paintLine(state.painter, rest, text, numberPixels, false, Theme::instance().colours().mutedText);
}

void paintTiles(const PaintState& state, int node) {
    std::vector<int> children;
    state.scene.childrenWithin(node, state.exposed, children);
    std::array<QList<QRectF>, componentKindCount> byKind;
    for (const int child : children) {
        if (state.leftOut.contains(child)) continue;
        const SceneNode& shown = nodeOf(state, child);
        byKind[static_cast<std::size_t>(shown.component->kind)].push_back(state.toDevice(shown.box));
    }
    const Palette& colours = Theme::instance().colours();
    state.painter.setRenderHint(QPainter::Antialiasing, false);
    state.painter.setPen(Qt::NoPen);
    for (std::size_t kind = 0; kind < byKind.size(); ++kind) {
        if (byKind[kind].isEmpty()) continue;
        state.painter.setBrush(
            mixed(colours.surface, Theme::instance().kindColour(static_cast<ComponentKind>(kind)), 0.5));
        state.painter.drawRects(byKind[kind].constData(), static_cast<int>(byKind[kind].size()));
    }
    state.painter.setRenderHint(QPainter::Antialiasing, true);
    for (const int child : children) {
        if (state.selected.contains(child) || state.loads.contains(child) || state.heat.contains(child) ||
            state.marks.contains(child) || state.options.hovered == child || nodeOf(state, child).worst >= 0)
            paintOverlay(state, child, state.toDevice(nodeOf(state, child).box));
    }
}

void paintOverlay(const PaintState& state, int node, const QRectF& box) {
    const Palette& colours = Theme::instance().colours();
    QPainter& painter = state.painter;
    const double round = std::min(4 * state.zoom, 10.0);
    if (const auto load = state.loads.find(node); load != state.loads.end() && box.width() > 10) {
        const NodeLoad& shown = *load->second;
        const double height = std::clamp(4 * state.zoom, 2.0, 6.0);
        const QRectF track(box.left() + 2, box.bottom() - height - 2, box.width() - 4, height);
        painter.setPen(Qt::NoPen);
        painter.setBrush(mixed(colours.surface, shown.colour, 0.25));
        painter.drawRoundedRect(track, height / 2, height / 2);
        painter.setBrush(shown.colour);
        painter.drawRoundedRect(
            QRectF(track.topLeft(),
                   QSizeF(std::max(height, track.width() * std::clamp(shown.share, 0.0, 1.0)), height)),
            height / 2, height / 2);
        // On a tab at the top border, where no caption stands.
        const double pixels = std::clamp(numberSize * state.zoom, leastText, 13.0);
        const double width = textWidth(shown.text, pixels, true) + pixels;
        if (!shown.text.isEmpty() && width < box.width() && box.height() > 2.5 * pixels) {
            const QRectF tab(box.right() - width - 4, track.top() - pixels * 1.5 - 2, width, pixels * 1.5);
            painter.setBrush(shown.colour);
            painter.drawRoundedRect(tab, 3, 3);
            paintLine(painter, tab, shown.text, pixels, true, Theme::instance().inkOn(shown.colour), Qt::AlignHCenter);
        }
    }
    if (const auto heat = state.heat.find(node); heat != state.heat.end() && box.width() > 10) {
        const QColor hue = Theme::instance().heat(heat->second->heat);
        const double thick = std::clamp(4 * state.zoom, 2.0, 5.0);
        painter.setBrush(Qt::NoBrush);
        // One end of the colours is near the surface, in light or in dark: a thin line holds it together.
        const QPen rim(mixed(colours.surface, colours.text, 0.45), 1);
        painter.setPen(QPen(hue, thick));
        painter.drawRoundedRect(box.adjusted(thick / 2, thick / 2, -thick / 2, -thick / 2), round, round);
        painter.setPen(rim);
        painter.drawRoundedRect(box, round, round);
        const double pixels = std::clamp(numberSize * state.zoom, leastText, 13.0);
        const double width = textWidth(heat->second->text, pixels, true) + pixels;
        if (width < box.width() && box.height() > 2 * pixels) {
            const QRectF tab(box.right() - width - thick - 2, box.top() + thick + 2, width, pixels * 1.5);
            painter.setPen(rim);
            painter.setBrush(hue);
            painter.drawRoundedRect(tab, 3, 3);
            paintLine(painter, tab, heat->second->text, pixels, true, Theme::instance().inkOn(hue), Qt::AlignHCenter);
        }
    }
    painter.setBrush(Qt::NoBrush);
    if (const auto mark = state.marks.find(node); mark != state.marks.end()) {
        painter.setPen(QPen(mark->second->colour, 2, Qt::DashLine));
        painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), round + 2, round + 2);
    }
    if (state.options.forExport) return;
    if (state.selected.contains(node)) {
        QColor veil = colours.accent;
        veil.setAlphaF(0.06f);
        painter.setPen(QPen(colours.accent, 2));
        painter.setBrush(veil);
        painter.drawRoundedRect(box.adjusted(-1, -1, 1, 1), round + 1, round + 1);
    } else if (state.options.hovered == node && box.width() >= 4) {
        QColor line = colours.accent;
        line.setAlphaF(0.6f);
        painter.setPen(QPen(line, 1.5));
        painter.drawRoundedRect(box, round, round);
    }
    const int worst = nodeOf(state, node).worst;
    if (state.options.problems && worst >= static_cast<int>(Severity::Warning) && box.width() >= 12) {
        const double side = std::clamp(16 * state.zoom, 10.0, 18.0);
        const QRectF badge(box.right() - side * 0.6, box.top() - side * 0.4, side, side);
        painter.setPen(Qt::NoPen);
        painter.setBrush(colours.surface);
        painter.drawEllipse(badge.center(), side * 0.42, side * 0.42);
        paintSeverity(painter, static_cast<Severity>(worst), badge);
    }
}

void paintGridDots(const PaintState& state) {
    double step = gridStep * state.zoom;
    if (step <= 0) return;
    double units = gridStep;
    while (step < 14) {
        step *= 2;
        units *= 2;
    }
    const SceneNode& root = nodeOf(state, 0);
    const QRectF area = state.options.exposed.intersected(root.box);
    QList<QPointF> dots;
    const QPointF first(root.origin.x() + std::ceil((area.left() - root.origin.x()) / units) * units,
                        root.origin.y() + std::ceil((area.top() - root.origin.y()) / units) * units);
    for (double y = first.y(); y < area.bottom(); y += units) {
        for (double x = first.x(); x < area.right(); x += units) {
            const QPointF at = state.toDevice(QPointF(x, y));
            dots.push_back({std::floor(at.x()) + 0.5, std::floor(at.y()) + 0.5});
        }
    }
    state.painter.setRenderHint(QPainter::Antialiasing, false);
    state.painter.setPen(QPen(Theme::instance().colours().faintLine, 1));
    state.painter.drawPoints(dots.constData(), static_cast<int>(dots.size()));
    state.painter.setRenderHint(QPainter::Antialiasing, true);
}

}  // namespace orrery::ui
