// How long does the hardware canvas take on designs of real sizes? Offscreen, 1600×900, one thread.
#include "widgets/canvas/painter.h"

#include <QImage>
#include <QPainter>

#include <benchmark/benchmark.h>

using namespace orrery;
using namespace orrery::ui;

namespace {

Component part(ComponentKind kind, std::string name, std::vector<Attribute> attributes = {}) {
    Component made;
    made.kind = kind;
    made.name = std::move(name);
    made.attributes = std::move(attributes);
    return made;
}

Attribute measure(const char* name, double si, const char* spelling) {
    return {.name = name, .value = Measure{.si = si, .spelling = spelling}};
}

HardwarePtr flat(std::int64_t count) {
    auto design = std::make_shared<Hardware>();
    design->root = part(ComponentKind::System, "system");
    for (std::int64_t i = 0; i < count; ++i)
        design->root.children.push_back(
            part(ComponentKind::Core, "core" + std::to_string(i), {measure("clock", 1e9, "1 GHz")}));
    return design;
}

// Nodes of eight packages of cores, each core with three parts: about `count` components.
HardwarePtr deep(std::int64_t count) {
    auto design = std::make_shared<Hardware>();
    design->root = part(ComponentKind::System, "system");
    for (std::int64_t made = 0, node = 0; made < count; ++node) {
        Component box = part(ComponentKind::Node, "node" + std::to_string(node));
        for (int p = 0; p < 8; ++p) {
            Component package =
                part(ComponentKind::Package, "gpu" + std::to_string(p), {measure("clock", 1e9, "1 GHz")});
            package.children.push_back(
                part(ComponentKind::Dram, "hbm",
                     {measure("capacity", 80e9, "80 GB"), measure("bandwidth", 3.35e12, "3.35 TB/s")}));
            for (int c = 0; c < 16; ++c) {
                Component core = part(ComponentKind::Core, "sm" + std::to_string(c));
                core.children.push_back(
                    part(ComponentKind::Buffer, "smem", {measure("capacity", 228 * 1024, "228 KiB")}));
                core.children.push_back(
                    part(ComponentKind::RegisterFile, "registers", {measure("capacity", 262144, "256 KiB")}));
                core.children.push_back(part(ComponentKind::VectorUnit, "vector", {measure("lanes", 32, "32")}));
                package.children.push_back(std::move(core));
            }
            made += 66;
            box.children.push_back(std::move(package));
        }
        design->root.children.push_back(std::move(box));
    }
    return design;
}

PaintOptions fitAll(const Scene& scene, double zoom = 0) {
    const QSizeF size(1600, 900);
    const QRectF bounds = scene.bounds().adjusted(-24, -24, 24, 24);
    const double scale = zoom > 0 ? zoom : std::min(size.width() / bounds.width(), size.height() / bounds.height());
    PaintOptions options;
    options.transform.translate(size.width() / 2, size.height() / 2);
    options.transform.scale(scale, scale);
    options.transform.translate(-bounds.center().x(), -bounds.center().y());
    options.exposed = options.transform.inverted().mapRect(QRectF(QPointF(), size));
    return options;
}

void repaint(benchmark::State& state, const HardwarePtr& design, double zoom) {
    Scene scene;
    scene.setDesign(design, nullptr);
    const PaintOptions options = fitAll(scene, zoom);
    QImage image(1600, 900, QImage::Format_ARGB32_Premultiplied);
    for (auto _ : state) {
        QPainter painter(&image);
        paintScene(painter, scene, options);
    }
    state.counters["components"] = static_cast<double>(scene.nodes().size());
    state.counters["zoom"] = options.transform.m11();
}

void fitAllFlat(benchmark::State& state) {
    repaint(state, flat(state.range(0)), 0);
}
void fitAllDeep(benchmark::State& state) {
    repaint(state, deep(state.range(0)), 0);
}
void withText(benchmark::State& state) {
    repaint(state, deep(state.range(0)), 0.75);
}
BENCHMARK(fitAllFlat)->Arg(10000)->Arg(50000)->Unit(benchmark::kMillisecond);
BENCHMARK(fitAllDeep)->Arg(10000)->Arg(50000)->Unit(benchmark::kMillisecond);
BENCHMARK(withText)->Arg(10000)->Arg(50000)->Unit(benchmark::kMillisecond);

// One component to another place and back: the scene follows, and what changed is painted again.
void move(benchmark::State& state, const HardwarePtr& design, const ComponentPath& path, double zoom) {
    Scene scene;
    const std::string key = placementKey(design->root, path);
    const auto at = [&](double x) {
        auto places = std::make_shared<Placements>();
        places->at[key] = {.x = x, .y = 200};
        return std::shared_ptr<const Placements>(places);
    };
    const std::array<PlacementsPtr, 2> places{at(96), at(104)};
    scene.setDesign(design, places[0]);
    PaintOptions options = fitAll(scene, zoom);
    const QRectF view = options.exposed;
    QImage image(1600, 900, QImage::Format_ARGB32_Premultiplied);
    int turn = 0;
    for (auto _ : state) {
        scene.setDesign(design, places[static_cast<std::size_t>(++turn % 2)]);
        const double reach = paintReach(options.transform.m11());
        options.exposed = scene.changed().adjusted(-reach, -reach, reach, reach).intersected(view);
        QPainter painter(&image);
        paintScene(painter, scene, options);
    }
    state.counters["components"] = static_cast<double>(scene.nodes().size());
}

void moveOneFlat(benchmark::State& state) {
    move(state, flat(state.range(0)), {static_cast<int>(state.range(0)) / 2}, state.range(1) / 100.0);
}
void moveOneDeep(benchmark::State& state) {
    move(state, deep(state.range(0)), {1, 2, 3}, state.range(1) / 100.0);
}
BENCHMARK(moveOneFlat)->Args({50000, 0})->Args({50000, 100})->Unit(benchmark::kMillisecond);
BENCHMARK(moveOneDeep)->Args({50000, 0})->Args({50000, 100})->Unit(benchmark::kMillisecond);

void buildScene(benchmark::State& state) {
    const HardwarePtr design = deep(state.range(0));
    for (auto _ : state) {
        Scene scene;
        scene.setDesign(design, nullptr);
        benchmark::DoNotOptimize(scene.bounds());
    }
}
BENCHMARK(buildScene)->Arg(1000)->Arg(10000)->Arg(50000)->Unit(benchmark::kMillisecond);

}  // namespace
