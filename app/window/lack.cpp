#include "app/window/lack.h"

#include "app/window/problems.h"
#include "app/window/studio.h"
#include "hardware/check/fixes.h"
#include "widgets/library/library.h"

#include <QAction>
#include <QCoreApplication>
#include <QMainWindow>

namespace orrery::app {

Lack lackOf(const Document& document) {
    if (!document.hardware() && !document.workload()) return Lack::Everything;
    if (!document.hardware()) return Lack::Device;
    if (!document.workload()) return Lack::Model;
    if (!document.state()->methods.empty() && allMissingNumbers(*document.hardware())) return Lack::Numbers;
    return Lack::Methods;
}

QString offerFor(Lack lack) {
    switch (lack) {
        case Lack::Everything:
            return QCoreApplication::translate("Lack", "Open an example");
        case Lack::Device:
            return QCoreApplication::translate("Lack", "Choose a device");
        case Lack::Model:
            return QCoreApplication::translate("Lack", "Choose a model");
        case Lack::Methods:
            return QCoreApplication::translate("Lack", "Choose methods");
        case Lack::Numbers:
            return QCoreApplication::translate("Lack", "Set usual values");
    }
    return {};
}

void fillIn(Studio& studio, Lack lack) {
    if (lack == Lack::Everything) {
        studio.layouts.showPages(true);
        return studio.router.show(studio.router.pages().front());
    }
    if (lack == Lack::Numbers) {
        if (const auto fix = allMissingNumbers(*studio.document.hardware())) applyFix(studio, *fix);
        return;
    }
    if (lack == Lack::Methods) return studio.actions.find(QStringLiteral("runMethods"))->trigger();
    studio.docks.reveal(QStringLiteral("library"));
    if (auto* library = studio.window->findChild<ui::LibraryPanel*>())
        library->showSection(lack == Lack::Device ? ui::LibraryPanel::Devices : ui::LibraryPanel::Models);
}

}  // namespace orrery::app
