#include "widgets/plots/memory_view.h"

namespace orrery::ui {

MemoryView::MemoryView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("memory"), tr("Memory"), selection, parent) {}

void MemoryView::snapshotChanged(const SnapshotPtr&) {}

}  // namespace orrery::ui
