#include "mapping/data_centric/data_centric.h"

#include "mapping/data_centric/level_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr std::int64_t stepBudget = 20'000'000;  ///< combinations of states; a second or two

double networkDelay(const FlowHardware& hardware, double words) {
    return std::max(hardware.nocLatency + std::ceil(words / hardware.nocBandwidth) - 1, 0.0);
}

void widen(StepDelay& delay, double cycles, double occurrences, bool first) {
    delay.least = first ? cycles : std::min(delay.least, cycles);
    delay.most = std::max(delay.most, cycles);
    delay.mean += cycles * occurrences;
}

/// Moves to the next combination, the innermost directive first; false after the last.
bool advance(const ClusterLevel& level, const LevelStates& states, std::array<std::int8_t, flowDims>& at) {
    for (int i = level.count - 1; i >= 0; --i) {
        const auto u = static_cast<std::size_t>(i);
        if (states.lockstep && i == level.secondary) continue;
        if (states.directives[u].count == 1) continue;
        if (++at[u] < states.directives[u].count) return true;
        at[u] = 0;
    }
    return false;
}

}  // namespace

struct LevelWalk {
    FlowAnalysis& analysis;
    const FlowHardware& hardware;
    FlowCounts& counts;
    std::int64_t steps = 0;
    bool tooMany = false;
    bool idleInside = false;  ///< an inner level fits no window into what it is given

    struct Result {
        double cycles = 0, activePes = 0;
    };

    Result level(int depth, const Extents& extents);
    Result inner(int depth, const ClusterLevel& level, const WalkStep& step, bool last, double work);
    /// Traffic per tensor of one step.
    struct Traffic {
        double input = 0, weight = 0, egress = 0;
        double ingress() const { return input + weight; }
    };
    void account(const Traffic& traffic, double occurrences, double compute, bool first);
};

// What one unit takes for its tile.
LevelWalk::Result LevelWalk::inner(int depth, const ClusterLevel& level, const WalkStep& step, bool last, double work) {
    const double lanes = static_cast<double>(hardware.simdLanes);
    if (depth + 1 == analysis.plan_.depth) return {std::ceil(work / lanes), 1};
    Extents extents{};
    for (int i = 0; i < level.count; ++i) {
        const auto u = static_cast<std::size_t>(i);
        extents[static_cast<std::size_t>(level.directives[u].dim)] =
            last ? step.state[u]->lastTile : step.state[u]->tile;
    }
    auto& known = analysis.known_[static_cast<std::size_t>(depth + 1)];
    for (const auto& entry : known) {
        if (entry.extents == extents) return {entry.cycles, entry.activePes};
    }
    steps += static_cast<std::int64_t>(known.size()) / 16;
    Result result = this->level(depth + 1, extents);
    if (result.cycles <= 0) {
        idleInside = true;
        result = {std::ceil(work / lanes), 1};
    }
    known.push_back({extents, result.cycles, result.activePes});
    return result;
}

void LevelWalk::account(const Traffic& traffic, double occurrences, double compute, bool first) {
    const double ingress = traffic.ingress();
    counts.l2[static_cast<std::size_t>(FlowTensor::Input)].reads += occurrences * traffic.input;
    counts.l2[static_cast<std::size_t>(FlowTensor::Weight)].reads += occurrences * traffic.weight;
    counts.l2[static_cast<std::size_t>(FlowTensor::Output)].writes += occurrences * traffic.egress;
    const double busiest = std::max(ingress, traffic.egress) / std::max(compute, 1.0);
    counts.peakBandwidth = std::max(counts.peakBandwidth, busiest);
    counts.meanBandwidth += occurrences * busiest;
    widen(counts.ingress, networkDelay(hardware, ingress), occurrences, first);
    widen(counts.egress, networkDelay(hardware, traffic.egress), occurrences, first);
    widen(counts.compute, compute, occurrences, first);
    counts.steps += occurrences;
}

