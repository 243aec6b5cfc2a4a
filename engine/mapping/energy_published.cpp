#include "hardware/area/technology.h"
#include "mapping/energy_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace orrery {
namespace {

constexpr double tabled = 45;  // the process for which components stand in the table

double energyAt(std::span<const EnergyScaling> nodes, double nanometres, double volts) {
    const auto at = [volts](const EnergyScaling& node) {
        return (node.square * volts + node.linear) * volts + node.constant;
    };
    std::size_t i = 0;
    while (i + 2 < nodes.size() && nodes[i + 1].nm > nanometres) ++i;
    const double share = (nanometres - nodes[i].nm) / (nodes[i + 1].nm - nodes[i].nm);
    return at(nodes[i]) * (1 - share) + at(nodes[i + 1]) * share;
}

// A power law through two points of the same component.
double between(double x, double x0, double y0, double x1, double y1) {
    return y0 * std::pow(x / x0, std::log(y1 / y0) / std::log(x1 / x0));
}

// What the table has of a component, by bits and bytes; fewer entries than asked for say that it is incomplete.
Expected<std::vector<const EnergyEntry*>> entriesOf(const Technology& table, std::string_view component,
                                                    std::size_t least) {
    std::vector<const EnergyEntry*> found;
    for (const EnergyEntry& entry : table.energies) {
        const bool scales = component == "sram" || component.starts_with("int");
        if (entry.component == component && (!scales || entry.nm == tabled)) found.push_back(&entry);
    }
    if (found.size() >= least) return found;
    return fail("energy.table", fmt::format("the table of energies has {} entries of `{}`", found.size(), component),
                fmt::format("{} at {} nm", least, tabled), "see presets/technology/silicon.yaml");
}

Expected<double> operation(const Technology& table, std::string_view component, double bits) {
    const auto entries = entriesOf(table, component, 2);
    if (!entries) return Unexpected(entries.error());
    const EnergyEntry &low = *entries->front(), &high = *entries->back();
    return between(bits, low.bits, low.energy, high.bits, high.energy);
}

// One bit of a memory of any capacity; never below a register's.
struct MemoryBits {
    std::vector<const EnergyEntry*> sram;
    const EnergyEntry* cell = nullptr;
    double operator()(double bytes) const {
        std::size_t i = 0;
        while (i + 2 < sram.size() && bytes >= sram[i + 1]->capacityBytes) ++i;
        const double energy =
            between(bytes, sram[i]->capacityBytes, sram[i]->energy, sram[i + 1]->capacityBytes, sram[i + 1]->energy);
        return std::max(cell->energy / cell->bits, energy / sram[i]->bits);
    }
};

}  // namespace

Expected<double> technologyEnergyFactor(double fromNanometres, double toNanometres, double volts) {
    const auto& table = silicon();
    if (!table) return Unexpected(table.error());
    const auto& nodes = table->scaling;
    for (const double node : {fromNanometres, toNanometres}) {
        if (nodes.size() > 1 && node >= nodes.back().nm && node <= nodes.front().nm) continue;
        return fail(
            "energy.technology", fmt::format("energies cannot be scaled to or from {} nm", node),
            nodes.empty() ? "a table of `scaling`" : fmt::format("{} to {} nm", nodes.back().nm, nodes.front().nm),
            "give a table of energies for this technology");
    }
    return energyAt(nodes, toNanometres, volts) / energyAt(nodes, fromNanometres, volts);
}

Expected<void> applyTechnologyEnergies(NestHardware& hardware, double nanometres) {
    const auto factor = technologyEnergyFactor(tabled, nanometres);
    if (!factor) return Unexpected(factor.error());
    const Technology& table = *silicon();
    const auto sram = entriesOf(table, "sram", 2), cell = entriesOf(table, "register", 1),
               dram = entriesOf(table, "dram", 1);
    const double bits = static_cast<double>(hardware.arithmetic.wordBits);
    const auto multiply = operation(table, "int-multiply", bits), add = operation(table, "int-add", bits);
    for (const auto* list : {&sram, &cell, &dram}) {
        if (!*list) return Unexpected(list->error());
    }
    for (const auto* one : {&multiply, &add}) {
        if (!*one) return Unexpected(one->error());
    }
    const MemoryBits memory{*sram, cell->front()};
    for (NestLevel& level : hardware.levels) {
        const double blockBits = static_cast<double>(level.wordBits * level.blockSize);
        ActionEnergies energies;
        double bit = 0;
        if (level.dram) {
            bit = dram->front()->energy / dram->front()->bits;
            energies.source = dram->front()->source;
        } else if (level.capacityWords > 0 && std::isfinite(level.capacityWords)) {
            bit = memory(level.capacityWords * static_cast<double>(level.wordBits) / 8) * *factor;
            energies.source = fmt::format("{}; registers: {}; scaled from {} to {} nm by Stillmaker and Baas 2017",
                                          sram->front()->source, cell->front()->source, tabled, nanometres);
        }
        energies.vectorRead = energies.vectorWrite = energies.vectorUpdate = bit * blockBits;
        level.energy = energies;
    }
    hardware.arithmetic.energy = (*multiply + *add) * *factor;
    hardware.arithmetic.gatedEnergy = hardware.arithmetic.skippedEnergy = 0;
    return {};
}

}  // namespace orrery
