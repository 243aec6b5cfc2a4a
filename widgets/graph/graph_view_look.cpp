// Colours, marks, painting and pictures of the graph view.

#include "base/text/latex_table.h"
#include "widgets/common/picture_file.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/graph/graph_view_state.h"
#include "widgets/plots/operator_facts.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QPaintEvent>
#include <QPainter>
#include <QPdfWriter>
#include <QSaveFile>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

namespace {
constexpr double leastLegendHeight = 220;
}  // namespace

const HeatMetric* GraphView::State::shown() const {
    for (const HeatMetric& each : metrics) {
        if (each.id == metric) return &each;
    }
    return nullptr;
}

void GraphView::State::remeasure() {
    QStringList before, after;
    for (const HeatMetric& each : metrics) before << each.id;
    metrics.clear();
    if (workload) {
        const bool fits = snapshot && snapshot->scenario.workload &&
                          snapshot->scenario.workload->graph.operators.size() == workload->graph.operators.size();
        Snapshot alone;
        alone.scenario.workload = workload;
        metrics = heatMetrics(fits ? *snapshot : alone, measured, stored);
    }
    for (const HeatMetric& each : metrics) after << each.id;
    recolour();
    if (before != after) Q_EMIT view->metricsChanged();
}

void GraphView::State::recolour() {
    look.fill.clear();
    look.dimmed.clear();
    look.value = nullptr;
    values.clear();
    const HeatMetric* heat = shown();
    if (picture && heat && heat->values.size() == picture->visible.nodeOf.size()) {
        values = nodeValues(*heat, picture->visible);
        scale = heatScale(*heat, values);
        look.fill.resize(picture->scene.nodes.size());
        look.dimmed.assign(picture->scene.nodes.size(), 0);
        for (std::size_t n = 0; n < values.size(); ++n) {
            if (std::isnan(values[n])) {
                look.dimmed[n] = threshold > 0;
                continue;
            }
            const bool choice = !heat->choices.empty();
            look.fill[n] = choice ? Theme::instance().boundColour(heat->bounds[static_cast<std::size_t>(values[n])])
                                  : scale.colour(values[n]);
            look.dimmed[n] = !choice && scale.weight(values[n]) < threshold;
        }
        look.value = [this](std::int32_t n) {
            const HeatMetric* heated = shown();
            const auto node = static_cast<std::size_t>(n);
            // Choices are words that the legend already says.
            if (!heated || !heated->choices.empty() || node >= values.size() || std::isnan(values[node]))
                return QString();
            return heatText(*heated, values[node]);
        };
    }
    minimap.setScene(scene(), look.fill);
}

void GraphView::State::mark() {
    look.selected.clear();
    look.matched.clear();
    look.match = -1;
    if (!picture) return;
    const GraphScene& drawn = picture->scene;
    look.selected.assign(drawn.nodes.size(), 0);
    look.matched.assign(drawn.nodes.size(), 0);
    const auto nodeOf = [&](int op) {
        return op >= 0 && static_cast<std::size_t>(op) < drawn.nodeOf.size()
                   ? drawn.nodeOf[static_cast<std::size_t>(op)]
                   : -1;
    };
    for (const int op : selection->operators()) {
        if (const int node = nodeOf(op); node >= 0) look.selected[static_cast<std::size_t>(node)] = 1;
    }
    for (const int op : matching) {
        if (const int node = nodeOf(op); node >= 0) look.matched[static_cast<std::size_t>(node)] = 1;
    }
    if (foundAt >= 0) look.match = nodeOf(matching[static_cast<std::size_t>(foundAt)]);
}

void GraphView::State::paint(QPainter& painter, const QRectF& target, bool decorated) {
    const Palette& c = Theme::instance().colours();
    if (!picture || picture->scene.nodes.empty()) {
        painter.setFont(Theme::instance().font(FontRole::Body));
        painter.setPen(c.mutedText);
        const QString words = !workload ? GraphView::tr("The operator graph of the workload appears here.")
                              : picture
                                  ? GraphView::tr("This workload has no operators.")
                                  : GraphView::tr("Laying out %1 operators …").arg(workload->graph.operators.size());
        painter.drawText(target, Qt::AlignCenter | Qt::TextWordWrap, words);
        return;
    }
    painter.save();
    painter.setClipRect(target);
    painter.scale(zoom, zoom);
    painter.translate(-origin);
    paintGraph(painter, picture->scene, look);
    painter.restore();
    if (!decorated) return;
    // In a low view it would cover what it explains.
    if (target.height() >= leastLegendHeight) {
        paintLegend(painter, target, shown(), scale, threshold, picture->scene);
    }
    minimap.paint(painter, area());
    if (drag == Drag::Band) {
        QColor veil = c.accent;
        veil.setAlpha(40);
        painter.setBrush(veil);
        painter.setPen(QPen(c.accent, 1));
        painter.drawRect(band);
    }
}

