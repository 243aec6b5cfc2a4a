#pragma once

#include "hardware/component.h"

#include <QString>

namespace orrery::ui {

/// `989 TFLOP/s bf16 · 80 GB · 3.35 TB/s`: peak in the type for which the device is known, capacity and bandwidth of
/// its main memory, read by the same view that methods use; of a design of several devices, of the fastest, with its
/// copies before it. Empty if no method could read the design.
QString deviceNumbers(const Hardware& hardware);

}  // namespace orrery::ui
