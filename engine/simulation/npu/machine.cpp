#include "simulation/npu/machine.h"

#include <cmath>

namespace orrery {

NpuMachine machineOf(const NpuView& view) {
    NpuMachine machine;
    const double hertz = view.clock.value;
    const auto cycles = [hertz](Seconds time) {
        return static_cast<std::int64_t>(std::ceil(time.value * hertz - 1e-9));
    };
    machine.cores = view.cores;
    machine.arrays = view.arrays;
    machine.height = view.rows;
    machine.width = view.columns;
    machine.dataflow = view.dataflow;
    machine.scratchpad = static_cast<std::int64_t>(view.scratchpad.value);
    machine.accumulator = static_cast<std::int64_t>(view.accumulator.value);
    machine.vectorOps = view.vectorOps;
    machine.memoryBytes = view.bandwidth.value / hertz;
    machine.memoryLatency = cycles(view.latency);
    machine.portBytes = view.portBandwidth.value / hertz;
    machine.launch = cycles(view.launchOverhead);
    machine.word = static_cast<std::int64_t>(view.word.value);
    machine.layoutLanes = view.layoutLanes;
    machine.hertz = hertz;
    return machine;
}

}  // namespace orrery
