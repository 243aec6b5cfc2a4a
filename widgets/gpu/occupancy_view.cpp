#include "widgets/gpu/occupancy_view.h"

#include "widgets/common/picture_file.h"
#include "widgets/common/table_file.h"
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

using gpusim::BlockNeed;
using gpusim::OccupancyPoint;

namespace {

QString needName(BlockNeed need) {
    switch (need) {
        case BlockNeed::Registers:
            return OccupancyView::tr("registers of a thread");
        case BlockNeed::SharedMemory:
            return OccupancyView::tr("shared memory of a block (KiB)");
        case BlockNeed::Threads:
            return OccupancyView::tr("threads of a block");
    }
    return {};
}

double shownValue(BlockNeed need, double value) {
    return need == BlockNeed::SharedMemory ? value / 1024 : value;
}

}  // namespace

OccupancyView::OccupancyView(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("gpu.occupancy"));
    setAccessibleName(tr("Occupancy"));
    setToolTip(tr("Resident warps against the resources of a block; press or drag on a curve to change the amount"));
    setMouseTracking(true);
    empty_ = tr("With a GPU, this shows the resident warps of a multiprocessor for the resources of a block.");
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void OccupancyView::setBlock(const gpusim::Machine& machine, const gpusim::KernelHeader& kernel) {
    machine_ = machine, kernel_ = kernel, known_ = true;
    for (const BlockNeed need : gpusim::allBlockNeeds)
        curves_[static_cast<std::size_t>(need)] = gpusim::occupancyCurve(machine, kernel, need);
    const auto fit = gpusim::occupancy(machine, kernel);
    setAccessibleDescription(tr("%1 of %2 warps").arg(fit.fits * kernel.warps()).arg(machine.warps()));
    update();
}

void OccupancyView::clear(const QString& why) {
    known_ = false;
    empty_ = why;
    update();
}

QRectF OccupancyView::areaOf(BlockNeed need) const {
    const double each = width() / 3.0, left = 44;
    return {each * static_cast<double>(need) + left, plotTitleHeight + 10.0, each - left - 10,
            std::max(20.0, height() - plotTitleHeight - 10.0 - 44)};
}

PlotAxis OccupancyView::axisOf(BlockNeed need) const {
    const QRectF box = areaOf(need);
    return {0, shownValue(need, gpusim::mostOf(machine_, need)), box.left(), box.right(), false};
}

QPointF OccupancyView::placeOf(BlockNeed need, int value) const {
    return {axisOf(need).position(shownValue(need, value)), areaOf(need).center().y()};
}

void OccupancyView::paint(QPainter& painter, const QRect& all) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(all, colours.surface);
    if (!known_) return paintEmptyPlot(painter, all, empty_);
    paintPlotTitle(painter, tr("Resident warps of a multiprocessor"), all.width());
    painter.setFont(theme.font(FontRole::Small));
    const int line = painter.fontMetrics().height();
    const double most = machine_.warps();
    for (const BlockNeed need : gpusim::allBlockNeeds) {
        const QRectF box = areaOf(need);
        const PlotAxis x = axisOf(need);
        const auto yOf = [&](double warps) { return box.bottom() - warps / most * box.height(); };
        for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0}) {
            painter.setPen(colours.faintLine);
            painter.drawLine(QPointF(box.left(), yOf(share * most)), QPointF(box.right(), yOf(share * most)));
            painter.setPen(colours.mutedText);
            painter.drawText(QRectF(box.left() - 40, yOf(share * most) - line / 2.0, 34, line),
                             Qt::AlignRight | Qt::AlignVCenter, countText(share * most));
        }
        for (const double tick : x.ticks(60)) {
            painter.setPen(colours.mutedText);
            painter.drawText(QRectF(x.position(tick) - 30, box.bottom() + 3, 60, line), Qt::AlignCenter,
                             countText(tick));
        }
        painter.drawText(QRectF(box.left() - 30, box.bottom() + 5 + line, box.width() + 40, line), Qt::AlignCenter,
                         needName(need));
        // A block may ask for any value between two: steps.
        QPolygonF steps;
        for (const OccupancyPoint& point : curves_[static_cast<std::size_t>(need)]) {
            const QPointF at(x.position(shownValue(need, point.need)), yOf(point.warps));
            if (!steps.isEmpty()) steps << QPointF(at.x(), steps.last().y());
            steps << at;
        }
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(colours.accent, 2 * theme.scale()));
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(steps);
        const double warps = gpusim::occupancy(machine_, kernel_).fits * static_cast<double>(kernel_.warps());
        const QPointF dot(x.position(shownValue(need, gpusim::needOf(kernel_, need))), yOf(warps));
        painter.setPen(QPen(colours.text, 2));
        painter.setBrush(colours.surface);
        painter.drawEllipse(dot, 5 * theme.scale(), 5 * theme.scale());
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
}

