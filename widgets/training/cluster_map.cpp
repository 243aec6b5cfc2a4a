#include "widgets/training/cluster_map.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr int mapHead = 30, mapFoot = 28;  ///< legend, what is chosen

std::int64_t countOf(const Plan& plan, ClusterMap::Colouring colouring) {
    switch (colouring) {
        case ClusterMap::Colouring::Stage:
            return plan.pipeline;
        case ClusterMap::Colouring::Tensor:
            return plan.tensor;
        case ClusterMap::Colouring::Data:
            return plan.data;
        case ClusterMap::Colouring::Context:
            return plan.context;
    }
    return 1;
}

/// Few are told apart by hue, many by their order.
QColor colourOfOne(std::int64_t index, std::int64_t count) {
    const Theme& theme = Theme::instance();
    if (count <= 8) return theme.methodColour(static_cast<int>(index));
    return theme.heat(static_cast<double>(index) / static_cast<double>(std::max<std::int64_t>(1, count - 1)));
}

QColor relationColour(RankRelation relation) {
    const Theme& theme = Theme::instance();
    switch (relation) {
        case RankRelation::Tensor:
            return theme.methodColour(1);
        case RankRelation::Context:
            return theme.methodColour(3);
        case RankRelation::Data:
            return theme.methodColour(2);
        case RankRelation::Pipeline:
            return theme.methodColour(4);
        default:
            return theme.colours().text;
    }
}

}  // namespace

RankPlace placeOf(const Plan& plan, std::int64_t rank) {
    RankPlace place;
    place.tensor = rank % plan.tensor;
    rank /= plan.tensor;
    place.context = rank % plan.context;
    rank /= plan.context;
    place.data = rank % plan.data;
    place.stage = rank / plan.data;
    return place;
}

std::int64_t rankOf(const Plan& plan, const RankPlace& place) {
    return ((place.stage * plan.data + place.data) * plan.context + place.context) * plan.tensor + place.tensor;
}

RankRelation relationOf(const Plan& plan, std::int64_t a, std::int64_t b) {
    const RankPlace x = placeOf(plan, a), y = placeOf(plan, b);
    if (x == y) return RankRelation::Itself;
    const int differences =
        (x.tensor != y.tensor) + (x.context != y.context) + (x.data != y.data) + (x.stage != y.stage);
    if (differences > 1) return RankRelation::None;
    return x.tensor != y.tensor     ? RankRelation::Tensor
           : x.context != y.context ? RankRelation::Context
           : x.data != y.data       ? RankRelation::Data
                                    : RankRelation::Pipeline;
}

std::vector<std::int64_t> groupOf(const Plan& plan, std::int64_t rank, RankRelation relation) {
    const RankPlace own = placeOf(plan, rank);
    std::int64_t RankPlace::*member = nullptr;
    std::int64_t count = 1;
    switch (relation) {
        case RankRelation::Tensor:
            member = &RankPlace::tensor, count = plan.tensor;
            break;
        case RankRelation::Context:
            member = &RankPlace::context, count = plan.context;
            break;
        case RankRelation::Data:
            member = &RankPlace::data, count = plan.data;
            break;
        case RankRelation::Pipeline:
            member = &RankPlace::stage, count = plan.pipeline;
            break;
        default:
            return {rank};
    }
    std::vector<std::int64_t> members;
    for (std::int64_t i = 0; i < count; ++i) {
        RankPlace place = own;
        place.*member = i;
        members.push_back(rankOf(plan, place));
    }
    return members;
}

std::int64_t ClusterMapData::rankAtSeat(std::int64_t seat) const {
    if (seats.empty()) return seat < drawn ? seat : -1;
    const auto at = std::find(seats.begin(), seats.end(), seat);
    return at == seats.end() ? -1 : at - seats.begin();
}

const ClusterKind* ClusterMapData::kindOfNode(std::int64_t node) const {
    const ClusterKind* found = nullptr;
    for (const ClusterKind& kind : kinds)
        if (kind.firstNode <= node) found = &kind;
    return found;
}

