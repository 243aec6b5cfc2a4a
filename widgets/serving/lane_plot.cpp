#include "widgets/serving/lane_plot.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery::ui {

namespace {

/// Adds `weight` × time to every interval that [from, to) covers.
void spreadOver(std::vector<double>& cells, double interval, double from, double to, double weight) {
    if (!(to > from)) return;
    const auto last = static_cast<double>(cells.size());
    for (double cell = std::floor(from / interval); cell < last && cell * interval < to; ++cell) {
        const double begin = std::max(from, cell * interval), end = std::min(to, (cell + 1) * interval);
        if (end > begin) cells[static_cast<std::size_t>(cell)] += weight * (end - begin) / interval;
    }
}

/// How many at most are there at one instant, of what begins and ends at these; who ends makes room first.
double mostAtOnce(std::vector<std::pair<SimTime, int>>& changes) {
    std::ranges::sort(changes);
    int now = 0, most = 0;
    for (const auto& [at, by] : changes) most = std::max(most, now += by);
    return most;
}

struct Lane {
    const char* name;
    std::vector<double> RunSeries::*column;
    double RunSeries::*peak;  ///< null: the highest of the column
    bool percent;
};
constexpr std::array<Lane, 4> lanesOfRun{
    {{QT_TRANSLATE_NOOP("orrery::ui::LanePlot", "Waiting"), &RunSeries::waiting, &RunSeries::peakWaiting, false},
     {QT_TRANSLATE_NOOP("orrery::ui::LanePlot", "Running"), &RunSeries::running, &RunSeries::peakRunning, false},
     {QT_TRANSLATE_NOOP("orrery::ui::LanePlot", "KV cache"), &RunSeries::kvShare, &RunSeries::peakKvShare, true},
     {QT_TRANSLATE_NOOP("orrery::ui::LanePlot", "Tokens/s"), &RunSeries::tokensPerSecond, nullptr, false}}};

double peakOf(const std::vector<RunSeries>& all, const Lane& lane) {
    double most = 0;
    for (const RunSeries& series : all) {
        if (lane.peak) most = std::max(most, series.*lane.peak);
        for (const double value : series.*lane.column)
            if (!lane.peak) most = std::max(most, value);
    }
    return most;
}

}  // namespace

RunSeries seriesOf(const ServingRun& run, std::size_t intervals) {
    RunSeries series;
    const double length = std::max(toSeconds(run.result.end), 1e-9);
    series.interval = length / static_cast<double>(intervals);
    for (auto* column : {&series.waiting, &series.running, &series.kvShare, &series.tokensPerSecond})
        column->assign(intervals, 0.0);
    const RequestTable& requests = run.result.requests;
    std::vector<std::pair<SimTime, int>> waiting, running;
    const auto during = [](std::vector<std::pair<SimTime, int>>& changes, SimTime from, SimTime until) {
        if (until <= from) return;
        changes.emplace_back(from, 1);
        changes.emplace_back(until, -1);
    };
    for (RequestIndex r = 0; r < requests.size(); ++r) {
        if (requests.arrived[r] < 0) continue;
        const double arrived = toSeconds(requests.arrived[r]);
        const double ended = requests.ended[r] >= 0 ? toSeconds(requests.ended[r]) : length;
        const double begun = requests.scheduled[r] >= 0 ? toSeconds(requests.scheduled[r]) : ended;
        spreadOver(series.waiting, series.interval, arrived, begun, 1);
        spreadOver(series.running, series.interval, begun, ended, 1);
        const SimTime end = requests.ended[r] >= 0 ? requests.ended[r] : run.result.end;
        const SimTime begin = requests.scheduled[r] >= 0 ? requests.scheduled[r] : end;
        during(waiting, requests.arrived[r], begin);
        during(running, begin, end);
    }
    series.peakWaiting = mostAtOnce(waiting);
    series.peakRunning = mostAtOnce(running);
    series.peakKvShare = run.metrics.peakKvUse;
    // What runs on a host (a search, an encoder by a law) has no cache to fill.
    const auto& replicas = run.fleet->replicas;
    double blocks = 0;
    for (const ReplicaSpec& replica : replicas)
        if (replica.devices > 0) blocks += static_cast<double>(replica.kvBlocks);
    const BatchLog& log = run.result.batches;
    for (std::size_t b = 0; b < log.size(); ++b) {
        const double begin = toSeconds(log.begin[b]), end = toSeconds(log.end[b]);
        if (!(end > begin)) continue;
        const auto spec = std::min(static_cast<std::size_t>(log.replica[b]), replicas.size() - 1);
        if (blocks > 0 && replicas[spec].devices > 0)
            spreadOver(series.kvShare, series.interval, begin, end, static_cast<double>(log.usedBlocks[b]) / blocks);
        spreadOver(series.tokensPerSecond, series.interval, begin, end,
                   static_cast<double>(log.promptTokens[b] + log.decodeTokens[b]) / (end - begin));
    }
    return series;
}

