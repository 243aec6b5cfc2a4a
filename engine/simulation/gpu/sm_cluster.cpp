// What a block does in its cluster: barriers, copies that all blocks share, and what the others let it know.

#include "simulation/gpu/sm.h"

#include <algorithm>
#include <bit>

namespace orrery::gpusim {

void Sm::join(int slot, const ClusterSeat& seat) {
    Block& block = blocks_[static_cast<std::size_t>(slot)];
    block.seat = seat;
    // A warp without instructions has ended before it began.
    for (auto left = block.place & done_; left; left &= left - 1)
        leaveCluster(static_cast<std::uint8_t>(std::countr_zero(left)));
    if (!seat.sharesCopies) return;
    for (auto left = block.place; left; left &= left - 1)
        warps_[static_cast<std::size_t>(std::countr_zero(left))].peers.assign(seat.members, {});
}

void Sm::hear(const ClusterWord& word) {
    if (empty()) return;
    words_.push_back(word);
    poke(word.at);
}

void Sm::tell(ClusterNote::Kind kind, std::uint8_t id, std::uint32_t count) {
    const Block& block = blocks_[warps_[id].block];
    notes.push_back({kind, block.seat.rank, static_cast<std::uint8_t>(id - std::countr_zero(block.place)),
                     block.seat.cluster, count, block.clusterPhase});
}

void Sm::listen(std::uint64_t now) {
    const auto heard = [&](const ClusterWord& word) {
        if (word.at > now) return false;
        Block& block = blocks_[word.slot];
        // Its block may have ended.
        if (!block.used || block.seat.cluster != word.cluster) return true;
        moved_ = true;
        if (word.kind == ClusterWord::Kind::Released) {
            ++block.clusterPhase;
            for (auto left = block.warps & clusterArrived_; left; left &= left - 1) {
                const auto id = static_cast<std::uint8_t>(std::countr_zero(left));
                const auto bit = std::uint64_t{1} << id;
                clusterArrived_ &= ~bit;
                if (!(clusterWaits_ & bit)) continue;
                clusterWaits_ &= ~bit;
                if (warps_[id].atomics <= 0) await(id, false);
            }
            return true;
        }
        const auto id = static_cast<std::uint8_t>(std::countr_zero(block.place) + word.warp);
        Warp& warp = warps_[id];
        if (!(block.warps >> id & 1) || word.rank >= warp.peers.size()) return true;
        auto& of =
            word.kind == ClusterWord::Kind::Copied ? warp.peers[word.rank].copied : warp.peers[word.rank].reached;
        of = std::max(of, word.count);
        checkGroups(id);
        return true;
    };
    std::erase_if(words_, heard);
}

void Sm::arriveInCluster(std::uint8_t id, bool waits) {
    if (blocks_[warps_[id].block].seat.cluster == noCluster) return;
    const auto bit = std::uint64_t{1} << id;
    if (!waits) {
        if (!(clusterArrived_ & bit)) tell(ClusterNote::Kind::Arrived, id, 0);
        clusterArrived_ |= bit;
    } else if (clusterArrived_ & bit) {
        clusterWaits_ |= bit, waiting_ |= bit;
    }
}

void Sm::leaveCluster(std::uint8_t id) {
    if (blocks_[warps_[id].block].seat.cluster == noCluster) return;
    const auto bit = std::uint64_t{1} << id;
    tell(ClusterNote::Kind::Left, id, (clusterArrived_ & bit) != 0 ? 1 : 0);
    clusterArrived_ &= ~bit, clusterWaits_ &= ~bit;
}

// Groups of copies are told in their order, each once it is closed and there.
void Sm::tellCopies(std::uint8_t id) {
    Warp& warp = warps_[id];
    if (warp.peers.empty()) return;
    const auto closed = static_cast<std::uint32_t>(warp.groups.size() - 1), before = warp.toldCopies;
    while (warp.toldCopies < closed && warp.groups[warp.toldCopies] <= 0) ++warp.toldCopies;
    if (warp.toldCopies > before) tell(ClusterNote::Kind::Copied, id, warp.toldCopies);
}

// A warp goes on when the others' parts of its copies are there too. What it copies next goes where the others may
// still read, so it is one wait ahead of them at most.
bool Sm::peersAreThere(const Warp& warp) const {
    const std::size_t own = blocks_[warp.block].seat.rank;
    for (std::size_t rank = 0; rank < warp.peers.size(); ++rank) {
        if (rank == own) continue;
        const auto& peer = warp.peers[rank];
        if (peer.copied < static_cast<std::uint32_t>(warp.awaitedGroups) ||
            warp.waits > std::uint64_t{peer.reached} + 1)
            return false;
    }
    return true;
}

}  // namespace orrery::gpusim
