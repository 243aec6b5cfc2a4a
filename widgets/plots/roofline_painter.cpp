#include "widgets/plots/roofline_painter.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/operator_facts.h"

#include <QCoreApplication>

#include <algorithm>
#include <array>
#include <numeric>

namespace orrery::ui {
namespace {

constexpr std::size_t labelledPoints = 4;
constexpr double discShare = 0.8;           // the corners of a disc's box are not covered by the disc
constexpr std::size_t obstaclePoints = 64;  // the largest ones; placing labels stays cheap for thousands

QColor faded(QColor colour, double alpha) {
    colour.setAlphaF(float(alpha));
    return colour;
}

QString tr(const char* text) {
    return QCoreApplication::translate("orrery::ui::RooflinePlot", text);
}

QLineF pixelLine(const RooflineModel& model, const Roof& roof, const LogAxes& axes) {
    const RoofLine line = roofLine(model, roof, {axes.x, axes.y});
    return {axes.toPixel(line.x1, line.y1), axes.toPixel(line.x2, line.y2)};
}

QColor roofColour(const Roof& roof) {
    const Theme& theme = Theme::instance();
    return roof.memory ? theme.levelColour(roof.level) : theme.boundColour({BoundKind::Compute, -1});
}

std::vector<std::size_t> byShare(const RooflineModel& model) {
    std::vector<std::size_t> order(model.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const double x = model.points[a].share, y = model.points[b].share;
        return x != y ? x > y : a < b;
    });
    return order;
}

void paintModelRoofs(QPainter& painter, const RooflineModel& model, const LogAxes& axes, double strength,
                     Qt::PenStyle style) {
    const double top = model.leadingCompute();
    const double main = model.mainMemory();
    for (const Roof& roof : model.roofs) {
        const QLineF line = clipped(pixelLine(model, roof, axes), axes.area);
        if (line.isNull()) continue;
        const bool leading = roof.memory ? roof.rate == main : roof.rate == top;
        painter.setPen(QPen(faded(roofColour(roof), strength * (leading ? 1 : 0.55)),
                            (leading ? 1.8 : 1.1) * Theme::instance().scale(), style));
        painter.drawLine(line);
    }
    if (style != Qt::SolidLine || main <= 0) return;
    // Ridge points: where the outermost memory meets each compute roof.
    for (const Roof& roof : model.roofs) {
        if (roof.memory) continue;
        const QPointF ridge = axes.toPixel(roof.rate / main, roof.rate);
        if (!axes.area.contains(ridge)) continue;
        painter.setPen(QPen(roofColour(roof), 1.4));
        painter.setBrush(Theme::instance().colours().surface);
        painter.drawEllipse(ridge, 3 * Theme::instance().scale(), 3 * Theme::instance().scale());
    }
}

// `attention × 4` for one operator many times, `gate_proj + 27` for a crowd.
QString pointName(const RooflineScene& scene, const RooflinePoint& point) {
    const QString name = scene.name(point.lead);
    const std::size_t count = point.members.size();
    if (count < 2) return name;
    const bool same = count < 512 && std::all_of(point.members.begin(), point.members.end(),
                                                 [&](int op) { return scene.name(op) == name; });
    return same ? QStringLiteral("%1 × %2").arg(name).arg(count) : QStringLiteral("%1 + %2").arg(name).arg(count - 1);
}

// The ridge with its value, and on both sides of it, at the foot of the plot, what limits there.
void nameRidge(const RooflineModel& model, const LogAxes& axes, const QFontMetricsF& metrics, const QRectF& area,
               std::vector<QPolygonF>& taken, Obstacles& obstacles, RooflineLabels& labels) {
    const double ridge = model.ridge();
    if (ridge <= 0) return;
    const Theme& theme = Theme::instance();
    const QPointF corner = axes.toPixel(ridge, model.leadingCompute());
    const auto put = [&](const QString& text, const PlacedLabel& at, const QColor& colour) {
        if (!at.placed) return;
        taken.push_back(at.box);
        labels.texts.push_back({text, at, colour});
    };
    if (area.contains(corner)) {
        const QString text = tr("ridge point %1").arg(ui::text(ridge, Dimension::Intensity));
        const QSizeF size(metrics.horizontalAdvance(text) + 2, metrics.height());
        put(text, placeBeside(corner, 4 * theme.scale(), size, area, taken, obstacles), theme.colours().text);
    }
    constexpr int rows = 6;  // from the foot upwards, where points stand in the way
    const double gap = 6 * theme.scale();
    for (const bool memory : {true, false}) {
        const QString text = memory ? tr("◂ memory-bound") : tr("compute-bound ▸");
        const QSizeF size(metrics.horizontalAdvance(text) + 2, metrics.height());
        const double x = memory ? corner.x() - gap - size.width() : corner.x() + gap;
        for (int row = 0; row < rows; ++row) {
            const QRectF box(QPointF(x, area.bottom() - 1 - (row + 1) * metrics.height()), size);
            const QPolygonF corners({box.topLeft(), box.topRight(), box.bottomRight(), box.bottomLeft()});
            const bool covered =
                std::ranges::any_of(obstacles.discs, [&](const QRectF& disc) { return disc.intersects(box); }) ||
                std::ranges::any_of(taken, [&](const QPolygonF& each) { return overlap(each, corners); });
            if (!area.contains(box) || covered) continue;
            put(text, {true, box.topLeft(), 0, corners},
                memory ? theme.levelColour(0) : theme.boundColour({BoundKind::Compute, -1}));
            break;
        }
    }
}

}  // namespace