ClusterMap::ClusterMap(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("training.map"));
    setAccessibleName(tr("Devices of the plan"));
    setToolTip(tr("Every device in its node, coloured by its part of the work; click one to mark its partners"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        layOut();
        update();
    });
}

void ClusterMap::setData(ClusterMapData data) {
    data_ = std::move(data);
    if (current_ >= data_.plan.devices()) current_ = -1;
    setAccessibleDescription(tr("%1 of %2 devices").arg(data_.plan.devices()).arg(data_.drawn));
    layOut();
    update();
}

void ClusterMap::setColouring(Colouring colouring) {
    colouring_ = colouring;
    update();
}

void ClusterMap::setCurrent(std::int64_t rank) {
    current_ = rank;
    update();
}

void ClusterMap::setExchange(const RingMoment& moment) {
    exchange_ = moment;
    update();
}

// Every member sends to the next one; the colour says which part of the whole is on its way.
void ClusterMap::paintExchange(QPainter& painter) const {
    const std::vector<std::int64_t> members = groupOf(data_.plan, current_, exchange_.group);
    const auto count = static_cast<int>(members.size());
    if (count < 2) return;
    const Theme& theme = Theme::instance();
    painter.setRenderHint(QPainter::Antialiasing);
    const double radius = std::clamp(grid_.pitch / 4, 2.5, 6.0);
    for (int i = 0; i < count; ++i) {
        const QPointF from = cellOf(members[static_cast<std::size_t>(i)]).center();
        const QPointF to = cellOf(members[static_cast<std::size_t>((i + 1) % count)]).center();
        QColor faint = theme.colours().text;
        faint.setAlphaF(0.35F);
        painter.setPen(QPen(faint, 1));
        painter.drawLine(from, to);
        const int part = ((i - exchange_.step) % count + count) % count;
        painter.setPen(QPen(theme.colours().surface, 1.5));
        painter.setBrush(theme.heat(static_cast<double>(part) / count));
        painter.drawEllipse(from + (to - from) * exchange_.progress, radius, radius);
    }
}

void ClusterMap::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layOut();
}

// The largest cells with which all nodes fit; nodes are as square as their devices allow.
void ClusterMap::layOut() {
    const double scale = Theme::instance().scale();
    grid_.area = QRectF(QPointF(12, mapHead * scale), QPointF(width() - 12, height() - mapFoot * scale));
    const std::int64_t perNode = std::max<std::int64_t>(1, data_.perNode);
    grid_.nodes = std::max<std::int64_t>(1, data_.nodes > 0 ? data_.nodes : (data_.drawn + perNode - 1) / perNode);
    const auto wide = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(perNode) * 2)));
    grid_.cellsAcross = static_cast<int>(std::min(perNode, std::max<std::int64_t>(1, wide)));
    const std::int64_t cellsDown = (perNode + grid_.cellsAcross - 1) / grid_.cellsAcross;
    double best = 0;
    for (std::int64_t across = 1; across <= std::min<std::int64_t>(grid_.nodes, 512); ++across) {
        const std::int64_t down = (grid_.nodes + across - 1) / across;
        // A node has a border of 0.4 cells, and 0.5 to the next.
        const double x = grid_.area.width() / (static_cast<double>(across) * (grid_.cellsAcross + 1.1));
        const double y = grid_.area.height() / (static_cast<double>(down) * (static_cast<double>(cellsDown) + 1.1));
        const double pitch = std::min({x, y, 30.0 * scale});
        if (pitch <= best) continue;
        best = pitch;
        grid_.across = static_cast<int>(across);
    }
    grid_.pitch = best;
    grid_.cell = std::max(best * 0.86, best - 3);
    grid_.nodeWide = best * (grid_.cellsAcross + 0.6);
    grid_.nodeHigh = best * (static_cast<double>(cellsDown) + 0.6);
    grid_.stepX = best * (grid_.cellsAcross + 1.1);
    grid_.stepY = best * (static_cast<double>(cellsDown) + 1.1);
}

