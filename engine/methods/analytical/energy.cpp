#include "methods/analytical/energy.h"

namespace orrery {

void addEnergy(Estimate& answer, const DeviceView& device) {
    if (device.flopEnergy.value <= 0 || device.main().energy.value <= 0) return;
    auto& ops = answer.operators;
    const auto rows = ops.size();
    ops.joules.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        ops.joules[i] = ops.flops[i] * device.flopEnergy.value + ops.seconds[i] * device.idlePower.value;
    }
    std::string counted = device.main().name;
    for (std::size_t i = 0; i < rows; ++i) ops.joules[i] += ops.bytes[i] * device.main().energy.value;
    for (std::size_t l = 1; l < ops.levelBytes.size(); ++l) {
        const double perByte = device.levels[l].energy.value;
        if (perByte <= 0) continue;
        counted += ", " + device.levels[l].name;
        for (std::size_t i = 0; i < rows; ++i) ops.joules[i] += ops.levelBytes[l][i] * perByte;
    }
    Joules total;
    for (const double joules : ops.joules) total += Joules(joules);
    answer.energy = total;
    answer.assumptions.push_back("Energy counts arithmetic, bytes of " + counted +
                                 (device.idlePower.value > 0 ? " and idle power over the whole time"
                                                             : " and no idle power, which the device does not state"));
}

}  // namespace orrery