bool RooflineScene::isSelected(const RooflinePoint& point) const {
    return !selected.isEmpty() &&
           std::any_of(point.members.begin(), point.members.end(), [this](int op) { return selected.contains(op); });
}

double largestRadius(const QRectF& area) {
    return std::clamp(std::min(area.width(), area.height()) * 0.075, 11.0, 30.0) * Theme::instance().scale();
}

RooflineLabels layOutLabels(const RooflineScene& scene, const LogAxes& axes) {
    const Theme& theme = Theme::instance();
    const QFontMetricsF metrics(theme.font(FontRole::Small));
    const QRectF area = axes.area.adjusted(2, 2, -2, -2);
    RooflineLabels labels;
    Obstacles obstacles;
    const std::vector<std::size_t> order = byShare(scene.now);
    for (std::size_t i = 0; i < std::min(order.size(), obstaclePoints); ++i) {
        const RooflinePoint& point = scene.now.points[order[i]];
        const QPointF at = axes.toPixel(point.intensity, point.attained);
        const double radius = pointRadius(point.share, largestRadius(axes.area)) * discShare;
        obstacles.points.push_back(at);
        if (radius > 5) obstacles.discs.emplace_back(at.x() - radius, at.y() - radius, 2 * radius, 2 * radius);
    }
    // The outermost memory and the highest compute roof choose their places first.
    std::vector<const Roof*> roofs;
    for (const Roof& roof : scene.now.roofs) roofs.push_back(&roof);
    const auto leads = [&](const Roof* roof) {
        return roof->rate == (roof->memory ? scene.now.mainMemory() : scene.now.leadingCompute());
    };
    std::stable_sort(roofs.begin(), roofs.end(), [&](const Roof* a, const Roof* b) { return leads(a) > leads(b); });
    std::vector<LabelRequest> requests;
    std::vector<std::pair<QString, QColor>> texts;
    const auto request = [&](const RooflineModel& model, const Roof& roof, const QString& text, const QColor& colour) {
        const QLineF line = pixelLine(model, roof, axes);
        obstacles.lines.push_back(line);
        const QSizeF size(metrics.horizontalAdvance(text) + 2, metrics.height());
        // Left of the ridge there is nothing above a compute roof: a label longer than what is seen of it begins there.
        const double right = std::min(line.x2(), area.right());
        const double left = std::max(std::min(line.x1(), right - size.width() - 13), area.left());
        requests.push_back({roof.memory ? line : QLineF(QPointF(left, line.y1()), line.p2()), size, !roof.memory});
        texts.emplace_back(text, colour);
    };
    for (const Roof* roof : roofs) request(scene.now, *roof, roof->label, roofColour(*roof));
    for (const RooflineModel& model : scene.baselines) {
        for (const Roof& roof : model.roofs) {
            if (!roof.memory && roof.rate == model.leadingCompute())
                request(model, roof, QStringLiteral("%1 · %2").arg(model.title, roof.label), theme.colours().mutedText);
            else if (roof.memory && roof.rate == model.mainMemory())
                request(model, roof, model.title, theme.colours().mutedText);
        }
    }
    const std::vector<PlacedLabel> placed = placeLabels(requests, area, obstacles);
    std::vector<QPolygonF> taken;
    for (std::size_t i = 0; i < placed.size(); ++i) {
        if (!placed[i].placed) continue;
        taken.push_back(placed[i].box);
        labels.texts.push_back({texts[i].first, placed[i], texts[i].second});
    }
    nameRidge(scene.now, axes, metrics, area, taken, obstacles, labels);
    // Then the operators that take most of the time, and the selected ones, by name.
    std::size_t named = 0;
    for (const std::size_t i : order) {
        const RooflinePoint& point = scene.now.points[i];
        const bool selected = scene.isSelected(point);
        if (!scene.name || named >= labelledPoints * 2 ||
            (!selected && (named >= labelledPoints || point.share < 0.03)))
            break;
        if (!scene.selected.isEmpty() && !selected) continue;
        ++named;
        const QString text = metrics.elidedText(pointName(scene, point), Qt::ElideMiddle, 150 * theme.scale());
        // A disc within a larger one is named outside of the larger one.
        const QPointF centre = axes.toPixel(point.intensity, point.attained);
        double radius = pointRadius(point.share, largestRadius(axes.area));
        for (const QRectF& disc : obstacles.discs) {
            const double apart = QLineF(centre, disc.center()).length();
            if (apart < disc.width() / 2) radius = std::max(radius, disc.width() / 2 / discShare);
        }
        const QSizeF size(metrics.horizontalAdvance(text) + 2, metrics.height());
        const PlacedLabel at = placeBeside(centre, radius, size, area, taken, obstacles);
        if (!at.placed) continue;
        taken.push_back(at.box);
        labels.texts.push_back({text, at, theme.colours().text});
    }
    return labels;
}