LevelWalk::Result LevelWalk::level(int depth, const Extents& extents) {
    const ClusterPlan& plan = analysis.plan_;
    const ClusterLevel& level = plan.levels[static_cast<std::size_t>(depth)];
    LevelStates states;
    statesOf(plan.layer, level, extents, states);
    std::array<std::int8_t, flowDims> at{};
    Result result;
    double total = 0;
    double offchipIn = 0, offchipOut = 0;
    bool first = true;
    do {
        if (++steps > stepBudget) tooMany = true;
        if (tooMany) return result;
        WalkStep step;
        step.lockstep = states.lockstep;
        if (states.lockstep)
            at[static_cast<std::size_t>(level.secondary)] = at[static_cast<std::size_t>(level.primary)];
        double occurrences = 1;
        step.active = level.units;
        for (int i = 0; i < level.count; ++i) {
            const auto u = static_cast<std::size_t>(i);
            const DirectiveState& state = states.directives[u].states[static_cast<std::size_t>(at[u])];
            step.state[u] = &state;
            if (state.position != DirectiveState::Position::Init) step.changing = i;
            if (!states.lockstep || i != level.secondary) occurrences *= state.occurrences;
            if (!level.directives[u].spatial) continue;
            step.active = std::min(step.active, state.active);
            step.partial = step.partial || state.partial;
        }
        step.partial = step.partial && step.active > 1;
        const StepWork work = workOf(level, states, step);
        if (work.first <= 0) continue;

        const Traffic traffic{ingressOf(level, states, step, FlowTensor::Input),
                              ingressOf(level, states, step, FlowTensor::Weight), egressOf(level, states, step)};
        const double ingress = traffic.ingress();
        const double egress = traffic.egress;
        const Result one = inner(depth, level, step, false, work.first);
        double compute = one.cycles;
        double active = one.activePes * static_cast<double>(step.active - (step.partial ? 1 : 0));
        if (step.partial && work.last > 0) {
            const Result edge = inner(depth, level, step, true, work.last);
            compute = std::max(compute, edge.cycles);
            active += edge.activePes;
        }

        const double in = networkDelay(hardware, ingress);
        const double out = networkDelay(hardware, egress);
        double delay = in + compute + out;
        if (hardware.doubleBuffered) delay = step.changing < 0 ? compute + in : std::max({in, compute, out});
        if (depth == 0) {
            const double buffers = hardware.doubleBuffered ? 2 : 1;
            if (first) {
                counts.l2Words = buffers * (ingress + egress);
                offchipIn = std::floor(std::floor(buffers * ingress / hardware.offchipBandwidth) / buffers);
                offchipOut = std::floor(std::floor(buffers * egress / hardware.offchipBandwidth) / buffers);
            }
            delay = hardware.doubleBuffered ? std::max({delay, offchipIn, offchipOut}) : delay + offchipIn + offchipOut;
            counts.offchipBandwidth =
                std::max(counts.offchipBandwidth, counts.l2Words / buffers / std::max(compute, 1.0));
            counts.mappedMacs += occurrences * work.all(step);
            account(traffic, occurrences, compute, first);
        }
        first = false;
        result.cycles += occurrences * delay;
        result.activePes += occurrences * active;
        total += occurrences;
    } while (advance(level, states, at));
    if (total > 0) result.activePes /= total;
    return result;
}

namespace {

/// Words of one processing element's tile in the first step of every level.
double innermostWords(const ClusterPlan& plan, double buffers) {
    Extents extents = plan.layer.extents;
    double words = 0;
    for (int depth = 0; depth < plan.depth; ++depth) {
        const ClusterLevel& level = plan.levels[static_cast<std::size_t>(depth)];
        LevelStates states;
        statesOf(plan.layer, level, extents, states);
        WalkStep step;
        for (int i = 0; i < level.count; ++i) {
            const auto u = static_cast<std::size_t>(i);
            step.state[u] = &states.directives[u].states[0];
            extents[static_cast<std::size_t>(level.directives[u].dim)] = step.state[u]->tile;
        }
        if (depth + 1 < plan.depth) continue;
        for (const auto tensor : {FlowTensor::Input, FlowTensor::Weight}) {
            double product = 1;
            for (int i = 0; i < level.count; ++i) {
                const auto dim = level.directives[static_cast<std::size_t>(i)].dim;
                if (coupled(plan.layer.kind, tensor, dim))
                    product *= static_cast<double>(extents[static_cast<std::size_t>(dim)]);
            }
            words += product;
        }
        words += egressOf(level, states, step);  // `active` is 1: of one unit
    }
    return buffers * words;
}

void energies(const FlowHardware& hardware, FlowCounts& counts) {
    for (std::size_t t = 0; t < flowTensors; ++t) {
        counts.l1Energy += hardware.l1Energy * (counts.l1[t].reads + counts.l1[t].writes);
        counts.l2Energy += hardware.l2Energy * (counts.l2[t].reads + counts.l2[t].writes);
    }
    counts.energy = hardware.macEnergy * counts.macs + counts.l1Energy + counts.l2Energy;
}

}  // namespace

