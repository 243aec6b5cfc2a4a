#pragma once

// A product of fp32 matrices as a schedule makes its loops: what one core runs of it. Tiles divide the extents, as in
// TVM's splits; results of a tile stay in registers over a step of the reduction (`depth`).

#include "simulation/cpu/core/kernels/nest.h"
#include "simulation/cpu/core/machine.h"

#include <array>
#include <cstdint>
#include <string>

namespace orrery::pipeline {

/// The loops over tiles that a task has.
enum class TileLoop : std::uint8_t { Rows, Columns, Reduction };

struct ProductSchedule {
    std::int64_t batch = 1, m = 1, n = 1, k = 1;  ///< of the whole product
    std::int64_t rowTasks = 1, columnTasks = 1;   ///< that m and n are divided into
    std::int64_t tasks = 1;                       ///< of this core, one after another
    std::int64_t rows = 1, columns = 1;           ///< of a tile of results in registers
    std::int64_t depth = 1;                       ///< steps of the reduction between load and store of a tile
    std::int64_t unroll = 1;                      ///< of them, written out
    std::array<TileLoop, 3> order{TileLoop::Rows, TileLoop::Columns, TileLoop::Reduction};  ///< outermost first
    std::string instructionSet = "scalar";
    bool packed = false;  ///< the second operand lies in strips as wide as a tile, since it is a weight
    /// What divides: m by rowTasks · rows, n by columnTasks · columns, k by depth, depth by unroll.
    bool divides() const;
    std::int64_t vectors(const Machine& machine) const;  ///< registers across a tile
    /// Whether sums, a row of the second operand and two numbers of the first fit the registers that the set names.
    bool fitsRegisters(const Machine& machine) const;
};

/// Registers of vectors that programs of the set can name.
int namedRegisters(std::string_view instructionSet);
/// Asserts divides() and fitsRegisters().
LoopNest nestOf(const ProductSchedule& schedule, const Machine& machine);

}  // namespace orrery::pipeline
