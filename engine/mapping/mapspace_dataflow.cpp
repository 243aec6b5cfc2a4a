#include "mapping/mapspace_dataflow.h"

#include "hardware/area/technology.h"
#include "mapping/energy_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {
namespace {

/// Per tensor the dimensions that it contains.
std::array<std::uint32_t, 3> dimensionsOf(const NestProblem& problem) {
    std::array<std::uint32_t, 3> masks{};
    for (std::size_t t = 0; t < std::min<std::size_t>(problem.tensors.size(), 3); ++t) {
        for (const TensorRank& rank : problem.tensors[t].ranks) {
            for (const ProjectionTerm& term : rank.terms) masks[t] |= 1u << term.dimension;
        }
    }
    return masks;
}

std::uint32_t named(const NestProblem& problem, std::string_view names) {
    std::uint32_t mask = 0;
    for (std::size_t d = 0; d < problem.dimensions.size(); ++d) {
        if (problem.dimensions[d].size() == 1 && names.find(problem.dimensions[d][0]) != std::string_view::npos)
            mask |= 1u << d;
    }
    return mask;
}

bool isConvolution(const NestProblem& problem) {
    return named(problem, "R") != 0 && named(problem, "P") != 0;
}

struct Unrolled {
    std::uint32_t columns = 0, rows = 0;
};

Unrolled unrolled(Dataflow dataflow, const NestProblem& problem) {
    const auto [inputs, weights, outputs] = dimensionsOf(problem);
    switch (dataflow) {
        case Dataflow::RowStationary:
            if (isConvolution(problem)) return {named(problem, "QOK"), named(problem, "STCG")};
            [[fallthrough]];
        case Dataflow::WeightStationary:
            return {weights & outputs, weights & ~outputs};
        case Dataflow::OutputStationary:
            return {weights & outputs & ~inputs, inputs & outputs & ~weights};
        case Dataflow::InputStationary:
            return {inputs & outputs, inputs & ~outputs};
    }
    return {};
}

// Keeps what the design states and takes the rest from a table.
void fillEnergies(const SpatialArrayView& view, ArrayHardware& made) {
    NestHardware tabled = made.hardware;
    std::string from;
    if (view.energyTable.starts_with("ratio")) {
        applyRatioEnergies(tabled);
        from = "the ratios of Timeloop's public table, a multiply-accumulate of 16 bits as 1 pJ";
    } else {
        const auto& table = silicon();
        const auto node = table ? table->node(view.process) : std::nullopt;
        if (!node) return;
        const double nanometres = std::max(node->nm, table->scaling.empty() ? 0.0 : table->scaling.back().nm);
        if (!applyTechnologyEnergies(tabled, nanometres)) return;
        from = fmt::format("published ones scaled to {:g} nm (Horowitz 2014, Stillmaker and Baas 2017)", nanometres);
    }
    made.energies = true;
    if (view.macEnergy.value > 0) tabled.arithmetic.energy = view.macEnergy.value;
    for (std::size_t l = 0; l < view.levels.size(); ++l) {
        const ArrayLevel& level = view.levels[view.levels.size() - 1 - l];
        ActionEnergies& filled = tabled.levels[l].energy;
        const double word = level.energy.value > 0 ? level.energy.value * static_cast<double>(level.wordBits) / 8
                                                   : level.relativeEnergy * tabled.arithmetic.energy;
        if (word > 0)
            filled.vectorRead = filled.vectorWrite = filled.vectorUpdate = word * static_cast<double>(level.block);
    }
    made.hardware = std::move(tabled);
    made.assumptions.push_back(
        fmt::format("Energies that the design does not state are {}; clock network, control and leakage of a chip draw "
                    "more",
                    from));
}

}  // namespace