void GraphView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    State& s = *state_;
    s.look.area = s.area();
    s.look.zoom = s.zoom;
    s.minimap.place(QRectF(rect()), s.look.area);
    s.paint(painter, QRectF(rect()), true);
    if (hasFocus()) {
        painter.setPen(QPen(Theme::instance().colours().accent, 1));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    }
    if (s.drawnOnce && !s.announced) {
        s.announced = true;
        QMetaObject::invokeMethod(this, &GraphView::firstPicture, Qt::QueuedConnection);
    }
}

QSizeF GraphView::State::pictureSize() const {
    const QSizeF whole = picture->scene.bounds.size() + QSizeF(48, 48);
    return {std::max(whole.width(), 420.0), whole.height() + 76};
}

QString GraphView::csv() const {
    const State& s = *state_;
    if (!s.workload) return {};
    QString out = QStringLiteral("operator,type,kind,repeat");
    for (const HeatMetric& each : s.metrics) out += QLatin1Char(',') + csvField(each.id);
    out += QLatin1Char('\n');
    const auto& operators = s.workload->graph.operators;
    for (std::size_t op = 0; op < operators.size(); ++op) {
        out += csvField(qs(operators[op].name)) + QLatin1Char(',') + csvField(qs(operators[op].type)) +
               QLatin1Char(',') + qs(orrery::toText(operators[op].kind)) + QLatin1Char(',') +
               QString::number(operators[op].repeat);
        for (const HeatMetric& each : s.metrics) {
            out += QLatin1Char(',');
            if (std::isnan(each.values[op])) continue;
            out += each.choices.empty() ? QString::number(each.values[op], 'g', 17)
                                        : csvField(heatText(each, each.values[op]));
        }
        out += QLatin1Char('\n');
    }
    return out;
}

QString GraphView::exportTo(const QString& file) {
    const PaperLook look;
    State& s = *state_;
    if (std::exchange(s.stale, false)) s.remeasure();
    const QString ending = QFileInfo(file).suffix().toLower();
    const QString cannotWrite = tr("Cannot write %1: %2");
    if (!s.picture) return tr("There is no graph to export yet.");
    QSaveFile out(file);
    if (ending == QLatin1String("csv") || ending == QLatin1String("tex")) {
        const QByteArray table = csv().toUtf8();
        return writeText(file, ending == QLatin1String("csv")
                                   ? table
                                   : QByteArray::fromStdString(latexTable({table.data(), std::size_t(table.size())})));
    }
    if (ending != QLatin1String("png") && ending != QLatin1String("svg") && ending != QLatin1String("pdf"))
        return tr("Cannot export to .%1: choose SVG, PNG, PDF, CSV or TEX.").arg(ending);
    if (!out.open(QIODevice::WriteOnly)) return cannotWrite.arg(file, out.errorString());
    const QSizeF size = s.pictureSize();
    const QRectF target(QPointF(), size);
    const auto paintAll = [&](QPainter& painter) {
        painter.fillRect(target, Theme::instance().colours().surface);
        const GraphScene& drawn = s.picture->scene;
        GraphLook whole = s.look;
        whole.area = drawn.bounds.adjusted(-24, -24, 24, 24);
        whole.zoom = 1;
        whole.from = nullptr;
        whole.progress = 1;
        whole.hovered = whole.hoveredEdge = whole.hoveredFrame = whole.current = whole.match = -1;
        painter.save();
        painter.translate(QPointF(24, 24) - drawn.bounds.topLeft());
        paintGraph(painter, drawn, whole);
        painter.restore();
        paintLegend(painter, target, s.shown(), s.scale, s.threshold, drawn);
    };
    QPainter painter;
    if (ending == QLatin1String("png")) {
        // Twice the density, less where the picture would not fit into 8192 pixels a side.
        const double density = std::min(2.0, 8192 / std::max(size.width(), size.height()));
        QImage image((size * density).toSize().expandedTo({1, 1}), QImage::Format_ARGB32_Premultiplied);
        painter.begin(&image);
        painter.scale(density, density);
        paintAll(painter);
        painter.end();
        if (!image.save(&out, "PNG")) return cannotWrite.arg(file, out.errorString());
    } else if (ending == QLatin1String("svg")) {
        const QByteArray svg = svgOf(size.toSize(), target, accessibleName(), paintAll);
        if (out.write(svg) != svg.size()) return cannotWrite.arg(file, out.errorString());
    } else {
        QPdfWriter pdf(&out);
        pdf.setResolution(96);
        pdf.setTitle(accessibleName());
        pdf.setPageSize(QPageSize(size * 72.0 / 96.0, QPageSize::Point));
        pdf.setPageMargins({});
        painter.begin(&pdf);
        paintAll(painter);
        painter.end();
    }
    if (!out.commit()) return cannotWrite.arg(file, out.errorString());
    return {};
}

void GraphView::copyPicture() {
    QApplication::clipboard()->setImage(grab().toImage());
}

}  // namespace orrery::ui
