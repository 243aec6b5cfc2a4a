#include "widgets/gpu/activity_heat.h"

#include "simulation/gpu/recording_csv.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/table_file.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/plot_frame.h"
#include "widgets/gpu/warp_colours.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <functional>

namespace orrery::ui {

using gpusim::RecordedBin;
using gpusim::Recording;
using gpusim::Unit;

namespace {

QString heatText(const char* text) {
    return ActivityHeat::tr(text);
}

ActivityRow rowFor(const Recording& r, const QString& name, const QString& meaning, double peak,
                   const std::function<double(const RecordedBin&)>& value) {
    ActivityRow out;
    out.name = name, out.meaning = meaning;
    double sum = 0;
    for (std::size_t i = 0; i < r.bins.size(); ++i) {
        // The last bin ends with the run.
        const double cycles = std::clamp(static_cast<double>(r.cycles) - static_cast<double>(i) * r.binCycles, 1.0,
                                         static_cast<double>(r.binCycles));
        const double done = value(r.bins[i]);
        sum += done;
        out.share.push_back(peak > 0 ? std::min(1.0, done / (peak * cycles)) : 0);
    }
    out.mean = peak > 0 && r.cycles > 0 ? std::min(1.0, sum / (peak * static_cast<double>(r.cycles))) : 0;
    return out;
}

}  // namespace

std::vector<ActivityRow> activityRows(const Recording& r) {
    std::vector<ActivityRow> out;
    if (r.bins.empty()) return out;
    out.push_back(rowFor(r, heatText("issue slots"), heatText("Schedulers that issue an instruction"), r.schedulers,
                         [](const RecordedBin& b) { return double(b.schedulers[1]); }));
    for (std::size_t u = 0; u < gpusim::unitCount; ++u) {
        const bool used = std::ranges::any_of(r.bins, [&](const RecordedBin& b) { return b.issues[u] > 0; });
        if (!used) continue;
        const auto unit = static_cast<Unit>(u);
        out.push_back(rowFor(r, unitText(unit),
                             unit == Unit::Mem
                                 ? heatText("The load and store unit has an access to serve")
                                 : heatText("Cycles in which instructions use the units of the schedulers"),
                             r.unitPeak[u], [u](const RecordedBin& b) { return double(b.unitCycles[u]); }));
    }
    out.push_back(rowFor(r, heatText("shared-memory conflicts"),
                         heatText("Cycles of further passes in shared memory, because lanes need the same bank"), 1,
                         [](const RecordedBin& b) { return double(b.sharedConflictCycles); }));
    out.push_back(rowFor(r, heatText("L1 bank conflicts"), heatText("Cycles in which a sector waits for a bank of L1"),
                         1, [](const RecordedBin& b) { return double(b.l1BankCycles); }));
    const auto memory = [&](const QString& name, const QString& meaning, double peak, auto sectors, auto hits) {
        ActivityRow row = rowFor(r, name, meaning, peak, sectors);
        row.area = true;
        row.hits = rowFor(r, name, meaning, peak, hits).share;
        out.push_back(std::move(row));
    };
    memory(
        heatText("L1"),
        heatText("Sectors looked up in the L1 of this multiprocessor, as a share of the maximum of its banks"),
        r.l1Peak, [](const RecordedBin& b) { return double(b.l1); },
        [](const RecordedBin& b) { return double(b.l1Hits); });
    memory(
        heatText("L2"), heatText("Sectors looked up by all slices; the maximum is one per slice and cycle"), r.l2Peak,
        [](const RecordedBin& b) { return double(b.l2); }, [](const RecordedBin& b) { return double(b.l2Hits); });
    memory(
        heatText("DRAM"), heatText("Sectors moved by all channels, as a share of the maximum of their data bus"),
        r.dramPeak, [](const RecordedBin& b) { return double(b.dram); }, [](const RecordedBin&) { return 0.0; });
    return out;
}

ActivityHeat::ActivityHeat(const QString& objectName, QWidget* parent) : QWidget(parent) {
    setObjectName(objectName);
    setAccessibleName(tr("Units and memory over time"));
    setToolTip(tr("How busy units, banks, caches and DRAM are over the run; a click goes to that cycle"));
    empty_ = tr("With a kernel on a GPU, this shows how busy its units, caches and memory are over time.");
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ActivityHeat::setRecording(RecordingPtr recording, const QString& title) {
    recording_ = std::move(recording);
    title_ = title;
    rows_ = recording_ ? activityRows(*recording_) : std::vector<ActivityRow>();
    QStringList said;
    for (const ActivityRow& row : rows_) said << row.name + QLatin1Char(' ') + percentText(row.mean);
    setAccessibleDescription(said.join(QStringLiteral(", ")));
    update();
}

void ActivityHeat::clear(const QString& why) {
    recording_.reset();
    rows_.clear();
    empty_ = why;
    setAccessibleDescription(why);
    update();
}

QRectF ActivityHeat::area() const {
    const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
    double left = 0;
    for (const ActivityRow& row : rows_) left = std::max(left, metrics.horizontalAdvance(row.name));
    const double right = metrics.horizontalAdvance(QStringLiteral("< 0.1 %")) + 12;
    return {left + 12, plotTitleHeight + 6.0, std::max(10.0, width() - left - 12 - right),
            std::max(10.0, height() - plotTitleHeight - 6 - metrics.height() - 12)};
}

QRectF ActivityHeat::rectOf(std::size_t row) const {
    const QRectF box = area();
    constexpr double areaWeight = 3;
    double all = 0, before = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const double weight = rows_[i].area ? areaWeight : 1;
        if (i < row) before += weight;
        all += weight;
    }
    const double each = box.height() / std::max(all, 1.0);
    return {box.left(), box.top() + before * each, box.width(), (rows_[row].area ? areaWeight : 1) * each - 2};
}

std::size_t ActivityHeat::binAt(double x) const {
    const QRectF box = area();
    const auto n = static_cast<double>(recording_->bins.size());
    return static_cast<std::size_t>(std::clamp((x - box.left()) / box.width() * n, 0.0, n - 1));
}

void ActivityHeat::paintArea(QPainter& painter, const QRectF& box, const ActivityRow& row) const {
    const Theme& theme = Theme::instance();
    painter.fillRect(box, theme.colours().raised);
    const double wide = box.width() / static_cast<double>(row.share.size());
    const auto draw = [&](const std::vector<double>& share, const QColor& fill) {
        for (std::size_t i = 0; i < share.size(); ++i) {
            const double high = share[i] * (box.height() - 2);
            if (high <= 0) continue;
            painter.fillRect(QRectF(box.left() + wide * static_cast<double>(i), box.bottom() - high, wide + 0.5, high),
                             fill);
        }
    };
    draw(row.share, theme.methodColour(1));
    if (row.mean > 0) draw(row.hits, theme.methodColour(2));
    painter.setPen(theme.colours().faintLine);
    painter.drawLine(box.topLeft(), box.topRight());
}

void ActivityHeat::paint(QPainter& painter, const QRect& all) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    painter.fillRect(all, colours.surface);
    if (!recording_ || rows_.empty()) return paintEmptyPlot(painter, all, empty_);
    paintPlotTitle(painter, title_, all.width());
    painter.setFont(theme.font(FontRole::Small));
    paintLegend(painter, all);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const QRectF box = rectOf(i);
        const ActivityRow& row = rows_[i];
        painter.setPen(colours.text);
        painter.drawText(QRectF(4, box.top(), box.left() - 8, box.height()), Qt::AlignVCenter | Qt::AlignRight,
                         row.name);
        painter.drawText(QRectF(box.right() + 4, box.top(), all.width() - box.right() - 8, box.height()),
                         Qt::AlignVCenter | Qt::AlignRight, percentText(row.mean));
        if (row.area) {
            paintArea(painter, box, row);
            continue;
        }
        const double wide = box.width() / static_cast<double>(row.share.size());
        for (std::size_t b = 0; b < row.share.size(); ++b)
            painter.fillRect(QRectF(box.left() + wide * static_cast<double>(b), box.top(), wide + 0.5, box.height()),
                             theme.heat(row.share[b]));
    }
    const QRectF box = area();
    PlotAxis axis{0, std::max(1.0, static_cast<double>(recording_->bins.size()) * recording_->binCycles), box.left(),
                  box.right(), false};
    for (const double tick : axis.ticks(110)) {
        painter.setPen(colours.mutedText);
        paintTickLabel(painter, axis.position(tick), static_cast<int>(box.bottom()) + 4, countText(tick), width());
    }
    painter.setPen(colours.mutedText);
    painter.drawText(QRectF(4, box.bottom() + 4, box.left() - 8, painter.fontMetrics().height()), Qt::AlignRight,
                     tr("cycle"));
}

