#include "widgets/exploration/parallel_plot.h"

#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"
#include "widgets/exploration/parallel_raster.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {

constexpr double grip = 12;    // pixels beside an axis that are still its own
constexpr double mostFar = 6;  // pixels from a line that is clicked
constexpr std::size_t mostFrontLines = 400;

RasterFrame frameFor(const QRectF& area, const std::vector<double>& x, double ratio, const QSize& size) {
    const Theme& theme = Theme::instance();
    RasterFrame frame;
    frame.size = size * ratio;
    for (const double each : x) frame.x.push_back(each * ratio);
    frame.top = area.top() * ratio;
    frame.bottom = area.bottom() * ratio;
    // The darkest colours of the scale would not be seen on a dark ground.
    const double least = theme.colours().surface.lightness() < 128 ? 0.25 : 0;
    for (int i = 0; i < 256; ++i) frame.ramp.push_back(theme.heat(least + (1 - least) * i / 255.0).rgb());
    frame.grey = theme.colours().mutedText.rgb();
    return frame;
}

QImage drawn(const ParallelData& data, std::size_t coloured, const std::vector<std::uint8_t>& kept,
             const RasterFrame& frame, const std::stop_token& stop) {
    RasterLines lines{data.places.size(), {}, data.axes[coloured].at.data(), kept.data()};
    for (const ParallelAxis& axis : data.axes) lines.at.push_back(axis.at.data());
    return rasterOf(lines, frame, stop);
}

void paintLines(QPainter& painter, const std::vector<QPolygonF>& lines, QColor colour) {
    const bool many = lines.size() > 60;
    colour.setAlphaF(many ? 0.45F : 0.8F);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colour, many ? 1 : 1.5));
    for (const QPolygonF& line : lines) painter.drawPolyline(line);
}

}  // namespace

ParallelPlot::ParallelPlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("explore.parallel"));
    setAccessibleName(tr("All knobs and objectives"));
    setToolTip(
        tr("A line for each point. Drag along an axis to keep the lines that pass there; click it to keep all; "
           "double-click to clear every axis. Click a line to choose it, a name to colour by it"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    connect(&Theme::instance(), &Theme::changed, this, &ParallelPlot::askAgain);
    connect(&painter_, &PictureThread::drawn, this, [this](const QImage& picture) {
        picture_ = picture;
        waiting_ = false;
        update();
    });
}

ParallelPlot::~ParallelPlot() = default;

void ParallelPlot::setData(std::shared_ptr<const ParallelData> data) {
    const auto names = [](const std::shared_ptr<const ParallelData>& of) {
        QStringList all;
        for (std::size_t a = 0; of && a < of->axes.size(); ++a) all << of->axes[a].name;
        return all;
    };
    if (names(data) != names(data_)) {
        brushes_.assign(data ? data->axes.size() : 0, std::nullopt);
        coloured_.reset();
    }
    data_ = std::move(data);
    front_.clear();
    for (std::size_t i = 0; data_ && i < data_->places.size(); ++i)
        if (data_->places[i] == PointPlace::Front && front_.size() < mostFrontLines) front_.push_back(i);
    if (!data_ || current_ >= static_cast<int>(data_->places.size())) current_ = -1;
    setAccessibleDescription(data_ ? tr("%n point(s)", nullptr, static_cast<int>(data_->places.size())) : QString());
    sieve();
    askAgain();
}

void ParallelPlot::setCurrent(int index) {
    current_ = data_ && index < static_cast<int>(data_->places.size()) ? index : -1;
    update();
}

void ParallelPlot::setBrush(std::size_t axis, std::optional<Span> span) {
    if (axis >= brushes_.size() || brushes_[axis] == span) return;
    brushes_[axis] = span;
    sieve();
    askAgain();
    emit brushed();
}

std::size_t ParallelPlot::coloured() const {
    return coloured_.value_or(data_ ? data_->coloured : 0);
}

void ParallelPlot::setColoured(std::size_t axis) {
    if (!data_ || axis >= data_->axes.size() || axis == coloured()) return;
    coloured_ = axis;
    askAgain();
}

void ParallelPlot::sieve() {
    kept_.assign(data_ ? data_->places.size() : 0, 1);
    for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i] = data_->places[i] == PointPlace::Broken ? 0 : 1;
    for (std::size_t a = 0; a < brushes_.size(); ++a) {
        if (!brushes_[a]) continue;
        const auto [low, high] = *brushes_[a];
        const std::vector<float>& at = data_->axes[a].at;
        for (std::size_t i = 0; i < kept_.size(); ++i)
            if (!(at[i] >= low && at[i] <= high)) kept_[i] = 0;
    }
    keptCount_ = static_cast<std::size_t>(std::ranges::count(kept_, std::uint8_t{1}));
}

