#include "widgets/schedules/nest_picture.h"

#include "widgets/common/plot_axis.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/schedules/nest_marks.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double indent = 14, edge = 8;
constexpr std::array marks{LoopMark::Block,      LoopMark::VirtualThread, LoopMark::Thread, LoopMark::Parallel,
                           LoopMark::Vectorized, LoopMark::Unrolled,      LoopMark::Serial};

QString intensityText(const NestLine& line) {
    return QString::number(line.flops / line.bytes, 'g', 3);
}

}  // namespace

NestPicture::NestPicture(QWidget* parent)
    : FigureView(QStringLiteral("schedules.picture"), tr("Picture of the loop nest"),
                 tr("A row per loop: its depth, its number of steps, what it is bound to, and the data of one run"),
                 tr("The loops of the selected schedule appear here."), parent) {}

void NestPicture::setNest(ScheduleNest nest) {
    nest_ = std::move(nest);
    current_ = -1;
    QStringList said;
    for (const NestLine& line : nest_.lines)
        if (line.loop) said << tr("%1 × %2").arg(QString::fromStdString(line.name)).arg(line.extent);
    setAccessibleDescription(said.join(QStringLiteral(", ")));
    setMinimumHeight(minimumSizeHint().height());
    updateGeometry();
    update();
}

void NestPicture::setCurrentLine(int line) {
    current_ = line;
    update();
}

double NestPicture::top() const {
    return 2.6 * QFontMetricsF(Theme::instance().font(FontRole::Small)).height() + 6;
}

double NestPicture::rowHeight() const {
    return QFontMetricsF(Theme::instance().font(FontRole::Body)).height() + 4 * Theme::instance().scale();
}

QSize NestPicture::sizeHint() const {
    const auto rows = static_cast<double>(std::max<std::size_t>(nest_.lines.size(), 4));
    return {480, static_cast<int>(top() + rows * rowHeight() + 8)};
}

QSize NestPicture::minimumSizeHint() const {
    return {240, nest_.lines.empty() ? 100 : sizeHint().height()};
}

QRectF NestPicture::rowOf(int line) const {
    return {0, top() + line * rowHeight(), static_cast<double>(width()), rowHeight()};
}

int NestPicture::lineAt(const QPointF& place) const {
    const double line = (place.y() - top()) / rowHeight();
    return line >= 0 && line < static_cast<double>(nest_.lines.size()) ? static_cast<int>(line) : -1;
}

int NestPicture::lastInside(int line) const {
    int last = line;
    while (last + 1 < static_cast<int>(nest_.lines.size()) &&
           nest_.lines[static_cast<std::size_t>(last + 1)].depth > nest_.lines[static_cast<std::size_t>(line)].depth)
        ++last;
    return last;
}

QString NestPicture::textAt(const QPointF& place) const {
    const int at = lineAt(place);
    if (at < 0) return {};
    const NestLine& line = nest_.lines[static_cast<std::size_t>(at)];
    const QString name = QString::fromStdString(line.name);
    if (!line.loop) return name;
    QString words = line.extent > 0 ? tr("%1: %2 steps, %3").arg(name, countText(line.extent), markText(line.mark))
                                    : tr("%1: the log does not say how many steps").arg(name);
    if (!line.axis.empty()) words += tr(", bound to %1").arg(QString::fromStdString(line.axis));
    if (line.bytes > 0)
        words += QLatin1Char('\n') +
                 tr("One run of it touches %1 and does %2 FLOP: %3 per byte")
                     .arg(text(line.bytes, Dimension::Data), text(line.flops, Dimension::Number), intensityText(line));
    return words;
}

QByteArray NestPicture::csv() const {
    QByteArray out = "depth,loop,extent,mark,bound_to,bytes,flops\n";
    for (const NestLine& line : nest_.lines) {
        addCell(out, QString::number(line.depth));
        addCell(out, QString::fromStdString(line.name));
        addCell(out, line.extent > 0 ? QString::number(line.extent, 'g', 12) : QString());
        const auto mark = toText(line.mark);
        addCell(out, line.loop ? QString::fromUtf8(mark.data(), static_cast<qsizetype>(mark.size())) : QString());
        addCell(out, QString::fromStdString(line.axis));
        addCell(out, line.bytes > 0 ? QString::number(line.bytes, 'g', 12) : QString());
        addCell(out, line.flops > 0 ? QString::number(line.flops, 'g', 12) : QString(), true);
    }
    return out;
}

