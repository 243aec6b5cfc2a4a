#include "methods/answer/energy.h"

#include "base/unit.h"
#include "hardware/views/power_limit.h"
#include "methods/answer/dram_energy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace orrery {

namespace {

constexpr double computingShare = 0.4;
constexpr JoulesPerByte stackedEnergy{39.2e-12};

// Bytes of every level that states an energy, and of the links inside; names those that are counted.
std::vector<std::string> addBytes(Estimate& answer, const DeviceView& device, JoulesPerByte main) {
    auto& ops = answer.operators;
    std::vector<std::string> counted;
    const auto add = [&](const std::string& name, const std::vector<double>& bytes, double perByte) {
        if (perByte <= 0) return;
        counted.push_back(name);
        for (std::size_t i = 0; i < ops.size(); ++i) ops.joules[i] += bytes[i] * perByte;
    };
    add(device.main().name, ops.bytes, main.value);
    if (device.interconnect) {
        add("links inside (" + device.interconnect->name + ")", ops.bytes, device.interconnect->energy.value);
    }
    for (std::size_t l = 1; l < device.levels.size(); ++l) {
        const bool known = l < ops.levelBytes.size();
        add(device.levels[l].name, known ? ops.levelBytes[l] : ops.bytes, device.levels[l].energy.value);
    }
    return counted;
}

void addUp(Estimate& answer, const DeviceView& device) {
    double total = 0, seconds = 0;
    for (std::size_t i = 0; i < answer.operators.size(); ++i) {
        total += answer.operators.joules[i];
        seconds += answer.operators.seconds[i];
    }
    answer.energy = Joules(total);
    const double cap = device.powerCap.value;
    if (cap <= 0 || total <= cap * seconds * (1 + 1e-9)) return;
    answer.warnings.push_back(
        warning("energy.above-cap",
                fmt::format("the energies that the parts state come to {} on average, above the power cap of {}",
                            format(Watts(total / seconds)), format(device.powerCap)),
                "The clock would fall and the work take longer: check the energies or the cap",
                Place{{}, 0, 0, device.path + ".power_cap"}));
}

}  // namespace

JoulesPerByte usualJoulesPerByte(const MemoryLevel& memory) {
    if (memory.kind != ComponentKind::Dram) return {};
    const bool stacked = memory.timing.starts_with("HBM") || memory.name.starts_with("hbm");
    return stacked ? stackedEnergy : 2 * stackedEnergy;
}

void addEnergy(Estimate& answer, const DeviceView& device) {
    if (device.flopEnergy.value <= 0 || device.main().energy.value <= 0) return;
    auto& ops = answer.operators;
    ops.joules.resize(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        ops.joules[i] = ops.flops[i] * device.flopEnergy.value + ops.seconds[i] * device.idlePower.value;
    }
    const auto counted = addBytes(answer, device, device.main().energy);
    addUp(answer, device);
    answer.assumptions.push_back(fmt::format("Energy counts arithmetic, bytes of {}{}", fmt::join(counted, ", "),
                                             device.idlePower.value > 0
                                                 ? " and idle power over the whole time, so less of it in a shorter one"
                                                 : " and no idle power, which the device does not state"));
}

PartsRead addPowerCapEnergy(Estimate& answer, const DeviceView& device, const CostTable& costs,
                            const ComputeRates& rates, const Hardware* design) {
    const bool arithmetic = device.flopEnergy.value > 0;
    if (!arithmetic && device.powerCap.value <= 0) return {};
    const MemoryLevel& main = device.main();
    const bool stated = main.energy.value > 0;
    const bool asked = design && !stated && main.kind == ComponentKind::Dram;
    const auto currents = asked ? drawnDramEnergy(main, *design) : Expected<DrawnDramEnergy>(DrawnDramEnergy{});
    const bool known = asked && currents;
    auto& ops = answer.operators;
    const double always = staticWatts(device.powerCap.value, device.idlePower.value);
    // A cap holds what is in the package, memory among it.
    const double standing = known && !(currents->stacked && always > 0) ? currents->standing.value : 0;
    ops.joules.resize(ops.size());
    double memory = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const double compute = arithmetic ? ops.flops[i] * device.flopEnergy.value
                                          : computingShare * device.powerCap.value * device.drawnToRated *
                                                costs.repeat[i] * rates.seconds(costs, i);
        ops.joules[i] = compute + (always + standing) * ops.seconds[i];
        if (known) memory += ops.bytes[i] * currents->reading.value + ops.seconds[i] * standing;
    }
    const JoulesPerByte perByte = stated ? main.energy : known ? currents->reading : usualJoulesPerByte(main);
    const auto counted = addBytes(answer, device, perByte);
    addUp(answer, device);
    if (known) answer.figures.push_back({"DRAM energy", memory, Dimension::Energy, {}});

    std::string said = "Energy is ";
    said += arithmetic ? "arithmetic as the units state it"
                       : fmt::format("40 % of the power cap of {} while {}units are full", format(device.powerCap),
                                     device.drawnToRated != 1 ? "as many as it was set for, of the drawn " : "");
    if (!counted.empty()) {
        said += fmt::format(", bytes of {} as stated", fmt::join(counted, ", "));
        if (!stated && perByte.value > 0 && !known) {
            said += fmt::format(" (of {}, which states none, {:.0f} pJ{})", main.name, 1e12 * perByte.value,
                                asked ? ": " + currents.error().message : "");
        }
    }
    said += device.idlePower.value > 0 ? ", and the idle power all the time"
            : always > 0               ? fmt::format(", and {:.0f} % of the cap all the time", 100 * staticShareOfCap)
                                       : "; static power is not stated and not counted";
    if (always > 0) said += ", less of it in a shorter time";
    if (!arithmetic) {
        said +=
            " (split of GenZ, Bambhaniya et al. 2024). On A100 that split gave mean powers 32 to 35 % too low where "
            "times were measured (Llama-2 70B and BLOOM-176B, Splitwise); on other devices nothing was measured";
    }
    answer.assumptions.push_back(std::move(said));
    if (!known) return {};
    answer.assumptions.push_back(fmt::format(
        "{} states no energy; by supply currents of its {:.0f} devices ({}) a byte takes {:.1f} pJ, as in a stream of "
        "reads, and {}. Drivers and termination of the data bus are not in them",
        main.name, currents->devices, currents->title, 1e12 * currents->reading.value,
        standing > 0 ? fmt::format("{} stand by and refresh all the time", format(Watts(standing)))
                     : "standing by is in the static power of the package"));
    return currents->read;
}

}  // namespace orrery
