#include "widgets/evidence/accuracy_plot.h"

#include "evaluation/side_by_side.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"
#include "widgets/plots/label_placement.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace orrery::ui {

namespace {

constexpr int lowPlane = 300;        ///< pixels: below, the title gives way
constexpr int widestName = 190;      ///< pixels
constexpr double reach = 12;         ///< pixels around a point that count as it
constexpr double leastError = 1e-4;  ///< what stands at the bottom of the plot
constexpr double noSamples = 0.5;    ///< where a method that was fitted to nothing stands among rows
constexpr double apartShare = 0.55;  ///< of the surface in the colour of a point that stands apart

QColor mixed(const QColor& colour, const QColor& into, double share) {
    const auto part = [share](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
    return {part(colour.red(), into.red()), part(colour.green(), into.green()), part(colour.blue(), into.blue())};
}

}  // namespace

AccuracyPlot::AccuracyPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("evidence.accuracy"));
    setAccessibleName(tr("Error against cost to compute"));
    setToolTip(
        tr("Each point is a method. Click one to see its largest errors. The wheel zooms, a drag moves, a double click "
           "shows everything"));
    setFocusPolicy(Qt::StrongFocus);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        changed();
    });
}

QSize AccuracyPlot::minimumSizeHint() const {
    return {220, static_cast<int>(160 * Theme::instance().scale())};
}

void AccuracyPlot::setPoints(std::vector<AccuracyPoint> points) {
    points_ = std::move(points);
    if (current_ >= static_cast<int>(points_.size())) current_ = -1;
    QStringList lines;
    for (const AccuracyPoint& point : points_) lines << textOf(point);
    setAccessibleDescription(lines.join(QStringLiteral("; ")));
    changed();
}

void AccuracyPlot::setPublished(std::vector<PublishedPoint> published) {
    published_ = std::move(published);
    crosses_.clear();
    changed();
}

void AccuracyPlot::setCost(CostAxis cost) {
    cost_ = cost;
    changed();
}

double AccuracyPlot::costOf(const AccuracyPoint& point) const {
    if (cost_ == CostAxis::Answer) return point.seconds;
    return point.samples < 0 ? 0 : std::max(point.samples, noSamples);
}

void AccuracyPlot::setSameRows(bool same) {
    sameRows_ = same;
    changed();
}

std::vector<std::vector<int>> AccuracyPlot::fronts() const {
    return sameRows_ ? paretoFronts(points_, cost_) : std::vector<std::vector<int>>();
}

int AccuracyPlot::publishedAt(const QPointF& place) const {
    for (std::size_t i = 0; i < crosses_.size(); ++i) {
        const QPointF away = crosses_[i] - place;
        if (QPointF::dotProduct(away, away) < reach * reach) return static_cast<int>(i);
    }
    return -1;
}

void AccuracyPlot::setCurrent(int point) {
    current_ = point;
    changed();
}

QString AccuracyPlot::textOf(const AccuracyPoint& point) const {
    const QString cost =
        point.seconds > 0 ? tr("%1 an answer").arg(text(Seconds(point.seconds), 2)) : tr("time of an answer not known");
    QString said = tr("%1: mean error %2, median %3, 90th percentile %4, %5, %6 rows")
                       .arg(point.title, percentText(point.mape), percentText(point.median), percentText(point.p90),
                            cost, countText(static_cast<double>(point.rows)));
    if (point.high > 0)
        said +=
            tr("; mean error %1 to %2 in 90 % of resampled rows").arg(percentText(point.low), percentText(point.high));
    if (point.secondsHigh > 0)
        said += tr("; the middle half of the answers takes %1 to %2")
                    .arg(text(Seconds(point.secondsLow), 2), text(Seconds(point.secondsHigh), 2));
    if (point.apart) said += tr("; on its own rows, not compared");
    if (point.samples > 0) said += tr("; fitted to %1 measured rows").arg(countText(point.samples));
    if (point.fitting > 0) said += tr(" in %1").arg(text(Seconds(point.fitting), 2));
    if (point.coverage >= 0) said += tr("; %1 of the rows inside their 90 % interval").arg(percentText(point.coverage));
    return said;
}

