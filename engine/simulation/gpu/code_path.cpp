#include "simulation/gpu/code_path.h"

#include <algorithm>

namespace orrery::gpusim {

void LineTags::configure(const GpuGeneration::LineCache& shape, int lineBytes) {
    entries_.clear();
    if (shape.bytes <= 0) return;
    ways_ = static_cast<std::size_t>(std::max(1, shape.ways));
    sets_ = std::max<std::size_t>(1, static_cast<std::size_t>(shape.bytes / lineBytes) / ways_);
    entries_.resize(sets_ * ways_);
}

LineTags::Entry* LineTags::find(std::uint64_t line) {
    if (entries_.empty()) return nullptr;
    Entry* set = setOf(line);
    for (std::size_t way = 0; way < ways_; ++way) {
        if (set[way].line != line) continue;
        set[way].used = ++uses_;
        return &set[way];
    }
    return nullptr;
}

void LineTags::insert(std::uint64_t line, std::uint64_t ready) {
    if (entries_.empty()) return;
    Entry* set = setOf(line);
    Entry* oldest = std::min_element(set, set + ways_, [](const Entry& a, const Entry& b) { return a.used < b.used; });
    *oldest = {line, ready, ++uses_};
}

void CodePath::configure(const GpuGeneration& generation, int schedulers) {
    code_ = generation.code, constants_ = generation.constants;
    l1_.configure(code_.l1, lineBytes), shared_.configure(code_.shared, lineBytes);
    constantL1_.configure(constants_.loads, constantLine);
    lanes_.resize(static_cast<std::size_t>(schedulers));
    for (Lane& lane : lanes_) {
        lane.l0.configure(code_.l0, lineBytes);
        lane.constants.configure(constants_.operands, constantLine);
        lane.ahead.assign(static_cast<std::size_t>(std::max(0, code_.ahead)), {});
    }
}

void CodePath::leave(std::uint64_t line) {
    for (LineTags* tags : {&l1_, &shared_}) {
        if (!tags->find(line)) tags->insert(line, 0);
    }
}

// From the nearest cache that has it. What is under way to a cache arrives there as much earlier as that is nearer.
std::uint64_t CodePath::request(std::uint64_t line, std::uint64_t now, Counters& counts) {
    ++counts.codeRequests;
    const auto nearer = [](std::uint64_t at, int latency) {
        return at > static_cast<unsigned>(latency) ? at - static_cast<unsigned>(latency) : 0;
    };
    if (const auto* here = l1_.find(line)) return std::max(now, here->ready) + static_cast<unsigned>(code_.l1.latency);
    ++counts.codeL1Misses;
    std::uint64_t arrives = 0;
    if (const auto* behind = shared_.find(line)) {
        arrives = std::max(now, behind->ready) + static_cast<unsigned>(code_.shared.latency);
    } else {
        ++counts.codeFromL2;
        arrives = now + static_cast<unsigned>(code_.l2Latency);
        shared_.insert(line, nearer(arrives, code_.shared.latency));
    }
    l1_.insert(line, nearer(arrives, code_.l1.latency));
    return arrives;
}

std::uint64_t CodePath::ask(unsigned scheduler, std::uint64_t line, std::uint64_t last, std::uint64_t now,
                            Counters& counts) {
    Lane& lane = lanes_[scheduler];
    if (const auto* here = lane.l0.find(line)) return here->ready;
    const std::size_t places = lane.ahead.size();
    std::uint64_t at = now, ready = 0;
    if (places > 0 && lane.ahead[line % places].line == line) {
        // Its place is free for another when it has come.
        ready = lane.ahead[line % places].ready;
        at = std::max(at, ready);
        lane.ahead[line % places] = {};
    } else {
        // Another stream begins.
        ready = request(line, at++, counts);
        std::fill(lane.ahead.begin(), lane.ahead.end(), LineTags::Entry{});
        lane.next = line + 1;
    }
    lane.l0.insert(line, ready);
    lane.next = std::max(lane.next, line + 1);
    for (; lane.next <= std::min(last, line + places); ++lane.next) {
        if (lane.l0.find(lane.next)) continue;
        lane.ahead[lane.next % places] = {lane.next, request(lane.next, at++, counts), 0};
    }
    return ready;
}

std::uint64_t CodePath::operand(unsigned scheduler, std::size_t kernel, std::uint32_t address, std::uint64_t now,
                                Counters& counts) {
    LineTags& tags = lanes_[scheduler].constants;
    if (!tags.exists()) return now;
    const std::uint64_t line = constantLineOf(kernel, address);
    if (const auto* here = tags.find(line)) return here->ready;
    ++counts.constantMisses;
    const std::uint64_t ready = now + static_cast<unsigned>(constants_.operands.latency);
    tags.insert(line, ready);
    return ready;
}

unsigned CodePath::loadMiss(std::size_t kernel, std::uint32_t address, std::uint64_t now, Counters& counts) {
    if (!constantL1_.exists()) return 0;
    const std::uint64_t line = constantLineOf(kernel, address);
    if (const auto* here = constantL1_.find(line))
        return here->ready > now ? static_cast<unsigned>(here->ready - now) : 0;
    ++counts.constantMisses;
    constantL1_.insert(line, now + static_cast<unsigned>(constants_.loads.latency));
    return static_cast<unsigned>(constants_.loads.latency);
}

void CodePath::forgetConstants(std::size_t kernel) {
    const auto isOf = [&](std::uint64_t line) { return line >> 32 == kernel; };
    constantL1_.forget(isOf);
    for (Lane& lane : lanes_) lane.constants.forget(isOf);
}

}  // namespace orrery::gpusim
