#pragma once

// Numbers of a search in words: names of what is wanted, units of axes, values.

#include "base/unit.h"
#include "widgets/evidence/plot_frame.h"

#include <QString>

#include <span>
#include <string>

namespace orrery::app {

struct QuantityName {
    const char *id, *name;  ///< `time`, `Time` (to be translated)
};
std::span<const QuantityName> quantityNames();
/// `time` as `Time`, `max Throughput` as `Throughput`.
QString objectiveText(const std::string& objective);

/// A number along an axis: how it is scaled and written.
struct AxisUnit {
    double factor = 1;
    QString unit;
    ui::TickText ticks = ui::TickText::Number;
};
AxisUnit unitOf(Dimension dimension, const std::string& quantity);
/// `Time`, `Silicon area, mm²`.
QString axisName(Dimension dimension, const std::string& quantity);
QString valueText(double value, Dimension dimension, const std::string& quantity);

}  // namespace orrery::app
