#include "app/window/hardware/add_hardware.h"

#include "app/document/commands/project_edits.h"
#include "app/window/studio.h"
#include "hardware/files/catalogue.h"
#include "methods/kernel_method.h"

#include "hardware/walk.h"
#include <QCoreApplication>
#include <QUndoStack>

#include <algorithm>

namespace orrery::app {

namespace {

// Prices kernels of GPUs, of no other device.
bool ofGpus(const MethodCard& card) {
    return findKernelMethod(card.id) && std::ranges::count(card.platforms, "GPU") > 0;
}

}  // namespace

std::vector<std::string> usualMethods() {
    // Of the methods that price kernels of GPUs, the most exact one is enough to begin with.
    constexpr std::string_view bestOfKernels = "tile-hybrid";
    std::vector<std::string> ids;
    for (const Method& method : builtinMethods()) {
        const bool usual = method.card.id == bestOfKernels || !ofGpus(method.card);
        if (method.card.live && usual && !asksForFile(method.card) && method.card.answers(TaskKind::Pass)) ids.emplace_back(method.card.id);
    }
    return ids;
}

void makeAnswerable(Studio& studio) {
    const ProjectState& state = *studio.document.state();
    if (state.methods.empty()) studio.apply(setMethodsEdit(state, usualMethods()));
    if (studio.document.state()->hardware.empty()) {
        if (Expected<LoadedHardware> usual = loadHardware("h100-sxm"))
            studio.apply(addHardwareEdit(*studio.document.state(), std::move(usual->hardware)));
    }
}

void addHardware(Studio& studio, Hardware design) {
    const ProjectState& state = *studio.document.state();
    // A preset that is in the project already is shown, not added again.
    const int there = state.hardwareIndex(design.name);
    if (there >= 0 && *state.hardware[static_cast<std::size_t>(there)] == design) {
        const auto workload = state.scenarios.empty() ? std::string() : state.scenarios.front().workload;
        if (!workload.empty()) studio.apply(chooseScenarioEdit(state, {design.name, workload, {}}));
    } else {
        QUndoStack* stack = studio.document.undoStack();
        stack->beginMacro(QCoreApplication::translate("Hardware", "Add %1").arg(QString::fromStdString(design.name)));
        // An empty sheet gives way to the first device that is chosen.
        const HardwarePtr shown = studio.document.hardware();
        const bool blank = shown && partsIn(shown->root).empty();
        const bool added =
            studio.apply(blank ? replaceHardwareEdit(state, studio.document.hardwareIndex(), std::move(design))
                               : addHardwareEdit(state, std::move(design)));
        if (added) makeAnswerable(studio);
        stack->endMacro();
        if (!added) return;
    }
    studio.layouts.showProject();
    studio.router.show(QStringLiteral("hardware"));
    studio.inspection.showSelected();
}

void addCatalogueHardware(Studio& studio, const QString& id) {
    Expected<LoadedHardware> loaded = loadHardware(id.toStdString());
    if (!loaded) return studio.messages.complain(loaded.error());
    addHardware(studio, std::move(loaded->hardware));
}

}  // namespace orrery::app
