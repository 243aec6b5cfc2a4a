#include "widgets/exploration/search_plot.h"

#include "widgets/common/picture_file.h"
#include "widgets/common/theme.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <utility>

namespace orrery::ui {

namespace {

// So few dots are painted at once, without a picture.
constexpr std::size_t mostDotsAtOnce = 300;

}  // namespace

SearchPlot::SearchPlot(QWidget* parent) : QWidget(parent), data_(std::make_shared<const SearchPlotData>()) {
    setObjectName(QStringLiteral("explore.plot"));
    setAccessibleName(tr("Points of the search"));
    setToolTip(tr(
        "One dot for each point. Filled points are on the Pareto front. Bars are 90 % intervals. Click to choose one"));
    connect(&Theme::instance(), &Theme::changed, this, &SearchPlot::layOut);
    connect(&painter_, &PictureThread::drawn, this, [this](const QImage& picture) {
        dots_ = QPixmap::fromImage(picture);
        update();
    });
}

void SearchPlot::setData(std::shared_ptr<const SearchPlotData> data) {
    data_ = data ? std::move(data) : std::make_shared<const SearchPlotData>();
    if (current_ >= static_cast<int>(data_->places.size())) current_ = -1;
    setAccessibleDescription(tr("%n point(s)", nullptr, static_cast<int>(data_->places.size())));
    layOut();
}

void SearchPlot::setCurrent(int index) {
    current_ = index;
    update();
}

void SearchPlot::layOut() {
    update();
    const QRectF area = PlotFrame::areaIn(size()).adjusted(8, 8, -8, -8);
    x_ = PlotAxis::covering({data_->x.least, data_->x.most}, area.left(), area.right());
    y_ = PlotAxis::covering({data_->y.least, data_->y.most}, area.bottom(), area.top());
    if (data_->places.size() <= mostDotsAtOnce) {
        painter_.drop();
        dots_ = {};
        return;
    }
    painter_.ask(
        [data = data_, frame = frame()](const std::stop_token& stop) { return pictureOf(*data, frame, stop); });
}

SearchFrame SearchPlot::frame() const {
    const Palette& colours = Theme::instance().colours();
    SearchFrame frame{size(), devicePixelRatioF(), Theme::instance().scale(), x_, y_, {}, colours.accent};
    frame.bar.setAlphaF(0.35F);
    const auto dot = [&](PointPlace place, QColor colour, float alpha) {
        colour.setAlphaF(alpha);
        frame.dots[static_cast<std::size_t>(place)] = colour;
    };
    dot(PointPlace::Beaten, colours.mutedText, 0.55F);
    dot(PointPlace::Possible, colours.accent, 0.6F);
    dot(PointPlace::Broken, colours.mutedText, 0.25F);
    dot(PointPlace::Front, colours.accent, 1);
    return frame;
}

void SearchPlot::setDrawnAsSearched(bool same) {
    if (std::exchange(drawnAsSearched_, same) != same) update();
}

QPointF SearchPlot::placeOf(int index) const {
    const auto i = static_cast<std::size_t>(index);
    return {x_.position(data_->x.value[i]), y_.position(data_->y.value[i])};
}

void SearchPlot::paintMarks(QPainter& painter) const {
    const Palette& colours = Theme::instance().colours();
    const double radius = 4 * Theme::instance().scale();
    painter.setRenderHint(QPainter::Antialiasing);
    if (data_->x.drawn && data_->y.drawn && *data_->x.drawn > 0 && *data_->y.drawn > 0) {
        const QPointF at(x_.position(*data_->x.drawn), y_.position(*data_->y.drawn));
        painter.setPen(QPen(colours.text, 2));
        painter.setBrush(colours.surface);
        const double r = radius + 2;
        painter.drawPolygon(
            QPolygonF{at + QPointF(0, -r), at + QPointF(r, 0), at + QPointF(0, r), at + QPointF(-r, 0)});
        const QString said = drawnAsSearched_ ? tr("as drawn") : tr("as it was drawn");
        const QFontMetricsF letters(painter.font());
        const QPointF baseline = at + QPointF(r + 4, -r);
        QColor ground = colours.surface;  // among thousands of dots
        ground.setAlphaF(0.85F);
        painter.fillRect(QRectF(baseline - QPointF(2, letters.ascent()),
                                QSizeF(letters.horizontalAdvance(said) + 4, letters.height())),
                         ground);
        painter.drawText(baseline, said);
    }
    if (current_ >= 0 && isDrawn(static_cast<std::size_t>(current_))) {
        painter.setPen(QPen(colours.text, 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(placeOf(current_), radius + 4, radius + 4);
    }
}

void SearchPlot::paint(QPainter& painter, bool keep) {
    painter.fillRect(rect(), Theme::instance().colours().surface);
    if (!(data_->x.most > 0) || data_->places.empty()) return paintEmptyPlot(painter, rect(), emptySentence_);
    PlotFrame frame;
    frame.title = tr("%1 against %2").arg(data_->y.name, data_->x.name);
    const auto named = [this](const SearchAxis& axis) {
        return axis.unsure ? tr("%1 (no interval is known)").arg(axis.name) : axis.name;
    };
    frame.xName = named(data_->x);
    frame.yName = named(data_->y);
    frame.xTicks = data_->x.ticks;
    frame.yTicks = data_->y.ticks;
    frame.area = PlotFrame::areaIn(size());
    frame.paint(painter, x_, y_, width());
    const SearchFrame how = this->frame();
    if (keep && data_->places.size() > mostDotsAtOnce) {
        painter.drawPixmap(0, 0, dots_);
    } else {
        if (data_->places.size() > mostRoundDots)
            painter.drawImage(QRectF(rect()), cloudOfMany(*data_, how));  // a file of so many shapes opens nowhere
        else
            paintCloud(painter, *data_, how);
        paintFront(painter, *data_, how);
    }
    paintMarks(painter);
}

void SearchPlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, true);
}

void SearchPlot::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layOut();
}

int SearchPlot::indexAt(const QPointF& place) const {
    int best = -1;
    double nearest = 100;
    const auto look = [&](int index) {
        const QPointF away = placeOf(index) - place;
        const double distance = QPointF::dotProduct(away, away);
        if (distance >= nearest) return;
        nearest = distance;
        best = index;
    };
    for (const int index : data_->front) look(index);
    if (best >= 0) return best;
    for (std::size_t i = 0; i < data_->places.size(); ++i)
        if (isDrawn(i)) look(static_cast<int>(i));
    return best;
}

void SearchPlot::mousePressEvent(QMouseEvent* event) {
    const int index = indexAt(event->position());
    if (index < 0) return QWidget::mousePressEvent(event);
    setCurrent(index);
    emit chosen(index);
}

bool SearchPlot::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = indexAt(help->pos());
    if (index < 0) return QWidget::event(event);
    QToolTip::showText(help->globalPos(), tips_ ? tips_(index) : QString(), this);
    return true;
}

QString SearchPlot::exportTo(const QString& file) {
    return atPictureSize(*this, [&] {
        return writePicture(file, size(), tr("Points of the search"),
                            [this](QPainter& painter, const QRect&) { paint(painter, false); });
    });
}

}  // namespace orrery::ui
