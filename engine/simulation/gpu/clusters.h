#pragma once

// Blocks that run together: a cluster stands on one GPC, all of it at once, and its blocks meet at barriers, read each
// other's shared memory and share copies (CUDA C++ Programming Guide, thread block clusters). SMs tell in their cycle
// what happened (`ClusterNote`); between two cycles the machine passes on what follows (`ClusterWord`), so any number
// of threads gives the same.

#include "simulation/gpu/machine.h"

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace orrery::gpusim {

constexpr std::uint32_t noCluster = std::numeric_limits<std::uint32_t>::max();

/// What a block knows of its cluster.
struct ClusterSeat {
    std::uint32_t cluster = noCluster;
    std::uint8_t rank = 0, members = 1;
    bool sharesCopies = false;  ///< its kernel has copies that go to all of the cluster
};

struct ClusterNote {
    enum class Kind : std::uint8_t {
        Arrived,  ///< a warp, at the barrier
        Left,     ///< a warp has ended; `count` 1: it stood at the barrier
        Copied,   ///< a warp's first `count` groups of copies are there
        Reached,  ///< a warp has come to its `count`th wait for copies
    } kind = Kind::Arrived;
    std::uint8_t rank = 0, warp = 0;  ///< of the block
    std::uint32_t cluster = noCluster, count = 0;
    std::uint32_t phase = 0;  ///< barriers of the cluster that its block has passed
};

struct ClusterWord {
    enum class Kind : std::uint8_t { Released, Copied, Reached } kind = Kind::Released;
    std::uint8_t slot = 0, rank = 0, warp = 0;  ///< of the receiver's SM; of the sender
    std::uint32_t cluster = noCluster, count = 0;
    std::uint64_t at = 0;
};

/// The clusters that run.
class Clusters {
public:
    struct Member {
        int sm = 0, slot = 0;
    };
    bool any() const { return !all_.empty(); }
    std::uint32_t open(int warpsOfBlock) {
        all_[next_].perBlock = static_cast<std::uint32_t>(warpsOfBlock);
        return next_++;
    }
    void add(std::uint32_t cluster, Member member) {
        all_[cluster].members.push_back(member);
        all_[cluster].warps += all_[cluster].perBlock;
    }
    /// Calls `send(sm, word)` for what follows.
    template <class Send>
    void take(const ClusterNote& note, std::uint64_t now, unsigned barrier, Send&& send) {
        constexpr std::uint32_t endless = std::numeric_limits<std::uint32_t>::max();
        const auto found = all_.find(note.cluster);
        // Copies that nobody waited for outlive their cluster.
        if (found == all_.end()) return;
        Cluster& one = found->second;
        const auto word = [&](std::size_t rank, ClusterWord::Kind kind, std::uint32_t count, std::uint64_t at) {
            send(one.members[rank].sm, ClusterWord{kind, static_cast<std::uint8_t>(one.members[rank].slot), note.rank,
                                                   note.warp, note.cluster, count, at});
        };
        const auto toOthers = [&](ClusterWord::Kind kind, std::uint32_t count, std::uint64_t at) {
            for (std::size_t rank = 0; rank < one.members.size(); ++rank) {
                if (rank != note.rank) word(rank, kind, count, at);
            }
        };
        switch (note.kind) {
            case ClusterNote::Kind::Arrived:
                ++one.arrived;
                break;
            case ClusterNote::Kind::Left:
                // What it said at a barrier whose release is under way counts no more.
                --one.warps, one.arrived -= note.phase == one.phase ? note.count : 0;
                toOthers(ClusterWord::Kind::Copied, endless, now + 1);
                toOthers(ClusterWord::Kind::Reached, endless, now + 1);
                break;
            case ClusterNote::Kind::Copied:
                return toOthers(ClusterWord::Kind::Copied, note.count, now + 1);
            case ClusterNote::Kind::Reached:
                return toOthers(ClusterWord::Kind::Reached, note.count, now + barrier);
        }
        if (one.warps == 0) {
            all_.erase(found);
            return;
        }
        if (one.arrived < one.warps) return;
        one.arrived = 0, ++one.phase;
        for (std::size_t rank = 0; rank < one.members.size(); ++rank)
            word(rank, ClusterWord::Kind::Released, 0, now + barrier);
    }

private:
    struct Cluster {
        std::vector<Member> members;
        std::uint32_t warps = 0, perBlock = 0, arrived = 0;  ///< `warps`: that have not ended
        std::uint32_t phase = 0;                             ///< barriers that all have come to
    };
    std::unordered_map<std::uint32_t, Cluster> all_;
    std::uint32_t next_ = 0;
};

}  // namespace orrery::gpusim
