#include "simulation/cpu/block/block.h"

#include "simulation/cpu/block/values.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::block {

namespace {

// From a resource to a resource within one instruction. `to` counts the results of the instruction.
struct Edge {
    std::uint8_t from;  ///< register, or StoredInMemory
    std::uint8_t to;
    float cycles;
};

struct Step {
    std::vector<Edge> edges;
    std::vector<std::uint8_t> results;  ///< registers; StoredInMemory for the store
    std::uint8_t chased = NoRegister;   ///< base of a simple load, which saves a cycle after another
    bool plainLoad = false;
};

struct StoreRecord {
    std::uint64_t address = 0;
    std::uint8_t bytes = 0;
    double ready = 0;    ///< the data
    double retired = 0;  ///< everything before it is done
    int event = -1;
};

}  // namespace

std::string_view toText(Bound bound) {
    static constexpr std::array<std::string_view, boundCount> names{"predecode", "decode", "issue", "ports",
                                                                    "dependence"};
    return names[static_cast<std::size_t>(bound)];
}

std::string_view meaning(Bound bound) {
    static constexpr std::array<std::string_view, boundCount> words{
        "predecoding: finding where instructions begin in lines of 16 bytes", "the decoders",
        "issue: fused micro-operations per cycle", "the ports that its micro-operations need",
        "the dependence from one iteration to the next"};
    return words[static_cast<std::size_t>(bound)];
}

struct Analyser::Work {
    std::shared_ptr<const Core> core;
    Values values;
    std::unordered_map<std::uint64_t, const Form*> found;
    std::vector<const Form*> forms;
    std::vector<PortUse> uses;
    std::vector<int> users;  ///< the instruction of each use
    std::vector<FrontEndItem> lines;
    std::vector<DecodeItem> groups;
    std::vector<Step> steps;
    std::vector<double> times;
    std::array<StoreRecord, 64> stores;
    std::vector<char> syncs;
    double loadBanks = 0;  ///< loads per iteration of the fullest bank
    std::array<double, 16> banks{};
    std::array<std::uint64_t, 16> lines64{};
    std::array<bool, 16> manyLines{};

    const Form* formOf(const FormKey& key) {
        const auto [at, fresh] = found.try_emplace(key.packed(), nullptr);
        if (fresh) at->second = core->find(key);
        return at->second;
    }
    void match(const Code& code, Prediction& out);
    void count(const Code& code, Prediction& out);
    void link(const Instruction& one, const Form* form, Step& step);
    double dependence(const Code& code);
    double path = 0;  ///< as Prediction::path

    // Per result of every iteration, only while a chain is asked for: what it waited for.
    struct Event {
        int before;
        int instruction;
        std::uint8_t through;
        double ready;
    };
    bool tracing = false;
    std::vector<Event> events;
};

void Analyser::Work::match(const Code& code, Prediction& out) {
    forms.clear();
    out.unknown.clear();
    for (std::size_t i = 0; i < code.instructions.size(); ++i) {
        const auto& one = code.instructions[i];
        const Form* form = formOf(one.key);
        forms.push_back(form);
        if (!form && !one.nop && !one.zeroIdiom) out.unknown.push_back(static_cast<int>(i));
    }
}

