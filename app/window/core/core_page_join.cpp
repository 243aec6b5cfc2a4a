// The core page as a page of the window.

#include "app/window/core/block_tab.h"
#include "app/window/core/core_page.h"
#include "app/window/core/memory_tab.h"
#include "app/window/core/pipeline_tab.h"
#include "app/window/studio.h"

#include <QSettings>
#include <QTabWidget>

namespace orrery::app {

PageCard CorePage::card() const {
    return {QStringLiteral("core"),
            tr("Core"),
            tr("Inside a CPU core and its memory, cycle by cycle"),
            QStringLiteral("cpu"),
            {},
            true,
            {}};
}

void CorePage::join(Studio& studio) {
    const QString group = tr("Core");
    studio.actions.add({"core.block",
                        group,
                        tr("Analyse a &block of machine code"),
                        tr("Cycles per iteration of a basic block of x86-64, and what limits it"),
                        {},
                        {}},
                       [this] { goToTab(0); });
    studio.actions.add({"core.pipeline",
                        group,
                        tr("Run a kernel in a &pipeline"),
                        tr("Every operation of a kernel on an out-of-order core, from fetch to retirement"),
                        {},
                        {}},
                       [this] { goToTab(1); });
    studio.actions.add({"core.memory",
                        group,
                        tr("Run requests through a &memory"),
                        tr("Every command of a DRAM channel, and the timing that limits it"),
                        {},
                        {}},
                       [this] { goToTab(2); });
    const auto follow = [this, &studio] {
        if (pipeline_) pipeline_->setDesign(studio.document.hardware());
    };
    connect(&studio.document, &Document::hardwareChanged, this, follow);
    connect(&studio.document, &Document::scenarioChanged, this, follow);
    connect(&studio.document, &Document::replaced, this, follow);
}

void CorePage::goToTab(int tab) {
    studio_.layouts.showProject();
    studio_.router.show(this);
    make();
    tabs_->setCurrentIndex(tab);
}

std::vector<MenuPart> CorePage::menus() {
    return {{QStringLiteral("menuCore"),
             tr("Inside a &core"),
             QStringLiteral("menuRun"),
             {QStringLiteral("core.block"), QStringLiteral("core.pipeline"), QStringLiteral("core.memory")},
             {}}};
}

std::vector<ui::PaletteEntry> CorePage::findable() {
    std::vector<ui::PaletteEntry> found;
    const auto tab = [&](const QString& text, int at) {
        found.push_back({text, tr("Core"), {}, {}, [this, at] { goToTab(at); }});
    };
    tab(tr("Ports and dependence chain of a basic block"), 0);
    tab(tr("Operations of a kernel, from fetch to retirement"), 1);
    tab(tr("DRAM commands of every bank, and the timing that limits them"), 2);
    return found;
}

void CorePage::saveView(QSettings& settings) const {
    QVariantMap view = kept_;
    if (tabs_) {
        view.insert(block_->view());
        view.insert(pipeline_->kept());
        view.insert(memory_->kept());
        view.insert(QStringLiteral("tab"), tabs_->currentIndex());
    }
    for (auto at = view.constBegin(); at != view.constEnd(); ++at) settings.setValue(at.key(), at.value());
}

void CorePage::restoreView(const QSettings& settings) {
    for (const QString& key : settings.allKeys()) kept_.insert(key, settings.value(key));
    if (!tabs_) return;
    block_->setView(kept_);
    pipeline_->setKept(kept_);
    memory_->setKept(kept_);
    tabs_->setCurrentIndex(kept_.value(QStringLiteral("tab")).toInt());
}

}  // namespace orrery::app