void OccupancyView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, rect());
}

void OccupancyView::choose(const QPointF& place) {
    const auto need = static_cast<BlockNeed>(held_);
    const PlotAxis x = axisOf(need);
    double value = x.low + (place.x() - x.from) / (x.to - x.from) * (x.high - x.low);
    if (need == BlockNeed::SharedMemory) value = std::round(value) * 1024;
    if (need == BlockNeed::Threads) value = std::max(1.0, std::round(value / 32)) * 32;
    const int least = need == BlockNeed::Registers ? 16 : need == BlockNeed::Threads ? 32 : 0;
    emit needChosen(need, std::clamp(static_cast<int>(std::lround(value)), least, gpusim::mostOf(machine_, need)));
}

void OccupancyView::mousePressEvent(QMouseEvent* event) {
    held_ = -1;
    if (event->button() != Qt::LeftButton || !known_) return event->ignore();
    for (const BlockNeed need : gpusim::allBlockNeeds)
        if (areaOf(need).adjusted(-8, -8, 8, 8).contains(event->position())) held_ = static_cast<int>(need);
    if (held_ >= 0) choose(event->position());
}

void OccupancyView::mouseMoveEvent(QMouseEvent* event) {
    if (held_ >= 0 && (event->buttons() & Qt::LeftButton)) choose(event->position());
}

bool OccupancyView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !known_) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (const BlockNeed need : gpusim::allBlockNeeds) {
        if (!areaOf(need).contains(help->pos())) continue;
        const PlotAxis x = axisOf(need);
        const double value = x.low + (help->pos().x() - x.from) / (x.to - x.from) * (x.high - x.low);
        const OccupancyPoint* at = nullptr;
        for (const OccupancyPoint& point : curves_[static_cast<std::size_t>(need)])
            if (!at || shownValue(need, point.need) <= value) at = &point;
        if (!at) break;
        QToolTip::showText(help->globalPos(),
                           tr("%1 %2: %3 blocks, %4 warps")
                               .arg(QString::number(shownValue(need, at->need)), needName(need))
                               .arg(at->blocks)
                               .arg(at->warps),
                           this);
        return true;
    }
    return QWidget::event(event);
}

QString OccupancyView::exportTo(const QString& file) const {
    if (!known_) return tr("There is nothing to write yet");
    if (isTableFile(file)) {
        QByteArray rows = "need,value,blocks,warps\n";
        for (const BlockNeed need : gpusim::allBlockNeeds) {
            const char* name = need == BlockNeed::Registers      ? "registers_per_thread"
                               : need == BlockNeed::SharedMemory ? "shared_bytes_per_block"
                                                                 : "threads_per_block";
            for (const OccupancyPoint& p : curves_[static_cast<std::size_t>(need)])
                rows += QStringLiteral("%1,%2,%3,%4\n")
                            .arg(QLatin1String(name))
                            .arg(p.need)
                            .arg(p.blocks)
                            .arg(p.warps)
                            .toUtf8();
        }
        return writeTable(file, rows.toStdString());
    }
    return writePicture(file, size(), tr("Occupancy"),
                        [this](QPainter& painter, const QRect& all) { paint(painter, all); });
}

}  // namespace orrery::ui
