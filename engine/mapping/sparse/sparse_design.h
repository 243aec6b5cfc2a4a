#pragma once

// Everything sparse of a design: how tensors are filled, how each level writes them down, and which accesses and
// operations it leaves out. Sparseloop (Wu et al., MICRO 2022), section 3.

#include "mapping/sparse/density.h"
#include "mapping/sparse/formats.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace orrery {

/// What happens to an access that would bring nothing.
enum class Elimination : std::uint8_t {
    Gating,           ///< it takes its time but little energy
    Skipping,         ///< it takes no time either
    SpatialSkipping,  ///< the instance that would make it works on something else
    /// Non-empty positions of the target are packed into as few passes over the units as hold them, at one level and
    /// with no leader: outer products of packed vectors, as in dual-side sparse tensor cores (Wang et al., ISCA 2021).
    PositionSkipping,
};
std::string_view toText(Elimination elimination);

/// Accesses to `target` are left out where a tile of any leader is empty (leader and follower). Two options with the
/// roles exchanged make an intersection from both sides.
struct EliminationOption {
    std::uint8_t target = 0;
    std::uint32_t leaders = 0;  ///< bit per tensor
    bool operator==(const EliminationOption&) const = default;
};

/// Of several options the one that saves most is taken.
struct ActionOptimization {
    Elimination elimination = Elimination::Gating;
    std::vector<EliminationOption> options;
    bool operator==(const ActionOptimization&) const = default;
};

struct SparseLevel {
    std::array<TensorFormat, maxNestTensors> formats;
    std::vector<ActionOptimization> actions;
};

struct SparseDesign {
    std::array<DensityModel, maxNestTensors> densities;  ///< bound to their tensors
    std::vector<SparseLevel> levels;                     ///< parallel to NestHardware::levels
    bool gateCompute = false;                            ///< operations with a zero operand take time alone
    bool skipCompute = false;  ///< operations of which an operand is not there take no time either
    /// Whether the hardware does anything about zeros. Without it zeros are computed like any other number, and every
    /// count is the dense one.
    bool active() const;
};

/// A design of `levels` levels whose tensors are all dense, to start from.
SparseDesign denseDesign(const NestProblem& problem, std::size_t levels);
/// Binds a density to a tensor of the problem.
void setDensity(SparseDesign& design, const NestProblem& problem, std::size_t tensor, const DensityModel& model);

}  // namespace orrery