LanePlot::LanePlot(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("serving.overTime"));
    setAccessibleName(tr("Load over time"));
    setToolTip(tr("Click or drag to move the replay to that moment"));
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize LanePlot::minimumSizeHint() const {
    return {240, static_cast<int>(120 * Theme::instance().scale())};
}

void LanePlot::setRuns(const ServingRuns& runs) {
    series_.clear();
    colours_.clear();
    names_.clear();
    end_ = 0;
    for (const ServingRunPtr& run : runs) {
        series_.push_back(seriesOf(*run));
        colours_.push_back(run->colour);
        names_ << run->name;
        end_ = std::max(end_, run->result.end);
    }
    update();
}

QStringList LanePlot::peaks() const {
    QStringList all;
    for (const Lane& lane : lanesOfRun) {
        const double most = peakOf(series_, lane);
        all << (lane.percent ? percentText(most) : lane.peak ? countText(most) : ui::text(most, Dimension::Number, 3));
    }
    return all;
}

void LanePlot::setTime(SimTime time) {
    time_ = time;
    update();
}

QRectF LanePlot::lanes() const {
    const double scale = Theme::instance().scale();
    return QRectF(QPointF(96 * scale, 4), QPointF(width() - 12, height() - 20 * scale));
}

SimTime LanePlot::timeAt(double x) const {
    const QRectF area = lanes();
    return static_cast<SimTime>(std::clamp((x - area.left()) / area.width(), 0.0, 1.0) * static_cast<double>(end_));
}

void LanePlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(rect(), colours.surface);
    if (series_.empty())
        return paintEmptyPlot(painter, rect(), tr("Queues, KV cache and rate over the run appear here."));
    const QRectF area = lanes();
    const auto& all = lanesOfRun;
    const QStringList written = peaks();
    painter.setFont(theme.font(FontRole::Small));
    const QFontMetrics metrics = painter.fontMetrics();
    const double pitch = area.height() / all.size();
    const double length = toSeconds(end_);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const QRectF lane(area.left(), area.top() + pitch * static_cast<double>(i) + 2, area.width(), pitch - 6);
        const double most = std::max(all[i].percent ? 0.01 : 1, peakOf(series_, all[i]));
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(colours.faintLine);
        painter.drawLine(lane.bottomLeft(), lane.bottomRight());
        painter.setPen(colours.text);
        painter.drawText(QRectF(8, lane.top(), area.left() - 16, lane.height()), Qt::AlignLeft | Qt::AlignTop,
                         tr(all[i].name));
        painter.setPen(colours.mutedText);
        const QString& peak = written[static_cast<qsizetype>(i)];
        if (lane.height() > 2 * metrics.height())
            painter.drawText(QRectF(8, lane.top(), area.left() - 16, lane.height()), Qt::AlignLeft | Qt::AlignBottom,
                             tr("peak %1").arg(peak));
        else
            painter.drawText(QRectF(8, lane.top(), area.left() - 14, lane.height()), Qt::AlignRight | Qt::AlignTop,
                             peak);
        painter.setRenderHint(QPainter::Antialiasing);
        for (std::size_t s = 0; s < series_.size(); ++s) {
            const std::vector<double>& values = series_[s].*all[i].column;
            QPolygonF curve;
            for (std::size_t at = 0; at < values.size(); ++at) {
                const double x =
                    lane.left() + lane.width() * (static_cast<double>(at) + 0.5) * series_[s].interval / length;
                curve << QPointF(x, lane.bottom() - lane.height() * values[at] / most);
            }
            const QColor colour = theme.methodColour(colours_[s]);
            if (series_.size() == 1) {
                QPolygonF filled = curve;
                filled << QPointF(curve.back().x(), lane.bottom()) << QPointF(curve.front().x(), lane.bottom());
                QColor faint = colour;
                faint.setAlpha(60);
                painter.setPen(Qt::NoPen);
                painter.setBrush(faint);
                painter.drawPolygon(filled);
            }
            painter.setPen(QPen(colour, 1.4));
            painter.setBrush(Qt::NoBrush);
            painter.drawPolyline(curve);
        }
    }
    PlotAxis axis;
    axis.low = 0;
    axis.high = length;
    axis.from = area.left();
    axis.to = area.right();
    axis.log = false;
    painter.setPen(colours.mutedText);
    paintTimeTicks(painter, axis, static_cast<int>(area.bottom()) - 2, width());
    const double at = axis.position(toSeconds(time_));
    painter.setPen(QPen(colours.accent, 1.5));
    painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()));
}

void LanePlot::mousePressEvent(QMouseEvent* event) {
    if (series_.empty()) return;
    emit timeChosen(timeAt(event->position().x()));
}

void LanePlot::mouseMoveEvent(QMouseEvent* event) {
    if (series_.empty() || !(event->buttons() & Qt::LeftButton)) return;
    emit timeChosen(timeAt(event->position().x()));
}

}  // namespace orrery::ui
