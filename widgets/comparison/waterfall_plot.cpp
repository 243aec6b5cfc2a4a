#include "widgets/comparison/waterfall_plot.h"

#include "widgets/common/picture_file.h"
#include "widgets/common/plot_axis.h"
#include "widgets/common/theme.h"
#include "widgets/evidence/plot_frame.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double noteRows = 1.8;  ///< of a note in two lines, in heights of a row

}  // namespace

WaterfallPlot::WaterfallPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("compare.waterfall"));
    setAccessibleName(tr("Where the time goes"));
    setToolTip(
        tr("Each bar begins where the bar above ends. Blue is less time, vermilion more. Click to choose a row"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

double WaterfallPlot::rowHeight() const {
    const double wanted = QFontMetricsF(Theme::instance().font(FontRole::Body)).height() + 8;
    return wanted;
}

QSize WaterfallPlot::sizeHint() const {
    const auto rows = static_cast<double>(data_.rows.size() + 2) + (data_.note.isEmpty() ? 0 : noteRows);
    return {640, static_cast<int>(plotTitleHeight + 12 + rows * rowHeight())};
}

void WaterfallPlot::setData(WaterfallData data) {
    data_ = std::move(data);
    if (current_ >= static_cast<int>(data_.rows.size())) current_ = -1;
    setAccessibleDescription(data_.rows.empty()
                                 ? QString()
                                 : tr("%1 to %2 in %n step(s)", nullptr, static_cast<int>(data_.rows.size()))
                                       .arg(data_.fromText, data_.toText));
    setMinimumHeight(data_.rows.empty() ? 0 : sizeHint().height());
    updateGeometry();
    update();
}

void WaterfallPlot::setCurrent(int row) {
    current_ = row;
    update();
}

QRectF WaterfallPlot::rowRect(int row) const {
    return {0, plotTitleHeight + 6 + (row + 1) * rowHeight(), static_cast<double>(width()), rowHeight()};
}

std::pair<double, double> WaterfallPlot::span(int row) const {
    double sum = data_.from;
    for (int i = 0; i < row; ++i) sum += data_.rows[static_cast<std::size_t>(i)].change;
    return {sum, sum + data_.rows[static_cast<std::size_t>(row)].change};
}

void WaterfallPlot::paint(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(rect(), colours.surface);
    if (data_.rows.empty()) return paintEmptyPlot(painter, rect(), emptySentence_);
    painter.setRenderHint(QPainter::Antialiasing);
    paintPlotTitle(painter, data_.title, width());
    painter.setFont(theme.font(FontRole::Body));
    const QFontMetricsF metrics(painter.font());
    double names = std::max(metrics.horizontalAdvance(data_.fromName), metrics.horizontalAdvance(data_.toName));
    double values = std::max(metrics.horizontalAdvance(data_.fromText), metrics.horizontalAdvance(data_.toText));
    double deltas = 0, low = std::min(data_.from, data_.to), high = std::max(data_.from, data_.to);
    for (int i = 0; i < static_cast<int>(data_.rows.size()); ++i) {
        const WaterfallRow& row = data_.rows[static_cast<std::size_t>(i)];
        names = std::max(names, metrics.horizontalAdvance(row.label));
        values = std::max(values, metrics.horizontalAdvance(row.values));
        deltas = std::max(deltas, metrics.horizontalAdvance(row.delta));
        const auto [a, b] = span(i);
        low = std::min({low, a, b});
        high = std::max({high, a, b});
    }
    names = std::min(names, width() * 0.3);
    const bool roomForValues = width() > names + values + deltas + 220;
    const double from = 12 + names + 12 + (roomForValues ? values + 16 : 0);
    const double to = std::max(from + 40, width() - 16.0 - deltas - 12);
    // Far totals and small steps: the axis begins where something happens.
    const double begin =
        low > 0.8 * high && high - low > 1e-6 * high ? std::max(0.0, low - 0.3 * (high - low)) : std::min(0.0, low);
    const double reach = high > begin ? high - begin : 1;
    const auto x = [&](double value) { return from + (to - from) * (value - begin) / reach; };
    const double tall = rowHeight(), bar = tall - 8;
    double y = plotTitleHeight + 6;
    const auto words = [&](const QString& label, const QString& value, const QString& delta, bool strong) {
        painter.setPen(strong ? colours.text : colours.mutedText);
        painter.drawText(QRectF(12, y, names, tall), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(label, Qt::ElideMiddle, names));
        painter.setPen(colours.mutedText);
        if (roomForValues) {
            painter.drawText(QRectF(12 + names + 12, y, values, tall), Qt::AlignRight | Qt::AlignVCenter, value);
        }
        painter.setPen(strong ? colours.text : colours.mutedText);
        painter.drawText(QRectF(to + 12, y, deltas + 4, tall), Qt::AlignRight | Qt::AlignVCenter, delta);
    };
    const auto total = [&](const QString& name, const QString& text, double value) {
        words(name, text, {}, true);
        painter.fillRect(QRectF(x(begin), y + 4, std::max(1.0, x(value) - x(begin)), bar), colours.mutedText);
        if (!roomForValues) {
            painter.setPen(colours.surface);
            painter.drawText(QRectF(x(begin) + 6, y, x(value) - x(begin), tall), Qt::AlignLeft | Qt::AlignVCenter,
                             text);
        }
        y += tall;
    };
    const auto join = [&](double value) {
        painter.setPen(QPen(colours.line, 1, Qt::DotLine));
        painter.drawLine(QPointF(x(value), y - 4), QPointF(x(value), y + 4));
    };
    total(data_.fromName, data_.fromText, data_.from);
    for (int i = 0; i < static_cast<int>(data_.rows.size()); ++i) {
        const WaterfallRow& row = data_.rows[static_cast<std::size_t>(i)];
        const auto [a, b] = span(i);
        if (i == current_) painter.fillRect(rowRect(i), colours.selection);
        join(a);
        words(row.label, row.values, row.delta, true);
        const double left = x(std::min(a, b)), wide = std::max(row.change == 0 ? 0.0 : 1.5, std::abs(x(b) - x(a)));
        painter.fillRect(QRectF(left, y + 4, wide, bar), theme.divergingHeat(row.change < 0 ? -0.85 : 0.85));
        y += tall;
    }
    join(data_.to);
    total(data_.toName, data_.toText, data_.to);
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(colours.mutedText);
    QString note = data_.note;
    if (begin > 0)
        note = tr("The axis begins at %1 % of the larger total. ").arg(std::lround(100 * begin / high)) + note;
    painter.drawText(QRectF(12, y + 4, width() - 24, noteRows * tall), Qt::AlignLeft | Qt::TextWordWrap, note);
}

void WaterfallPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter);
}

void WaterfallPlot::mousePressEvent(QMouseEvent* event) {
    for (int i = 0; i < static_cast<int>(data_.rows.size()); ++i) {
        if (!rowRect(i).contains(event->position())) continue;
        setCurrent(i);
        emit chosen(i);
        return;
    }
    QWidget::mousePressEvent(event);
}

bool WaterfallPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (int i = 0; i < static_cast<int>(data_.rows.size()); ++i) {
        if (!rowRect(i).contains(help->pos())) continue;
        QToolTip::showText(help->globalPos(), data_.rows[static_cast<std::size_t>(i)].tip, this);
        return true;
    }
    return QWidget::event(event);
}

QString WaterfallPlot::exportTo(const QString& file) {
    return atPictureSize(*this, [&] {
        return writePicture(file, size(), accessibleName(),
                            [this](QPainter& painter, const QRect&) { paint(painter); });
    });
}

}  // namespace orrery::ui
