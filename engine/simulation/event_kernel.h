#pragma once

// The clockwork of event-driven simulations: a priority queue of small plain events in integer time. What a tick is
// (a picosecond, a cycle) the simulation says. Events of one tick come out in the order in which they were scheduled,
// so a run is the same on every machine. The queue's memory is kept between runs: in steady state nothing is allocated.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

using SimTime = std::int64_t;  ///< ticks

struct SimEvent {
    SimTime time = 0;
    std::uint64_t order = 0;  ///< of scheduling, over the whole run
    std::uint32_t code = 0;   ///< what happens, in the words of the simulation
    std::uint32_t subject = 0;
};

/// A heap of four children per node: half as deep as a binary one, and a node's children share a cache line or two.
class EventQueue {
public:
    void reserve(std::size_t events) { heap_.reserve(events); }
    /// Forgets all events and starts again at time 0; keeps the memory.
    void clear();

    /// `time` before now() counts as now(): nothing happens in the past.
    void schedule(SimTime time, std::uint32_t code, std::uint32_t subject);
    /// Takes the earliest event and moves now() to it. Not for an empty queue.
    SimEvent pop();

    bool empty() const { return heap_.empty(); }
    std::size_t size() const { return heap_.size(); }
    std::size_t capacity() const { return heap_.capacity(); }
    SimTime now() const { return now_; }
    /// Time of the earliest event. Not for an empty queue.
    SimTime next() const { return heap_.front().time; }
    /// Moves now() on, for simulations whose parts also keep time elsewhere; never beyond the earliest event.
    void advance(SimTime time) { now_ = time > now_ ? time : now_; }
    std::uint64_t scheduled() const { return order_; }

private:
    std::vector<SimEvent> heap_;
    std::uint64_t order_ = 0;
    SimTime now_ = 0;
};

}  // namespace orrery
