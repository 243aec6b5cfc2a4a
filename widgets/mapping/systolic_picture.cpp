#include "widgets/mapping/systolic_picture.h"

#include "widgets/common/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

using systolic::PeActivity;

QColor activityColour(PeActivity activity) {
    const Theme& theme = Theme::instance();
    switch (activity) {
        case PeActivity::Idle:
            return theme.colours().surface;
        case PeActivity::Waiting:
            return theme.colours().faintLine;
        case PeActivity::Active:
            return theme.methodColour(0);
        case PeActivity::Loading:
            return theme.methodColour(1);
        case PeActivity::Passing:
            return theme.methodColour(2);
        case PeActivity::Done:
            return theme.methodColour(3);
    }
    return theme.colours().surface;
}

QString place(const char* name, const systolic::Element& element) {
    return QStringLiteral("%1[%2, %3]").arg(QLatin1String(name)).arg(element.row).arg(element.col);
}

}  // namespace

QString activityText(PeActivity activity) {
    switch (activity) {
        case PeActivity::Idle:
            return SystolicPicture::tr("is not used");
        case PeActivity::Loading:
            return SystolicPicture::tr("loads");
        case PeActivity::Waiting:
            return SystolicPicture::tr("waits");
        case PeActivity::Passing:
            return SystolicPicture::tr("passes sums on");
        case PeActivity::Active:
            return SystolicPicture::tr("multiplies");
        case PeActivity::Done:
            return SystolicPicture::tr("is done");
    }
    return {};
}

QString elementText(const systolic::SystolicSnapshot& shot, int row, int column) {
    const auto& pe = shot.at(row, column);
    QString words = SystolicPicture::tr("Row %1, column %2 %3").arg(row).arg(column).arg(activityText(pe.activity));
    if (pe.activity == PeActivity::Active) {
        return words +
               SystolicPicture::tr(" %1 by %2 into %3").arg(place("A", pe.a), place("B", pe.b), place("Z", pe.z));
    }
    if (pe.a.known()) words += SystolicPicture::tr(", holds %1").arg(place("A", pe.a));
    if (pe.b.known()) words += SystolicPicture::tr(", holds %1").arg(place("B", pe.b));
    if (pe.z.known()) words += SystolicPicture::tr(", sum %1").arg(place("Z", pe.z));
    return words;
}

ArrayEdges edgesOf(const systolic::FoldPlan& plan, const systolic::SystolicSnapshot& shot) {
    const systolic::Lanes inputs = plan.ifmap(shot.fold).at(shot.local);
    const systolic::Lanes weights = plan.filter(shot.fold).at(shot.local);
    const bool swapped = plan.dataflow == Dataflow::InputStationary;
    return {swapped ? weights : inputs, swapped ? inputs : weights, plan.ofmap(shot.fold).at(shot.local)};
}

SystolicPicture::SystolicPicture(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("mapping.systolic.array"));
    setAccessibleName(tr("Processing elements"));
    setToolTip(tr("Point at a processing element to see its operands"));
    setMouseTracking(true);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void SystolicPicture::setLegend(std::vector<PeActivity> activities) {
    legend_ = std::move(activities);
    update();
}

void SystolicPicture::show(systolic::SystolicSnapshot shot, const ArrayEdges& edges) {
    edges_ = edges;
    shot_ = std::move(shot);
    if (current_ && (current_->x() >= shot_.cols || current_->y() >= shot_.rows)) current_.reset();
    update();
}

QRectF SystolicPicture::area() const {
    if (shot_.rows < 1 || shot_.cols < 1) return {};
    const double edge = 14;
    const double below = 2.0 * QFontMetrics(Theme::instance().font(FontRole::Small)).height() + edge;
    const QRectF free = QRectF(rect()).adjusted(edge, edge, -edge, -below);
    const double side = std::max(
        0.5, std::min(free.width() / static_cast<double>(shot_.cols), free.height() / static_cast<double>(shot_.rows)));
    const QSizeF size(side * static_cast<double>(shot_.cols), side * static_cast<double>(shot_.rows));
    return {free.left() + (free.width() - size.width()) / 2, free.top(), size.width(), size.height()};
}

