#pragma once

// What pricers of arrays share: the device they bind to, one kernel as an operator of its own, and the roofline of what
// no array does.

#include "hardware/views/device_view.h"
#include "hardware/views/spatial_array_view.h"
#include "mapping/mapspace_dataflow.h"
#include "methods/answer/compute_rates.h"
#include "methods/kernel_method.h"
#include "workload/costs.h"
#include "workload/kernel.h"

namespace orrery {

struct ArrayDevice {
    SpatialArrayView view;
    DeviceView device;
    ComputeRates rates;
    ArrayHardware array;       ///< as loop nests see it; with energies where the design states them
    double joulesPerByte = 0;  ///< of main memory; 0 without energies

    std::string mainMemory() const { return device.main().name; }
};
/// Fails with `method.not-applicable` for a device without an array, and as the views do.
Expected<ArrayDevice> arrayDevice(const DeviceRef& place);

/// One kernel as the only operator of a graph.
struct KernelOperator {
    Graph graph;
    CostTable costs;
    const Operator& op() const { return graph.operators.front(); }
    double macs() const { return costs.macs.front(); }
};
/// Not for collectives.
KernelOperator operatorOf(const Kernel& kernel);

/// The least time of a kernel's work and bytes on the device's units and main memory, with the energy of its bytes and
/// its epilogue's; intervals are left at `seconds`.
KernelPrice arrayRoofline(const ArrayDevice& device, const Kernel& kernel, double macs);
/// For a collective and for what cannot be asked: not priced.
KernelPrice notPriced(const ArrayDevice& device, const Kernel& kernel);

}  // namespace orrery
