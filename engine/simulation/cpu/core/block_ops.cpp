#include "simulation/cpu/core/block_ops.h"

#include "simulation/cpu/block/values.h"
#include "simulation/cpu/core/pipeline.h"

#include <algorithm>
#include <cmath>

namespace orrery::pipeline {

namespace {

constexpr std::uint8_t firstHidden = 80;  ///< registers between operations of one instruction

// What one instruction brings.
struct Brought {
    std::vector<std::uint16_t> work;  ///< port sets of what computes
    bool loads = false, stores = false;
};

Brought broughtBy(const block::Form* form, const block::CoreRules& rules, const block::Instruction& one) {
    Brought result;
    result.loads = one.memory.read && one.meaning != block::Meaning::Lea;
    result.stores = one.memory.write;
    if (!form) {
        result.work.push_back(rules.aluPorts);
        return result;
    }
    bool load = !result.loads, address = !result.stores, data = !result.stores;
    for (const auto& use : form->ports) {
        int count = std::max(1, static_cast<int>(std::lround(use.uops)));
        if (!data && use.ports == rules.storeDataPorts) {
            data = true;
            --count;
        } else if (!load && (use.ports & ~rules.loadPorts) == 0) {
            load = true;
            --count;
        }
        if (count > 0 && !address && (use.ports & ~(rules.storeAddressPorts | rules.loadPorts)) == 0) {
            address = true;
            --count;
        }
        for (int i = 0; i < count; ++i) result.work.push_back(use.ports);
    }
    return result;
}

int latencyOf(const block::Form* form) {
    float most = 0;
    if (!form || !form->latenciesStated) return 1;
    for (const auto& each : form->latencies) {
        if (each.from < block::AddressBase && each.to < block::AddressBase) most = std::max(most, each.cycles);
    }
    return std::max(1, static_cast<int>(std::lround(most)));
}

}  // namespace

BlockOps opsOf(const block::Core& core, const block::Code& code) {
    const auto& rules = core.rules;
    BlockOps result;
    block::Values values, later;
    block::Access unused, other;
    // Two iterations on: what pointers gain by then is what they gain in each.
    for (const auto& one : code.instructions) later.step(one, unused, other);
    block::Values third = later;
    for (const auto& one : code.instructions) third.step(one, unused, other);
    std::uint8_t hidden = firstHidden;
    const auto fresh = [&hidden] {
        hidden = hidden == 250 ? firstHidden : static_cast<std::uint8_t>(hidden + 1);
        return hidden;
    };
    const auto add = [&](const BoundOp& op, std::uint64_t address, std::uint64_t stride = 0) {
        result.ops.push_back(op);
        result.address.push_back(address);
        result.stride.push_back(stride);
    };
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        const auto& one = code.instructions[i];
        block::Access load, store, nextLoad, nextStore, thirdLoad, thirdStore;
        values.step(one, load, store);
        later.step(one, nextLoad, nextStore);
        third.step(one, thirdLoad, thirdStore);
        if (i > 0 && one.conditional && code.instructions[i - 1].fusesFirst) continue;
        const block::Form* form = core.find(one.key);
        std::vector<std::uint8_t> reads, writes;
        bool vector = false;
        for (std::uint8_t u = 0; u < one.uses; ++u) {
            const auto& use = one.use[u];
            const bool address = use.reg == one.memory.base || use.reg == one.memory.index;
            if (use.read && !(address && !one.visible)) reads.push_back(use.reg);
            if (use.write) writes.push_back(use.reg);
            vector = vector || (use.reg >= block::VectorRegister && use.reg < block::StackRegister);
        }
        const bool moved = one.registerMove && (one.vectorMove ? rules.eliminatesVector : rules.eliminatesGeneral);
        BoundOp slot;
        slot.kind = OpKind::Nop;
        slot.latency = 0;
        if (one.nop || one.zeroIdiom || moved) {
            if (moved && !reads.empty()) slot.from[0] = reads.front();
            if (!writes.empty()) slot.to = writes.front();
            if (writes.size() > 1) slot.to2 = writes[1];
            add(slot, 0);
            continue;
        }
        Brought brought = broughtBy(form, rules, one);
        int slots = std::max(1, static_cast<int>(std::lround(form ? form->fusedSlots : 1)));
        const bool indexed = one.memory.index != block::NoRegister && (brought.loads || brought.stores);
        if (indexed && form && form->uops > form->fusedSlots &&
            (rules.splitsIndexed || (rules.splitsIndexedThree && one.threeOperands && brought.loads)))
            ++slots;
        const auto take = [&slots](BoundOp& op) {
            op.slotCount = slots > 0 ? 1 : 0;
            slots -= slots > 0;
        };
        const auto addressed = [&](BoundOp& op) {
            if (one.memory.base < block::RegisterCount && !one.stack) op.from[0] = one.memory.base;
            if (one.memory.index < block::RegisterCount) op.from[1] = one.memory.index;
        };
        std::uint8_t loaded = NoRegister;
        if (brought.loads) {
            BoundOp op;
            op.kind = OpKind::Load;
            op.ports = rules.loadPorts;
            op.latency = static_cast<std::uint16_t>(vector ? rules.loadLatencyVector : rules.loadLatency);
            op.bytes = std::max<std::uint8_t>(1, load.bytes);
            addressed(op);
            take(op);
            loaded = op.to = brought.work.empty() && !writes.empty() ? writes.front() : fresh();
            if (brought.work.empty() && writes.size() > 1) op.to2 = writes[1];
            add(op, load.address, thirdLoad.address - nextLoad.address);
        }
        std::uint8_t computed = loaded;
        for (std::size_t w = 0; w < brought.work.size(); ++w) {
            BoundOp op;
            op.kind = OpKind::Integer;
            op.ports = brought.work[w];
            op.latency = 1;
            take(op);
            if (w + 1 == brought.work.size()) {
                op.latency = static_cast<std::uint16_t>(latencyOf(form));
                std::size_t at = 0;
                for (const auto reg : reads) {
                    if (at < op.from.size() - (loaded != NoRegister) && !one.breaksChain) op.from[at++] = reg;
                }
                if (loaded != NoRegister) op.from[at] = loaded;
                op.to = writes.empty() || brought.stores ? fresh() : writes.front();
                if (writes.size() > 1 || (brought.stores && !writes.empty())) op.to2 = writes.back();
                computed = op.to;
            }
            add(op, 0);
        }
        if (brought.stores) {
            BoundOp op;
            op.kind = OpKind::Store;
            op.ports = indexed && rules.indexedStorePorts ? rules.indexedStorePorts : rules.storeAddressPorts;
            op.dataPorts = rules.storeDataPorts;
            op.bytes = std::max<std::uint8_t>(1, store.bytes);
            addressed(op);
            take(op);
            if (computed != NoRegister) {
                op.from[2] = computed;
            } else {
                for (const auto reg : reads) {
                    if (reg != one.memory.base && reg != one.memory.index) op.from[2] = reg;
                }
            }
            add(op, store.address, thirdStore.address - nextStore.address);
        }
        // Slots of micro-operations that stand for nothing here.
        if (!result.ops.empty() && slots > 0)
            result.ops.back().slotCount = static_cast<std::uint8_t>(result.ops.back().slotCount + slots);
    }
    return result;
}

