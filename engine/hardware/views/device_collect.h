#pragma once

// How a device view is gathered from the tree: one walk that knows how many instances there are and which clock runs.

#include "hardware/views/device_view.h"

#include <string>
#include <vector>

namespace orrery::detail {

/// A component inside the device, with what its surroundings add.
struct Part {
    const Component* component = nullptr;
    const Component* parent = nullptr;
    std::string path;
    std::int64_t instances = 1;  ///< over the whole device
    Hertz clock;                 ///< its own or the nearest one further out; 0 if there is none
};

/// Every component from `device` down, parents first. `instances` of the device itself is 1.
std::vector<Part> partsOf(const Component& device, const std::string& path, Hertz outerClock);
const Measure* measureOf(const Component& component, std::string_view attribute);
bool computes(ComponentKind kind);
bool remembers(ComponentKind kind);
bool containsCompute(const Component& component);
/// An `array`, or a `tensor_unit` with a dataflow: one without is of a GPU, takes whole fragments and is no array to
/// map onto.
bool isArray(const Component& component);
bool holdsArray(const Component& component);

/// Where a device stands.
struct Surroundings {
    std::vector<const Component*> around;  ///< from the root to the device, both included
    std::string path;                      ///< of the device
    Hertz clock;                           ///< of the nearest component around it that has one; 0 if there is none

    const Component& device() const { return *around.back(); }
    /// The device's own attribute, else that of the nearest component around it: a die is of its package's platform.
    const Attribute* stated(std::string_view attribute) const;
    const Measure* statedMeasure(std::string_view attribute) const;
};
/// Fails with `hardware.no-device` if the path leads nowhere.
Expected<Surroundings> surroundingsOf(const DeviceRef& device);

/// Fills peaks, flopEnergy and cores.
Expected<void> fillPeaks(const std::vector<Part>& parts, DeviceView& view);
/// Fills levels from the memories inside the device and, where it holds no DRAM, from `outside`.
Expected<void> fillLevels(const std::vector<Part>& parts, const std::vector<Part>& outside, DeviceView& view);
/// Fails with `hardware.no-clock` if a per-cycle number stands on a part without a clock.
Expected<double> perSecond(const Part& part, std::string_view attribute, const Measure& measure);

}  // namespace orrery::detail
