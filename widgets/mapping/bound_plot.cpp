#include "widgets/mapping/bound_plot.h"

#include "base/text/latex_table.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QFileInfo>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double near = 8;  ///< pixels around the dot that count as it

}  // namespace

BoundPlot::BoundPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("mapping.bound"));
    setAccessibleName(tr("Least data movement"));
    setToolTip(tr("No mapping with this buffer size moves fewer words than the curve shows"));
    empty_ = tr("With an operator on an array, this shows the minimum traffic for every size of the buffer.");
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void BoundPlot::setBound(DrawnBound bound) {
    bound_ = std::move(bound);
    setAccessibleDescription(sentence());
    layOut();
    update();
}

void BoundPlot::setMapping(std::optional<MappingPoint> mapping) {
    if (!bound_) return;
    bound_->mapping = mapping;
    setAccessibleDescription(sentence());
    layOut();
    update();
}

void BoundPlot::clear(const QString& why) {
    bound_.reset();
    empty_ = why;
    setAccessibleDescription(why);
    update();
}

QString BoundPlot::sentence() const {
    const BoundCurve& curve = bound_->curve;
    if (!bound_->mapping) return tr("At least %1 words must move with any buffer").arg(countText(curve.compulsory));
    const BoundPoint* at = curve.at(bound_->mapping->words);
    return tr("The mapping moves %1 words: %2 × the minimum for tiles of %3 words")
        .arg(countText(bound_->mapping->moved),
             QString::number(at && at->moved > 0 ? bound_->mapping->moved / at->moved : 1, 'f', 2),
             countText(bound_->mapping->words));
}

void BoundPlot::layOut() {
    if (!bound_) return;
    const QRectF area = PlotFrame::areaIn(size()).adjusted(8, 8, -8, -8);
    std::vector<double> words{1}, moved;
    for (const BoundPoint& point : bound_->curve.points) {
        words.push_back(std::max(point.words, 1.0));
        moved.push_back(point.moved);
    }
    for (const BoundMark& mark : boundMarks(bound_->hardware)) words.push_back(mark.words);
    if (bound_->mapping) {
        words.push_back(bound_->mapping->words);
        moved.push_back(bound_->mapping->moved);
    }
    x_ = PlotAxis::covering(std::move(words), area.left(), area.right(), 1);
    y_ = PlotAxis::covering(std::move(moved), area.bottom(), area.top(), 1);
}

void BoundPlot::paintMarks(QPainter& painter, const QRectF& area) const {
    const Palette& colours = Theme::instance().colours();
    const int line = painter.fontMetrics().height();
    int row = 0;
    for (const BoundMark& mark : boundMarks(bound_->hardware)) {
        const double at = x_.position(mark.words);
        if (at < area.left() || at > area.right()) continue;
        painter.setPen(QPen(colours.mutedText, 1, Qt::DashLine));
        painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
        const QString text =
            ui::text(mark.words, Dimension::Number) + QLatin1Char(' ') + QString::fromStdString(mark.level);
        const int width = painter.fontMetrics().horizontalAdvance(text);
        const bool left = at + width + 8 > area.right();
        painter.setPen(colours.text);
        painter.drawText(QPointF(left ? at - width - 4 : at + 4, area.top() + line * (1 + row % 4)), text);
        ++row;
    }
}

void BoundPlot::paint(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    if (!bound_) return paintEmptyPlot(painter, rect(), empty_);
    PlotFrame frame;
    frame.title = tr("Minimum traffic (words) against buffer size (words)");
    frame.xName = tr("words of the buffer");
    frame.yName = tr("words moved");
    frame.yTicks = TickText::Number;
    frame.area = PlotFrame::areaIn(size());
    frame.paint(painter, x_, y_, width());
    const QRectF area = frame.area;
    painter.setRenderHint(QPainter::Antialiasing);
    paintMarks(painter, area);
    // Between two corners a larger buffer helps nothing: steps.
    QPolygonF steps;
    for (const BoundPoint& point : bound_->curve.points) {
        const QPointF at = placeOf(std::max(point.words, 1.0), point.moved);
        if (!steps.isEmpty()) steps << QPointF(at.x(), steps.last().y());
        steps << at;
    }
    steps << QPointF(area.right(), steps.last().y());
    painter.setPen(QPen(colours.accent, 2 * Theme::instance().scale()));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(steps);
    if (!bound_->mapping) return;
    const QPointF dot = placeOf(bound_->mapping->words, bound_->mapping->moved);
    const double radius = 5 * Theme::instance().scale();
    painter.setPen(QPen(colours.text, 2));
    painter.setBrush(colours.surface);
    painter.drawEllipse(dot, radius, radius);
    const QString text = tr("this mapping");
    const int width = painter.fontMetrics().horizontalAdvance(text);
    const bool left = dot.x() + radius + width + 8 > area.right();
    painter.drawText(dot + QPointF(left ? -radius - width - 4 : radius + 4, -radius), text);
}

void BoundPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter);
}

void BoundPlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layOut();
}

QString BoundPlot::textAt(const QPointF& place) const {
    if (!bound_) return {};
    if (bound_->mapping) {
        const QPointF away = placeOf(bound_->mapping->words, bound_->mapping->moved) - place;
        if (QPointF::dotProduct(away, away) < near * near) return sentence();
    }
    // The corner that a buffer of the place's size has.
    const BoundPoint* at = nullptr;
    for (const BoundPoint& point : bound_->curve.points) {
        if (!at || x_.position(std::max(point.words, 1.0)) <= place.x()) at = &point;
    }
    if (!at || place.x() < x_.position(std::max(at->words, 1.0))) return {};
    return tr("%1 words of buffer: at least %2 words move, %3 × what must\ntiles %4, loops over them %5")
        .arg(countText(at->words), countText(at->moved), QString::number(at->moved / bound_->curve.compulsory, 'g', 3),
             QString::fromStdString(boundTiles(bound_->problem, *at)),
             QString::fromStdString(fmt::format("{}", fmt::join(boundLoops(bound_->problem, *at), " "))));
}

bool BoundPlot::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const QString text = textAt(help->pos()); !text.isEmpty()) {
            QToolTip::showText(help->globalPos(), text, this);
            return true;
        }
    }
    return QWidget::event(event);
}

QString BoundPlot::exportTo(const QString& file) {
    const QString ending = QFileInfo(file).suffix().toLower();
    if (ending == QLatin1String("csv") || ending == QLatin1String("tex")) {
        const std::string rows = bound_ ? boundCsv({*bound_}) : std::string();
        return writeText(file, QByteArray::fromStdString(ending == QLatin1String("tex") ? latexTable(rows) : rows));
    }
    return atPictureSize(*this, [&] {
        return writePicture(file, size(), accessibleName(),
                            [this](QPainter& painter, const QRect&) { paint(painter); });
    });
}

}  // namespace orrery::ui
