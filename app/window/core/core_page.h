#pragma once

// The core document: what happens inside a CPU core and its memory, cycle by cycle. A block of machine code by bounds,
// a kernel through an out-of-order pipeline, requests through a DRAM channel.

#include "app/window/page.h"

#include <QVariantMap>

class QTabWidget;

namespace orrery::app {

class BlockTab;
class MemoryTab;
class PipelineTab;

class CorePage : public Page {
    Q_OBJECT
public:
    CorePage(Studio& studio, QWidget* parent);
    ~CorePage() override;

    PageCard card() const override;
    void join(Studio& studio) override;
    std::vector<MenuPart> menus() override;
    std::vector<ui::PaletteEntry> findable() override;
    void saveView(QSettings& settings) const override;
    void restoreView(const QSettings& settings) override;

    /// These are null until the page is made.
    QTabWidget* tabs() const { return tabs_; }
    BlockTab* block() const { return block_; }
    PipelineTab* pipeline() const { return pipeline_; }
    MemoryTab* memory() const { return memory_; }

protected:
    void build() override;

private:
    void goToTab(int tab);

    Studio& studio_;
    QTabWidget* tabs_ = nullptr;
    BlockTab* block_ = nullptr;
    PipelineTab* pipeline_ = nullptr;
    MemoryTab* memory_ = nullptr;
    QVariantMap kept_;  ///< of the views, until they are made
};

}  // namespace orrery::app
