#include "mapping/energy_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

constexpr double pJ = 1e-12;
constexpr std::string_view horowitz = "Horowitz, ISSCC 2014, figure 1.1.9";
constexpr std::string_view aladdin = "Aladdin (Shao et al., ISCA 2014) at 1 ns, as in Accelergy's library";
constexpr std::string_view lpddr4 = "LPDDR4 in Accelergy's CACTI tables, 8 pJ per bit";

constexpr std::array entries{
    EnergyEntry{"int-add", 45, 8, 0, 0.03 * pJ, horowitz},
    EnergyEntry{"int-add", 45, 32, 0, 0.1 * pJ, horowitz},
    EnergyEntry{"int-multiply", 45, 8, 0, 0.2 * pJ, horowitz},
    EnergyEntry{"int-multiply", 45, 32, 0, 3.1 * pJ, horowitz},
    EnergyEntry{"fp-add", 45, 16, 0, 0.4 * pJ, horowitz},
    EnergyEntry{"fp-add", 45, 32, 0, 0.9 * pJ, horowitz},
    EnergyEntry{"fp-multiply", 45, 16, 0, 1.1 * pJ, horowitz},
    EnergyEntry{"fp-multiply", 45, 32, 0, 3.7 * pJ, horowitz},
    EnergyEntry{"sram", 45, 64, 8 * 1024, 10 * pJ, horowitz},
    EnergyEntry{"sram", 45, 64, 32 * 1024, 20 * pJ, horowitz},
    EnergyEntry{"sram", 45, 64, 1024 * 1024, 100 * pJ, horowitz},
    EnergyEntry{"dram", 0, 64, 0, 512 * pJ, lpddr4},
    EnergyEntry{"int-add", 40, 32, 0, 0.21 * pJ, aladdin},
    EnergyEntry{"int-multiply", 40, 32, 0, 12.68 * pJ, aladdin},
    EnergyEntry{"register", 40, 1, 0, 0.009 * pJ, aladdin},
};

// Coefficients of V², V and 1 in the energy of one transition, per node.
struct Node {
    double nanometres;
    std::array<double, 3> coefficients;
};
constexpr std::array nodes{
    Node{130, {7.171, -6.709, 2.904}},    Node{90, {4.762, -4.781, 2.092}},      Node{65, {3.755, -4.398, 1.975}},
    Node{45, {1.103, -0.362, 0.2767}},    Node{32, {0.9559, -0.7823, 0.471}},    Node{20, {0.373, -0.1582, 0.04104}},
    Node{16, {0.2958, -0.1241, 0.03024}}, Node{14, {0.2363, -0.09675, 0.02239}}, Node{10, {0.2068, -0.09311, 0.02375}},
    Node{7, {0.1776, -0.09097, 0.02447}},
};

double energyAt(double nanometres, double volts) {
    const auto at = [volts](const Node& node) {
        return (node.coefficients[0] * volts + node.coefficients[1]) * volts + node.coefficients[2];
    };
    std::size_t i = 0;
    while (i + 2 < nodes.size() && nodes[i + 1].nanometres > nanometres) ++i;
    const double share = (nanometres - nodes[i].nanometres) / (nodes[i + 1].nanometres - nodes[i].nanometres);
    return at(nodes[i]) * (1 - share) + at(nodes[i + 1]) * share;
}

// A power law through two points of the same component.
double between(double x, double x0, double y0, double x1, double y1) {
    return y0 * std::pow(x / x0, std::log(y1 / y0) / std::log(x1 / x0));
}

double operation(std::string_view component, double bits) {
    const EnergyEntry* low = nullptr;
    for (const EnergyEntry& entry : entries) {
        if (entry.component != component || entry.technology != 45) continue;
        if (low != nullptr) return between(bits, low->bits, low->energy, entry.bits, entry.energy);
        low = &entry;
    }
    return 0;
}

// One bit of a memory of this capacity at 45 nm; never below a register's.
double memoryBit(double bytes) {
    std::array<const EnergyEntry*, 3> sram{};
    std::size_t count = 0;
    double registerBit = 0;
    for (const EnergyEntry& entry : entries) {
        if (entry.component == "sram") sram[count++] = &entry;
        if (entry.component == "register") registerBit = entry.energy;
    }
    const std::size_t i = bytes < sram[1]->capacityBytes ? 0 : 1;
    const double energy =
        between(bytes, sram[i]->capacityBytes, sram[i]->energy, sram[i + 1]->capacityBytes, sram[i + 1]->energy);
    return std::max(registerBit, energy / sram[i]->bits);
}

}  // namespace

std::span<const EnergyEntry> energyEntries() {
    return entries;
}

Expected<double> technologyEnergyFactor(double fromNanometres, double toNanometres, double volts) {
    for (const double node : {fromNanometres, toNanometres}) {
        if (node >= nodes.back().nanometres && node <= nodes.front().nanometres) continue;
        return fail("energy.technology", fmt::format("energies cannot be scaled to or from {} nm", node),
                    fmt::format("{} to {} nm", nodes.back().nanometres, nodes.front().nanometres),
                    "give a table of energies for this technology");
    }
    return energyAt(toNanometres, volts) / energyAt(fromNanometres, volts);
}

Expected<void> applyTechnologyEnergies(NestHardware& hardware, double nanometres) {
    const auto factor = technologyEnergyFactor(45, nanometres);
    if (!factor) return Unexpected(factor.error());
    for (NestLevel& level : hardware.levels) {
        const double blockBits = static_cast<double>(level.wordBits * level.blockSize);
        ActionEnergies energies;
        double bit = 0;
        if (level.dram) {
            bit = 8 * pJ;
            energies.source = lpddr4;
        } else if (level.capacityWords > 0 && std::isfinite(level.capacityWords)) {
            bit = memoryBit(level.capacityWords * static_cast<double>(level.wordBits) / 8) * *factor;
            energies.source = fmt::format("{}; registers: {}; scaled from 45 to {} nm by Stillmaker and Baas 2017",
                                          horowitz, aladdin, nanometres);
        }
        energies.vectorRead = energies.vectorWrite = energies.vectorUpdate = bit * blockBits;
        level.energy = energies;
    }
    const double bits = static_cast<double>(hardware.arithmetic.wordBits);
    hardware.arithmetic.energy = (operation("int-multiply", bits) + operation("int-add", bits)) * *factor;
    hardware.arithmetic.gatedEnergy = hardware.arithmetic.skippedEnergy = 0;
    return {};
}

}  // namespace orrery
