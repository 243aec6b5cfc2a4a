#pragma once

// What loop-nest, systolic and mapping methods need of an accelerator: one array of processing elements and the chain
// of memories that feeds it, read from the tree once.

#include "base/diagnostic.h"
#include "base/quantity.h"
#include "hardware/component.h"
#include "hardware/dataflow.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/parts_read.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

inline constexpr std::uint32_t keepsInputs = 1, keepsWeights = 2, keepsOutputs = 4;

struct ArrayLevel {
    std::string name;
    std::string path;
    ComponentKind kind = ComponentKind::Buffer;
    std::int64_t instances = 1;  ///< over the device
    Bytes capacity;              ///< of one instance; 0 for a main memory without one: holds everything
    BytesPerSecond bandwidth;    ///< of one instance, reads and writes share it; 0 where not given: limits nothing
    std::int64_t wordBits = 16;
    std::int64_t block = 1;     ///< words of one access
    std::uint32_t keeps = 0;    ///< keepsInputs | …; 0: any operand may be kept or pass by
    double relativeEnergy = 0;  ///< of one word's access, in multiply-accumulates; 0 where not given
    JoulesPerByte energy;       ///< of one byte moved; 0 where not given
    bool implied = false;       ///< the register inside each element that the dataflow speaks of
};

struct SpatialArrayView {
    std::string name;  ///< of the device
    std::string path;  ///< of the array
    Hertz clock;
    std::int64_t columns = 1, rows = 1;  ///< of one array: mesh [columns, rows]
    std::int64_t arrays = 1;             ///< of the device; they stand side by side
    std::int64_t macsPerElement = 1;
    std::int64_t macBits = 16;
    Joules macEnergy;  ///< of one multiply-accumulate; 0 where not given
    std::optional<Dataflow> dataflow;
    std::string noc;                 ///< as in the file; may be empty
    std::string energyTable;         ///< for energies that are not stated: `ratio…`, else by the process
    std::string process;             ///< as its maker names it; may be empty
    std::vector<ArrayLevel> levels;  ///< outermost first; the first is the main memory; never empty
    std::vector<std::string> assumptions;
    PartsRead used;  ///< of the design

    std::int64_t elements() const { return columns * rows * arrays; }
    std::int64_t macs() const { return elements() * macsPerElement; }  ///< a cycle
};

/// The view of the first array (`array` with a mesh, or `tensor_unit` with a dataflow) of the device. Fails naming
/// component and attribute: `hardware.no-array`, `hardware.missing-attribute`, `hardware.no-clock`.
Expected<SpatialArrayView> spatialArrayView(const DeviceRef& device);
/// Of the first device of the design that holds one, see firstArrayDevice().
Expected<SpatialArrayView> spatialArrayView(const Hardware& hardware);

}  // namespace orrery
