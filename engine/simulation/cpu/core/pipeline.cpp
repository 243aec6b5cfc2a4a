#include "simulation/cpu/core/pipeline.h"

#include <algorithm>
#include <bit>

namespace orrery::pipeline {

namespace {

// When each of the last so many operations left a queue: who comes now must wait for the one that many before it.
struct DepartureRing {
    std::vector<std::uint64_t> left;
    std::size_t mask = 0, entries = 0;
    std::uint64_t count = 0;

    explicit DepartureRing(int size) : entries(static_cast<std::size_t>(std::max(size, 1))) {
        left.assign(std::bit_ceil(entries + 1), 0);
        mask = left.size() - 1;
    }
    /// The cycle before which no entry is free.
    std::uint64_t freeFrom() const { return count < entries ? 0 : left[(count - entries) & mask] + 1; }
    void enter(std::uint64_t leaves) { left[count++ & mask] = leaves; }
    std::uint64_t& last() { return left[(count - 1) & mask]; }
};

struct PendingStore {
    std::uint64_t address = 0, dataReady = 0, leaves = 0;
    std::uint16_t bytes = 0;
};

// Ports and issues of every cycle ahead; what lies farther ahead than the ring is not held back.
struct Cycle {
    std::uint16_t busy = 0, issued = 0;
};

constexpr std::uint64_t horizon = 1u << 16;
constexpr std::size_t granules = 4096, storeRing = 1024;

}  // namespace

std::string_view toText(Cause cause) {
    static constexpr std::array<std::string_view, causeCount> names{
        "retiring", "front_end", "mispredict", "window", "ports",  "execution", "divide",
        "forward",  "l1",        "l2",         "l3",     "memory", "stores"};
    return names[static_cast<std::size_t>(cause)];
}

std::array<double, causeCount> Counters::stack() const {
    std::array<double, causeCount> result{};
    for (std::size_t c = 0; c < causeCount; ++c) result[c] = static_cast<double>(slotsBy[c]) / retireWidth;
    return result;
}

struct Pipeline::State {
    Machine machine;
    const std::vector<BoundOp>& ops;
    Memory memory;
    Predictor predictor;
    Counters counts;

    std::uint64_t fetchCycle = 0, redirect = 0;
    int fetched = 0;
    bool groupEnded = false, refilling = false;
    std::uint64_t dispatchCycle = 0, forerunner = 0;  ///< of the operation before
    int dispatched = 0;
    std::uint64_t cleaned = 0;  ///< cycles of the calendar before it are forgotten
    int waiting = 0;            ///< in the scheduler
    std::vector<Cycle> calendar = std::vector<Cycle>(horizon);
    std::array<std::uint64_t, mostPorts> firstFree{};
    std::uint64_t retireCycle = 0;
    int retired = 0;  ///< slots of that cycle
    std::uint64_t lastStoreLeft = 0;
    int storesLeft = 0;  ///< in that cycle
    std::array<std::uint64_t, 256> ready{};
    DepartureRing window, decoded, loads, stores, general, vectors;
    std::vector<PendingStore> pending = std::vector<PendingStore>(storeRing);
    std::vector<std::uint32_t> writers = std::vector<std::uint32_t>(granules, 0);  ///< 1 + number of the store
    std::uint32_t storeNumber = 0;
    std::vector<std::uint64_t> touched;  ///< line of each operation's last access, in warming

    State(const Machine& m, const std::vector<BoundOp>& o, Memory own)
        : machine(m),
          ops(o),
          memory(std::move(own)),
          predictor(m.predictor, m.predictorBits),
          window(m.reorderBuffer),
          decoded(m.decodeQueue + m.frontDepth * m.fetchWidth),
          loads(m.loadQueue),
          stores(m.storeQueue),
          general(m.integerRegisters),
          vectors(m.vectorRegisters) {
        counts.retireWidth = m.retireWidth;
        touched.assign(o.size(), ~0ull);
    }