void ParallelPlot::layOut() {
    // Values stand at the left of their axis, its name around it.
    double left = 40;
    if (data_ && !data_->axes.empty()) {
        for (const auto& [at, text] : data_->axes.front().ticks)
            left = std::max(left, fontMetrics().horizontalAdvance(text) + 18.0);
        left = std::max(left, fontMetrics().horizontalAdvance(data_->axes.front().name) / 2.0 + 6);
    }
    area_ = QRectF(rect()).adjusted(std::min(left, 130.0), plotTitleHeight + 30, -70, -18);
}

double ParallelPlot::xOf(std::size_t axis) const {
    const QRectF& inside = area();
    const std::size_t count = data_ ? data_->axes.size() : 0;
    return count < 2 ? inside.center().x()
                     : inside.left() + inside.width() * static_cast<double>(axis) / static_cast<double>(count - 1);
}

double ParallelPlot::yOf(float at) const {
    const QRectF& inside = area();
    return inside.bottom() - static_cast<double>(at) * inside.height();
}

float ParallelPlot::spotAt(double y) const {
    const QRectF& inside = area();
    return static_cast<float>(std::clamp((inside.bottom() - y) / inside.height(), 0.0, 1.0));
}

int ParallelPlot::axisAt(const QPointF& place) const {
    if (!data_ || !area().adjusted(-grip, -grip, grip, grip).contains(place)) return -1;
    for (std::size_t a = 0; a < data_->axes.size(); ++a)
        if (std::abs(xOf(a) - place.x()) <= grip) return static_cast<int>(a);
    return -1;
}

int ParallelPlot::indexAt(const QPointF& place) const {
    if (!data_ || data_->axes.size() < 2 || !area().contains(place)) return -1;
    std::size_t left = 0;
    while (left + 2 < data_->axes.size() && xOf(left + 1) <= place.x()) ++left;
    const double share = (place.x() - xOf(left)) / (xOf(left + 1) - xOf(left));
    const double reach = mostFar / area().height();
    const double wanted = (area().bottom() - place.y()) / area().height();
    const auto &from = data_->axes[left].at, &to = data_->axes[left + 1].at;
    int best = -1;
    double nearest = reach;
    const auto look = [&](std::size_t i) {
        if (!kept_[i]) return;
        const double off = std::abs(from[i] + share * (to[i] - from[i]) - wanted);
        if (!(off < nearest)) return;
        nearest = off;
        best = static_cast<int>(i);
    };
    for (const std::size_t i : front_) look(i);
    if (best >= 0) return best;
    for (std::size_t i = 0; i < kept_.size(); ++i) look(i);
    return best;
}

void ParallelPlot::askAgain() {
    update();
    layOut();
    if (!data_ || data_->axes.size() < 2) {
        painter_.drop();
        picture_.reset();
        waiting_ = false;
        return;
    }
    waiting_ = true;
    if (!isVisible()) return;
    std::vector<double> x;
    for (std::size_t a = 0; a < data_->axes.size(); ++a) x.push_back(xOf(a));
    painter_.ask([data = data_, coloured = coloured(), kept = kept_, ratio = devicePixelRatioF(), front = frontLines(),
                  accent = Theme::instance().colours().accent,
                  frame = frameFor(area(), x, devicePixelRatioF(), size())](const std::stop_token& stop) {
        QImage image = drawn(*data, coloured, kept, frame, stop);
        if (stop.stop_requested()) return image;
        image.setDevicePixelRatio(ratio);
        QPainter painter(&image);
        paintLines(painter, front, accent);
        return image;
    });
}

void ParallelPlot::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (waiting_) askAgain();
}

void ParallelPlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    askAgain();
}

void ParallelPlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
    if (data_ && event->position().y() < area().top() - 4) {
        const double step = data_->axes.size() < 2 ? width() : xOf(1) - xOf(0);
        for (std::size_t a = 0; a < data_->axes.size(); ++a)
            if (std::abs(xOf(a) - event->position().x()) < step / 2) setColoured(a);
        return;
    }
    dragging_ = axisAt(event->position());
    if (dragging_ >= 0) {
        dragFrom_ = spotAt(event->position().y());
        return;
    }
    const int index = indexAt(event->position());
    if (index < 0) return;
    setCurrent(index);
    emit chosen(index);
}

void ParallelPlot::mouseMoveEvent(QMouseEvent* event) {
    if (dragging_ < 0) {
        setCursor(axisAt(event->position()) >= 0 ? Qt::SplitVCursor : Qt::ArrowCursor);
        return;
    }
    const float to = spotAt(event->position().y());
    if (std::abs(to - dragFrom_) * area().height() < 3) return;
    setBrush(static_cast<std::size_t>(dragging_), std::minmax(dragFrom_, to));
}

void ParallelPlot::mouseReleaseEvent(QMouseEvent* event) {
    if (dragging_ < 0) return;
    if (std::abs(spotAt(event->position().y()) - dragFrom_) * area().height() < 3)
        setBrush(static_cast<std::size_t>(dragging_), std::nullopt);
    dragging_ = -1;
}