QRectF SystolicPicture::box(int row, int column) const {
    const QRectF all = area();
    const double side = all.width() / static_cast<double>(std::max<std::int64_t>(1, shot_.cols));
    return {all.left() + column * side, all.top() + row * side, side, side};
}

std::optional<QPoint> SystolicPicture::elementAt(const QPointF& at) const {
    const QRectF all = area();
    if (all.isEmpty() || !all.contains(at)) return std::nullopt;
    const double side = all.width() / static_cast<double>(shot_.cols);
    const QPoint element(static_cast<int>((at.x() - all.left()) / side), static_cast<int>((at.y() - all.top()) / side));
    return QPoint(std::min<int>(element.x(), static_cast<int>(shot_.cols) - 1),
                  std::min<int>(element.y(), static_cast<int>(shot_.rows) - 1));
}

void SystolicPicture::setCurrent(std::optional<QPoint> element) {
    if (element == current_) return;
    current_ = element;
    update();
    emit currentChanged();
}

QColor SystolicPicture::colour(const systolic::PeSnapshot& pe) const {
    return activityColour(pe.activity);
}

void SystolicPicture::paintElements(QPainter& painter, const QRectF& all) {
    const Palette& colours = Theme::instance().colours();
    const double side = all.width() / static_cast<double>(shot_.cols);
    // One pixel per element, enlarged: the same work for any array.
    QImage image(static_cast<int>(shot_.cols), static_cast<int>(shot_.rows), QImage::Format_RGB32);
    for (int row = 0; row < shot_.rows; ++row) {
        for (int column = 0; column < shot_.cols; ++column)
            image.setPixelColor(column, row, colour(shot_.at(row, column)));
    }
    painter.drawImage(all, image);
    if (side >= 5) {
        painter.setPen(colours.surface);
        for (int column = 1; column < shot_.cols; ++column)
            painter.drawLine(QPointF(all.left() + column * side, all.top()),
                             QPointF(all.left() + column * side, all.bottom()));
        for (int row = 1; row < shot_.rows; ++row)
            painter.drawLine(QPointF(all.left(), all.top() + row * side), QPointF(all.right(), all.top() + row * side));
    }
    painter.setPen(colours.line);
    painter.drawRect(all);
    if (side >= 4.4 * painter.fontMetrics().height()) {
        for (int row = 0; row < shot_.rows; ++row) {
            for (int column = 0; column < shot_.cols; ++column) {
                const auto& pe = shot_.at(row, column);
                QStringList lines;
                if (pe.a.known()) lines << place("A", pe.a);
                if (pe.b.known()) lines << place("B", pe.b);
                if (pe.z.known()) lines << place("Z", pe.z);
                painter.setPen(Theme::instance().inkOn(colour(pe)));
                painter.drawText(box(row, column), Qt::AlignCenter, lines.join(QLatin1Char('\n')));
            }
        }
    }
    if (current_) {
        painter.setPen(QPen(colours.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(box(current_->y(), current_->x()));
    }
}

// A mark at every lane that an edge takes in or gives out in this cycle.
void SystolicPicture::paintEdges(QPainter& painter, const QRectF& all) {
    const double side = all.width() / static_cast<double>(shot_.cols);
    const double mark = std::clamp(side * 0.6, 1.0, 8.0);
    const auto& [left, top, outputs] = edges_;
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::instance().colours().accent);
    for (std::int64_t lane = left.lo; lane <= left.hi; ++lane) {
        const double y = all.top() + (static_cast<double>(lane) + 0.5) * side;
        painter.drawPolygon(QPolygonF{
            {all.left() - 2, y}, {all.left() - 2 - mark, y - mark / 2}, {all.left() - 2 - mark, y + mark / 2}});
    }
    for (std::int64_t lane = top.lo; lane <= top.hi; ++lane) {
        const double x = all.left() + (static_cast<double>(lane) + 0.5) * side;
        painter.drawPolygon(
            QPolygonF{{x, all.top() - 2}, {x - mark / 2, all.top() - 2 - mark}, {x + mark / 2, all.top() - 2 - mark}});
    }
    for (std::int64_t lane = outputs.lo; lane <= outputs.hi; ++lane) {
        const double x = all.left() + (static_cast<double>(lane) + 0.5) * side;
        painter.drawPolygon(QPolygonF{
            {x, all.bottom() + 2 + mark}, {x - mark / 2, all.bottom() + 2}, {x + mark / 2, all.bottom() + 2}});
    }
}

void SystolicPicture::paintLegend(QPainter& painter) {
    const Palette& colours = Theme::instance().colours();
    const double line = painter.fontMetrics().height();
    double x = 12;
    const double y = height() - line - 4;
    for (const PeActivity activity : legend_) {
        const QString words = activityText(activity);
        const double width = line + painter.fontMetrics().horizontalAdvance(words) + 14;
        if (x + width > this->width()) break;
        painter.setPen(colours.line);
        painter.setBrush(activityColour(activity));
        painter.drawRect(QRectF(x, y + 2, line - 5, line - 5));
        painter.setPen(colours.mutedText);
        painter.drawText(QRectF(x + line, y, width, line), Qt::AlignVCenter | Qt::AlignLeft, words);
        x += width;
    }
}

void SystolicPicture::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), Theme::instance().colours().surface);
    if (shot_.pes.empty()) return;
    painter.setFont(Theme::instance().font(FontRole::Small));
    const QRectF all = area();
    paintElements(painter, all);
    painter.setRenderHint(QPainter::Antialiasing);
    paintEdges(painter, all);
    painter.setRenderHint(QPainter::Antialiasing, false);
    paintLegend(painter);
}

