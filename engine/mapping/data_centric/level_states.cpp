#include "mapping/data_centric/level_states.h"

#include <algorithm>
#include <bit>

namespace orrery {

namespace {

using Position = DirectiveState::Position;

const LevelDirective& at(const ClusterLevel& level, int i) {
    return level.directives[static_cast<std::size_t>(i)];
}

void push(DirectiveStates& out, const DirectiveState& state) {
    out.states[static_cast<std::size_t>(out.count++)] = state;
}

double newElements(const LevelDirective& directive, std::int64_t tile) {
    const auto kept = std::max<std::int64_t>(directive.tile - directive.offset, 0);
    return static_cast<double>(std::max<std::int64_t>(tile - kept, 0));
}

DirectiveState temporal(const LevelDirective& directive, Position position, double occurrences, std::int64_t tile) {
    DirectiveState state;
    state.position = position;
    state.occurrences = occurrences;
    state.tile = state.lastTile = tile;
    state.fresh = state.lastFresh = std::max(newElements(directive, tile), 1.0);
    return state;
}

void temporalStates(const LevelDirective& directive, std::int64_t extent, std::int64_t window, DirectiveStates& out) {
    out.unrolled = extent <= directive.span;
    push(out, temporal(directive, Position::Init, 1, tileAt(directive, extent)));
    if (out.unrolled) return;
    const auto steady = (extent - directive.span) / directive.offset;
    if (steady > 0) push(out, temporal(directive, Position::Steady, static_cast<double>(steady), directive.tile));
    if (steady * directive.offset + directive.span >= extent) return;
    const auto tile = tileAt(directive, extent - (steady + 1) * directive.offset);
    if (tile >= window) push(out, temporal(directive, Position::Edge, 1, tile));
}

DirectiveState spatial(const LevelDirective& directive, Position position, double occurrences, std::int64_t active,
                       std::int64_t lastTile) {
    DirectiveState state;
    state.position = position;
    state.occurrences = occurrences;
    state.active = active;
    state.tile = active == 1 ? lastTile : directive.tile;
    state.lastTile = lastTile;
    state.partial = active > 1 && lastTile < directive.tile;
    state.fresh = newElements(directive, state.tile);
    state.lastFresh = newElements(directive, lastTile);
    return state;
}

void spatialStates(const LevelDirective& directive, std::int64_t extent, std::int64_t window, std::int64_t units,
                   DirectiveStates& out) {
    const auto whole = extent < directive.span ? 0 : (extent - directive.span) / directive.offset + 1;
    std::int64_t last = directive.tile;
    auto positions = whole;
    if (whole == 0) {
        last = tileAt(directive, extent);
        positions = 1;
    } else if ((whole - 1) * directive.offset + directive.span < extent) {
        const auto tile = tileAt(directive, extent - whole * directive.offset);
        if (tile >= window) last = tile, ++positions;
    }
    const auto full = whole / units;
    const auto rest = positions - full * units;
    out.unrolled = positions <= units;
    if (full == 0) {
        push(out, spatial(directive, Position::Init, 1, positions, last));
        return;
    }
    push(out, spatial(directive, Position::Init, 1, units, directive.tile));
    if (full > 1) {
        push(out, spatial(directive, Position::Steady, static_cast<double>(full - 1), units, directive.tile));
    }
    if (rest > 0) push(out, spatial(directive, Position::Edge, 1, rest, last));
}

/// Directives that have moved since the step before because the innermost changing one has.
LevelStates::Bits movedBits(const ClusterLevel& level, const WalkStep& step) {
    if (step.changing < 0) return 0;
    auto bits = 1u << step.changing;
    if (step.lockstep && (step.changing == level.primary || step.changing == level.secondary)) {
        bits |= 1u << level.primary | 1u << level.secondary;
    }
    return static_cast<LevelStates::Bits>(bits);
}

enum class Unit { First, Middle, Last };

double volume(const LevelStates& states, const WalkStep& step, FlowTensor tensor, LevelStates::Bits fresh, Unit unit) {
    const auto t = static_cast<std::size_t>(tensor);
    double product = states.constant[t];
    for (unsigned bits = states.varying[t]; bits != 0; bits &= bits - 1) {
        const int i = std::countr_zero(bits);
        const DirectiveState& state = *step.state[static_cast<std::size_t>(i)];
        const bool last = unit == Unit::Last;
        const auto tile = static_cast<double>(last ? state.lastTile : state.tile);
        bool onlyFresh = false;
        if (step.changing >= 0) {
            if ((states.spatial >> i & 1u) == 0) {
                onlyFresh = (fresh >> i & 1u) != 0 && state.position != Position::Init;
            } else if (unit != Unit::First) {
                // Neighbours share their halo when the dimension begins anew or moves on.
                onlyFresh = state.position == Position::Init ? i > step.changing : (fresh >> i & 1u) != 0;
            }
        }
        product *= onlyFresh ? (last ? state.lastFresh : state.fresh) : tile;
    }
    return product;
}

/// Outputs of a Y or X directive for a unit.
std::int64_t windows(const ClusterLevel& level, const WalkStep& step, int i, bool last) {
    const LevelDirective& directive = at(level, i);
    const auto pick = [&](int which) {
        const DirectiveState& state = *step.state[static_cast<std::size_t>(which)];
        return last ? state.lastTile : state.tile;
    };
    const auto tile = pick(i);
    const auto filter = directive.filter >= 0 ? pick(directive.filter) : 1;
    if (tile < filter) return 0;
    return directive.step == 1 ? tile - filter + 1 : (tile - filter) / directive.step + 1;
}

bool slides(FlowLayerKind kind, FlowDim dim) {
    return kind != FlowLayerKind::Product && (dim == FlowDim::Y || dim == FlowDim::X);
}

bool inLockstep(const ClusterLevel& level, const LevelStates& states) {
    if (level.secondary < 0) return false;
    const auto& a = states.directives[static_cast<std::size_t>(level.primary)];
    const auto& b = states.directives[static_cast<std::size_t>(level.secondary)];
    const bool pair =
        at(level, level.primary).filter == level.secondary || at(level, level.secondary).filter == level.primary;
    if (!pair || a.count != b.count) return false;
    for (std::int8_t s = 0; s < a.count; ++s) {
        const auto& x = a.states[static_cast<std::size_t>(s)];
        const auto& y = b.states[static_cast<std::size_t>(s)];
        if (x.occurrences != y.occurrences || x.active != y.active) return false;
    }
    return true;
}

void factorOut(const FlowLayer& layer, const ClusterLevel& level, LevelStates& out) {
    out.coupled = {};
    out.varying = {};
    out.constant = {1, 1, 1};
    out.constantWork = 1;
    out.varyingWork = out.spatial = out.rolled = 0;
    const auto fixed = [&](int i) {
        return !at(level, i).spatial && out.directives[static_cast<std::size_t>(i)].count == 1;
    };
    for (int i = 0; i < level.count; ++i) {
        const LevelDirective& directive = at(level, i);
        const DirectiveStates& states = out.directives[static_cast<std::size_t>(i)];
        const auto bit = static_cast<LevelStates::Bits>(1u << i);
        if (directive.spatial) out.spatial |= bit;
        if (!states.unrolled) out.rolled |= bit;
        const bool window = slides(layer.kind, directive.dim);
        const bool constant = fixed(i) && (!window || directive.filter < 0 || fixed(directive.filter));
        const auto tile = static_cast<double>(states.states[0].tile);
        double outputs = tile;
        if (window && constant) {
            WalkStep step;
            step.state[static_cast<std::size_t>(i)] = &states.states[0];
            if (directive.filter >= 0) {
                const auto f = static_cast<std::size_t>(directive.filter);
                step.state[f] = &out.directives[f].states[0];
            }
            outputs = static_cast<double>(windows(level, step, i, false));
        }
        for (std::size_t t = 0; t < flowTensors; ++t) {
            const auto tensor = static_cast<FlowTensor>(t);
            if (!coupled(layer.kind, tensor, directive.dim)) continue;
            out.coupled[t] |= bit;
            if (tensor == FlowTensor::Output ? constant : fixed(i)) {
                out.constant[t] *= tensor == FlowTensor::Output ? outputs : tile;
            } else {
                out.varying[t] |= bit;
            }
        }
        if (constant) {
            out.constantWork *= outputs;
        } else {
            out.varyingWork |= bit;
        }
    }
}

}  // namespace

void statesOf(const FlowLayer& layer, const ClusterLevel& level, const Extents& extents, LevelStates& out) {
    for (int i = 0; i < level.count; ++i) {
        const LevelDirective& directive = at(level, i);
        DirectiveStates& states = out.directives[static_cast<std::size_t>(i)];
        states.count = 0;
        const auto extent = std::max<std::int64_t>(extents[static_cast<std::size_t>(directive.dim)], 1);
        std::int64_t window = 1;
        if (directive.filter >= 0) {
            const LevelDirective& filter = at(level, directive.filter);
            window = std::min(filter.tile, std::max<std::int64_t>(extents[static_cast<std::size_t>(filter.dim)], 1));
        }
        if (directive.spatial) {
            spatialStates(directive, extent, window, level.units, states);
        } else {
            temporalStates(directive, extent, window, states);
        }
    }
    out.lockstep = inLockstep(level, out);
    factorOut(layer, level, out);
}

StepWork workOf(const ClusterLevel& level, const LevelStates& states, const WalkStep& step) {
    StepWork work{states.constantWork, states.constantWork};
    for (unsigned bits = states.varyingWork; bits != 0; bits &= bits - 1) {
        const int i = std::countr_zero(bits);
        const LevelDirective& directive = at(level, i);
        if (directive.window) {
            work.first *= static_cast<double>(windows(level, step, i, false));
            work.last *= static_cast<double>(windows(level, step, i, true));
        } else {
            const DirectiveState& state = *step.state[static_cast<std::size_t>(i)];
            work.first *= static_cast<double>(state.tile);
            work.last *= static_cast<double>(state.lastTile);
        }
    }
    return work;
}

double ingressOf(const ClusterLevel& level, const LevelStates& states, const WalkStep& step, FlowTensor tensor) {
    const auto coupledBits = states.coupled[static_cast<std::size_t>(tensor)];
    auto fresh = movedBits(level, step);
    if (step.changing >= 0) {
        // A loop inside the changing one that moves this tensor begins anew: all of the tile is new.
        const auto inside = static_cast<LevelStates::Bits>(coupledBits & states.rolled & ~((2u << step.changing) - 1));
        if (inside != 0) {
            fresh = 0;
        } else if ((fresh & coupledBits) == 0) {
            return 0;
        }
    }
    double words = volume(states, step, tensor, fresh, Unit::First);
    if ((coupledBits & states.spatial) == 0 || step.active == 1) return words;
    const auto middle = step.active - 1 - (step.partial ? 1 : 0);
    if (middle > 0) words += static_cast<double>(middle) * volume(states, step, tensor, fresh, Unit::Middle);
    if (step.partial) words += volume(states, step, tensor, fresh, Unit::Last);
    return words;
}

double egressOf(const ClusterLevel& level, const LevelStates& states, const WalkStep& step) {
    constexpr auto output = static_cast<std::size_t>(FlowTensor::Output);
    double first = states.constant[output];
    double middle = first;
    double last = first;
    bool distributed = false;
    for (unsigned bits = states.varying[output]; bits != 0; bits &= bits - 1) {
        const int i = std::countr_zero(bits);
        const LevelDirective& directive = at(level, i);
        const DirectiveState& state = *step.state[static_cast<std::size_t>(i)];
        const auto outputs = static_cast<double>(directive.window ? windows(level, step, i, false) : state.tile);
        first *= outputs;
        if (!directive.spatial) {
            middle *= outputs;
            last *= outputs;
            continue;
        }
        // Units that move Y and R together work on the same outputs, which are reduced on their way.
        const bool same = step.lockstep && directive.filter >= 0 && at(level, directive.filter).spatial;
        distributed = distributed || !same;
        const auto lastOutputs = static_cast<double>(directive.window ? windows(level, step, i, true) : state.lastTile);
        const auto apart = static_cast<double>(directive.window ? directive.offsetOutputs : directive.offset);
        middle *= std::min(outputs, apart);
        last *= std::min(lastOutputs, apart);
    }
    if (!distributed || step.active == 1) return first;
    const auto between = static_cast<double>(step.active - 1 - (step.partial ? 1 : 0));
    return first + between * middle + (step.partial ? last : 0);
}

}  // namespace orrery