RooflineNote layOutNote(const RooflineModel& model, const QRectF& row) {
    if (model.notShown == 0) return {};
    const QString share = percentText(model.notShownShare);
    const QString one = tr("1 operator without FLOPs or traffic not shown, %1 of the time").arg(share);
    const QString many =
        tr("%1 operators without FLOPs or traffic not shown, %2 of the time").arg(model.notShown).arg(share);
    const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
    for (const QString& text :
         {model.notShown == 1 ? one : many, tr("%1 without FLOPs not shown (%2)").arg(model.notShown).arg(share),
          tr("%1 not shown (%2)").arg(model.notShown).arg(share), tr("%1 not shown").arg(model.notShown)}) {
        const double wide = metrics.horizontalAdvance(text) + 2;
        if (wide <= row.width()) return {text, {row.right() - wide, row.top(), wide, row.height()}};
    }
    return {};
}

void paintRegions(QPainter& painter, const RooflineModel& model, const LogAxes& axes) {
    constexpr double strength = 0.07;  // behind grid, roofs and points
    const double ridge = model.ridge(), compute = model.leadingCompute();
    if (ridge <= 0) return;
    const QPointF corner = axes.toPixel(ridge, compute);
    const double bottom = axes.area.bottom(), beyond = axes.area.right() + 1;
    // Down the memory roof to where it leaves the plot at the left or at the bottom.
    const double from = std::min(axes.x.low, axes.y.low / model.mainMemory());
    const QPointF start = axes.toPixel(from, from * model.mainMemory());
    painter.save();
    painter.setClipRect(axes.area);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(faded(Theme::instance().levelColour(0), strength));
    painter.drawPolygon(QPolygonF({start, corner, QPointF(corner.x(), std::max(bottom, start.y())),
                                   QPointF(start.x(), std::max(bottom, start.y()))}));
    painter.setBrush(faded(Theme::instance().boundColour({BoundKind::Compute, -1}), strength));
    painter.drawRect(QRectF(corner, QPointF(std::max(beyond, corner.x()), std::max(bottom, corner.y()))));
    painter.setPen(QPen(faded(Theme::instance().colours().mutedText, 0.6), 1, Qt::DashLine));
    painter.drawLine(corner, QPointF(corner.x(), bottom));
    painter.restore();
}

void paintRoofs(QPainter& painter, const RooflineScene& scene, const LogAxes& axes) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(axes.area);
    paintRegions(painter, scene.now, axes);
    if (scene.ghost) paintModelRoofs(painter, *scene.ghost, axes, 0.22, Qt::DashLine);
    for (const RooflineModel& model : scene.baselines) paintModelRoofs(painter, model, axes, 0.6, Qt::DashLine);
    paintModelRoofs(painter, scene.now, axes, 1, Qt::SolidLine);
    painter.restore();
}