void NestPicture::paintLegend(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    double x = edge;
    const double line = painter.fontMetrics().height(), side = line * 0.6;
    for (const LoopMark mark : marks) {
        if (std::ranges::none_of(nest_.lines, [&](const NestLine& each) { return each.loop && each.mark == mark; }))
            continue;
        const QString text = markText(mark);
        const double wide = side + 5 + painter.fontMetrics().horizontalAdvance(text) + 14;
        if (x + wide > width()) break;
        painter.fillRect(QRectF(x, 5 + (line - side) / 2, side, side), markColour(mark));
        painter.setPen(colours.mutedText);
        painter.drawText(QPointF(x + side + 5, 5 + painter.fontMetrics().ascent()), text);
        x += wide;
    }
}

void NestPicture::paintFigure(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.setFont(theme.font(FontRole::Small));
    paintLegend(painter);
    const QFontMetricsF body(theme.font(FontRole::Body));
    double names = 0, most = 2;
    for (const NestLine& line : nest_.lines) {
        if (!line.loop) continue;
        names = std::max(names, line.depth * indent + body.horizontalAdvance(QString::fromStdString(line.name)));
        most = std::max(most, line.extent);
    }
    const double scale = theme.scale();
    const bool wide = width() > 400 * scale;
    const double figures = wide ? 72 * scale : 0, left = edge + std::min(names + 24, width() * 0.5);
    const double numbers = body.horizontalAdvance(countText(most)) + 10;
    const double longest = std::max(24.0, width() - left - numbers - 2 * figures - edge);
    if (wide) {
        painter.setPen(colours.mutedText);
        const double line = painter.fontMetrics().height(), at = top() - line - 3;
        const double right = width() - edge;
        painter.drawText(QRectF(left, at, longest, line), Qt::AlignLeft, tr("steps"));
        painter.drawText(QRectF(right - 2 * figures, at, figures, line), Qt::AlignRight, tr("touches"));
        painter.drawText(QRectF(right - figures, at, figures, line), Qt::AlignRight, tr("FLOP/B"));
    }
    for (int i = 0; i < static_cast<int>(nest_.lines.size()); ++i) {
        const NestLine& line = nest_.lines[static_cast<std::size_t>(i)];
        const QRectF row = rowOf(i);
        if (i == current_) painter.fillRect(row, colours.selection);
        const double from = edge + line.depth * indent;
        const QString name = QString::fromStdString(line.name);
        painter.setFont(theme.font(FontRole::Body));
        if (!line.loop) {
            painter.setPen(colours.mutedText);
            painter.drawText(QRectF(from + 8, row.top(), width() - from - 8, row.height()), Qt::AlignVCenter, name);
            continue;
        }
        // What stands inside hangs on a line in the loop's colour.
        const QColor colour = markColour(line.mark);
        painter.setPen(QPen(colour, 2));
        painter.drawLine(QPointF(from + 1, row.top() + 3), QPointF(from + 1, rowOf(lastInside(i)).bottom() - 2));
        painter.setPen(colours.text);
        const double room = left - from - 16;
        painter.drawText(QRectF(from + 8, row.top(), room, row.height()), Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(room)));
        const double share = line.extent > 0 ? std::log2(1 + line.extent) / std::log2(1 + most) : 0;
        painter.fillRect(QRectF(left, row.top() + 3, longest * share, row.height() - 6), colour);
        painter.drawText(QRectF(left + longest * share + 6, row.top(), numbers, row.height()), Qt::AlignVCenter,
                         line.extent > 0 ? countText(line.extent) : QStringLiteral("?"));
        if (!wide || !(line.bytes > 0)) continue;
        const double right = width() - edge;
        painter.drawText(QRectF(right - 2 * figures, row.top(), figures, row.height()),
                         Qt::AlignRight | Qt::AlignVCenter, text(line.bytes, Dimension::Data));
        painter.drawText(QRectF(right - figures, row.top(), figures, row.height()), Qt::AlignRight | Qt::AlignVCenter,
                         intensityText(line));
    }
}

void NestPicture::mousePressEvent(QMouseEvent* event) {
    const int line = lineAt(event->position());
    if (line < 0 || event->button() != Qt::LeftButton) return FigureView::mousePressEvent(event);
    setCurrentLine(line);
    emit lineChosen(line);
}

}  // namespace orrery::ui