// Micro-operations, fusedSlots and ports of each instruction after renaming has done its part.
void Analyser::Work::count(const Code& code, Prediction& out) {
    const CoreRules& rules = core->rules;
    const auto& all = code.instructions;
    uses.clear();
    syncs.assign(code.instructions.size(), 0);
    groups.clear();
    lines.clear();
    double fusedSlots = 0, uops = 0, lost = 0;
    // Whether the stack engine holds an offset at the start: as at the end of the block before.
    bool offset = false;
    const auto touchesStack = [](const Instruction& one) {
        for (std::uint8_t i = 0; i < one.uses; ++i) {
            if (one.use[i].reg == StackPointer) return true;
        }
        return !one.stack && (one.memory.base == StackPointer || one.memory.index == StackPointer);
    };
    for (const auto& one : all) offset = one.stack ? true : touchesStack(one) ? false : offset;
    users.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
        users.resize(uses.size(), static_cast<int>(i) - 1);
        const auto& one = all[i];
        const Form* form = forms[i];
        if (one.length == 0) continue;
        lines.push_back({one.offset, one.length, one.opcodeAt, one.changesLength});
        if (touchesStack(one) && offset) {
            fusedSlots += 1;
            uops += 1;
            uses.push_back({rules.aluPorts, 1});
            offset = false;
            syncs[i] = 1;
        }
        if (one.stack) offset = true;
        const bool fusedAway = i > 0 && one.conditional && all[i - 1].fusesFirst;
        if (fusedAway) continue;
        double mine = form ? form->fusedSlots : 1;
        const bool renamed = one.zeroIdiom || one.nop ||
                             (one.registerMove && (one.vectorMove ? rules.eliminatesVector : rules.eliminatesGeneral));
        const bool indexed = one.memory.index != NoRegister && (one.memory.read || one.memory.write);
        if (indexed && form && form->uops > form->fusedSlots && !renamed) {
            const bool split =
                rules.splitsIndexed || (rules.splitsIndexedThree && one.threeOperands && one.memory.read);
            if (split) mine += 1;
        }
        fusedSlots += std::max(mine, renamed ? 1.0 : mine);
        DecodeItem item{};
        item.complex = form && form->complexDecoder;
        item.fusedSlots = form ? static_cast<int>(form->decoded) : 1;
        if (form && form->microcode > 0) {
            item.fusedSlots = rules.decoderSlots;
            lost += rules.microcodeSwitch;
        }
        item.fusesFirst = one.fusesFirst;
        item.branch = one.branch;
        groups.push_back(item);
        if (renamed) continue;
        if (!form) {
            uops += 1;
            uses.push_back({rules.aluPorts, 1});
            if (one.memory.read) uses.push_back({rules.loadPorts, 1});
            continue;
        }
        for (const auto& use : form->ports) {
            PortUse mineHere = use;
            if (indexed && one.memory.write && use.ports == rules.storeAddressPorts)
                mineHere.ports = rules.indexedStorePorts;
            uses.push_back(mineHere);
            uops += use.uops;
        }
    }
    users.resize(uses.size(), static_cast<int>(all.size()) - 1);
    out.uops = uops;
    out.fusedSlots = fusedSlots;
    out.bounds[static_cast<std::size_t>(Bound::Predecode)] =
        predecodeBound(lines, static_cast<int>(code.bytes.size()), rules);
    out.bounds[static_cast<std::size_t>(Bound::Decode)] = decodeBound(groups, rules) + lost;
    out.bounds[static_cast<std::size_t>(Bound::Issue)] = fusedSlots / rules.issueWidth;
    out.bounds[static_cast<std::size_t>(Bound::Ports)] = portBound(uses);
}