void paintPoints(QPainter& painter, const RooflineScene& scene, const LogAxes& axes) {
    const Theme& theme = Theme::instance();
    const double largest = largestRadius(axes.area);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(axes.area.adjusted(-1, -1, 1, 1));
    painter.setBrush(Qt::NoBrush);
    for (const RooflineModel& model : scene.baselines) {
        for (const RooflinePoint& point : model.points) {
            painter.setPen(QPen(faded(theme.operatorColour(point.kind), 0.6), 1));
            painter.drawEllipse(axes.toPixel(point.intensity, point.attained), pointRadius(point.share, largest),
                                pointRadius(point.share, largest));
        }
    }
    if (scene.ghost) {
        auto to = scene.now.points.begin();
        for (const RooflinePoint& from : scene.ghost->points) {
            while (to != scene.now.points.end() && to->op < from.op) ++to;
            if (to == scene.now.points.end() || to->op != from.op) continue;
            const QPointF a = axes.toPixel(from.intensity, from.attained);
            const QPointF b = axes.toPixel(to->intensity, to->attained);
            if (QLineF(a, b).length() < 3) continue;
            const QColor colour = theme.operatorColour(from.kind);
            const double radius = pointRadius(from.share, largest);
            painter.setPen(QPen(faded(colour, 0.30), 1));
            painter.drawEllipse(a, radius, radius);
            painter.setPen(QPen(faded(colour, 0.35), 1.2));
            painter.drawLine(a, b);
        }
    }
    // Of thousands of the smallest points that fall on one pixel, one is enough.
    const int width = int(axes.area.width()) + 1;
    std::vector<bool> occupied;
    if (scene.now.points.size() > 2000) occupied.resize(std::size_t(width) * std::size_t(axes.area.height() + 1));
    for (const std::size_t i : byShare(scene.now)) {
        const RooflinePoint& point = scene.now.points[i];
        const QPointF at = axes.toPixel(point.intensity, point.attained);
        if (!axes.area.adjusted(-40, -40, 40, 40).contains(at)) continue;
        const double radius = pointRadius(point.share, largest);
        const bool selected = scene.isSelected(point);
        if (!occupied.empty() && radius <= 2.5 && !selected && axes.area.contains(at)) {
            const std::size_t cell =
                std::size_t(at.y() - axes.area.top()) * std::size_t(width) + std::size_t(at.x() - axes.area.left());
            if (cell < occupied.size() && occupied[cell]) continue;
            if (cell < occupied.size()) occupied[cell] = true;
        }
        const QColor colour = theme.operatorColour(point.kind);
        const bool dim = !scene.selected.isEmpty() && !selected;
        painter.setBrush(faded(colour, dim ? 0.18 : selected ? 0.95 : 0.72));
        painter.setPen(selected ? QPen(theme.colours().text, 2)
                                : QPen(faded(dim ? colour : theme.colours().surface, dim ? 0.3 : 0.9), 1));
        painter.drawEllipse(at, radius, radius);
    }
    painter.restore();
}

void paintTruth(QPainter& painter, const RooflineScene& scene, const LogAxes& axes) {
    constexpr double leastShare = 0.02;  // bars of a thousand small points would hide them
    constexpr double leastPixels = 3;
    const Theme& theme = Theme::instance();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(axes.area);
    for (const RooflinePoint& point : scene.now.points) {
        const bool selected = scene.isSelected(point);
        if (point.share < leastShare && !selected) continue;
        if (point.low > 0) {
            const QPointF low = axes.toPixel(point.intensity, point.low);
            const QPointF high = axes.toPixel(point.intensity, point.high);
            if (low.y() - high.y() >= leastPixels) {
                painter.setPen(QPen(faded(theme.colours().text, selected ? 0.9 : 0.55), 1.3 * theme.scale()));
                painter.drawLine(low, high);
                for (const QPointF& end : {low, high}) painter.drawLine(end - QPointF(3, 0), end + QPointF(3, 0));
            }
        }
        if (point.reference > 0) {
            const QPointF at = axes.toPixel(point.intensity, point.reference);
            const double half = 5 * theme.scale();
            painter.setPen(QPen(theme.colours().text, 1.6));
            painter.setBrush(point.referenceMeasured ? theme.colours().text : theme.colours().surface);
            painter.drawPolygon(QPolygonF(
                {at + QPointF(0, -half), at + QPointF(half, 0), at + QPointF(0, half), at + QPointF(-half, 0)}));
        }
    }
    painter.restore();
}

