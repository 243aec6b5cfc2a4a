#include "widgets/plots/breakdown_view.h"

namespace orrery::ui {

BreakdownView::BreakdownView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("breakdown"), tr("Breakdown"), selection, parent) {}

void BreakdownView::snapshotChanged(const SnapshotPtr&) {}

}  // namespace orrery::ui
