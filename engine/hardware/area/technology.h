#pragma once

// What silicon takes, draws and costs, by process: presets/technology/silicon.yaml, each number with its source.

#include "base/diagnostic.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ProcessNode {
    double nm = 0;
    double logic = 0;       ///< transistors per m²
    double cell = 0;        ///< of a bit of SRAM, m²
    double waferPrice = 0;  ///< dollars of 300 mm
    double defects = 0;     ///< per m²
};

/// One published number: joules of one access or operation of `bits` bits.
struct EnergyEntry {
    std::string component;  ///< `int-add`, `int-multiply`, `fp-add`, `fp-multiply`, `sram`, `dram`, `register`
    double nm = 0;          ///< 0 where it does not apply
    double bits = 0;
    double capacityBytes = 0;  ///< of memories; 0 where it does not apply
    double energy = 0;         ///< joules
    std::string source;
};
/// Energy of one transition: square · V² + linear · V + constant.
struct EnergyScaling {
    double nm = 0;
    double square = 0, linear = 0, constant = 0;
};

struct Technology {
    std::vector<ProcessNode> nodes;                       ///< coarsest first
    std::map<std::string, double, std::less<>> names;     ///< `4N`: 5
    double float64 = 0;                                   ///< transistors of a multiply-add
    double multiplier32 = 0, adder32 = 0, integerNm = 0;  ///< m², at that process
    double simtLane = 0, simtCore = 0;                    ///< transistors
    double cacheCells = 0, bufferCells = 0;               ///< m² of a bit over the cell
    double simtRegister = 0, simtRegisterNm = 0;          ///< m² of a bit
    double registerBit = 0, registerNm = 0;
    struct Interface {
        double phy = 0;          ///< m²
        double transistors = 0;  ///< of its controller
    };
    Interface hbm, ddr, link;
    double linkRate = 0;                               ///< B/s that `link` is for
    std::map<std::string, double, std::less<>> rates;  ///< B/s of a stack or 32 bits, by standard
    double hbmPrice = 0, ddrPrice = 0;                 ///< dollars per byte
    std::vector<EnergyEntry> energies;                 ///< of a component and process by their bits, then their bytes
    std::vector<EnergyScaling> scaling;                ///< coarsest first

    /// `7 nm`, `4N`; between two nodes by the logarithm of the size. Nothing for a name that nobody knows, or a size
    /// beyond the table.
    std::optional<ProcessNode> node(std::string_view process) const;
    std::optional<ProcessNode> nodeAt(double nm) const;
};

/// Read once. Fails with its place where the file is absent or wrong.
const Expected<Technology>& silicon();
Expected<Technology> readTechnology(std::string_view yaml, std::string_view file);

}  // namespace orrery
