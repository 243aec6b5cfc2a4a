#include "simulation/cpu/core/interval.h"

#include <algorithm>
#include <bit>

namespace orrery::pipeline {

IntervalModel::IntervalModel(const Machine& machine, const std::vector<BoundOp>& ops)
    : machine_(machine),
      ops_(ops),
      memory_(machine),
      predictor_(machine.predictor, machine.predictorBits),
      size_(std::max(1, machine.reorderBuffer / 2)) {
    for (std::size_t i = 0; i < machine.caches.size(); ++i) latency_[i] = machine.caches[i].latency;
    const double outer = machine.caches.empty() ? 0 : machine.caches.back().latency;
    for (std::size_t i = machine.caches.size(); i < latency_.size(); ++i)
        latency_[i] = outer + machine.memoryLatency * machine.clock;
}

// What a window needs at least, whatever depends on what: slots, ports, entries for misses, lines of memory.
void IntervalModel::closeWindow() {
    double pace = slots_ / std::min({machine_.fetchWidth, machine_.issueWidth, machine_.retireWidth});
    for (const double cycles : load_) pace = std::max(pace, cycles);
    const int entries = machine_.caches.empty() ? 1 << 20 : machine_.caches.front().misses;
    pace = std::max(pace, missCycles_ / entries);
    const auto& counts = memory_.counts();
    const std::uint64_t lines = counts.memoryReads + counts.memoryWrites;
    channelFree_ = std::max(channelFree_, start_) +
                   static_cast<double>(lines - linesBefore_) * 64 * machine_.clock / machine_.memoryBandwidth;
    linesBefore_ = lines;
    // The channel may run behind by what the queues hold back: a window and a half.
    const double behind = channelFree_ - latency_[mostCaches];
    const double next = std::max({start_ + pace, before_, behind});
    before_ = std::max(end_, start_);
    start_ = next;
    end_ = next;
    slots_ = missCycles_ = 0;
    load_.fill(0);
}

void IntervalModel::run(const OpChunk& chunk) {
    for (std::size_t n = 0; n < chunk.size; ++n) {
        const BoundOp& op = ops_[chunk.op[n]];
        slots_ += op.slotCount;
        total_.instructions += op.instruction;
        const auto spread = [&](std::uint16_t ports) {
            // To the port with least to do, as the core does.
            std::size_t best = static_cast<std::size_t>(std::countr_zero(unsigned{ports}));
            for (unsigned left = ports & (ports - 1u); left != 0; left &= left - 1) {
                const auto each = static_cast<std::size_t>(std::countr_zero(left));
                if (load_[each] < load_[best]) best = each;
            }
            load_[best] += op.occupancy;
        };
        if (op.ports) spread(op.ports);
        if (op.dataPorts) spread(op.dataPorts);
        double begin = start_;
        for (std::size_t s = 0; s < (op.kind == OpKind::Store ? 2u : op.from.size()); ++s) {
            if (op.from[s] != NoRegister) begin = std::max(begin, ready_[op.from[s]]);
        }
        double done = begin + op.latency;
        if (op.kind == OpKind::Load || op.kind == OpKind::Store) {
            const std::uint64_t address = chunk.address[n];
            std::uint8_t level = memory_.touch(address, op.kind == OpKind::Store, chunk.op[n]);
            if ((address & 63) + op.bytes > 64)
                level = std::max(level, memory_.touch(address + op.bytes - 1, op.kind == OpKind::Store, chunk.op[n]));
            if (level > 0) missCycles_ += latency_[level];
            if (op.kind == OpKind::Load) {
                if (level > 0) done = begin + op.latency - latency_[0] + latency_[level];
            } else {
                done = begin + 1;
            }
        } else if (op.kind == OpKind::Branch) {
            ++total_.branches;
            if (!predictor_.foretells(chunk.op[n], chunk.taken[n] != 0)) {
                ++total_.mispredicted;
                end_ = std::max(end_, done);
                closeWindow();
                start_ = std::max(start_, done + machine_.frontDepth);
                end_ = start_;
                continue;
            }
        }
        if (op.to != NoRegister) ready_[op.to] = op.merges ? std::max(ready_[op.to], done) : done;
        if (op.to2 != NoRegister) ready_[op.to2] = done;
        end_ = std::max(end_, done);
        if (slots_ >= size_) closeWindow();
    }
    total_.operations += chunk.size;
}

IntervalResult IntervalModel::result() const {
    IntervalResult result = total_;
    result.cycles =
        std::max(end_, start_ + slots_ / machine_.issueWidth) + (total_.operations ? machine_.frontDepth : 0);
    result.memory = memory_.counts();
    return result;
}

}  // namespace orrery::pipeline