    template <bool told>
    void run(const OpChunk& chunk, std::vector<Passage>* passages);
    void forget(std::uint64_t before);
    std::uint64_t take(std::uint16_t ports, std::uint64_t from, int occupancy, int& port);
    Access load(const BoundOp& op, std::uint64_t address, std::uint64_t issue, std::uint32_t id, Cause& cause);
};

void Pipeline::State::forget(std::uint64_t before) {
    const std::uint64_t end = std::min(before, cleaned + horizon);
    for (std::uint64_t c = cleaned; c < end; ++c) {
        Cycle& cycle = calendar[c & (horizon - 1)];
        waiting -= cycle.issued;
        cycle = {};
    }
    cleaned = std::max(before, cleaned);
}

std::uint64_t Pipeline::State::take(std::uint16_t ports, std::uint64_t from, int occupancy, int& port) {
    std::uint64_t hint = ~0ull;
    for (unsigned left = ports; left != 0; left &= left - 1)
        hint = std::min(hint, firstFree[static_cast<std::size_t>(std::countr_zero(left))]);
    std::uint64_t cycle = std::max(from, hint);
    const std::uint64_t end = cleaned + horizon - 1;
    for (; cycle + static_cast<std::uint64_t>(occupancy) < end; ++cycle) {
        unsigned free = ports & ~unsigned{calendar[cycle & (horizon - 1)].busy};
        for (int later = 1; later < occupancy && free != 0; ++later)
            free &= ~unsigned{calendar[(cycle + static_cast<std::uint64_t>(later)) & (horizon - 1)].busy};
        if (free == 0) continue;
        // Of the free ports the one that has had least to do: others may be able to go nowhere else.
        int best = std::countr_zero(free);
        for (unsigned left = free & (free - 1); left != 0; left &= left - 1) {
            const int each = std::countr_zero(left);
            if (counts.portCycles[static_cast<std::size_t>(each)] < counts.portCycles[static_cast<std::size_t>(best)])
                best = each;
        }
        for (int held = 0; held < occupancy; ++held) {
            auto& busy = calendar[(cycle + static_cast<std::uint64_t>(held)) & (horizon - 1)].busy;
            busy = static_cast<std::uint16_t>(busy | 1u << best);
        }
        const auto at = static_cast<std::size_t>(best);
        // All cycles from `cleaned` to the hint are busy; nobody may still ask for `cleaned` itself.
        firstFree[at] = std::max(firstFree[at], cleaned + 1);
        if (firstFree[at] == cycle) firstFree[at] = cycle + static_cast<std::uint64_t>(occupancy);
        counts.portCycles[at] += static_cast<std::uint64_t>(occupancy);
        port = best;
        return cycle;
    }
    port = std::countr_zero(unsigned{ports});
    counts.portCycles[static_cast<std::size_t>(port)] += static_cast<std::uint64_t>(occupancy);
    return from;
}

Access Pipeline::State::load(const BoundOp& op, std::uint64_t address, std::uint64_t issue, std::uint32_t id,
                             Cause& cause) {
    ++counts.loads;
    const std::uint64_t first = address >> 3, last = (address + op.bytes - 1) >> 3;
    std::uint32_t newest = 0;
    for (std::uint64_t g = first; g <= last; ++g) {
        const std::uint32_t writer = writers[g % granules];
        if (writer == 0 || storeNumber - (writer - 1) >= storeRing) continue;
        const PendingStore& store = pending[(writer - 1) % storeRing];
        const bool meets = store.address < address + op.bytes && address < store.address + store.bytes;
        if (meets && store.leaves > issue) newest = std::max(newest, writer);
    }
    if (newest != 0) {
        const PendingStore& store = pending[(newest - 1) % storeRing];
        cause = Cause::Forward;
        if (store.address <= address && address + op.bytes <= store.address + store.bytes) {
            ++counts.forwarded;
            return {std::max(issue + op.latency, store.dataReady + static_cast<std::uint64_t>(machine.forward)), 0};
        }
        ++counts.blocked;
        return {std::max(issue, store.leaves) + static_cast<std::uint64_t>(machine.blocked), 0};
    }
    static constexpr std::array<Cause, 4> levels{Cause::Level1, Cause::Level2, Cause::Level3, Cause::Memory};
    Access answer = memory.access(address, issue, cleaned, false, id);
    const int inner = machine.caches.empty() ? op.latency : machine.caches.front().latency;
    answer.ready += static_cast<std::uint64_t>(std::max(0, op.latency - inner));
    if ((address & 63) + op.bytes > 64) {
        const Access second = memory.access(address + op.bytes - 1, issue + 1, cleaned, false, id);
        answer.ready = std::max(answer.ready, second.ready);
        answer.level = std::max(answer.level, second.level);
    }
    cause = levels[answer.level];
    return answer;
}

template <bool told>
void Pipeline::State::run(const OpChunk& chunk, std::vector<Passage>* passages) {
    const int retireWidth = machine.retireWidth;
    const auto retireSlots = static_cast<std::uint64_t>(retireWidth);
    for (std::size_t n = 0; n < chunk.size; ++n) {
        const BoundOp& op = ops[chunk.op[n]];
        const bool isLoad = op.kind == OpKind::Load, isStore = op.kind == OpKind::Store;
        Cause late = Cause::FrontEnd;

        // Fetch: so many slots a cycle, up to a taken branch, from where a wrong guess was set right.
        if (op.slotCount > 0) {
            if (fetched >= machine.fetchWidth || groupEnded) {
                ++fetchCycle;
                fetched = 0;
                groupEnded = false;
                refilling = false;
            }
            const std::uint64_t room = decoded.freeFrom();
            if (room > fetchCycle) {
                fetchCycle = room;
                fetched = 0;
                refilling = false;
            }
            if (redirect > fetchCycle) {
                fetchCycle = redirect;
                fetched = 0;
                refilling = true;
            }
            fetched += op.slotCount;
        }
        if (refilling) late = Cause::Mispredict;

        // Dispatch: in order, with an entry of every queue that it needs.
        std::uint64_t dispatch = fetchCycle + static_cast<std::uint64_t>(machine.frontDepth);
        if (dispatch < dispatchCycle) dispatch = dispatchCycle;
        if (op.slotCount > 0 && dispatch == dispatchCycle && dispatched + op.slotCount > machine.issueWidth &&
            dispatched > 0)
            ++dispatch;
        const auto wait = [&](std::uint64_t until, Cause cause) {
            if (until > dispatch) {
                dispatch = until;
                late = cause;
            }
        };
        if (op.slotCount > 0) wait(window.freeFrom(), Cause::Window);
        if (isLoad) wait(loads.freeFrom(), Cause::Window);
        if (isStore) wait(stores.freeFrom(), Cause::Stores);
        if (op.registers == 1) wait(general.freeFrom(), Cause::Window);
        if (op.registers == 2) wait(vectors.freeFrom(), Cause::Window);
        if (dispatch > cleaned) forget(dispatch);
        const bool scheduled = op.ports != 0;
        if (scheduled && waiting >= machine.scheduler) {
            while (waiting >= machine.scheduler) forget(cleaned + 1);
            wait(cleaned, Cause::Window);
        }
        if (dispatch > dispatchCycle) {
            dispatchCycle = dispatch;
            dispatched = 0;
        }
        dispatched += op.slotCount;
        for (int s = 0; s < op.slotCount; ++s) decoded.enter(dispatch);

        // Issue: sources there, the first cycle in which a port is free.
        std::uint64_t sources = dispatch + 1;
        const std::size_t addressSources = isStore ? 2 : op.from.size();
        for (std::size_t s = 0; s < addressSources; ++s) {
            if (op.from[s] != NoRegister) sources = std::max(sources, ready[op.from[s]]);
        }
        std::uint64_t issue = dispatch, complete = 0;
        int port = -1;
        Cause running = Cause::Execution;
        if (!scheduled) {
            issue = std::max(dispatch, sources - (sources == dispatch + 1));
            complete = issue + op.latency;
        } else {
            issue = take(op.ports, sources, op.occupancy, port);
            std::uint64_t left = issue;
            complete = issue + op.latency;
            if (isLoad) {
                const Access answer = load(op, chunk.address[n], issue, chunk.op[n], running);
                complete = answer.ready;
            } else if (isStore) {
                std::uint64_t data = issue;
                if (op.dataPorts != 0) {
                    std::uint64_t from = dispatch + 1;
                    for (std::size_t s = 2; s < op.from.size(); ++s) {
                        if (op.from[s] != NoRegister) from = std::max(from, ready[op.from[s]]);
                    }
                    int dataPort = -1;
                    data = take(op.dataPorts, from, op.occupancy, dataPort);
                } else {
                    for (std::size_t s = 2; s < op.from.size(); ++s) {
                        if (op.from[s] != NoRegister) data = std::max(data, ready[op.from[s]]);
                    }
                }
                left = std::max(issue, data);
                complete = left + 1;
                pending[storeNumber % storeRing] = {chunk.address[n], data, ~0ull, op.bytes};
            } else if (op.kind == OpKind::Divide || op.kind == OpKind::FpDivide || op.kind == OpKind::FpSqrt) {
                running = Cause::Divide;
            }
            if (left < cleaned + horizon) {
                ++calendar[left & (horizon - 1)].issued;
                ++waiting;
            }
        }
        if (op.to != NoRegister) ready[op.to] = op.merges ? std::max(ready[op.to], complete) : complete;
        if (op.to2 != NoRegister) ready[op.to2] = complete;
        if (op.kind == OpKind::Branch) {
            ++counts.branches;
            if (!predictor.foretells(chunk.op[n], chunk.taken[n] != 0)) {
                ++counts.mispredicted;
                redirect = complete;
            }
            if (chunk.taken[n]) groupEnded = true;
        }

        // Retirement: in order. Every slot that passes unused is put to what this operation was doing then.
        const std::uint64_t before = retireCycle * retireSlots + static_cast<std::uint64_t>(retired);
        const auto inSlots = [&](std::uint64_t cycles) { return cycles * retireSlots; };
        if (complete > retireCycle) {
            retireCycle = complete;
            retired = 0;
        }
        if (retired >= retireWidth && op.slotCount > 0) {
            ++retireCycle;
            retired = 0;
        }
        const std::uint64_t here = inSlots(retireCycle) + static_cast<std::uint64_t>(retired);
        if (here > before) {
            std::uint64_t left = here - before;
            const auto blame = [&](std::uint64_t cycles, Cause cause) {
                const std::uint64_t part = std::min(left, inSlots(cycles));
                counts.slotsBy[static_cast<std::size_t>(cause)] += part;
                left -= part;
            };
            // Dispatched late and waiting for nothing else: as late as after its forerunner. Of a full window only what
            // no older operation fills, for there the older one is the cause.
            if (sources == dispatch + 1 || !scheduled) {
                const std::uint64_t since =
                    late == Cause::Window ? std::min(before / retireSlots, dispatch) : forerunner;
                blame(dispatch - since, late);
            }
            if (scheduled) blame(issue - sources, Cause::Ports);
            counts.slotsBy[static_cast<std::size_t>(running)] += left;
        }
        forerunner = dispatch;
        if (op.slotCount > 0) {
            counts.slotsBy[static_cast<std::size_t>(Cause::Retiring)] += op.slotCount;
            retired += op.slotCount;
            while (retired > retireWidth) {  // more slots than one cycle retires
                retired -= retireWidth;
                ++retireCycle;
            }
            for (int s = 0; s < op.slotCount; ++s) window.enter(retireCycle);
        } else if (window.count > 0) {
            window.last() = std::max(window.last(), retireCycle);
        }
        if (op.registers == 1) general.enter(retireCycle);
        if (op.registers == 2) vectors.enter(retireCycle);
        if (isLoad) loads.enter(retireCycle);
        if (isStore) {
            ++counts.stores;
            PendingStore& store = pending[storeNumber % storeRing];
            const Access line = memory.access(store.address, retireCycle, cleaned, true, chunk.op[n]);
            const std::uint64_t hit =
                retireCycle + (machine.caches.empty() ? 0 : static_cast<std::uint64_t>(machine.caches.front().latency));
            std::uint64_t leaves = std::max(retireCycle + 1, line.ready > hit ? line.ready : 0);
            if ((store.address & 63) + store.bytes > 64) {
                const Access second =
                    memory.access(store.address + store.bytes - 1, retireCycle, cleaned, true, chunk.op[n]);
                leaves = std::max(leaves + 1, second.ready > hit ? second.ready : 0);
            }
            if (leaves <= lastStoreLeft) {
                leaves = lastStoreLeft + (storesLeft >= machine.storesPerCycle ? 1 : 0);
            }
            storesLeft = leaves == lastStoreLeft ? storesLeft + 1 : 1;
            lastStoreLeft = leaves;
            store.leaves = leaves;
            stores.enter(leaves);
            ++storeNumber;
            for (std::uint64_t g = store.address >> 3; g <= (store.address + store.bytes - 1) >> 3; ++g)
                writers[g % granules] = storeNumber;
        }
        counts.instructions += op.instruction;
        if constexpr (told) passages->push_back({fetchCycle, dispatch, issue, complete, retireCycle, port});
    }
    counts.operations += chunk.size;
}

Pipeline::Pipeline(const Machine& machine, const std::vector<BoundOp>& ops)
    : state_(std::make_unique<State>(machine, ops, Memory(machine))) {}
Pipeline::Pipeline(const Machine& machine, const std::vector<BoundOp>& ops, Beyond& beyond, int core)
    : state_(std::make_unique<State>(machine, ops, Memory(machine, beyond, core))) {}
Pipeline::~Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;

void Pipeline::run(const OpChunk& chunk) {
    state_->run<false>(chunk, nullptr);
}

void Pipeline::run(const OpChunk& chunk, std::vector<Passage>& passages) {
    state_->run<true>(chunk, &passages);
}

void Pipeline::warm(const OpChunk& chunk) {
    State& state = *state_;
    for (std::size_t n = 0; n < chunk.size; ++n) {
        const BoundOp& op = state.ops[chunk.op[n]];
        switch (op.kind) {
            case OpKind::Load:
            case OpKind::Store: {
                const std::uint64_t address = chunk.address[n];
                // The line that this operation touched last is there.
                std::uint64_t& last = state.touched[chunk.op[n]];
                if (last == address >> 6 && (address & 63) + op.bytes <= 64) break;
                last = address >> 6;
                state.memory.touch(address, op.kind == OpKind::Store, chunk.op[n]);
                if ((address & 63) + op.bytes > 64)
                    state.memory.touch(address + op.bytes - 1, op.kind == OpKind::Store, chunk.op[n]);
                break;
            }
            case OpKind::Branch:
                state.predictor.foretells(chunk.op[n], chunk.taken[n] != 0);
                break;
            default:
                break;
        }
    }
}

Memory& Pipeline::memory() {
    return state_->memory;
}

void Pipeline::holdUntil(std::uint64_t cycle) {
    State& state = *state_;
    if (cycle <= state.fetchCycle) return;
    state.fetchCycle = cycle;
    state.fetched = 0;
    state.groupEnded = state.refilling = false;
}

std::uint64_t Pipeline::now() const {
    return state_->cleaned;
}

Counters Pipeline::counters() const {
    const State& state = *state_;
    Counters result = state.counts;
    if (result.operations == 0) return result;
    result.cycles = state.retireCycle + 1;
    // What is left of the last cycle: nothing more was there to retire.
    const std::uint64_t all = result.cycles * static_cast<std::uint64_t>(result.retireWidth);
    std::uint64_t told = 0;
    for (const auto each : result.slotsBy) told += each;
    result.slotsBy[static_cast<std::size_t>(Cause::FrontEnd)] += all - told;
    result.memory = state.memory.counts();
    return result;
}

}  // namespace orrery::pipeline