// Beside the title, from the right: what the number behind a row is, and the colours of the areas.
void ActivityHeat::paintLegend(QPainter& painter, const QRect& all) const {
    const Theme& theme = Theme::instance();
    const QFontMetrics metrics = painter.fontMetrics();
    painter.setPen(theme.colours().mutedText);
    painter.drawText(QRect(0, 2, all.width() - 4, metrics.height()), Qt::AlignRight, tr("mean"));
    double right = area().right();
    for (const auto& [text, fill] :
         {std::pair{tr("carried"), theme.methodColour(1)}, std::pair{tr("of it, hits"), theme.methodColour(2)}}) {
        const double wide = metrics.horizontalAdvance(text);
        painter.drawText(QRectF(right - wide, 2, wide + 1, metrics.height()), Qt::AlignLeft, text);
        painter.fillRect(QRectF(right - wide - 14, 2 + (metrics.height() - 9) / 2.0, 9, 9), fill);
        right -= wide + 28;
    }
}

void ActivityHeat::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint(painter, rect());
}

QString ActivityHeat::textAt(const QPointF& place) const {
    if (!recording_) return {};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const QRectF box = rectOf(i);
        if (place.y() < box.top() || place.y() > box.bottom()) continue;
        QString text = tr("%1: %2").arg(rows_[i].name, rows_[i].meaning);
        if (!box.contains(place)) return text;
        const std::size_t bin = binAt(place.x());
        text += tr("\ncycles %1 to %2: %3")
                    .arg(countText(double(bin * recording_->binCycles)),
                         countText(double((bin + 1) * recording_->binCycles)), percentText(rows_[i].share[bin]));
        if (!rows_[i].hits.empty() && rows_[i].share[bin] > 0 && rows_[i].name != tr("DRAM"))
            text += tr(", hits %1 of them").arg(percentText(rows_[i].hits[bin] / rows_[i].share[bin]));
        return text;
    }
    return {};
}

void ActivityHeat::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !recording_ || !area().contains(event->position())) return event->ignore();
    emit cycleChosen(static_cast<qint64>(binAt(event->position().x()) * recording_->binCycles));
}

bool ActivityHeat::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const QString text = textAt(help->pos()); !text.isEmpty()) {
            QToolTip::showText(help->globalPos(), text, this);
            return true;
        }
    }
    return QWidget::event(event);
}

QString ActivityHeat::exportTo(const QString& file) const {
    if (!recording_) return tr("There is nothing to write yet");
    if (isTableFile(file)) return writeTable(file, gpusim::activityCsv(*recording_));
    return writePicture(file, size(), title_, [this](QPainter& painter, const QRect& all) { paint(painter, all); });
}

}  // namespace orrery::ui