Machine machineOf(const block::Core& core, const Machine& like) {
    Machine machine = like;
    const auto& rules = core.rules;
    machine.id = rules.id;
    machine.title = rules.title;
    machine.issueWidth = std::max(1, static_cast<int>(rules.issueWidth));
    machine.retireWidth = std::max(machine.issueWidth, like.retireWidth);
    machine.fetchWidth = 64;
    machine.portNames = rules.portNames;
    machine.forward = static_cast<int>(rules.forward);
    machine.blocked = static_cast<int>(rules.blocked);
    machine.predictor = PredictorKind::Perfect;
    if (!machine.caches.empty()) machine.caches.front().latency = static_cast<int>(rules.loadLatency);
    return machine;
}

double cyclesOf(const Machine& machine, const BlockOps& block, int iterations) {
    if (block.ops.empty()) return 0;
    Pipeline core(machine, block.ops);
    OpChunk chunk;
    const int half = std::max(1, iterations / 2);
    const auto turns = [&](int from, int to, bool warms) {
        const auto flush = [&] {
            warms ? core.warm(chunk) : core.run(chunk);
            chunk.size = 0;
        };
        for (int turn = from; turn < to; ++turn) {
            for (std::size_t i = 0; i < block.ops.size(); ++i) {
                if (chunk.size == OpChunk::capacity) flush();
                chunk.add(static_cast<std::uint32_t>(i),
                          block.address[i] + static_cast<std::uint64_t>(turn) * block.stride[i], true);
            }
        }
        flush();
        return core.counters().cycles;
    };
    turns(0, 2 * half, true);
    const std::uint64_t middle = turns(0, half, false);
    turns(half, 2 * half, false);
    return static_cast<double>(core.counters().cycles - middle) / half;
}

}  // namespace orrery::pipeline
