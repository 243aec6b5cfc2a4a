// A step of the machine. Its parts, in the order of the clock edges: replies come to SMs; slices and channels; both
// directions of the interconnect; SMs. Within a part every SM, and every channel with its slices, looks at its own
// alone, so members of the crew take them side by side and meet between the parts.

#include "simulation/gpu/gpu.h"

#include <algorithm>
#include <chrono>

namespace orrery::gpusim {

namespace {

// What parts of a step take, about, in cycles of a slice; and from where on a step is worth its barriers.
constexpr std::size_t channelWork = 2, smWork = 4, worthSharing = 24;

}  // namespace

void Gpu::memoryPart(Part& part) {
    std::size_t work = 0;
    if (edges_.core) {
        for (std::size_t seat = part.firstSeat; seat < part.endSeat; ++seat) {
            const std::size_t i = smAt_[seat];
            if (!repliesAt_[i]) {
                if (machine_.idealMemory) repliesAt_[i] = sms_[i].hasReplies();
                continue;
            }
            auto& queue = replies_.output(i);
            sms_[i].receive(queue, core_);
            repliesAt_[i] = !queue.empty() || sms_[i].hasReplies();
            wakes_[seat] = sms_[i].wakesAt();
            ++work;
        }
    }
    const auto per = static_cast<std::size_t>(machine_.slicesPerChannel);
    const std::size_t firstSlice = part.firstChannel * per, endSlice = part.endChannel * per;
    if (edges_.network) {
        for (std::size_t i = firstSlice; i < endSlice; ++i) {
            auto& queue = slices_[i].replies;
            for (int k = 0; k < machine_.sectorsPerCycle && !queue.empty() && replies_.hasRoom(i); ++k) {
                Request* one = queue.take();
                replies_.push(i, one->sm, one);
            }
        }
    }
    if (edges_.dram) {
        for (std::size_t c = part.firstChannel; c < part.endChannel; ++c) {
            DramChannel& one = channels_[c];
            if (one.wakesAt() > dram_ && one.delayedUntil() > core_ && !one.called()) continue;
            one.cycle(dram_, core_, part.memory.data());
            work += channelWork;
        }
    }
    if (edges_.l2) {
        for (std::size_t i = firstSlice; i < endSlice; ++i) {
            Slice& slice = slices_[i];
            if (requestsAt_[i] && slice.takes()) {
                auto& queue = requests_.output(i);
                slice.push(queue.take(), core_);
                requestsAt_[i] = !queue.empty();
            }
            if (slice.wakes(core_) > core_) continue;
            slice.cycle(core_, part.memory.data());
            ++work;
        }
    }
    part.work = work;
}

void Gpu::advanceRequests() {
    for (int i = 0; i < machine_.sectorsPerCycle; ++i) requests_.advance([&](std::size_t o) { requestsAt_[o] = true; });
}

void Gpu::advanceReplies() {
    for (int i = 0; i < machine_.sectorsPerCycle; ++i) replies_.advance([&](std::size_t o) { repliesAt_[o] = true; });
}

void Gpu::smPart(Part& part) {
    for (std::size_t seat = part.firstSeat; seat < part.endSeat; ++seat) {
        if (wakes_[seat] > core_) continue;
        Sm& sm = sms_[smAt_[seat]];
        const std::uint64_t before = sm.finishedBlocks();
        sm.cycle(core_);
        part.finished += sm.finishedBlocks() - before;
        wakes_[seat] = sm.wakesAt();
        part.work += smWork;
    }
}

void Gpu::shared(std::size_t member) {
    memoryPart(parts_[member]);
    if (edges_.network) {
        crew_.meet();
        if (member == 0) advanceRequests();
        if (member == 1) advanceReplies();
    }
    if (!edges_.core) return;
    crew_.meet();
    smPart(parts_[member]);
}

void Gpu::alone() {
    for (Part& part : parts_) memoryPart(part);
    if (edges_.network) advanceRequests(), advanceReplies();
    if (!edges_.core) return;
    for (Part& part : parts_) smPart(part);
}

// Whether the core was among the domains of this step.
bool Gpu::step() {
    const double core = static_cast<double>(core_) * coreStep_, network = static_cast<double>(network_) * networkStep_,
                 l2 = static_cast<double>(l2_) * l2Step_, dram = static_cast<double>(dram_) * dramStep_;
    const double first = std::min({core, network, l2, dram});
    edges_ = {core <= first, network <= first, l2 <= first, dram <= first};
    std::size_t& work = work_[edges_.index()];
    if (parts_.size() > 1 && work >= worthSharing) {
        using Clock = std::chrono::steady_clock;
        const auto begin = Clock::now();
        const bool all = pace_.shares() || options_.sharesAlways;
        all ? crew_.together() : alone();
        if (all && options_.sharedSteps) ++*options_.sharedSteps;
        pace_.took(work, std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
    } else {
        alone();
    }
    work = 0;
    for (const Part& part : parts_) work += part.work;
    network_ += edges_.network, l2_ += edges_.l2, dram_ += edges_.dram, core_ += edges_.core;
    return edges_.core;
}

// Goes on to the next core cycle at which something happens; false: nothing ever will.
bool Gpu::skip() {
    std::uint64_t next = never;
    for (const auto& kernel : kernels_) {
        if (!kernel || kernel->placed == kernel->blocks) continue;
        // Blocks that were refused wait for others to end.
        if (mayPlace_ || kernel->opens >= core_) next = std::min(next, std::max(kernel->opens, core_));
    }
    for (const std::uint64_t wakes : wakes_) next = std::min(next, wakes);
    if (next <= core_ || requests_.busy() || replies_.busy()) return true;
    for (std::size_t i = 0; i < sms_.size(); ++i) {
        if (repliesAt_[i]) return true;
    }
    for (std::size_t i = 0; i < slices_.size(); ++i) {
        if (requestsAt_[i] || !slices_[i].replies.empty()) return true;
        next = std::min(next, slices_[i].wakes(core_));
        if (next <= core_) return true;
    }
    for (const DramChannel& one : channels_) {
        if (one.called()) return true;
        next = std::min(next, one.delayedUntil());
        if (one.wakesAt() != never)
            next =
                std::min(next, static_cast<std::uint64_t>(static_cast<double>(one.wakesAt()) * dramStep_ / coreStep_));
        if (next <= core_) return true;
    }
    if (next == never) return false;
    core_ = next;
    const double after = static_cast<double>(core_ - 1) * coreStep_;
    const auto forward = [&](std::uint64_t& count, double period) {
        auto to = static_cast<std::uint64_t>(after / period);
        while (static_cast<double>(to) * period <= after) ++to;
        count = std::max(count, to);
    };
    forward(network_, networkStep_), forward(l2_, l2Step_), forward(dram_, dramStep_);
    return true;
}

}  // namespace orrery::gpusim
