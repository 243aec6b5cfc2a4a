#include "app/window/welcome/example_pictures.h"

#include "methods/method.h"
#include "store/project/project.h"
#include "widgets/canvas/painter.h"
#include "widgets/common/theme.h"
#include "widgets/serving/traffic_picture.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace orrery::app {

namespace {

constexpr QSize size(512, 288);
constexpr std::size_t mostPoints = 80;

}  // namespace

std::optional<RooflineSketch> sketchOf(const std::string& projectFile, WorkloadCache& cache) {
    const Expected<LoadedProject> loaded = readProjectFile(projectFile);
    if (!loaded || loaded->project.scenarios.empty()) return std::nullopt;
    const Project& project = loaded->project;
    const ScenarioRef& first = project.scenarios.front();
    const auto design = std::ranges::find(project.hardware, first.hardware, &Hardware::name);
    const auto recipe = std::ranges::find(project.workloads, first.workload, &ProjectWorkload::name);
    const Method* roofline = findMethod("roofline");
    if (design == project.hardware.end() || recipe == project.workloads.end() || !roofline) return std::nullopt;
    const Expected<WorkloadPtr> workload = cache.get(recipe->recipe);
    const Expected<DeviceView> device = deviceView(*design);
    if (!workload || !device) return std::nullopt;
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    context.wantTimeline = false;
    const Expected<Estimate> estimate =
        orrery::estimate(*roofline, {std::make_shared<const Hardware>(*design), *workload}, context);
    if (!estimate) return std::nullopt;

    RooflineSketch sketch;
    sketch.bandwidth = device->main().bandwidth.value;
    for (const Ceiling& ceiling : estimate->ceilings) {
        if (!ceiling.memory) sketch.peak = std::max(sketch.peak, ceiling.rate);
    }
    const OperatorEstimates& operators = estimate->operators;
    for (std::size_t at = 0; at < operators.size(); ++at) {
        if (!(operators.flops[at] > 0 && operators.bytes[at] > 0 && operators.seconds[at] > 0)) continue;
        sketch.points.push_back({operators.flops[at] / operators.bytes[at], operators.flops[at] / operators.seconds[at],
                                 operators.seconds[at] / estimate->latency.value,
                                 (*workload)->graph.operators[at].kind});
    }
    std::ranges::sort(sketch.points, std::greater<>(), &RooflineSketch::Point::share);
    if (sketch.points.size() > mostPoints) sketch.points.resize(mostPoints);
    if (sketch.points.empty() || !(sketch.peak > 0 && sketch.bandwidth > 0)) return std::nullopt;
    return sketch;
}

