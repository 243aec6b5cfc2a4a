#pragma once

// The steps of one cluster level: per directive a first, a steady and a last state with how often each occurs (MICRO
// 2019, section 4.1), and what the tensors move in a combination of them. Internal to the analysis.

#include "mapping/data_centric/cluster_plan.h"

#include <array>
#include <cstdint>

namespace orrery {

struct DirectiveState {
    enum class Position : std::uint8_t { Init, Steady, Edge };
    Position position = Position::Init;
    double occurrences = 1;
    std::int64_t tile = 1;            ///< of the first and the middle units
    std::int64_t lastTile = 1;        ///< of the last unit at work
    std::int64_t active = 1;          ///< units at work
    bool partial = false;             ///< the last of several units holds less
    double fresh = 1, lastFresh = 1;  ///< elements that the step before, or the unit before, has not
};

struct DirectiveStates {
    std::array<DirectiveState, 3> states;
    std::int8_t count = 0;
    bool unrolled = false;  ///< all of the dimension in one step
};

using Extents = std::array<std::int64_t, flowDims>;

/// All directives of a level whose dimensions have the given extents.
struct LevelStates {
    std::array<DirectiveStates, flowDims> directives;
    /// The secondary spatial directive takes the state of the primary: R of Y, S of X, or the other way round.
    bool lockstep = false;
    // Directives with one temporal state are the same in every step: their product, and the bits of the others.
    using Bits = std::uint16_t;
    std::array<Bits, flowTensors> coupled{};  ///< directives that a tensor is indexed by
    std::array<Bits, flowTensors> varying{};  ///< those of them that are not in `constant`
    std::array<double, flowTensors> constant{};
    Bits varyingWork = 0;
    double constantWork = 1;
    Bits spatial = 0, rolled = 0;  ///< spatial directives; those with more than one step
};
void statesOf(const FlowLayer& layer, const ClusterLevel& level, const Extents& extents, LevelStates& out);

/// One combination of states.
struct WalkStep {
    std::array<const DirectiveState*, flowDims> state{};
    int changing = -1;  ///< innermost directive that is past its first state; -1 in the first step
    bool lockstep = false;
    std::int64_t active = 1;
    bool partial = false;
};

/// Multiply-accumulates of the first and of the last unit; 0 where no window fits.
struct StepWork {
    double first = 0, last = 0;
    double all(const WalkStep& step) const {
        return static_cast<double>(step.active - (step.partial ? 1 : 0)) * first + (step.partial ? last : 0);
    }
};
StepWork workOf(const ClusterLevel& level, const LevelStates& states, const WalkStep& step);

/// Words that enter the level for an input tensor, multicasts counted once.
double ingressOf(const ClusterLevel& level, const LevelStates& states, const WalkStep& step, FlowTensor tensor);
/// Words of results that leave it, reduced over the units that share an output.
double egressOf(const ClusterLevel& level, const LevelStates& states, const WalkStep& step);

}  // namespace orrery