Expected<FlowCounts> FlowAnalysis::operator()(const FlowLayer& layer, std::span<const BoundDirective> directives,
                                              const FlowHardware& hardware, const std::string& file) {
    warnings_.clear();
    if (auto good = check(layer, {file, 0, 0, layer.name}); !good) return tl::unexpected(good.error());
    if (auto good = planClusters(layer, directives, std::max<std::int64_t>(hardware.pes, 1), file, plan_); !good) {
        return tl::unexpected(good.error());
    }
    for (auto& each : known_) each.clear();

    FlowCounts counts;
    LevelWalk walk{*this, hardware, counts};
    const auto result = walk.level(0, layer.extents);
    const Place place{file, directives.empty() ? 0 : directives.front().line, 0, layer.name};
    if (walk.tooMany) {
        return fail("dataflow.too-many-cases",
                    fmt::format("the dataflow of layer `{}` has too many kinds of edges", layer.name),
                    "sizes that divide the extents on the inner levels", "remove cluster levels", place);
    }
    counts.cycles = result.cycles;
    counts.activePes = result.activePes;
    counts.macs = macs(layer);
    const double slots =
        counts.cycles * static_cast<double>(std::max<std::int64_t>(hardware.pes, 1) * hardware.simdLanes);
    counts.utilisation = slots > 0 ? counts.mappedMacs / slots : 0;
    const double words = counts.l2[0].reads + counts.l2[1].reads;
    counts.arithmeticIntensity = words > 0 ? counts.mappedMacs / words : 0;
    for (auto* delay : {&counts.ingress, &counts.egress, &counts.compute}) delay->mean /= std::max(counts.steps, 1.0);
    counts.meanBandwidth /= std::max(counts.steps, 1.0);
    counts.l1Words = innermostWords(plan_, hardware.doubleBuffered ? 2 : 1);

    constexpr auto output = static_cast<std::size_t>(FlowTensor::Output);
    for (std::size_t t = 0; t < flowTensors; ++t) {
        counts.l1[t].reads = counts.macs;
        counts.l1[t].writes = t == output ? counts.macs : counts.l2[t].reads;
        (t == output ? counts.l2[t].reads : counts.l2[t].writes) = elements(layer, static_cast<FlowTensor>(t));
    }
    energies(hardware, counts);

    if (plan_.folded) {
        warnings_.push_back(
            warning("dataflow.folded",
                    fmt::format("the clusters of layer `{}` are larger than the {} processing elements and "
                                "have been made smaller",
                                layer.name, hardware.pes),
                    "smaller Cluster sizes, or more elements"));
    }
    if (std::abs(counts.mappedMacs - counts.macs) > 0.001 * counts.macs) {
        warnings_.push_back(warning("dataflow.coverage",
                                    fmt::format("the dataflow performs {:.4g} of the {:.4g} operations of layer `{}`",
                                                counts.mappedMacs, counts.macs, layer.name),
                                    "offsets smaller than sizes do work twice, larger ones leave some out"));
    }
    if (walk.idleInside) {
        warnings_.push_back(
            warning("dataflow.window",
                    fmt::format("an inner level of layer `{}` is given less than one window; one element "
                                "does the tile alone",
                                layer.name),
                    "give Y and X at least Sz(R) and Sz(S) where R and S are whole"));
    }
    if (hardware.l1Words > 0 && counts.l1Words > hardware.l1Words) {
        warnings_.push_back(
            warning("data-centric.l1", fmt::format("layer `{}` needs {:.0f} words of L1, there are {:.0f}", layer.name,
                                                   counts.l1Words, hardware.l1Words)));
    }
    if (hardware.l2Words > 0 && counts.l2Words > hardware.l2Words) {
        warnings_.push_back(
            warning("data-centric.l2", fmt::format("layer `{}` needs {:.0f} words of L2, there are {:.0f}", layer.name,
                                                   counts.l2Words, hardware.l2Words)));
    }
    for (auto& each : warnings_) each.place = place;
    return counts;
}

Expected<FlowCounts> analyse(const FlowLayer& layer, const DirectiveDataflow& dataflow, const FlowHardware& hardware,
                             Diagnostics* warnings) {
    auto bound = bind(dataflow, layer);
    if (!bound) return tl::unexpected(bound.error());
    FlowAnalysis analysis;
    auto counts = analysis(layer, *bound, hardware, dataflow.file);
    if (warnings) warnings->insert(warnings->end(), analysis.warnings().begin(), analysis.warnings().end());
    return counts;
}

}  // namespace orrery