void ParallelPlot::mouseDoubleClickEvent(QMouseEvent*) {
    for (std::size_t a = 0; a < brushes_.size(); ++a) setBrush(a, std::nullopt);
}

void ParallelPlot::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Escape) return QWidget::keyPressEvent(event);
    for (std::size_t a = 0; a < brushes_.size(); ++a) setBrush(a, std::nullopt);
}

// Empty where the point has no answer.
QPolygonF ParallelPlot::lineOf(std::size_t point) const {
    QPolygonF line;
    for (std::size_t a = 0; a < data_->axes.size(); ++a) {
        const float at = data_->axes[a].at[point];
        if (std::isnan(at)) return {};
        line << QPointF(xOf(a), yOf(at));
    }
    return line;
}

std::vector<QPolygonF> ParallelPlot::frontLines() const {
    std::vector<QPolygonF> lines;
    for (const std::size_t i : front_)
        if (kept_[i]) lines.push_back(lineOf(i));
    return lines;
}

void ParallelPlot::paintAxes(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    const QRectF& inside = area();
    const QFontMetrics metrics = painter.fontMetrics();
    const double gap = data_->axes.size() < 2 ? inside.width() : xOf(1) - xOf(0);
    for (std::size_t a = 0; a < data_->axes.size(); ++a) {
        const ParallelAxis& axis = data_->axes[a];
        const double x = xOf(a);
        painter.setPen(QPen(axis.objective ? colours.text : colours.line, axis.objective ? 1.6 : 1.2));
        painter.drawLine(QPointF(x, inside.top()), QPointF(x, inside.bottom()));
        if (brushes_[a]) {
            QColor fill = colours.accent;
            fill.setAlphaF(0.3F);
            const QRectF brush(QPointF(x - 5, yOf(brushes_[a]->second)), QPointF(x + 5, yOf(brushes_[a]->first)));
            painter.setPen(QPen(colours.accent, 1));
            painter.setBrush(fill);
            painter.drawRect(brush);
        }
        painter.setPen(a == coloured() ? colours.accent : colours.text);
        const int room = static_cast<int>(std::min(gap - 8, 2 * std::min(x, width() - x) - 4));
        painter.drawText(QRectF(x - room / 2.0, inside.top() - metrics.height() - 8, room, metrics.height()),
                         Qt::AlignCenter, metrics.elidedText(axis.name, Qt::ElideMiddle, room));
        // A value stands on its own ground, for lines lead through it; where two would touch, one is left out.
        double last = 1e9;
        for (const auto& [at, text] : axis.ticks) {
            const double y = yOf(at);
            painter.setPen(QPen(colours.line, 1));
            painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y));
            if (std::abs(last - y) < metrics.height()) continue;
            last = y;
            const int wide = std::min(metrics.horizontalAdvance(text), static_cast<int>(gap) - 14);
            const QRectF box(x - wide - 8, y - metrics.height() / 2.0, wide + 4, metrics.height());
            QColor ground = colours.surface;
            ground.setAlphaF(0.8F);
            painter.fillRect(box, ground);
            painter.setPen(colours.mutedText);
            painter.drawText(box, Qt::AlignCenter, metrics.elidedText(text, Qt::ElideRight, wide + 2));
        }
    }
}

void ParallelPlot::paint(QPainter& painter, const QImage& lines, bool front) const {
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(rect(), colours.surface);
    if (!data_ || data_->axes.size() < 2 || data_->places.empty())
        return paintEmptyPlot(painter, rect(), emptySentence_);
    const std::size_t kept = keptPoints();
    paintPlotTitle(painter,
                   tr("%1 of %2 points pass; coloured by %3, the front in lines")
                       .arg(countText(static_cast<double>(kept)), countText(static_cast<double>(data_->places.size())),
                            data_->axes[coloured()].name),
                   width());
    painter.drawImage(QRectF(rect()), lines);
    if (front) paintLines(painter, frontLines(), colours.accent);
    painter.setRenderHint(QPainter::Antialiasing);
    if (current_ >= 0) {
        painter.setPen(QPen(colours.text, 2.5));
        painter.drawPolyline(lineOf(static_cast<std::size_t>(current_)));
    }
    painter.setRenderHint(QPainter::Antialiasing, false);
    paintAxes(painter);
}

void ParallelPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, picture_.value_or(QImage()), false);
}

QString ParallelPlot::exportTo(const QString& file) {
    QString problem = atPictureSize(*this, [&] {
        layOut();
        QImage lines;
        if (data_ && data_->axes.size() > 1) {
            std::vector<double> x;
            for (std::size_t a = 0; a < data_->axes.size(); ++a) x.push_back(xOf(a));
            lines = drawn(*data_, coloured(), kept_, frameFor(area(), x, 2, size()), {});
        }
        return writePicture(file, size(), tr("Points on parallel axes"),
                            [&](QPainter& painter, const QRect&) { paint(painter, lines, true); });
    });
    layOut();
    return problem;
}

}  // namespace orrery::ui
