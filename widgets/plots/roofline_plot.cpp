#include "widgets/plots/roofline_plot.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/hover_card.h"
#include "widgets/plots/operator_facts.h"
#include "widgets/plots/view_button.h"

#include <QPicture>
#include <QVBoxLayout>
#include <qcustomplot.h>

namespace orrery::ui {
namespace {

constexpr int trailMilliseconds = 1000;  // changes closer than this belong to one gesture and share a trail

// A layer painted by a function.
class Painted : public QCPLayerable {
public:
    Painted(QCustomPlot* plot, const QString& layer, std::function<void(QPainter&)> paint)
        : QCPLayerable(plot, layer), paint_(std::move(paint)) {}

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(true); }
    void draw(QCPPainter* painter) override { paint_(*painter); }

private:
    std::function<void(QPainter&)> paint_;
};

// Powers of ten as a person reads them: `10 TFLOP/s`, `10k`.
class UnitTicker : public QCPAxisTickerLog {
public:
    explicit UnitTicker(Dimension dimension) : dimension_(dimension) {}

protected:
    QString getTickLabel(double tick, const QLocale&, QChar, int) override {
        QString label = text(tick, dimension_);
        if (dimension_ == Dimension::Number) label.remove(QLatin1Char(' '));
        return label;
    }

private:
    Dimension dimension_;
};

Range rangeOf(const QCPAxis* axis) {
    return {axis->range().lower, axis->range().upper};
}

RooflineRanges glide(const RooflineRanges& a, const RooflineRanges& b, double t) {
    return {{lerpLog(a.x.low, b.x.low, t), lerpLog(a.x.high, b.x.high, t)},
            {lerpLog(a.y.low, b.y.low, t), lerpLog(a.y.high, b.y.high, t)}};
}

bool sane(const Range& range) {
    return range.low > 1e-9 && range.high < 1e27 && range.high / range.low > 1.3 && range.high / range.low < 1e24;
}

EmptyState nothingYet() {
    return {RooflinePlot::tr("Roofline"),
            RooflinePlot::tr("Operators of the workload under the roofs of the hardware: the limit of each, and its "
                             "distance to the limit."),
            RooflinePlot::tr("Open an example")};
}

}  // namespace

RooflinePlot::RooflinePlot(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("roofline"), tr("Roofline"), selection, parent) {
    setMinimumSize(200, 140);
    setFocusPolicy(Qt::StrongFocus);
    setToolTip({});
    setAccessibleDescription(tr("Wheel zooms, drag pans, Shift+drag selects, click selects, F fits, P pins."));
    setEmptyState(nothingYet());
    buildPlot();
    buildButtons();
    card_ = new HoverCard(this);
    setRanges(fittingRanges({}));
    scene_.name = [this](int op) { return snapshot() ? shortName(operatorName(*snapshot(), op)) : QString(); };
    connect(selection, &Selection::changed, this, [this, selection] {
        scene_.selected = selection->operators();
        replot();
    });
    connect(selection, &Selection::hoverChanged, this, [this] { replotOverlay(); });
    connect(&glide_, &QVariantAnimation::valueChanged, this, [this](const QVariant& value) {
        const double t = value.toDouble();
        scene_.now = between(from_, target_, t);
        setRanges(glide(rangesFrom_, rangesTarget_, t));
        replot();
    });
    glide_.setStartValue(0.0);
    glide_.setEndValue(1.0);
    glide_.setEasingCurve(QEasingCurve::OutCubic);
    calm_.setSingleShot(true);
    connect(&calm_, &QTimer::timeout, this, [this] {
        if (fitted_) fit();
    });
    connect(&Theme::instance(), &Theme::changed, this, [this] { applyTheme(); });
    applyTheme();
    setEmpty(true);
}

RooflinePlot::~RooflinePlot() {
    glide_.stop();
}

