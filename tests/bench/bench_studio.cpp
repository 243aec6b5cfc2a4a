// How fast the studio starts, and how long its event loop stands still while a hundred edits a second come in.
//
//   ORRERY_STUDIO=build/release/bin/orrery build/release/bin/orrery-bench --benchmark_filter=Studio
//
// Targets: first paint 0.25 s after exec, ready after 1 s, longest stall 16 ms, with 5,000 operators too.

#include "app/document/live_controller.h"
#include "app/window/main_window.h"
#include "app/window/settings.h"
#include "app/window/snapshot_feeder.h"
#include "widgets/inspector/inspector.h"

#include <QtWidgets>

#include <benchmark/benchmark.h>

#include <algorithm>

namespace {

using namespace orrery;
using namespace orrery::app;

/// exec to first paint and to ready, of the real program.
void studioStart(benchmark::State& state) {
    const QString program = qEnvironmentVariable("ORRERY_STUDIO", QCoreApplication::applicationDirPath() + "/orrery");
    double paint = 0, ready = 0;
    for (auto unused : state) {
        QProcess studio;
        studio.start(program, {"--startup-report"});
        if (!studio.waitForFinished(20000)) return state.SkipWithError("the studio did not start");
        const QString text = QString::fromUtf8(studio.readAllStandardOutput());
        const auto value = [&](const char* key) {
            return text.section(QLatin1String(key), 1).section('\n', 0, 0).toDouble();
        };
        paint = std::max(paint, value("first_paint_ms"));
        ready = std::max(ready, value("ready_ms"));
    }
    state.counters["first_paint_ms"] = paint;
    state.counters["ready_ms"] = ready;
}
BENCHMARK(studioStart)->Name("StudioStart")->Iterations(5)->Unit(benchmark::kMillisecond)->UseRealTime();

/// A chain of products, activations and normalisations whose widths differ from one to the next, so that none folds.
QByteArray chainOf(int operators) {
    QByteArray text = "orrery: workload/1\nname: Chain\ndtype: fp16\ntensors:\n  x: {shape: [64, 512], role: input}\n";
    const auto width = [](int product) { return 256 + product * 37 % 1024; };
    QByteArray rows, weights;
    QByteArray last = "x";
    int before = 512;
    for (int op = 0; op < operators; ++op) {
        const int product = op / 3;
        const QByteArray at = QByteArray::number(product);
        switch (op % 3) {
            case 0:
                weights += "  w" + at + ": {shape: [" + QByteArray::number(before) + ", " +
                           QByteArray::number(width(product)) + "], role: weight}\n";
                rows += "  - {name: fc" + at + ", type: MatMul, inputs: [" + last + ", w" + at + "]}\n";
                last = "fc" + at;
                before = width(product);
                break;
            case 1:
                rows += "  - {name: act" + at + ", type: Gelu, inputs: [" + last + "]}\n";
                last = "act" + at;
                break;
            default:
                rows += "  - {name: norm" + at + ", type: LayerNormalization, inputs: [" + last + "]}\n";
                last = "norm" + at;
        }
    }
    return text + weights + "operators:\n" + rows;
}

/// The longest time between two turns of the event loop while a slider is dragged: one edit every 10 ms for two
/// seconds, every view of the layout live. A timer of 0 ms marks the turns. `operators`: of the workload, 0 for the
/// example's own.
void studioEdits(benchmark::State& state) {
    const auto layout = static_cast<Layout>(state.range(0));
    const int operators = static_cast<int>(state.range(1));
    MainWindow window;
    window.resize(1600, 1000);
    window.show();
    while (!window.isReady()) QCoreApplication::processEvents();
    window.openExample("first-light");
    window.setLayoutMode(layout, true);
    const auto settled = [&] {
        return window.live().snapshot() && window.live().upToDate() && window.feeder().settled();
    };
    while (!settled()) QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
    QTemporaryDir folder;
    if (operators > 0) {
        QFile file(folder.filePath("chain.yaml"));
        if (!file.open(QIODevice::WriteOnly) || file.write(chainOf(operators)) < 0) {
            return state.SkipWithError("no room for the workload");
        }
        file.close();
        window.openFile(file.fileName());
        const auto shown = [&] {
            return settled() && window.live().workload() &&
                   static_cast<int>(window.live().workload()->graph.operators.size()) == operators;
        };
        QElapsedTimer patience;
        patience.start();
        while (!shown()) {
            QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
            if (patience.elapsed() > 20000) return state.SkipWithError("the workload was not shown");
        }
    }
    QElapsedTimer rest;
    rest.start();
    while (rest.elapsed() < 500) QCoreApplication::processEvents(QEventLoop::AllEvents, 10);

    auto* inspector = window.findChild<ui::Inspector*>();
    const ComponentPath hbm = findComponent(window.document().hardware()->root, "hbm3").value();
    std::vector<double> stalls;
    int answers = 0;
    QObject::connect(&window.live(), &LiveController::snapshotReady, &window, [&] { ++answers; });
    for (auto unused : state) {
        QEventLoop loop;
        QElapsedTimer turn;
        QTimer heartbeat;
        QObject::connect(&heartbeat, &QTimer::timeout, &loop, [&] {
            stalls.push_back(static_cast<double>(turn.nsecsElapsed()) * 1e-6);
            turn.restart();
        });
        QTimer edits;
        edits.setTimerType(Qt::PreciseTimer);
        int step = 0;
        emit inspector->attributesEdited({hbm}, "bandwidth", "3.35 TB/s", ui::EditPhase::Begin);
        QObject::connect(&edits, &QTimer::timeout, &loop, [&] {
            const double value = 3.4 + 0.02 * (++step);
            const bool last = step == 200;
            emit inspector->attributesEdited({hbm}, "bandwidth", QStringLiteral("%1 TB/s").arg(value, 0, 'f', 2),
                                             last ? ui::EditPhase::Commit : ui::EditPhase::Drag);
            if (last) loop.quit();
        });
        turn.start();
        heartbeat.start(0);
        edits.start(10);
        loop.exec();
    }
    std::ranges::sort(stalls);
    state.counters["longest_stall_ms"] = stalls.back();
    state.counters["p99_stall_ms"] = stalls[stalls.size() * 99 / 100];
    state.counters["answers"] = answers;
}
BENCHMARK(studioEdits)
    ->Name("StudioHundredEditsPerSecond")
    ->ArgNames({"layout", "operators"})
    ->Args({static_cast<int>(Layout::Explore), 0})
    ->Args({static_cast<int>(Layout::Compare), 0})
    ->Args({static_cast<int>(Layout::Explore), 5000})
    ->Args({static_cast<int>(Layout::Compare), 5000})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
