#include "widgets/plots/timeline_view.h"

namespace orrery::ui {

TimelineView::TimelineView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("timeline"), tr("Timeline"), selection, parent) {}

void TimelineView::snapshotChanged(const SnapshotPtr&) {}

}  // namespace orrery::ui