void RooflinePlot::buildPlot() {
    plot_ = new QCustomPlot(this);
    plot_->setObjectName(QStringLiteral("roofline-canvas"));
    plot_->setFocusPolicy(Qt::NoFocus);
    plot_->setMouseTracking(true);
    plot_->installEventFilter(this);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(plot_);
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis}) {
        axis->setScaleType(QCPAxis::stLogarithmic);
        axis->setTickLengthIn(0);
        axis->setTickLengthOut(3);
        axis->setSubTicks(false);
        axis->setTickLabelPadding(3);
    }
    plot_->xAxis->setTicker(QSharedPointer<UnitTicker>::create(Dimension::Number));
    plot_->yAxis->setTicker(QSharedPointer<UnitTicker>::create(Dimension::OperationRate));
    plot_->axisRect()->setAutoMargins(QCP::msNone);
    plot_->setNoAntialiasingOnDrag(false);
    for (const char* name : {"roofs", "points", "labels", "hover"}) plot_->addLayer(QString::fromLatin1(name));
    overlay_ = plot_->layer(QStringLiteral("hover"));
    overlay_->setMode(QCPLayer::lmBuffered);
    new Painted(plot_, QStringLiteral("roofs"), [this](QPainter& painter) { paintRoofs(painter, scene_, axes()); });
    new Painted(plot_, QStringLiteral("points"), [this](QPainter& painter) {
        paintPoints(painter, scene_, axes());
        paintTruth(painter, scene_, axes());
    });
    new Painted(plot_, QStringLiteral("labels"), [this](QPainter& painter) {
        const LogAxes now = axes();
        const RooflineNote beside = note();
        paintLabels(painter, layOutLabels(scene_, now));
        paintNote(painter, beside);
        QRectF key = keyStrip();
        if (key.intersects(beside.box)) key.setRight(beside.box.left() - 8);
        paintKey(painter, scene_, key);
    });
    new Painted(plot_, QStringLiteral("hover"), [this](QPainter& painter) {
        const LogAxes now = axes();
        paintHover(painter, scene_, now, this->selection()->hovered());
        if (drag_ == Drag::Select) {
            const Palette& c = Theme::instance().colours();
            QColor fill = c.accent;
            fill.setAlphaF(0.12F);
            painter.setPen(QPen(c.accent, 1));
            painter.setBrush(fill);
            painter.drawRect(QRectF(pressed_, mouse_).normalized() & now.area);
        } else if (mouseInside_ && drag_ == Drag::None && !card_->isVisible()) {
            paintCrosshair(painter, now, mouse_);
        }
    });
}

void RooflinePlot::buildButtons() {
    fitButton_ =
        viewButton(this, QStringLiteral("roofline-fit"), QStringLiteral("zoom-fit-best"), tr("Fit everything (F)"));
    pinButton_ = viewButton(this, QStringLiteral("roofline-pin"), QStringLiteral("window-pin"),
                            tr("Pin these roofs and points as a baseline; press again to remove (P)"));
    pinButton_->setCheckable(true);
    connect(fitButton_, &QToolButton::clicked, this, &RooflinePlot::fit);
    connect(pinButton_, &QToolButton::clicked, this, [this](bool on) { on ? pinBaseline() : clearBaselines(); });
}

void RooflinePlot::applyTheme() {
    const Theme& theme = Theme::instance();
    const Palette& c = theme.colours();
    plot_->setBackground(c.surface);
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis}) {
        axis->setBasePen(QPen(c.line, 1));
        axis->setTickPen(QPen(c.line, 1));
        axis->setTickLabelColor(c.mutedText);
        axis->setLabelColor(c.mutedText);
        axis->setTickLabelFont(theme.font(FontRole::Small));
        axis->setLabelFont(theme.font(FontRole::Small));
        axis->grid()->setPen(QPen(c.faintLine, 1));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
    plot_->xAxis->setLabel(tr("Arithmetic intensity, FLOP/B"));
    const QFontMetrics metrics(theme.font(FontRole::Small));
    const bool low = height() < 220;
    if (low) plot_->xAxis->setLabel({});
    // Fixed margins: the axes stand still while the numbers change.
    plot_->axisRect()->setMargins({metrics.horizontalAdvance(QStringLiteral("100 TFLOP/s")) + 14, metrics.height() + 14,
                                   12, (low ? 1 : 2) * metrics.height() + 14});
    replot();
}

