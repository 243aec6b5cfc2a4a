#include "methods/answer/energy.h"

#include "base/unit.h"

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

void addPowerCapEnergy(Estimate& answer, const DeviceView& device, const CostTable& costs, const ComputeRates& rates) {
    if (device.powerCap.value <= 0 || device.main().bandwidth.value <= 0) return;
    constexpr double always = 0.3, computing = 0.4, moving = 0.2;
    auto& ops = answer.operators;
    ops.joules.resize(ops.size());
    double total = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const double compute = costs.repeat[i] * rates.seconds(costs, i);
        const double memory = ops.bytes[i] / device.main().bandwidth.value;
        ops.joules[i] = device.powerCap.value * (always * ops.seconds[i] + computing * compute + moving * memory);
        total += ops.joules[i];
    }
    answer.energy = Joules(total);
    answer.assumptions.push_back("Energy is a share of the power cap of " + format(device.powerCap) +
                                 ": 30 % always, 40 % while units are full, 20 % while memory is (split of GenZ, "
                                 "Bambhaniya et al. 2024). On A100 that split gave mean powers 32 to 35 % too low where times were "
                                 "measured (Llama-2 70B and BLOOM-176B, Splitwise); on other devices nothing was measured");
}

}  // namespace orrery