QPixmap paintSketch(const RooflineSketch& sketch) {
    const auto& theme = ui::Theme::instance();
    const auto& colours = theme.colours();
    QPixmap picture(size);
    picture.fill(colours.window);
    QPainter painter(&picture);
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF plot(30, 34, size.width() - 60, size.height() - 64);

    const double ridge = sketch.peak / sketch.bandwidth;
    double left = ridge, right = ridge, low = sketch.peak;
    for (const RooflineSketch::Point& point : sketch.points) {
        left = std::min(left, point.intensity);
        right = std::max(right, point.intensity);
        low = std::min(low, point.rate);
    }
    left = std::log10(left / 2);
    right = std::log10(right * 4);
    const double bottom = std::log10(std::min(low, std::pow(10, left) * sketch.bandwidth));
    const double top = std::log10(sketch.peak);
    const auto place = [&](double intensity, double rate) {
        return QPointF(plot.left() + (std::log10(intensity) - left) / (right - left) * plot.width(),
                       plot.bottom() - (std::log10(rate) - bottom) / (top - bottom) * plot.height());
    };
    painter.setPen(QPen(colours.faintLine, 1.5));
    for (double decade = std::ceil(left); decade <= right; ++decade) {
        const double x = place(std::pow(10, decade), sketch.peak).x();
        painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()));
    }
    QColor ink = colours.text;
    ink.setAlphaF(0.85f);
    painter.setPen(QPen(ink, 2.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    const double from = std::pow(10, left);
    painter.drawPolyline(QPolygonF(
        {place(from, from * sketch.bandwidth), place(ridge, sketch.peak), place(std::pow(10, right), sketch.peak)}));
    for (const RooflineSketch::Point& point : sketch.points) {
        QColor fill = theme.operatorColour(point.kind);
        fill.setAlphaF(0.85f);
        painter.setBrush(fill);
        painter.setPen(QPen(colours.window, 1));
        const double radius = 4 + 22 * std::sqrt(std::min(1.0, point.share));
        painter.drawEllipse(place(point.intensity, point.rate), radius, radius);
    }
    return picture;
}

QPixmap paintDrawing(const Hardware& design) {
    ui::Scene scene;
    scene.setDesign(std::make_shared<const Hardware>(design),
                    std::make_shared<const ui::Placements>(ui::readPlacements(design.layoutYaml)));
    QPixmap picture(size);
    picture.fill(ui::Theme::instance().colours().window);
    const QRectF bounds = scene.bounds().adjusted(-16, -16, 16, 16);
    if (bounds.isEmpty()) return picture;
    const double zoom = std::min(size.width() / bounds.width(), size.height() / bounds.height());
    ui::PaintOptions options;
    options.transform = QTransform(zoom, 0, 0, zoom, size.width() / 2.0 - bounds.center().x() * zoom,
                                   size.height() / 2.0 - bounds.center().y() * zoom);
    options.exposed = options.transform.inverted().mapRect(QRectF(QPointF(), QSizeF(size)));
    options.forExport = true;
    QPainter painter(&picture);
    ui::paintScene(painter, scene, options);
    return picture;
}

QPixmap paintTraffic(std::shared_ptr<const RequestStream> stream) {
    ui::TrafficPicture traffic;
    traffic.setStream(std::move(stream));
    traffic.resize(size - QSize(60, 60));
    QPixmap picture(size);
    picture.fill(ui::Theme::instance().colours().window);
    QPainter painter(&picture);
    traffic.render(&painter, QPoint(30, 30));
    return picture;
}

QPixmap paintCases(const TrainingCases& cases) {
    const auto& theme = ui::Theme::instance();
    QPixmap picture(size);
    picture.fill(theme.colours().window);
    QPainter painter(&picture);
    const QRectF plot(40, 34, size.width() - 80, size.height() - 64);
    double low = 1e300, high = 1;
    for (const TrainingCaseRun& run : cases.runs) {
        if (!run.recorded || *run.recorded <= 0) continue;
        low = std::min(low, *run.recorded);
        high = std::max(high, *run.recorded);
    }
    const double bottom = std::log10(low) - 0.5, top = std::max(bottom + 1, std::log10(high));
    const double pitch = plot.width() / static_cast<double>(cases.runs.size());
    for (std::size_t i = 0; i < cases.runs.size(); ++i) {
        const TrainingCaseRun& run = cases.runs[i];
        if (!run.recorded || *run.recorded <= 0) continue;
        const double height = (std::log10(*run.recorded) - bottom) / (top - bottom) * plot.height();
        painter.fillRect(
            QRectF(plot.left() + pitch * (static_cast<double>(i) + 0.15), plot.bottom() - height, pitch * 0.7, height),
            theme.methodColour(run.layers ? 2 : 0));
    }
    painter.setPen(QPen(theme.colours().faintLine, 1.5));
    painter.drawLine(plot.bottomLeft(), plot.bottomRight());
    return picture;
}

ExamplePictures::ExamplePictures(std::shared_ptr<WorkloadCache> cache, QObject* parent)
    : QObject(parent), cache_(std::move(cache)) {}

void ExamplePictures::start() {
    if (started_) return;
    started_ = true;
    const auto read = [cache = cache_](const std::stop_token& stop, Progress&) {
        Found found;
        for (const Example& example : examples()) {
            if (stop.stop_requested()) break;
            if (example.cases()) {
                if (auto cases = readTrainingCases(example.file.toStdString()))
                    found[example.id] = std::make_shared<const TrainingCases>(std::move(*cases));
                continue;
            }
            if (example.opens == QLatin1String("drawing")) {
                auto loaded = readProjectFile(example.file.toStdString());
                if (loaded && !loaded->project.hardware.empty())
                    found[example.id] = std::make_shared<const Hardware>(std::move(loaded->project.hardware.front()));
            } else if (example.opens == QLatin1String("serving")) {
                auto loaded = readProjectFile(example.file.toStdString());
                if (!loaded || !loaded->project.serving) continue;
                if (auto stream = makeTraffic(loaded->project.serving->traffic, loaded->project.serving->seed))
                    found[example.id] = std::make_shared<const RequestStream>(std::move(*stream));
            } else if (auto sketch = sketchOf(example.file.toStdString(), *cache))
                found[example.id] = std::move(*sketch);
        }
        return found;
    };
    work_.ask(read, [this](Found found) {
        sketches_ = std::move(found);
        emit ready();
    });
}

QPixmap ExamplePictures::picture(const QString& id) const {
    const auto found = sketches_.find(id);
    if (found == sketches_.end()) return {};
    if (const auto* cases = std::get_if<std::shared_ptr<const TrainingCases>>(&found->second))
        return paintCases(**cases);
    const auto* drawing = std::get_if<HardwarePtr>(&found->second);
    if (const auto* stream = std::get_if<std::shared_ptr<const RequestStream>>(&found->second))
        return paintTraffic(*stream);
    return drawing ? paintDrawing(**drawing) : paintSketch(std::get<RooflineSketch>(found->second));
}

}  // namespace orrery::app