QRectF ClusterMap::nodeRect(std::int64_t node) const {
    return {grid_.area.left() + grid_.stepX * static_cast<double>(node % grid_.across),
            grid_.area.top() + grid_.stepY * static_cast<double>(node / grid_.across), grid_.nodeWide, grid_.nodeHigh};
}

QRectF ClusterMap::cellOf(std::int64_t rank) const {
    const std::int64_t perNode = std::max<std::int64_t>(1, data_.perNode);
    const std::int64_t seat = data_.seatOf(rank);
    const QRectF node = nodeRect(seat / perNode);
    const std::int64_t at = seat % perNode;
    return {node.left() + grid_.pitch * (0.3 + static_cast<double>(at % grid_.cellsAcross)),
            node.top() + grid_.pitch * (0.3 + static_cast<double>(at / grid_.cellsAcross)), grid_.cell, grid_.cell};
}

std::int64_t ClusterMap::rankAt(const QPointF& place) const {
    if (data_.drawn < 1 || grid_.stepX <= 0) return -1;
    const auto column = static_cast<std::int64_t>(std::floor((place.x() - grid_.area.left()) / grid_.stepX));
    const auto row = static_cast<std::int64_t>(std::floor((place.y() - grid_.area.top()) / grid_.stepY));
    if (column < 0 || row < 0 || column >= grid_.across) return -1;
    const std::int64_t node = row * grid_.across + column;
    for (std::int64_t at = 0; at < data_.perNode; ++at) {
        const std::int64_t rank = data_.rankAtSeat(node * data_.perNode + at);
        if (rank >= 0 && cellOf(rank).adjusted(-1, -1, 1, 1).contains(place)) return rank;
    }
    return -1;
}

QString ClusterMap::textOf(std::int64_t rank) const {
    const Plan& plan = data_.plan;
    const std::int64_t perNode = std::max<std::int64_t>(1, data_.perNode), seat = data_.seatOf(rank);
    const ClusterKind* kind = data_.kindOfNode(seat / perNode);
    QString said = tr("%1 %2 in %3 %4")
                       .arg(kind ? kind->device : data_.device)
                       .arg(seat % perNode)
                       .arg(kind ? kind->node : data_.node)
                       .arg(seat / perNode - (kind ? kind->firstNode : 0));
    if (rank >= plan.devices()) return said + tr(": idle, the plan has no work for it");
    const RankPlace place = placeOf(plan, rank);
    QStringList parts;
    if (plan.pipeline > 1) parts << tr("stage %1 of %2").arg(place.stage).arg(plan.pipeline);
    if (plan.tensor > 1) parts << tr("tensor part %1 of %2").arg(place.tensor).arg(plan.tensor);
    if (plan.context > 1) parts << tr("context part %1 of %2").arg(place.context).arg(plan.context);
    if (plan.data > 1) parts << tr("copy %1 of %2").arg(place.data).arg(plan.data);
    if (parts.isEmpty()) parts << tr("all of the model");
    return said + tr(", rank %1: %2").arg(rank).arg(parts.join(QStringLiteral(", ")));
}

QColor ClusterMap::colourOf(std::int64_t rank) const {
    const Palette& colours = Theme::instance().colours();
    if (rank >= data_.plan.devices()) return colours.faintLine;
    const RankPlace place = placeOf(data_.plan, rank);
    const std::int64_t index = colouring_ == Colouring::Stage    ? place.stage
                               : colouring_ == Colouring::Tensor ? place.tensor
                               : colouring_ == Colouring::Data   ? place.data
                                                                 : place.context;
    return colourOfOne(index, countOf(data_.plan, colouring_));
}