int AccuracyPlot::pointAt(const QPointF& place) const {
    int best = -1;
    double nearest = reach * reach;
    if (!zoom_.isWhole() && !zoom_.area().contains(place)) return best;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const QPointF away = places_[i] - place;
        const double distance = QPointF::dotProduct(away, away);
        if (distance > nearest) continue;
        nearest = distance;
        best = static_cast<int>(i);
    }
    return best;
}

namespace {

void paintMark(QPainter& painter, const QPointF& at, MethodLevel level, double radius) {
    switch (level) {
        case MethodLevel::Kernel:
            painter.drawEllipse(at, radius, radius);
            break;
        case MethodLevel::Model:
            painter.drawRect(QRectF(at - QPointF(radius, radius) * 0.9, QSizeF(radius, radius) * 1.8));
            break;
        case MethodLevel::System:
            painter.drawPolygon(QPolygonF{at + QPointF(0, -1.2 * radius), at + QPointF(1.1 * radius, 0.8 * radius),
                                          at + QPointF(-1.1 * radius, 0.8 * radius)});
            break;
    }
}

}  // namespace

std::vector<std::vector<int>> paretoFronts(const std::vector<AccuracyPoint>& points, CostAxis cost) {
    std::vector<CostedError> methods;
    for (const AccuracyPoint& point : points) {
        const bool known = cost == CostAxis::SetUp ? point.samples >= 0 : point.seconds > 0;
        methods.push_back({cost == CostAxis::SetUp ? point.samples : point.seconds, point.mape,
                           static_cast<std::size_t>(point.group), point.apart || !known});
    }
    std::vector<std::vector<int>> fronts;
    for (const auto& front : frontsOf(methods)) fronts.emplace_back(front.begin(), front.end());
    return fronts;
}

