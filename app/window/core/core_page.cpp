#include "app/window/core/core_page.h"

#include "app/window/core/block_tab.h"
#include "app/window/core/memory_tab.h"
#include "app/window/core/pipeline_tab.h"
#include "app/window/exports.h"
#include "app/window/form_parts.h"
#include "app/window/studio.h"

#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

namespace orrery::app {

CorePage::CorePage(Studio& studio, QWidget* parent) : Page(parent), studio_(studio) {
    setObjectName(QStringLiteral("corePage"));
    setAccessibleName(tr("Core"));
}

CorePage::~CorePage() = default;

void CorePage::build() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    tabs_ = named(new QTabWidget(this), "core.views", tr("Inside a core"),
                  tr("A block of machine code, a kernel in a pipeline, requests in a memory"));
    tabs_->setDocumentMode(true);
    tabs_->tabBar()->setObjectName(QStringLiteral("core.tabs"));
    tabs_->tabBar()->setAccessibleName(tr("Inside a core"));
    tabs_->tabBar()->setToolTip(tr("A block of machine code, a kernel in a pipeline, requests in a memory"));
    column->addWidget(tabs_);
    const auto write = [this](const QString& title, const QString& name, const QString& filter,
                              const WriteFigure& how) {
        exportWith(studio_, *tabs_->currentWidget(), title, name, filter, how);
    };
    block_ = new BlockTab(tabs_);
    connect(block_, &BlockTab::exportWanted, this, write);
    tabs_->addTab(block_, tr("Block"));
    pipeline_ = new PipelineTab(tabs_);
    connect(pipeline_, &PipelineTab::exportWanted, this, write);
    pipeline_->setDesign(studio_.document.hardware());
    tabs_->addTab(pipeline_, tr("Pipeline"));
    memory_ = new MemoryTab(tabs_);
    connect(memory_, &MemoryTab::exportWanted, this, write);
    tabs_->addTab(memory_, tr("Memory"));
    block_->setView(kept_);
    pipeline_->setKept(kept_);
    memory_->setKept(kept_);
    tabs_->setCurrentIndex(kept_.value(QStringLiteral("tab")).toInt());
}

}  // namespace orrery::app