void ClusterMap::paintEvent(QPaintEvent*) {
    const Palette& colours = Theme::instance().colours();
    QPainter painter(this);
    painter.fillRect(rect(), colours.surface);
    if (data_.drawn < 1) return paintEmptyPlot(painter, rect(), tr("The drawn devices and their groups appear here."));
    paintLegend(painter);
    paintNodes(painter);
    paintCells(painter);
    if (current_ >= 0 && current_ < data_.plan.devices()) {
        paintPartners(painter);
        if (exchange_.group != RankRelation::None) paintExchange(painter);
    }
    const Theme& theme = Theme::instance();
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(current_ < 0 ? colours.mutedText : colours.text);
    const QRectF line(12, height() - mapFoot * theme.scale() + 4, width() - 24, mapFoot * theme.scale() - 6);
    QString said = current_ < 0 ? tr("Click a device to see its partners.") : textOf(current_);
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(said, Qt::ElideRight, static_cast<int>(line.width())));
}

void ClusterMap::paintNodes(QPainter& painter) const {
    if (data_.perNode < 2) return;
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    double inside = -1;
    for (const ClusterLink& link : data_.links)
        if (!link.outside) inside = std::max(inside, link.use);
    painter.setRenderHint(QPainter::Antialiasing, grid_.pitch > 6);
    painter.setFont(theme.font(FontRole::Small));
    const double round = std::min(4.0, grid_.pitch / 3), below = grid_.stepY - grid_.nodeHigh;
    for (std::int64_t node = 0; node < grid_.nodes; ++node) {
        const std::int64_t first = data_.rankAtSeat(node * data_.perNode);
        const bool works = first >= 0 && first < data_.plan.devices();
        const QRectF area = nodeRect(node);
        painter.setBrush(colours.raised);
        painter.setPen(works && inside > 0 ? QPen(theme.heat(std::min(1.0, inside)), 1.5) : QPen(colours.line));
        painter.drawRoundedRect(area, round, round);
        const ClusterKind* kind = data_.kindOfNode(node);
        if (!kind || below < painter.fontMetrics().height() - 3) continue;
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(area.left(), area.bottom(), area.width(), below), Qt::AlignCenter, kind->device);
    }
}

void ClusterMap::paintCells(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    painter.setRenderHint(QPainter::Antialiasing, grid_.pitch > 6);
    const bool labelled = grid_.cell >= 20;
    painter.setFont(theme.font(FontRole::Small));
    for (std::int64_t rank = 0; rank < data_.drawn; ++rank) {
        const QRectF cell = cellOf(rank);
        const QColor fill = colourOf(rank);
        painter.fillRect(cell, fill);
        if (!labelled || rank >= data_.plan.devices()) continue;
        const RankPlace place = placeOf(data_.plan, rank);
        const std::int64_t index = colouring_ == Colouring::Stage    ? place.stage
                                   : colouring_ == Colouring::Tensor ? place.tensor
                                   : colouring_ == Colouring::Data   ? place.data
                                                                     : place.context;
        painter.setPen(theme.inkOn(fill));
        painter.drawText(cell, Qt::AlignCenter, QString::number(index));
    }
}

void ClusterMap::paintPartners(QPainter& painter) const {
    const Plan& plan = data_.plan;
    const RankPlace own = placeOf(plan, current_);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    const double thick = std::clamp(grid_.pitch / 6, 1.5, 3.0);
    const auto mark = [&](std::int64_t rank, RankRelation relation) {
        painter.setPen(QPen(Theme::instance().colours().surface, thick + 2));
        painter.drawRect(cellOf(rank));
        painter.setPen(QPen(relationColour(relation), thick));
        painter.drawRect(cellOf(rank));
    };
    const auto markAll = [&](std::int64_t RankPlace::*member, std::int64_t count, RankRelation relation) {
        for (std::int64_t i = 0; i < count; ++i) {
            RankPlace other = own;
            other.*member = i;
            if (!(other == own)) mark(rankOf(plan, other), relation);
        }
    };
    markAll(&RankPlace::data, plan.data, RankRelation::Data);
    markAll(&RankPlace::context, plan.context, RankRelation::Context);
    markAll(&RankPlace::stage, plan.pipeline, RankRelation::Pipeline);
    markAll(&RankPlace::tensor, plan.tensor, RankRelation::Tensor);
    mark(current_, RankRelation::Itself);
}

