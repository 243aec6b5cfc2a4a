#include "methods/gpu/gpu_what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery {

namespace {

using gpusim::Machine;

int scaled(int value, double factor, int least = 1) {
    return std::max(least, static_cast<int>(std::lround(value * factor)));
}

// Banks tell slices of a channel apart: a power of two, no more than there are banks.
void scaleSlices(Machine& m, double factor) {
    const int before = m.slicesPerDie();
    const auto wanted = static_cast<unsigned>(scaled(before, factor));
    const int after = std::min(static_cast<int>(std::bit_floor(wanted)), m.dram.banks);
    m.slicesPerChannel = after * m.dies;
    // The same capacity over all of them.
    m.l2.sets = std::max(1, m.l2.sets * before / after);
}

// Latencies of DRAM are times: in cycles of another clock they are other numbers.
void scaleDram(Machine& m, double factor) {
    m.dramMhz *= factor;
    auto& t = m.dram;
    for (int* time : {&t.rrd, &t.rcd, &t.ras, &t.rp, &t.rc, &t.cl, &t.wl, &t.cdlr, &t.wr, &t.rtpl})
        *time = scaled(*time, factor);
    t.readToWrite = t.cl + t.burst + 2 - t.wl;
    t.writeToRead = t.wl + t.burst + t.cdlr;
    t.writeToPrecharge = t.wl + t.burst + t.wr;
    t.rowToWrite = std::max(1, t.rcd - (t.wl + 1));
}

void scaleTensor(Machine& m, double factor) {
    for (auto& one : m.opcodes) {
        one.initiation = scaled(one.initiation, 1 / factor);
        one.latency = std::max(one.latency, one.initiation);
    }
}

double tensorInitiation(const Machine& m) {
    double sum = 0;
    for (const auto& one : m.opcodes) sum += 1.0 / one.initiation;
    return sum;
}

void scaleShared(Machine& m, double factor) {
    const int more = scaled(m.sharedBytes, factor, 1024) - m.sharedBytes;
    m.sharedBytes += more;
    // What is left for L1 stays.
    m.unifiedBytes = std::max(m.sharedBytes + 16 * 1024, m.unifiedBytes + more);
    m.l1.ways = std::max(1, m.unifiedBytes / (m.l1.sets * 128));
    if (!m.sharedOptions.empty() && more > 0) m.sharedOptions.push_back(m.sharedBytes);
}

constexpr MachineChange changes[] = {
    {"l2-slices", "L2 slices", "More slices answer at once; capacity and clock of L2 stay", true, scaleSlices,
     [](const Machine& m) { return double(m.slices()); }},
    {"l2-capacity", "L2 capacity", "More ways in every slice; their number and clock stay", true,
     [](Machine& m, double f) { m.l2.ways = scaled(m.l2.ways, f); },
     [](const Machine& m) { return 128.0 * m.l2.sets * m.l2.ways * m.slices(); }},
    {"l2-latency", "L2 latency", "On the way from the network to the slice", true,
     [](Machine& m, double f) { m.ropLatency = scaled(m.ropLatency, f); },
     [](const Machine& m) { return double(m.ropLatency); }},
    {"dram-clock", "DRAM clock", "Bandwidth follows; latencies in nanoseconds stay", true, scaleDram,
     [](const Machine& m) { return m.dramMhz; }},
    {"dram-latency", "DRAM latency", "What an access takes beside its rows and columns", true,
     [](Machine& m, double f) { m.dramLatency = scaled(m.dramLatency, f); },
     [](const Machine& m) { return double(m.dramLatency); }},
    {"multiprocessors", "Multiprocessors", "L2 and memory stay", true,
     [](Machine& m, double f) { m.sms = scaled(m.sms, f); }, [](const Machine& m) { return double(m.sms); }},
    {"core-clock", "Core clock", "Of multiprocessors and network; L2 and memory keep theirs", true,
     [](Machine& m, double f) { m.coreMhz *= f, m.networkMhz *= f; }, [](const Machine& m) { return m.coreMhz; }},
    {"tensor-rate", "Tensor rate", "Tensor instructions take their unit for a shorter or longer time", true,
     scaleTensor, tensorInitiation},
    {"registers", "Registers", "Of a multiprocessor", true,
     [](Machine& m, double f) { m.registers = scaled(m.registers, f, 1024); },
     [](const Machine& m) { return double(m.registers); }},
    {"shared-memory", "Shared memory", "Of a multiprocessor; what is left for L1 stays", true, scaleShared,
     [](const Machine& m) { return double(m.sharedBytes); }},
    {"l1-latency", "L1 latency", "Of a hit", true, [](Machine& m, double f) { m.l1Latency = scaled(m.l1Latency, f); },
     [](const Machine& m) { return double(m.l1Latency); }},
    {"scheduler-lrr", "Scheduler: round robin", "Warps in turn", false,
     [](Machine& m, double) { m.scheduler = gpusim::Scheduler::LooseRoundRobin; }, nullptr},
    {"scheduler-gto", "Scheduler: greedy, then oldest", "The last warp as long as it can, then the oldest", false,
     [](Machine& m, double) { m.scheduler = gpusim::Scheduler::GreedyThenOldest; }, nullptr},
    {"scheduler-oldest", "Scheduler: oldest first", "Always the oldest that can", false,
     [](Machine& m, double) { m.scheduler = gpusim::Scheduler::OldestFirst; }, nullptr},
    {"scheduler-youngest", "Scheduler: greedy, then youngest", "The last warp as long as it can, then the youngest",
     false, [](Machine& m, double) { m.scheduler = gpusim::Scheduler::GreedyThenYoungest; }, nullptr},
};

}  // namespace

std::span<const MachineChange> machineChanges() {
    return changes;
}

const MachineChange* machineChange(std::string_view id) {
    const auto* found = std::ranges::find(changes, id, &MachineChange::id);
    return found == std::end(changes) ? nullptr : found;
}

Expected<gpusim::Machine> changedMachine(const gpusim::Machine& machine, const MachineChange& change, double factor) {
    gpusim::Machine out = machine;
    change.apply(out, factor);
    if (change.scales && factor != 1 && change.value(out) == change.value(machine)) {
        return fail("gpu.what-if",
                    fmt::format("{} cannot be {:g} times {:g}", change.name, factor, change.value(machine)),
                    "a factor that changes it", "choose another factor");
    }
    return out;
}

}  // namespace orrery
