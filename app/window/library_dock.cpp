#include "app/window/library_dock.h"

#include "app/document/commands/project_edits.h"
#include "app/window/hardware/add_hardware.h"
#include "app/window/hardware/hardware_page.h"
#include "app/window/studio.h"
#include "app/window/workload/add_workload.h"
#include "hardware/files/catalogue.h"
#include "widgets/library/library.h"

namespace orrery::app {

namespace {

void showMethods(const Studio& studio, ui::LibraryPanel& library) {
    QStringList ids;
    for (const std::string& id : studio.document.state()->methods) ids << QString::fromStdString(id);
    library.setMethodSet(ids);
}

void wire(Studio& studio, ui::LibraryPanel* library) {
    using Panel = ui::LibraryPanel;
    auto* page = studio.router.page<HardwarePage>();
    library->setQuestion([&studio] {
        const auto& shown = studio.live.snapshot();
        return shown ? &shown->scenario : nullptr;
    });
    QObject::connect(&studio.document, &Document::methodsChanged, library,
                     [&studio, library] { showMethods(studio, *library); });
    QObject::connect(library, &Panel::hardwareChosen, library,
                     [&studio](const QString& id) { addCatalogueHardware(studio, id); });
    QObject::connect(library, &Panel::hardwareDeriveRequested, page, &HardwarePage::derivePreset);
    QObject::connect(library, &Panel::hardwareInsertRequested, page, &HardwarePage::insertDevice);
    QObject::connect(library, &Panel::workloadChosen, library,
                     [&studio](const QString& id) { addBuiltinWorkload(studio, id); });
    QObject::connect(library, &Panel::methodToggled, library, [&studio](const QString& id, bool on) {
        std::vector<std::string> methods = studio.document.state()->methods;
        std::erase(methods, id.toStdString());
        if (on) methods.push_back(id.toStdString());
        studio.apply(setMethodsEdit(*studio.document.state(), std::move(methods)));
    });
}

}  // namespace

void addLibraryDock(Studio& studio) {
    studio.docks.add(QStringLiteral("library"), ui::LibraryPanel::tr("Library"),
                     ui::LibraryPanel::tr("The devices, models and methods of Orrery"), [&studio](QWidget* parent) {
                         auto* library = new ui::LibraryPanel(parent);
                         library->setHardware(hardwareCatalogue());
                         library->setWorkloads(builtinWorkloads());
                         library->setMethods(builtinMethods());
                         showMethods(studio, *library);
                         wire(studio, library);
                         return library;
                     });
}

}  // namespace orrery::app