void ClusterMap::paintLegend(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetricsF metrics(painter.font());
    double x = 12;
    const auto word = [&](const QString& said, const QColor& ink) {
        const double wide = metrics.horizontalAdvance(said);
        painter.setPen(ink);
        painter.drawText(QRectF(x, 4, wide + 2, 20), Qt::AlignLeft | Qt::AlignVCenter, said);
        x += wide + 6;
    };
    const auto dot = [&](const QColor& fill, bool hollow) {
        const QRectF box(x, 10, 8, 8);
        painter.setPen(hollow ? QPen(fill, 2) : QPen(Qt::NoPen));
        painter.setBrush(hollow ? QBrush(Qt::NoBrush) : QBrush(fill));
        painter.drawRect(box);
        x += 12;
    };
    if (current_ >= 0 && current_ < data_.plan.devices()) {
        const std::array<std::pair<RankRelation, std::pair<QString, std::int64_t>>, 4> kinds{
            {{RankRelation::Tensor, {tr("same layer, tensor"), data_.plan.tensor}},
             {RankRelation::Context, {tr("same sequence, context"), data_.plan.context}},
             {RankRelation::Data, {tr("same weights, data"), data_.plan.data}},
             {RankRelation::Pipeline, {tr("other stages, pipeline"), data_.plan.pipeline}}}};
        for (const auto& [relation, named] : kinds) {
            if (named.second < 2) continue;
            dot(relationColour(relation), true);
            word(tr("%1 (%2)").arg(named.first).arg(named.second - 1), colours.text);
            x += 8;
        }
    } else {
        const std::int64_t count = countOf(data_.plan, colouring_);
        if (count <= 8) {
            for (std::int64_t i = 0; i < count; ++i) {
                dot(colourOfOne(i, count), false);
                word(QString::number(i), colours.text);
            }
        } else {
            word(QStringLiteral("0"), colours.text);
            for (int i = 0; i < 40; ++i) painter.fillRect(QRectF(x + 2 * i, 9, 2, 10), theme.heat(i / 39.0));
            x += 86;
            word(QString::number(count - 1), colours.text);
        }
    }
    if (data_.drawn > data_.plan.devices()) {
        x += 8;
        dot(colours.line, false);
        word(tr("idle"), colours.mutedText);
    }
    QStringList uses;
    for (const ClusterLink& link : data_.links) uses << tr("%1 busy %2").arg(link.name, percentText(link.use));
    const QString links = uses.join(QStringLiteral(" · "));
    if (links.isEmpty() || x + metrics.horizontalAdvance(links) + 24 > width()) return;
    painter.setPen(colours.mutedText);
    painter.drawText(QRectF(x, 4, width() - x - 12, 20), Qt::AlignRight | Qt::AlignVCenter, links);
}

void ClusterMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return event->ignore();
    const std::int64_t rank = rankAt(event->position());
    setCurrent(rank == current_ ? -1 : rank);
    emit chosen(current_);
}

bool ClusterMap::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const std::int64_t rank = rankAt(help->pos());
    if (rank < 0) return QWidget::event(event);
    QString said = textOf(rank);
    if (current_ >= 0 && current_ != rank && rank < data_.plan.devices()) {
        switch (relationOf(data_.plan, current_, rank)) {
            case RankRelation::Tensor:
                said += QLatin1Char('\n') + tr("has another tensor part of the same layers");
                break;
            case RankRelation::Context:
                said += QLatin1Char('\n') + tr("has other positions of the same sequences");
                break;
            case RankRelation::Data:
                said += QLatin1Char('\n') + tr("has the same weights and other samples");
                break;
            case RankRelation::Pipeline:
                said += QLatin1Char('\n') + tr("has other layers of the same copy");
                break;
            default:
                break;
        }
    }
    QToolTip::showText(help->globalPos(), said, this);
    return true;
}

}  // namespace orrery::ui
