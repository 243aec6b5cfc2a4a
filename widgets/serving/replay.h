#pragma once

// A finished run at any moment of its time, forwards and backwards: what each replica computes, who waits, what the
// cache holds. Read from the run's log of iterations, so that playing it costs no simulation.

#include "widgets/serving/serving_run.h"

#include <span>

namespace orrery::ui {

class Replay {
public:
    Replay() = default;
    explicit Replay(ServingRunPtr run);

    struct Member {
        RequestIndex request = no_request;
        std::int32_t tokens = 0;
        bool prompt = false;
    };
    struct ReplicaAt {
        int batch = -1;     ///< of the log, the newest that has begun; −1: none yet
        bool busy = false;  ///< it is still under way
        double share = 0;   ///< of its time that has passed
        std::vector<Member> members;
        std::vector<RequestIndex> waiting;   ///< that have never been scheduled, oldest first
        std::vector<RequestIndex> arriving;  ///< whose KV cache is on its way here from a prefill replica
        std::int32_t waitingCount = 0;       ///< with those that were preempted
        std::int32_t preempted = 0;          ///< when this iteration was made
        std::int64_t usedBlocks = 0, totalBlocks = 0;
    };
    const ServingRunPtr& run() const { return run_; }
    bool hasMembers() const { return run_ && !run_->result.batches.memberBegin.empty(); }
    std::size_t replicaCount() const { return batches_.size(); }
    /// `sequences`: lists members and those who wait, at most that many of each.
    ReplicaAt at(std::size_t replica, SimTime time, std::size_t sequences = 512) const;
    /// Begin of the next iteration after `time` on any replica; of the one before if `backwards`. `time` if none.
    SimTime neighbour(SimTime time, bool backwards) const;
    SimTime end() const { return run_ ? run_->result.end : 0; }

private:
    struct Transfer {
        SimTime begin = 0, end = 0;
        RequestIndex request = no_request;
    };
    void readEvents(std::vector<std::int32_t>& home);

    ServingRunPtr run_;
    std::vector<std::vector<std::uint32_t>> batches_;  ///< per replica, by begin
    std::vector<std::vector<RequestIndex>> requests_;  ///< per replica, by arrival
    std::vector<std::vector<Transfer>> transfers_;     ///< per replica that receives, by begin
    std::vector<SimTime> longestWait_;                 ///< per replica: how far back one may still be waiting
    std::vector<SimTime> begins_;                      ///< of all iterations, sorted
};

}  // namespace orrery::ui