void AccuracyPlot::paintPoint(QPainter& painter, std::size_t at, const PlotAxis& x, const PlotAxis& y) const {
    const Theme& theme = Theme::instance();
    const AccuracyPoint& point = points_[at];
    const QPointF place = places_[at];
    QColor colour = theme.methodColour(point.colour);
    if (point.apart) colour = mixed(colour, theme.colours().surface, apartShare);
    const auto height = [&](double error) { return y.position(std::max(error, leastError)); };
    QColor band = colour;
    band.setAlpha(110);
    painter.setPen(QPen(band, 4, Qt::SolidLine, Qt::RoundCap));
    painter.drawLine(QPointF(place.x(), height(point.median)), QPointF(place.x(), height(point.p90)));
    if (cost_ == CostAxis::Answer && point.secondsLow > 0) {
        painter.setPen(QPen(band, 2, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(QPointF(x.position(point.secondsLow), place.y()),
                         QPointF(x.position(point.secondsHigh), place.y()));
    }
    if (point.high > 0) {
        painter.setPen(QPen(theme.colours().text, 1.5));
        for (const double end : {point.low, point.high}) {
            painter.drawLine(QPointF(place.x() - 9, height(end)), QPointF(place.x() + 9, height(end)));
        }
    }
    if (point.coverage >= 0 && point.coverage < leastCoverage) {
        painter.setPen(QPen(theme.colours().warning, 2, Qt::DotLine));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(place, 13, 13);
    }
    const bool chosen = static_cast<int>(at) == current_;
    if (chosen) {
        painter.setPen(QPen(theme.colours().accent, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(place, 10, 10);
    }
    painter.setPen(QPen(point.simulated ? colour : theme.colours().surface, point.simulated ? 2 : 1.5));
    painter.setBrush(point.simulated ? theme.colours().surface : colour);
    paintMark(painter, place, point.level, 6);
}

void AccuracyPlot::paintFronts(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const auto fronts = this->fronts();
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(QPen(theme.colours().mutedText, 1, Qt::DashLine));
    for (const std::vector<int>& front : fronts) {
        QPolygonF line;
        for (const int point : front) {
            const QPointF to = places_[static_cast<std::size_t>(point)];
            if (!line.isEmpty()) line << QPointF(to.x(), line.last().y());
            line << to;
        }
        if (front.size() < 2) continue;
        painter.drawPolyline(line);
        // In the middle of its longest stretch, where no mark stands.
        if (fronts.size() < 2) continue;
        qsizetype longest = 0;
        for (qsizetype i = 0; i + 1 < line.size(); i += 2)
            if (line[i + 1].x() - line[i].x() > line[longest + 1].x() - line[longest].x()) longest = i;
        const QPointF middle = (line[longest] + line[longest + 1]) / 2;
        const auto group = static_cast<std::size_t>(points_[static_cast<std::size_t>(front.front())].group);
        painter.drawText(middle + QPointF(-3, -3), qs(groupLetter(group)));
    }
}

// Settings of one method, from the cheap to the dear.
void AccuracyPlot::paintFamilies(QPainter& painter) const {
    std::map<QString, std::vector<std::size_t>> families;
    for (std::size_t i = 0; i < points_.size(); ++i) {
        if (!points_[i].family.isEmpty() && costOf(points_[i]) > 0) families[points_[i].family].push_back(i);
    }
    for (auto& [family, members] : families) {
        if (members.size() < 2) continue;
        std::sort(members.begin(), members.end(),
                  [&](std::size_t a, std::size_t b) { return costOf(points_[a]) < costOf(points_[b]); });
        QPolygonF line;
        for (const std::size_t each : members) line << places_[each];
        painter.setPen(QPen(Theme::instance().methodColour(points_[members.front()].colour), 1.5));
        painter.drawPolyline(line);
    }
}

void AccuracyPlot::paintPublished(QPainter& painter) const {
    painter.setPen(QPen(Theme::instance().colours().mutedText, 1.5));
    for (const QPointF& at : crosses_) {
        painter.drawLine(at + QPointF(-4, -4), at + QPointF(4, 4));
        painter.drawLine(at + QPointF(-4, 4), at + QPointF(4, -4));
    }
}

// The chosen one first, then the front, then the others; what finds no room is told by the tip of its mark.
void AccuracyPlot::paintNames(QPainter& painter, const QRectF& area) const {
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(FontRole::Small));
    std::vector<std::size_t> order;
    const auto add = [&](int point) {
        const auto at = static_cast<std::size_t>(point);
        if (point >= 0 && at < points_.size() && std::ranges::find(order, at) == order.end()) order.push_back(at);
    };
    add(current_);
    for (const auto& front : fronts())
        for (const int point : front) add(point);
    for (int i = 0; i < static_cast<int>(points_.size()); ++i) add(i);
    std::vector<QPointF> marks;
    std::vector<QSizeF> sizes;
    QStringList titles;
    const auto want = [&](const QPointF& mark, const QString& name) {
        // Options make long names; the tip of the mark has the whole one.
        const QString title = painter.fontMetrics().elidedText(name, Qt::ElideRight, widestName * theme.scale());
        marks.push_back(mark);
        titles << title;
        sizes.emplace_back(painter.fontMetrics().horizontalAdvance(title) + 2, painter.fontMetrics().height());
    };
    for (const std::size_t i : order) {
        QString name = points_[i].apart ? points_[i].title + QStringLiteral(" *") : points_[i].title;
        if (cost_ == CostAxis::SetUp && points_[i].fitting > 0)
            name += tr(", fits in %1").arg(text(Seconds(points_[i].fitting), 2));
        want(places_[i], name);
    }
    for (std::size_t i = 0; i < crosses_.size(); ++i) want(crosses_[i], published_[i].title);
    const std::vector<PlacedName> names = placeNames(marks, sizes, 8, area, {});
    painter.setPen(QPen(theme.colours().mutedText, 1));
    for (const PlacedName& name : names) {
        if (name.placed && !name.leader.isNull()) painter.drawLine(name.leader);
    }
    QColor under = theme.colours().surface;
    under.setAlpha(190);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (!names[i].placed) continue;
        painter.fillRect(names[i].box.adjusted(-1, 1, 1, -1), under);
        const bool point = i < order.size();
        painter.setPen(point && static_cast<int>(order[i]) == current_ ? theme.colours().accent
                       : point && !points_[order[i]].apart             ? theme.colours().text
                                                                       : theme.colours().mutedText);
        painter.drawText(names[i].box, Qt::AlignLeft | Qt::AlignVCenter, titles[static_cast<qsizetype>(i)]);
    }
}

// Only what is drawn: colours of methodologies, shapes of levels, the halo.
int AccuracyPlot::paintLegend(QPainter& painter, const QRectF& row, bool measuring) const {
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(FontRole::Small));
    double x = row.left(), y = row.center().y();
    int lines = 1;
    /// `mark` paints at (x, y); what does not fit begins the next line.
    const auto entry = [&](const QString& text, const auto& mark) {
        const double wide = painter.fontMetrics().horizontalAdvance(text);
        if (x + wide + 12 > row.right() && x > row.left()) {
            x = row.left();
            y += row.height();
            ++lines;
        }
        if (measuring) {
            x += wide + 24;
            return;
        }
        mark();
        painter.setPen(theme.colours().mutedText);
        painter.drawText(QRectF(x + 10, y - row.height() / 2, wide + 2, row.height()), Qt::AlignLeft | Qt::AlignVCenter,
                         text);
        x += wide + 24;
    };
    const auto dot = [&](const QPen& pen, const QBrush& brush, double radius) {
        return [&, pen, brush, radius] {
            painter.setPen(pen);
            painter.setBrush(brush);
            painter.drawEllipse(QPointF(x, y), radius, radius);
        };
    };
    std::map<int, QString> colours;
    std::map<MethodLevel, QString> shapes;
    bool halo = false, hollow = false, apart = false;
    for (const AccuracyPoint& point : points_) {
        apart = apart || point.apart;
        if (!point.methodology.isEmpty()) colours.emplace(point.colour, point.methodology);
        shapes.emplace(point.level, point.level == MethodLevel::Kernel  ? tr("kernels")
                                    : point.level == MethodLevel::Model ? tr("models")
                                                                        : tr("systems"));
        halo = halo || (point.coverage >= 0 && point.coverage < leastCoverage);
        hollow = hollow || point.simulated;
    }
    for (const auto& [colour, name] : colours) entry(name, dot(Qt::NoPen, theme.methodColour(colour), 4));
    for (const auto& [level, name] : shapes) {
        if (shapes.size() < 2) break;
        entry(name, [&, level = level] {
            painter.setPen(QPen(theme.colours().mutedText, 1));
            painter.setBrush(Qt::NoBrush);
            paintMark(painter, QPointF(x, y), level, 4);
        });
    }
    const QPen muted(theme.colours().mutedText, 1.5);
    if (hollow) entry(tr("simulated truth"), dot(muted, theme.colours().surface, 4));
    if (apart) {
        entry(tr("* on its own rows"),
              dot(Qt::NoPen, mixed(theme.methodColour(0), theme.colours().surface, apartShare), 4));
    }
    if (!crosses_.empty()) {
        entry(tr("published by others"), [&] {
            painter.setPen(muted);
            painter.drawLine(QPointF(x - 3, y - 3), QPointF(x + 3, y + 3));
            painter.drawLine(QPointF(x - 3, y + 3), QPointF(x + 3, y - 3));
        });
    }
    if (halo) {
        entry(tr("coverage below %1").arg(percentText(leastCoverage)),
              dot(QPen(theme.colours().warning, 1.5, Qt::DotLine), Qt::NoBrush, 6));
    }
    return lines;
}

void AccuracyPlot::paintEvent(QPaintEvent*) {
    // Its names cost milliseconds to place, and the widgets around it repaint it at every change of their own.
    const QSize pixels = size() * devicePixelRatioF();
    if (picture_.size() != pixels || picture_.devicePixelRatio() != devicePixelRatioF()) {
        picture_ = QPixmap(pixels);  // else kept: fresh memory costs as much as painting does
        picture_.setDevicePixelRatio(devicePixelRatioF());
        stale_ = true;
    }
    if (std::exchange(stale_, false)) {
        picture_.fill(Theme::instance().colours().surface);
        QPainter drawing(&picture_);
        paint(drawing, rect());
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, picture_);
    if (!points_.empty() && hasFocus()) {
        painter.setPen(Theme::instance().colours().accent);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
}

QString AccuracyPlot::exportTo(const QString& file) {
    const int chosen = std::exchange(current_, -1);
    const QSize wanted = pictureSize().isValid() ? pictureSize() : size();
    QString problem = writePicture(file, wanted, tr("Error against cost to compute"),
                                   [this](QPainter& painter, const QRect& all) { paint(painter, all); });
    current_ = chosen;
    changed();  // the places are now those of the written picture
    return problem;
}

void AccuracyPlot::paint(QPainter& painter, const QRect& all) {
    painter.setRenderHint(QPainter::Antialiasing);
    places_.clear();
    if (points_.empty()) {
        return paintEmptyPlot(painter, all,
                              tr("Every judged method appears here with its error and the time of one answer."));
    }
    std::vector<double> costs, errors;
    for (const AccuracyPoint& point : points_) {
        if (costOf(point) > 0) costs.push_back(costOf(point));
        if (cost_ == CostAxis::Answer && point.secondsLow > 0) {
            costs.push_back(point.secondsLow);
            costs.push_back(point.secondsHigh);
        }
        for (const double error : {point.mape, point.median, point.p90}) errors.push_back(std::max(error, leastError));
        if (point.high > 0) errors.push_back(point.high);
    }
    const bool setUp = cost_ == CostAxis::SetUp;
    for (const PublishedPoint& each : published_) {
        errors.push_back(std::max(each.error, leastError));
        if (!setUp && each.seconds > 0) costs.push_back(each.seconds);
    }
    PlotFrame frame;
    // A low plane needs its height for the dots; what it shows stands on its tab as well.
    const bool low = all.height() < lowPlane;
    if (!low) frame.title = tr("Error against cost to compute");
    frame.xName = setUp ? tr("number of fitted rows; left: none") : tr("processor time of one answer");
    frame.yName = tr("relative error, mean; bar: median to 90th percentile");
    frame.xTicks = setUp ? TickText::Number : TickText::Seconds;
    painter.setFont(Theme::instance().font(FontRole::Small));
    const int line = painter.fontMetrics().height();
    const QRectF inside = PlotFrame::areaIn(all.size()).adjusted(0, low ? -plotTitleHeight : 0, 0, 0);
    const QRectF legend(inside.left() + 6, inside.top() - 2, inside.width(), line);
    frame.area = inside.adjusted(0, (paintLegend(painter, legend, true) + 1) * line, 0, 0);
    zoom_.setArea(frame.area);
    const bool unknown = std::ranges::any_of(points_, [&](const AccuracyPoint& point) { return costOf(point) <= 0; });
    const QString words = tr("not stated");
    const double column = unknown ? painter.fontMetrics().horizontalAdvance(words) + 16 : 0;
    if (costs.empty()) costs = setUp ? std::vector<double>{1, 100} : std::vector<double>{1e-6, 1e-3};
    const PlotAxis x = zoom_.across(
        PlotAxis::covering(costs, frame.area.left() + 12, frame.area.right() - std::max(60.0, column + 12), 1.5));
    const PlotAxis y = zoom_.up(PlotAxis::covering(errors, frame.area.bottom() - 8, frame.area.top() + 8, 3));
    frame.paint(painter, x, y, all.width());
    unknown_ = unknown ? QRectF(frame.area.right() - column, frame.area.top(), column, frame.area.height()) : QRectF();
    for (const AccuracyPoint& point : points_) {
        const double cost = costOf(point);
        places_.push_back(
            {cost > 0 ? x.position(cost) : unknown_.center().x(), y.position(std::max(point.mape, leastError))});
    }
    crosses_.clear();
    for (const PublishedPoint& each : published_) {
        const bool known = !setUp && each.seconds > 0;
        const double beyond = unknown ? unknown_.center().x() : frame.area.right() - 8;
        crosses_.push_back({known ? x.position(each.seconds) : beyond, y.position(each.error)});
    }
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(FontRole::Small));
    if (unknown) {
        painter.fillRect(unknown_, mixed(theme.colours().surface, theme.colours().mutedText, 0.08));
        painter.setPen(theme.colours().mutedText);
        painter.drawText(unknown_.adjusted(0, 2, 0, 0), Qt::AlignHCenter | Qt::AlignTop, words);
    }
    if (!sameRows_) {
        painter.setPen(theme.colours().mutedText);
        painter.drawText(frame.area.adjusted(6, 0, -column - 6, -2), Qt::AlignLeft | Qt::AlignBottom,
                         tr("No front: every method uses its own rows"));
    }
    if (!zoom_.isWhole()) painter.setClipRect(frame.area);
    paintPublished(painter);
    paintFronts(painter);
    paintFamilies(painter);
    for (std::size_t i = 0; i < points_.size(); ++i) paintPoint(painter, i, x, y);
    paintNames(painter, frame.area);
    painter.setClipping(false);
    paintLegend(painter, legend, false);
}

void AccuracyPlot::changed() {
    stale_ = true;
    update();
}

void AccuracyPlot::choose(int point) {
    setCurrent(point);
    emit chosen(point);
}

void AccuracyPlot::mousePressEvent(QMouseEvent* event) {
    zoom_.press(*event);
    if (const int point = pointAt(event->position()); point >= 0) return choose(point);
    if (const int cross = publishedAt(event->position()); cross >= 0) return emit publishedChosen(cross);
    QWidget::mousePressEvent(event);
}

void AccuracyPlot::wheelEvent(QWheelEvent* event) {
    if (!zoom_.wheel(*event)) return event->ignore();
    changed();
}

void AccuracyPlot::mouseMoveEvent(QMouseEvent* event) {
    if (zoom_.move(*event)) {
        changed();
    }
}

void AccuracyPlot::mouseReleaseEvent(QMouseEvent* event) {
    zoom_.release(*event);
}

void AccuracyPlot::mouseDoubleClickEvent(QMouseEvent* event) {
    if (zoom_.doubleClick(*event)) {
        changed();
    }
}

void AccuracyPlot::keyPressEvent(QKeyEvent* event) {
    const int count = static_cast<int>(points_.size());
    if (count > 0 && (event->key() == Qt::Key_Right || event->key() == Qt::Key_Left)) {
        return choose((std::max(current_, 0) + (event->key() == Qt::Key_Right ? 1 : count - 1)) % count);
    }
    QWidget::keyPressEvent(event);
}

bool AccuracyPlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const int point = pointAt(help->pos()); point >= 0) {
            QToolTip::showText(help->globalPos(), textOf(points_[static_cast<std::size_t>(point)]), this);
            return true;
        }
        if (const int cross = publishedAt(help->pos()); cross >= 0) {
            QToolTip::showText(help->globalPos(), published_[static_cast<std::size_t>(cross)].tip, this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace orrery::ui