void Analyser::Work::link(const Instruction& one, const Form* form, Step& step) {
    const CoreRules& rules = core->rules;
    step.edges.clear();
    step.results.clear();
    step.chased = NoRegister;
    step.plainLoad = false;
    const bool load = one.memory.read || one.memory2.read, store = one.memory.write || one.memory2.write;
    const bool renamed = one.zeroIdiom || one.breaksChain;
    const bool moved = one.registerMove && (one.vectorMove ? rules.eliminatesVector : rules.eliminatesGeneral);
    const bool known = form && form->latenciesStated;
    const auto addressEdges = [&](std::uint8_t result, float base, float index) {
        const bool stackItself = one.stack && one.memory.base == StackPointer;
        if (one.memory.base < RegisterCount && !stackItself) step.edges.push_back({one.memory.base, result, base});
        if (one.memory.index < RegisterCount) step.edges.push_back({one.memory.index, result, index});
    };
    for (std::uint8_t i = 0; i < one.uses; ++i) {
        const RegisterUse& target = one.use[i];
        if (!target.write) continue;
        const auto result = static_cast<std::uint8_t>(step.results.size());
        step.results.push_back(target.reg);
        if (renamed) continue;
        float most = 0;
        if (known) {
            for (const auto& each : form->latencies) {
                if (each.to == target.slot && each.from < AddressBase) most = std::max(most, each.cycles);
            }
        }
        for (std::uint8_t k = 0; k < one.uses; ++k) {
            const RegisterUse& source = one.use[k];
            const Latency* stated = known ? form->find(source.slot, target.slot) : nullptr;
            float cycles = 1;
            if (moved && source.read)
                cycles = 0;
            else if (stated)
                cycles = stated->cycles;
            else if (known && (!source.read || most > 0))
                continue;
            else if (!source.read)
                continue;
            if (stated && stated->cycles <= 0 && !moved) continue;
            if (source.reg >= CarryFlag && !source.read && !stated) continue;
            step.edges.push_back({source.reg, result, cycles});
        }
        const Latency* base = known ? form->find(AddressBase, target.slot) : nullptr;
        const Latency* index = known ? form->find(AddressIndex, target.slot) : nullptr;
        if (load) {
            const float usual = static_cast<float>(rules.loadLatency) + (target.reg >= CarryFlag ? 1.F : 0.F);
            const float b = base ? base->cycles : usual;
            addressEdges(result, b, index ? index->cycles : b);
            // What it computes after the load stands between the data of a store and the result too.
            const bool vector = target.reg >= VectorRegister && target.reg < CarryFlag;
            const float plain = static_cast<float>(vector ? rules.loadLatencyVector : rules.loadLatency);
            const bool pure = form && form->uops <= 1;
            const float after = pure ? 0.F : std::max(0.F, b - plain);
            step.edges.push_back(
                {StoredInMemory, result, static_cast<float>(vector ? rules.forwardVector : rules.forward) + after});
        } else if (one.meaning == Meaning::Lea) {
            const float b = base ? base->cycles : 1;
            addressEdges(result, b, index ? index->cycles : b);
        }
    }
    const bool simple = load && !store && one.memory.index == NoRegister && one.memory.base < 16 && !one.stack &&
                        one.memory.displacement >= 0 && one.memory.displacement < 2048;
    if (simple && rules.chaseGain > 0) step.chased = one.memory.base;
    step.plainLoad =
        load && !store && one.visible == 2 && one.memory.bytes >= 4 &&
        (one.meaning == Meaning::Move || one.meaning == Meaning::MoveSigned || one.meaning == Meaning::Pop);
    if (one.meaning == Meaning::Pop && !store) step.plainLoad = true;
    if (!store) return;
    // Cycles between load and store of an operation on memory: those to its flags or register.
    float work = 1;
    if (known) {
        for (const auto& each : form->latencies) {
            if (each.from < AddressBase && each.to < AddressBase) work = std::max(work, std::min(each.cycles, 8.F));
        }
    }
    if (one.meaning == Meaning::Push || one.meaning == Meaning::Pop) work = 0;
    const auto result = static_cast<std::uint8_t>(step.results.size());
    step.results.push_back(StoredInMemory);
    for (std::uint8_t k = 0; k < one.uses; ++k) {
        const RegisterUse& source = one.use[k];
        if (!source.read) continue;
        const Latency* stated = known ? form->find(source.slot, StoredData) : nullptr;
        const bool isAddress = !stated && (source.reg == one.memory.base || source.reg == one.memory.index) && known;
        if (isAddress) continue;
        // A plain store passes its data on at once; what computes it first takes that long.
        float before = 0;
        if (load)
            before = work;
        else if (one.visible < 2 && one.meaning != Meaning::Push)
            before = 1;
        step.edges.push_back({source.reg, result, before});
    }
    if (load) {
        const float again = one.key.prefix == 1 || (one.meaning == Meaning::Exchange && store)
                                ? static_cast<float>(rules.locked)
                                : static_cast<float>(rules.forward) + work;
        step.edges.push_back({StoredInMemory, result, again});
        const float b = static_cast<float>(rules.loadLatency) + work;
        addressEdges(result, b, b);
    }
}