void SystolicPicture::mouseMoveEvent(QMouseEvent* event) {
    setCurrent(elementAt(event->position()));
}

void SystolicPicture::leaveEvent(QEvent*) {
    setCurrent(std::nullopt);
}

bool SystolicPicture::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        if (const auto element = elementAt(help->pos()); element && !shot_.pes.empty()) {
            QToolTip::showText(help->globalPos(), elementText(shot_, element->y(), element->x()), this);
            return true;
        }
    }
    return QWidget::event(event);
}

UtilizationStrip::UtilizationStrip(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("mapping.systolic.utilization"));
    setAccessibleName(tr("Utilisation over time"));
    setToolTip(tr("Share of processing elements at work over the whole run; click to go to a cycle"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void UtilizationStrip::show(std::vector<double> shares, std::int64_t cycles) {
    shares_ = std::move(shares);
    cycles_ = cycles;
    cycle_ = 0;
    update();
}

void UtilizationStrip::setCycle(std::int64_t cycle) {
    cycle_ = cycle;
    update();
}

void UtilizationStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    if (shares_.empty()) return;
    const QRectF all = QRectF(rect()).adjusted(0.5, 4.5, -0.5, -0.5);
    const double step = all.width() / static_cast<double>(shares_.size());
    painter.setPen(Qt::NoPen);
    painter.setBrush(Theme::instance().methodColour(0));
    for (std::size_t i = 0; i < shares_.size(); ++i) {
        const double tall = all.height() * std::clamp(shares_[i], 0.0, 1.0);
        painter.drawRect(QRectF(all.left() + static_cast<double>(i) * step, all.bottom() - tall, step, tall));
    }
    painter.setPen(colours.faintLine);
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(all);
    const double at = (static_cast<double>(cycle_) + 0.5) / static_cast<double>(cycles_);
    painter.setPen(QPen(colours.text, 2));
    painter.drawLine(QPointF(all.left() + at * all.width(), 0), QPointF(all.left() + at * all.width(), height()));
    painter.setPen(colours.mutedText);
    painter.setFont(Theme::instance().font(FontRole::Small));
    painter.drawText(all.adjusted(4, 1, -4, 0), Qt::AlignTop | Qt::AlignRight, tr("100 % of the elements"));
}

void UtilizationStrip::choose(double x) {
    if (shares_.empty() || width() < 2) return;
    const double share = std::clamp(x / width(), 0.0, 1.0);
    emit cycleChosen(std::min(cycles_ - 1, static_cast<std::int64_t>(share * static_cast<double>(cycles_))));
}

void UtilizationStrip::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) choose(event->position().x());
}

void UtilizationStrip::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() & Qt::LeftButton) choose(event->position().x());
}

}  // namespace orrery::ui
