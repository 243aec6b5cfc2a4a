#include "simulation/cpu/core/machine.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::pipeline {

std::string_view toText(OpKind kind) {
    static constexpr std::array<std::string_view, opKindCount> names{
        "nop",    "integer",     "multiply", "divide",    "branch",  "load",    "store",   "vector_integer",
        "fp_add", "fp_multiply", "fp_fma",   "fp_divide", "fp_sqrt", "shuffle", "convert", "matrix"};
    return names[static_cast<std::size_t>(kind)];
}

bool Machine::has(std::string_view instructionSet) const {
    return instructionSet == "scalar" ||
           std::find(instructionSets.begin(), instructionSets.end(), instructionSet) != instructionSets.end();
}

Expected<void> check(const Machine& machine) {
    const auto refuse = [&](std::string_view what, std::string expected) {
        return fail("core.machine", fmt::format("`{}` of {} is wrong", what, machine.title), std::move(expected));
    };
    struct Whole {
        std::string_view name;
        int value, least, most;
    };
    const std::array wholes{Whole{"fetch_width", machine.fetchWidth, 1, 64},
                            Whole{"issue_width", machine.issueWidth, 1, 64},
                            Whole{"retire_width", machine.retireWidth, 1, 64},
                            Whole{"front_depth", machine.frontDepth, 0, 200},
                            Whole{"decode_queue", machine.decodeQueue, 1, 4096},
                            Whole{"reorder_buffer", machine.reorderBuffer, 1, 8192},
                            Whole{"scheduler", machine.scheduler, 1, 8192},
                            Whole{"load_queue", machine.loadQueue, 1, 1024},
                            Whole{"store_queue", machine.storeQueue, 1, 512},
                            Whole{"integer_registers", machine.integerRegisters, 1, 8192},
                            Whole{"vector_registers", machine.vectorRegisters, 1, 8192},
                            Whole{"vector_bytes", machine.vectorBytes, 4, 256},
                            Whole{"wide_bytes", machine.wideBytes, 8, 256},
                            Whole{"store_forward", machine.forward, 0, 100},
                            Whole{"store_forward_blocked", machine.blocked, 0, 200},
                            Whole{"stores_per_cycle", machine.storesPerCycle, 1, 16},
                            Whole{"predictor_bits", machine.predictorBits, 1, 20}};
    for (const auto& [name, value, least, most] : wholes) {
        if (value < least || value > most) return refuse(name, fmt::format("{} to {}", least, most));
    }
    if (!(machine.clock >= 1e6 && machine.clock <= 1e11)) return refuse("clock", "1 MHz to 100 GHz");
    if (!(machine.memoryLatency >= 0 && machine.memoryLatency <= 1e-5)) return refuse("memory latency", "0 to 10 µs");
    if (!(machine.memoryBandwidth >= 1e6 && machine.memoryBandwidth <= 1e14))
        return refuse("memory bandwidth", "1 MB/s to 100 TB/s");
    if (machine.caches.size() > mostCaches) return refuse("caches", fmt::format("at most {}", mostCaches));
    for (const CacheSpec& cache : machine.caches) {
        if (!(cache.bytes >= 64.0 * cache.ways && cache.bytes <= 4e9) || cache.ways < 1 || cache.ways > 128)
            return refuse(cache.name, "1 to 128 ways of at least one line of 64 bytes, up to 4 GB");
        if (cache.latency < 1 || cache.latency > 1000) return refuse(cache.name, "a latency of 1 to 1000 cycles");
        if (cache.misses < 1 || cache.misses > 128) return refuse(cache.name, "1 to 128 misses in flight");
        if (!(cache.bytesPerCycle >= 0.5 && cache.bytesPerCycle <= 1024))
            return refuse(cache.name, "0.5 to 1024 bytes per cycle");
    }
    for (std::size_t kind = 1; kind < opKindCount; ++kind) {
        const UnitUse& unit = machine.units[kind];
        if (unit.ports == 0 && static_cast<OpKind>(kind) != OpKind::Matrix)
            return refuse(toText(static_cast<OpKind>(kind)), "a unit with at least one port");
        if (unit.latency < 0 || unit.latency > 1000 || unit.occupancy < 1 || unit.occupancy > 1000)
            return refuse(toText(static_cast<OpKind>(kind)), "0 to 1000 cycles of latency and 1 to 1000 of occupancy");
    }
    return {};
}

std::vector<BoundOp> boundOps(const Machine& machine, const std::vector<StaticOp>& ops) {
    std::vector<BoundOp> result;
    result.reserve(ops.size());
    for (std::size_t i = 0; i < ops.size(); ++i) {
        const StaticOp& op = ops[i];
        const auto kind = static_cast<std::size_t>(op.kind);
        const bool wide = op.bytes >= machine.wideBytes && machine.wideUnits[kind].ports != 0;
        const UnitUse& unit = wide ? machine.wideUnits[kind] : machine.units[kind];
        BoundOp& bound = result.emplace_back();
        bound.kind = op.kind;
        bound.bytes = op.bytes;
        bound.ports = op.kind == OpKind::Nop ? 0 : unit.ports;
        const bool vector = op.bytes > 8 && op.kind != OpKind::Matrix;
        const int passes = vector ? (op.bytes + machine.vectorBytes - 1) / machine.vectorBytes : 1;
        bound.occupancy = static_cast<std::uint16_t>(unit.occupancy * passes);
        int latency = op.kind == OpKind::Nop ? 0 : unit.latency + passes - 1;
        if (op.kind == OpKind::Load) {
            latency = (machine.caches.empty() ? unit.latency : machine.caches.front().latency) +
                      (op.to != NoRegister && op.to >= FirstVectorRegister ? machine.vectorLoadExtra : 0);
        }
        bound.latency = static_cast<std::uint16_t>(latency);
        if (op.kind == OpKind::Store) bound.dataPorts = machine.storeDataPorts;
        bound.slotCount = op.fusedWithPrevious && machine.fusesLoads ? 0 : 1;
        // An instruction ends where the next operation begins another.
        bound.instruction = i + 1 < ops.size() && ops[i + 1].sameInstruction ? 0 : 1;
        bound.to = op.to;
        bound.merges = op.merges;
        if (op.to != NoRegister) bound.registers = op.to >= FirstVectorRegister ? 2 : 1;
        for (std::size_t s = 0; s < op.from.size(); ++s) bound.from[s] = op.from[s];
    }
    return result;
}

}  // namespace orrery::pipeline