double Analyser::Work::dependence(const Code& code) {
    const auto& all = code.instructions;
    const std::size_t count = all.size();
    if (steps.size() < count) steps.resize(count);
    for (std::size_t i = 0; i < count; ++i) link(all[i], forms[i], steps[i]);
    std::array<double, RegisterCount> ready{};
    std::array<bool, RegisterCount> loadedLast{};
    std::array<int, RegisterCount> writer;
    writer.fill(-1);
    std::array<int, 12> waited{};
    events.clear();
    std::array<double, 12> fresh;
    for (auto& store : stores) store = {};
    std::size_t stored = 0;
    values.reset();
    banks.fill(0);
    manyLines.fill(false);
    const int half = count <= 64 ? 12 : 6;
    double most = 0, atHalf = 0;
    for (int iteration = 0; iteration < 2 * half; ++iteration) {
        if (iteration == 1) path = most;
        if (iteration == half) atHalf = most;
        for (std::size_t i = 0; i < count; ++i) {
            const Step& step = steps[i];
            if (syncs[i]) ready[StackPointer] += 1;
            Access load, store;
            values.step(all[i], load, store);
            double inMemory = -1, penalty = 0;
            int storedBy = -1;
            if (load.bytes) {
                const auto bank = static_cast<std::size_t>(load.address >> 2 & 15);
                const std::uint64_t line = load.address >> 6;
                manyLines[bank] = manyLines[bank] || (banks[bank] > 0 && lines64[bank] != line);
                lines64[bank] = line;
                banks[bank] += 1;
            }
            if (load.bytes && stored) {
                const std::size_t oldest = stored > stores.size() ? stored - stores.size() : 0;
                for (std::size_t k = stored; k > oldest; --k) {
                    const StoreRecord& other = stores[(k - 1) % stores.size()];
                    if (other.address >= load.address + load.bytes || load.address >= other.address + other.bytes)
                        continue;
                    inMemory = other.ready;
                    storedBy = other.event;
                    const bool inside =
                        other.address <= load.address && load.address + load.bytes <= other.address + other.bytes;
                    // Then it waits until the store has retired and is in the cache.
                    if (!inside) inMemory = std::max(inMemory, other.retired), penalty = core->rules.blocked;
                    break;
                }
            }
            const std::size_t results = step.results.size();
            for (std::size_t r = 0; r < results; ++r) fresh[r] = 0, waited[r] = -1;
            for (const Edge& edge : step.edges) {
                double at;
                if (edge.from == StoredInMemory) {
                    if (inMemory < 0) continue;
                    at = inMemory + std::max<double>(edge.cycles, penalty);
                } else {
                    at = ready[edge.from] + edge.cycles;
                    if (edge.from == step.chased && loadedLast[edge.from]) at -= core->rules.chaseGain;
                }
                if (at > fresh[edge.to]) {
                    fresh[edge.to] = at;
                    waited[edge.to] = edge.from == StoredInMemory ? storedBy : writer[edge.from];
                }
            }
            for (std::size_t r = 0; r < results; ++r) most = std::max(most, fresh[r]);
            for (std::size_t r = 0; r < results; ++r) {
                int event = -1;
                if (tracing) {
                    event = static_cast<int>(events.size());
                    events.push_back({waited[r], static_cast<int>(i), step.results[r], fresh[r]});
                }
                if (step.results[r] == StoredInMemory) {
                    stores[stored++ % stores.size()] = {store.address, store.bytes, fresh[r], most, event};
                } else {
                    ready[step.results[r]] = fresh[r];
                    writer[step.results[r]] = event;
                    loadedLast[step.results[r]] = step.plainLoad;
                }
            }
        }
    }
    // Where some loads lie in other banks, most pairs of a cycle miss each other.
    loadBanks = 0;
    double loads = 0;
    for (const double each : banks) loads += each;
    for (std::size_t b = 0; b < banks.size(); ++b) {
        if (manyLines[b] && banks[b] == loads) loadBanks = loads / (2 * half);
    }
    return (most - atHalf) / half;
}