LogAxes RooflinePlot::axes() const {
    return {rangeOf(plot_->xAxis), rangeOf(plot_->yAxis), QRectF(plot_->axisRect()->rect())};
}

RooflineLabels RooflinePlot::labels() const {
    return layOutLabels(scene_, axes());
}

QRectF RooflinePlot::keyStrip() const {
    const QRectF area = axes().area;
    return {area.left(), 4, area.width() - 72, area.top() - 8};  // the buttons stand at its right
}

// Outside of the plot, where it covers nothing: beside the name of the horizontal axis, or, where a low plot has none,
// in the right half of the key's row.
RooflineNote RooflinePlot::note() const {
    const QCPAxis& axis = *plot_->xAxis;
    if (axis.label().isEmpty()) {
        const QRectF strip = keyStrip();
        return layOutNote(scene_.now, {strip.center().x(), strip.top(), strip.width() / 2, strip.height()});
    }
    const QRectF area = axes().area;
    const QFontMetricsF metrics(axis.labelFont());
    const double top =
        area.bottom() + axis.tickLengthOut() + axis.tickLabelPadding() + metrics.height() + axis.labelPadding();
    const double left = area.center().x() + metrics.horizontalAdvance(axis.label()) / 2 + 12;
    return layOutNote(scene_.now, {left, top, area.right() - left, metrics.height()});
}

QWidget* RooflinePlot::canvas() const {
    return plot_;
}

