// How long plots take: a million spans painted and built, the roofline replaced by the next answer.

#include "support/plots_fixture.h"
#include "widgets/common/theme.h"
#include "widgets/plots/breakdown_model.h"
#include "widgets/plots/roofline_plot.h"
#include "widgets/plots/timeline_view.h"

#include <QApplication>
#include <QKeyEvent>

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace orrery;
using namespace orrery::ui;

void stopAnimations() {
    Theme::instance().setAnimated(false);
}

SnapshotPtr spans(std::size_t count, int rows) {
    auto snapshot = std::make_shared<Snapshot>(*fixture::snapshot());
    auto estimate = std::make_shared<Estimate>(*snapshot->answers[0].estimate);
    std::mt19937_64 random(7);
    estimate->timeline = {};
    for (int row = 0; row < rows; ++row) {
        estimate->timeline.rows.push_back(fmt::format("engine {}", row));
        std::int64_t now = 0;
        for (std::size_t i = 0; i < count / std::size_t(rows); ++i) {
            const auto length = std::int64_t(1 + random() % 2'000'000);
            estimate->timeline.spans.push_back({now, now + length, row, std::int32_t(random() % 60), 0});
            now += length + std::int64_t(random() % 300'000);
        }
    }
    snapshot->answers[0].estimate = estimate;
    return snapshot;
}

void timelineBuild(benchmark::State& state) {
    const SnapshotPtr snapshot = spans(std::size_t(state.range(0)), 16);
    for (auto _ : state) benchmark::DoNotOptimize(TimelineModel(snapshot->primaryEstimate()->timeline));
}
BENCHMARK(timelineBuild)->Arg(10'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

// One frame of 1600 × 500 pixels; the second argument is how many times W was pressed.
void timelinePaint(benchmark::State& state) {
    stopAnimations();
    Selection selection;
    TimelineView view(&selection);
    view.resize(1600, 500);
    view.setSnapshot(spans(std::size_t(state.range(0)), 16));
    QImage image(view.size(), QImage::Format_ARGB32_Premultiplied);
    for (int i = 0; i < state.range(1); ++i) {
        QKeyEvent press(QEvent::KeyPress, Qt::Key_W, Qt::NoModifier);
        QApplication::sendEvent(&view, &press);
    }
    for (auto _ : state) view.render(&image);
}
BENCHMARK(timelinePaint)
    ->Args({1'000'000, 0})
    ->Args({1'000'000, 14})
    ->Args({1'000'000, 28})
    ->Args({10'000, 0})
    ->Unit(benchmark::kMillisecond);

// A new snapshot every edit, axes and labels drawn anew.
void rooflineUpdate(benchmark::State& state) {
    stopAnimations();
    Selection selection;
    RooflinePlot plot(&selection);
    plot.resize(800, 500);
    plot.show();
    const int layers = int(state.range(0));
    const SnapshotPtr a = fixture::snapshot({.bandwidth = 2e12, .layers = layers});
    const SnapshotPtr b = fixture::snapshot({.bandwidth = 3e12, .layers = layers});
    bool odd = false;
    for (auto _ : state) {
        plot.setSnapshot(odd ? a : b);
        odd = !odd;
        QApplication::processEvents();
    }
    state.counters["operators"] = double(a->primaryEstimate()->operators.size());
}
BENCHMARK(rooflineUpdate)->Arg(4)->Arg(333)->Unit(benchmark::kMillisecond);

void breakdownModelOf(benchmark::State& state) {
    stopAnimations();
    const SnapshotPtr snapshot = fixture::snapshot({.layers = 333});
    for (auto _ : state) benchmark::DoNotOptimize(breakdownModel(*snapshot, BreakdownBy(state.range(0))));
}
BENCHMARK(breakdownModelOf)->DenseRange(0, 2)->Unit(benchmark::kMillisecond);

}  // namespace