std::vector<ChainLink> Analyser::chain(const Code& code) {
    Work& work = *work_;
    work.tracing = true;
    const double carried = work.dependence(code);
    work.tracing = false;
    std::vector<ChainLink> links;
    if (carried <= 0 || work.events.empty()) return links;
    const auto last = std::max_element(work.events.begin(), work.events.end(),
                                       [](const auto& a, const auto& b) { return a.ready < b.ready; });
    // Back from what ends last, past what hangs on the chain alone, until one result of one instruction comes again.
    const auto same = [](const auto& a, const auto& b) {
        return a.instruction == b.instruction && a.through == b.through;
    };
    std::vector<int> path;
    for (int at = static_cast<int>(last - work.events.begin()); at >= 0;
         at = work.events[static_cast<std::size_t>(at)].before) {
        const auto& here = work.events[static_cast<std::size_t>(at)];
        for (std::size_t k = path.size(); k-- > 0;) {
            if (!same(work.events[static_cast<std::size_t>(path[k])], here)) continue;
            for (std::size_t m = path.size(); m-- > k;) {
                const auto& link = work.events[static_cast<std::size_t>(path[m])];
                links.push_back({link.instruction, link.through,
                                 link.ready - work.events[static_cast<std::size_t>(link.before)].ready});
            }
            return links;
        }
        path.push_back(at);
    }
    return links;
}

std::vector<std::array<double, mostPorts>> Analyser::portsByInstruction() const {
    std::vector<std::array<double, mostPorts>> by(work_->forms.size());
    const auto spread = spreadPorts(work_->uses);
    for (std::size_t u = 0; u < spread.size(); ++u) {
        for (std::size_t p = 0; p < mostPorts; ++p) by[static_cast<std::size_t>(work_->users[u])][p] += spread[u][p];
    }
    return by;
}

Analyser::Analyser(std::shared_ptr<const Core> core) : work_(std::make_unique<Work>()) {
    work_->core = std::move(core);
}
Analyser::~Analyser() = default;
Analyser::Analyser(Analyser&&) noexcept = default;
const Core& Analyser::core() const {
    return *work_->core;
}

std::span<const Form* const> Analyser::forms() const {
    return work_->forms;
}

void Analyser::predict(const Code& code, Prediction& out) {
    Work& work = *work_;
    out.bounds.fill(0);
    work.match(code, out);
    work.count(code, out);
    out.bounds[static_cast<std::size_t>(Bound::Dependence)] = work.dependence(code);
    if (work.core->rules.bankConflicts) {
        double& ports = out.bounds[static_cast<std::size_t>(Bound::Ports)];
        ports = std::max(ports, work.loadBanks);
    }
    out.path = work.path;
    const auto most = std::max_element(out.bounds.begin(), out.bounds.end());
    out.cycles = *most;
    out.binding = static_cast<Bound>(most - out.bounds.begin());
    const CoreRules& rules = work.core->rules;
    if (out.binding == Bound::Predecode && static_cast<int>(code.bytes.size()) < rules.shortBytes) {
        const double rest = *std::max_element(out.bounds.begin() + 1, out.bounds.end());
        out.cycles = rest + (out.cycles - rest) * rules.shortShare;
    }
    const auto& around = work.core->rules.interval[static_cast<std::size_t>(out.binding)];
    out.low = out.cycles * around[0];
    out.high = out.cycles * around[1];
    balancePorts(work.uses, out.portCycles);
}

}  // namespace orrery::block