void RooflinePlot::replot() {
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void RooflinePlot::replotOverlay() {
    overlay_->replot();
}

void RooflinePlot::setRanges(const RooflineRanges& ranges) {
    ranges_ = ranges;
    plot_->xAxis->setRange(ranges.x.low, ranges.x.high);
    plot_->yAxis->setRange(ranges.y.low, ranges.y.high);
}

void RooflinePlot::snapshotChanged(const SnapshotPtr& before) {
    const bool something = snapshot() && (snapshot()->device || snapshot()->primaryEstimate());
    setEmpty(!something);
    if (!something) setEmptyState(withoutEstimate(snapshot(), nothingYet()));
    fitButton_->setVisible(something);
    pinButton_->setVisible(something);
    card_->hide();
    if (!something) {
        glide_.stop();
        scene_.now = target_ = {};
        scene_.ghost.reset();
        return replot();
    }
    const RooflineModel next = rooflineModel(*snapshot());
    const bool sameWorkload = before && before->scenario.workload && snapshot()->scenario.workload &&
                              before->scenario.workload->id == snapshot()->scenario.workload->id &&
                              target_.points.size() == next.points.size();
    if (!sameWorkload)
        scene_.ghost.reset();
    else if (!scene_.ghost || sinceChange_.elapsed() > trailMilliseconds)
        scene_.ghost = target_;
    // While one drags, the axes stand: what moves are roofs and points. They follow when the hand rests.
    const bool dragging = sameWorkload && sinceChange_.isValid() && sinceChange_.elapsed() <= trailMilliseconds;
    sinceChange_.start();
    RooflineRanges ranges = glide_.state() == QAbstractAnimation::Running ? rangesTarget_ : ranges_;
    if (fitted_ && dragging && !showsAll(ranges, next)) {
        calm_.start(trailMilliseconds);
    } else if (fitted_ && (!sameWorkload || !showsAll(ranges, next))) {
        calm_.stop();
        std::vector<const RooflineModel*> all{&next};
        for (const RooflineModel& model : scene_.baselines) all.push_back(&model);
        ranges = fittingRanges(all);
    }
    glideTo(next, ranges);
}

void RooflinePlot::glideTo(const RooflineModel& next, const RooflineRanges& ranges) {
    glide_.stop();
    from_ = scene_.now;
    target_ = next;
    rangesFrom_ = ranges_;
    rangesTarget_ = ranges;
    const int duration = Theme::instance().glideMilliseconds();
    if (duration == 0 || !isVisible() || from_.points.empty()) {
        scene_.now = target_;
        setRanges(ranges);
        return replot();
    }
    glide_.setDuration(duration);
    glide_.start();
}

void RooflinePlot::fit() {
    fitted_ = true;
    std::vector<const RooflineModel*> all{&target_};
    for (const RooflineModel& model : scene_.baselines) all.push_back(&model);
    glideTo(target_, fittingRanges(all));
}

void RooflinePlot::pinBaseline() {
    scene_.baselines.push_back(target_);
    scene_.baselines.back().title = tr("%1 (pinned)").arg(target_.title);
    pinButton_->setChecked(true);
    replot();
}

void RooflinePlot::clearBaselines() {
    scene_.baselines.clear();
    pinButton_->setChecked(false);
    replot();
}

void RooflinePlot::zoomAt(const QPointF& pixel, double factor) {
    const LogAxes now = axes();
    RooflineRanges next = ranges_;
    if (pixel.x() >= now.area.left()) next.x = zoomed(now.x, now.valueX(pixel.x()), factor);
    if (pixel.y() <= now.area.bottom()) next.y = zoomed(now.y, now.valueY(pixel.y()), factor);
    if (!sane(next.x) || !sane(next.y)) return;
    glide_.stop();
    scene_.now = target_;
    fitted_ = false;
    setRanges(next);
    replot();
}

void RooflinePlot::resizeEvent(QResizeEvent* event) {
    ResultView::resizeEvent(event);
    placeViewButtons(this, {fitButton_, pinButton_});
    applyTheme();
}

void RooflinePlot::paintPicture(QPainter& painter, const QRect& target) {
    // QCustomPlot draws onto its own painter only; a recorded picture carries its lines as lines into SVG and PDF.
    QPicture picture;
    QCPPainter recorder(&picture);
    recorder.setMode(QCPPainter::pmVectorized);
    plot_->toPainter(&recorder, target.width(), target.height());
    recorder.end();
    painter.drawPicture(target.topLeft(), picture);
    replot();
}

QString RooflinePlot::csv() const {
    const Estimate* estimate = snapshot() ? snapshot()->primaryEstimate() : nullptr;
    if (!estimate) return {};
    QString out = QStringLiteral("operator,kind,intensity_flop_per_byte,attained_flop_per_s,time_s,share,bound\n");
    const OperatorEstimates& columns = estimate->operators;
    const double total = totalSeconds(*estimate);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const double flops = i < columns.flops.size() ? columns.flops[i] : 0;
        const double bytes = i < columns.bytes.size() ? columns.bytes[i] : 0;
        const double seconds = columns.seconds[i];
        const auto number = [](double value) { return QString::number(value, 'g', 9); };
        const QStringList fields{
            csvField(operatorName(*snapshot(), int(i))),
            csvField(kindText(operatorKind(*snapshot(), int(i)))),
            flops > 0 && bytes > 0 ? number(flops / bytes) : QString(),
            flops > 0 && seconds > 0 ? number(flops / seconds) : QString(),
            number(seconds),
            number(total > 0 ? seconds / total : 0),
            i < columns.bound.size() ? csvField(boundText(columns.bound[i], *estimate)) : QString()};
        out += fields.join(QLatin1Char(',')) + QLatin1Char('\n');
    }
    return out;
}

}  // namespace orrery::ui
