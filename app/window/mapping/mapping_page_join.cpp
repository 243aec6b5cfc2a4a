// The mapping page as a page of the window.

#include "app/window/hardware/add_hardware.h"
#include "app/window/mapping/mapping_page.h"
#include "app/window/studio.h"

namespace orrery::app {

MappingPage::MappingPage(Studio& studio, QWidget* parent) : MappingPage(&studio.selection, parent) {}

PageCard MappingPage::card() const {
    return {QStringLiteral("mapping"),
            tr("Mapping"),
            tr("How an operator is placed on an array"),
            QStringLiteral("view-grid"),
            {},
            false,
            {}};
}

void MappingPage::join(Studio& studio) {
    const auto follow = [this, &studio] { setScenario(studio.document.hardware(), studio.live.workload()); };
    connect(&studio.live, &LiveController::workloadReady, this, follow);
    connect(&studio.document, &Document::hardwareChanged, this, follow);
    connect(&studio.document, &Document::replaced, this, follow);
    connect(this, &MappingPage::exampleRequested, &studio.files,
            [&studio] { studio.files.openExample(QStringLiteral("rows-on-an-array")); });
    connect(this, &MappingPage::arrayRequested, this, [&studio] {
        addCatalogueHardware(studio, QStringLiteral("eyeriss-like"));
        studio.router.show(QStringLiteral("mapping"));
    });
}

}  // namespace orrery::app
