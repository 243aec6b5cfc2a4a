#include "widgets/plots/roofline_plot.h"

namespace orrery::ui {

RooflinePlot::RooflinePlot(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("roofline"), tr("Roofline"), selection, parent) {}

void RooflinePlot::snapshotChanged(const SnapshotPtr&) {}

}  // namespace orrery::ui
