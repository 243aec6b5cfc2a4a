#include "simulation/gpu/interval/memory_share.h"

#include <algorithm>
#include <cmath>

namespace orrery::gpusim {

MemoryShare::MemoryShare(const Machine& machine, EventWheel& wheel, RequestStore& requests, int warpsPerBlock)
    : MemoryBehind(machine),
      machine_(machine),
      wheel_(wheel),
      requests_(requests),
      warpsPerBlock_(warpsPerBlock),
      period_(machine.coreMhz / machine.networkMhz / machine.sectorsPerCycle),
      l2Cycle_(machine.coreMhz / machine.l2Mhz),
      dramCycle_(machine.coreMhz / machine.dramMhz) {}

void MemoryShare::place(int at, const RepresentedBlock& block, const KernelTemplate& whole) {
    if (slots_.size() <= static_cast<std::size_t>(at)) slots_.resize(static_cast<std::size_t>(at) + 1);
    Slot& slot = slots_[static_cast<std::size_t>(at)];
    slot.block = block;
    slot.operands.clear();
    for (const TemplateRegion& region : whole.regions(block.block)) {
        const double rows = static_cast<double>(std::max<std::int64_t>(1, region.rows)),
                     bytes = static_cast<double>(region.bytes);
        slot.operands.push_back({region, (rows - 1) * region.stride + bytes, rows * bytes / 32, 0});
    }
    slot.sent = 0;
}

MemoryShare::Operand& MemoryShare::operandOf(Slot& slot, std::uint64_t address, std::size_t& at) {
    for (at = 0; at + 1 < slot.operands.size(); ++at) {
        const Operand& one = slot.operands[at];
        const auto first = one.region.first & ~std::uint64_t{31};
        if (address >= first && static_cast<double>(address - first) <= one.ends + 31) break;
    }
    return slot.operands[at];
}

double MemoryShare::claim(double& free, double from, double period) const {
    const double start = std::max(free, from);
    free = start + period;
    return start;
}

void MemoryShare::send(std::uint32_t at, std::uint64_t from) {
    SectorRequest& request = requests_[at];
    Slot& slot = slots_[static_cast<std::size_t>(request.warp / warpsPerBlock_)];
    const WaveTraffic& traffic = *slot.block.traffic;
    std::size_t which = 0;
    Operand& operand = operandOf(slot, request.address, which);
    packets_ += 2;
    // A cycle to the port, one into the slice, the way through it, and one out of it, as the cycle simulator's stages.
    const FirstBurst* burst = slot.block.burst;
    const double together = burst ? burst->gap(slot.sent) * slot.block.peers / burst->senders : 0;
    slot.sent += 1;
    const double crossing = std::max(period_, together);
    const double arrives = claim(port_, static_cast<double>(from + 1), crossing);
    const double looked = claim(slices_, arrives + 1, slot.block.peers * traffic.sliceCycles) + machine_.ropLatency + 1;
    double answered = looked + 1;
    const bool reads = !request.write;
    const bool again = operand.sectors <= 0;
    operand.sectors -= 1;
    if (!again) operand.missed += traffic.operands[which].missing;
    const bool missing = !again && operand.missed >= 1 - 1e-9;
    if (missing) operand.missed -= 1;
    const double fetched = missing ? traffic.operands[which].fetches : 0;
    (reads ? l2_.reads : l2_.writes) += 1;
    if (request.atomic) ++l2_.atomics;
    request.level = Level::L2;
    if (reads) {
        ++(missing ? l2_.readMisses : l2_.readHits);
        if (missing) {
            request.level = Level::Dram;
            const DramTiming& t = machine_.dram;
            const double leaves = claim(channels_, looked + 2, slot.block.peers * fetched * traffic.dramCycles);
            answered = leaves + machine_.dramLatency + (t.rp + t.rcd + t.cl + t.burst) * dramCycle_ + 3;
            dramReads_ += fetched, opened_ += fetched * traffic.openings;
        }
    } else {
        ++(missing ? l2_.writeMisses : l2_.writeHits);
    }
    if (const double driven = fetched * traffic.writeBacks; driven > 0) {
        channels_ = std::max(channels_, looked) + slot.block.peers * driven * traffic.dramCycles;
        dramWrites_ += driven;
    }
    wheel_.push(static_cast<std::uint64_t>(std::ceil(answered - 1e-9)), EventWheel::Kind::Reply, at);
}

bool MemoryShare::replies(std::uint32_t at) {
    const auto now = static_cast<double>(wheel_.now());
    if (requests_[at].slice != 0 || replyPort_ < now + 1 - 1e-9) {
        if (requests_[at].slice == 0) claim(replyPort_, now, period_);
        return true;
    }
    // Its turn is known; `slice` marks that it has one.
    requests_[at].slice = 1;
    wheel_.push(static_cast<std::uint64_t>(claim(replyPort_, now, period_) + 1e-9), EventWheel::Kind::Reply, at);
    return false;
}

Counters MemoryShare::counts() const {
    Counters out;
    out.l2 = l2_;
    out.networkPackets = packets_;
    const auto whole = [](double count) { return static_cast<std::uint64_t>(std::llround(count)); };
    out.dramReads = whole(dramReads_), out.dramWrites = whole(dramWrites_), out.dramActivations = whole(opened_);
    return out;
}

}  // namespace orrery::gpusim