void paintLabels(QPainter& painter, const RooflineLabels& labels) {
    const Palette& c = Theme::instance().colours();
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::instance().font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    for (const RooflineLabel& label : labels.texts) {
        painter.save();
        painter.translate(label.at.topLeft);
        painter.rotate(label.at.angle);
        // A halo of the background keeps the text readable over lines and points.
        const QRectF box(0, 0, metrics.horizontalAdvance(label.text) + 2, metrics.height());
        painter.setPen(Qt::NoPen);
        painter.setBrush(faded(c.surface, 0.78));
        painter.drawRoundedRect(box, 2, 2);
        painter.setPen(contrastRatio(label.colour, c.surface) >= 4.5 ? label.colour : c.text);
        painter.drawText(QPointF(1, metrics.ascent()), label.text);
        painter.restore();
    }
    painter.restore();
}

void paintNote(QPainter& painter, const RooflineNote& note) {
    if (note.text.isEmpty()) return;
    const Theme& theme = Theme::instance();
    painter.save();
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(theme.colours().mutedText);
    painter.drawText(note.box, int(Qt::AlignRight) | int(Qt::AlignVCenter), note.text);
    painter.restore();
}

void paintKey(QPainter& painter, const RooflineScene& scene, const QRectF& strip) {
    const Theme& theme = Theme::instance();
    std::array<double, operatorKindCount> share{};
    std::array<bool, operatorKindCount> present{};
    for (const RooflinePoint& point : scene.now.points) {
        share[std::size_t(point.kind)] += point.share;
        present[std::size_t(point.kind)] = true;
    }
    std::vector<std::size_t> kinds;
    for (std::size_t k = 0; k < present.size(); ++k)
        if (present[k]) kinds.push_back(k);
    std::stable_sort(kinds.begin(), kinds.end(), [&](std::size_t a, std::size_t b) { return share[a] > share[b]; });
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    double x = strip.left();
    const double y = strip.center().y();
    for (const std::size_t k : kinds) {
        const QString text = kindText(OperatorKind(k));
        const double need = 12 * theme.scale() + metrics.horizontalAdvance(text);
        if (x + need > strip.right()) break;
        painter.setPen(Qt::NoPen);
        painter.setBrush(theme.operatorColour(OperatorKind(k)));
        painter.drawEllipse(QPointF(x + 4 * theme.scale(), y), 4 * theme.scale(), 4 * theme.scale());
        painter.setPen(theme.colours().mutedText);
        painter.drawText(QPointF(x + 12 * theme.scale(), y + (metrics.ascent() - metrics.descent()) / 2), text);
        x += need + 14 * theme.scale();
    }
    painter.restore();
}

void paintHover(QPainter& painter, const RooflineScene& scene, const LogAxes& axes, int op) {
    for (const RooflinePoint& point : scene.now.points) {
        if (!std::binary_search(point.members.begin(), point.members.end(), op)) continue;
        const double radius = pointRadius(point.share, largestRadius(axes.area)) + 3;
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setClipRect(axes.area);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(Theme::instance().colours().accent, 2));
        painter.drawEllipse(axes.toPixel(point.intensity, point.attained), radius, radius);
        painter.restore();
        return;
    }
}

void paintCrosshair(QPainter& painter, const LogAxes& axes, const QPointF& pixel) {
    if (!axes.area.contains(pixel)) return;
    const Palette& c = Theme::instance().colours();
    painter.save();
    painter.setPen(QPen(faded(c.mutedText, 0.7), 1, Qt::DotLine));
    painter.drawLine(QLineF(pixel.x(), axes.area.top(), pixel.x(), axes.area.bottom()));
    painter.drawLine(QLineF(axes.area.left(), pixel.y(), axes.area.right(), pixel.y()));
    painter.setFont(Theme::instance().font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    const auto chip = [&](const QString& text, QPointF centre) {
        QRectF box(0, 0, metrics.horizontalAdvance(text) + 10, metrics.height() + 4);
        box.moveCenter(centre);
        if (box.left() < 0) box.moveLeft(0);
        if (box.right() > axes.area.right()) box.moveRight(axes.area.right());
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(c.line);
        painter.setBrush(c.raised);
        painter.drawRoundedRect(box, 3, 3);
        painter.setPen(c.text);
        painter.drawText(box, Qt::AlignCenter, text);
    };
    chip(text(FlopsPerByte(axes.valueX(pixel.x()))), {pixel.x(), axes.area.bottom() + metrics.height() / 2 + 5});
    chip(text(FlopsPerSecond(axes.valueY(pixel.y()))), {axes.area.left() - 42 * Theme::instance().scale(), pixel.y()});
    painter.restore();
}

}  // namespace orrery::ui