ArrayHardware nestHardware(const SpatialArrayView& view) {
    ArrayHardware made;
    NestHardware& hardware = made.hardware;
    hardware.name = view.name;
    hardware.clock = view.clock;
    const std::int64_t columns = view.columns * view.arrays;
    hardware.arithmetic.instances = view.macs();
    hardware.arithmetic.meshX = columns;
    hardware.arithmetic.wordBits = view.macBits;

    const auto told = [](const ArrayLevel& level) {
        return level.implied || level.energy.value > 0 || level.relativeEnergy > 0;
    };
    const bool relative = std::any_of(view.levels.begin(), view.levels.end(),
                                      [](const ArrayLevel& level) { return level.relativeEnergy > 0; });
    made.energies = std::all_of(view.levels.begin(), view.levels.end(), told) && (relative || view.macEnergy.value > 0);
    double mac = view.macEnergy.value;
    if (made.energies && mac <= 0) {
        const double width = static_cast<double>(view.macBits) / 16;
        mac = 1e-12 * width * width;
        made.assumptions.push_back(fmt::format(
            "Energies are relative: a multiply-accumulate of {} bits is taken as {:g} pJ", view.macBits, mac * 1e12));
    }
    hardware.arithmetic.energy = made.energies ? mac : 0;

    for (auto level = view.levels.rbegin(); level != view.levels.rend(); ++level) {
        NestLevel nest;
        nest.name = level->name;
        nest.instances = level->instances;
        nest.meshX = std::min(level->instances, columns);
        while (nest.meshX > 1 && level->instances % nest.meshX != 0) --nest.meshX;
        nest.wordBits = level->wordBits;
        nest.blockSize = level->block;
        const double wordBytes = static_cast<double>(level->wordBits) / 8;
        if (level->capacity.value > 0) nest.capacityWords = std::floor(level->capacity.value / wordBytes);
        if (level->bandwidth.value > 0) nest.sharedBandwidth = level->bandwidth.value / view.clock.value / wordBytes;
        nest.dram = level->kind == ComponentKind::Dram;
        if (made.energies && !level->implied) {
            const double word = level->energy.value > 0 ? level->energy.value * wordBytes : level->relativeEnergy * mac;
            nest.energy.vectorRead = nest.energy.vectorWrite = nest.energy.vectorUpdate =
                word * static_cast<double>(level->block);
            nest.energy.source = level->energy.value > 0 ? "energy of the design" : "relative energy of the design";
        }
        hardware.levels.push_back(nest);
    }
    if (!made.energies) fillEnergies(view, made);
    return made;
}

MapspaceConstraints dataflowConstraints(const SpatialArrayView& view, const NestProblem& problem) {
    MapspaceConstraints constraints;
    const std::size_t levels = view.levels.size();
    constraints.levels.resize(levels);
    const NestHardware hardware = nestHardware(view).hardware;
    const std::size_t dimensions = problem.dimensions.size();
    for (std::size_t l = 0; l < levels; ++l) {
        const ArrayLevel& storage = view.levels[levels - 1 - l];
        LevelConstraint& level = constraints.levels[l];
        if (storage.keeps) {
            level.keep = storage.keeps;
            level.bypass = 7u & ~storage.keeps;
        }
    }
    if (!view.dataflow) return constraints;
    const Unrolled wanted = unrolled(*view.dataflow, problem);
    for (std::size_t l = 0; l < levels; ++l) {
        const FanOut fan = fanOut(hardware, l);
        // The array itself: fan-outs of whole cores further out may take any dimension.
        const std::int64_t inner = l ? hardware.levels[l - 1].instances : hardware.arithmetic.instances;
        if (!fan.any() || inner < view.elements() || hardware.levels[l].instances >= view.elements()) continue;
        LoopConstraint& spatial = constraints.levels[l].spatial;
        spatial.factors.assign(dimensions, 0);
        std::vector<std::uint8_t> columns, rows;
        for (std::size_t d = 0; d < dimensions; ++d) {
            const bool x = wanted.columns >> d & 1u, y = wanted.rows >> d & 1u;
            if (!x && !y) spatial.factors[d] = 1;
            (y && !x ? rows : columns).push_back(static_cast<std::uint8_t>(d));
        }
        spatial.split = columns.size();
        spatial.innermost = std::move(columns);
        spatial.innermost.insert(spatial.innermost.end(), rows.begin(), rows.end());
    }
    // Rows of the filter stay whole inside an element.
    if (*view.dataflow == Dataflow::RowStationary && isConvolution(problem)) {
        const std::uint32_t row = named(problem, "R");
        for (std::size_t l = 0; l < levels; ++l) {
            const bool inside = hardware.levels[l].instances >= view.elements();
            for (std::size_t d = 0; d < dimensions && !inside; ++d) {
                if (!(row >> d & 1u)) continue;
                auto& factors = constraints.levels[l].temporal.factors;
                factors.resize(dimensions, 0);
                factors[d] = 1;
            }
        }
    }
    return constraints;
}

}  // namespace orrery
