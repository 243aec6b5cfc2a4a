// What an edit of a design of 50,000 components costs before any view sees it. Targets: a move 1 ms.

#include "app/document/commands/layout_edits.h"
#include "app/document/commands/set_attribute.h"
#include "app/document/document.h"

#include <QCoreApplication>

#include <benchmark/benchmark.h>

using namespace orrery;
using namespace orrery::app;

namespace {

/// 24 nodes of 26 packages of 80 buffers with three attributes each, every component placed by hand.
Project largeProject() {
    Project project;
    Hardware design;
    design.name = "Large";
    design.root.name = "system";
    const auto part = [](ComponentKind kind, const char* stem, int number) {
        Component component;
        component.kind = kind;
        component.name = stem + std::to_string(number);
        return component;
    };
    for (int n = 0; n < 24; ++n) {
        Component node = part(ComponentKind::Node, "node", n);
        design.layoutYaml += node.name + ": {x: " + std::to_string(n * 100) + ", y: 0}\n";
        for (int p = 0; p < 26; ++p) {
            Component package = part(ComponentKind::Package, "package", p);
            const std::string key = node.name + "/" + package.name;
            design.layoutYaml += key + ": {x: 0, y: " + std::to_string(p * 100) + "}\n";
            for (int b = 0; b < 80; ++b) {
                Component buffer = part(ComponentKind::Buffer, "buffer", b);
                for (const auto& [name, value] :
                     {std::pair{"capacity", "256 KiB"}, {"bandwidth", "64 GB/s"}, {"latency", "20 ns"}})
                    if (!setAttribute(buffer, name, value)) std::abort();
                design.layoutYaml += key + "/" + buffer.name + ": {x: " + std::to_string(b * 8) + ", y: 8}\n";
                package.children.push_back(std::move(buffer));
            }
            node.children.push_back(std::move(package));
        }
        design.root.children.push_back(std::move(node));
    }
    project.name = "Large";
    project.hardware.push_back(std::move(design));
    project.scenarios.push_back({"Large", "", {}});
    return project;
}

void BM_DocumentMove50000(benchmark::State& state) {
    Document document;
    document.reset(largeProject());
    int step = 0;
    for (auto unused : state) {
        ui::PlacedAt place{{step % 24, step % 26, step % 80}, {}};
        place.at.x = ++step;
        place.at.y = 3;
        if (!document.apply(arrangeEdit(*document.state(), 0, "Move", {place}))) return state.SkipWithError("refused");
    }
}

void BM_DocumentAttribute50000(benchmark::State& state) {
    Document document;
    document.reset(largeProject());
    while (document.isChecking()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    int step = 0;
    for (auto unused : state) {
        const ComponentPath path{step % 24, step % 26, step % 80};
        if (!document.apply(setAttributeEdit(*document.state(), 0, path, "capacity", QString("%1 KiB").arg(++step))))
            return state.SkipWithError("refused");
    }
    while (document.isChecking()) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
}

void BM_DocumentUndo50000(benchmark::State& state) {
    Document document;
    document.reset(largeProject());
    if (!document.apply(setAttributeEdit(*document.state(), 0, {0, 0, 0}, "capacity", "1 KiB")))
        return state.SkipWithError("refused");
    for (auto unused : state) {
        document.undoStack()->undo();
        document.undoStack()->redo();
    }
}

}  // namespace

BENCHMARK(BM_DocumentMove50000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_DocumentAttribute50000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_DocumentUndo50000)->Unit(benchmark::kMicrosecond);
