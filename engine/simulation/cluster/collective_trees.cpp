// An all-reduce over one of two binary trees: sums go up to the root, the result comes down. Chunks take turns between
// the trees, so that every rank is a leaf in one of them.

#include "simulation/cluster/collectives.h"

namespace orrery {

namespace {
enum TreeState : std::uint8_t { Start, AtWire, WaitBoth, WaitOne, Reduce, WaitResult, Passing, End };
constexpr std::uint8_t state_bits = 0x7F, root_first = 0x80;
enum From : std::uint32_t { Parent = 0, Left = 1, Right = 2 };
}  // namespace

void Collectives::treeSend(std::uint32_t stream, std::int64_t to, std::uint32_t as) {
    const Stream& mine = streams_[stream];
    const Collective& its = collectives_[mine.collective];
    const CollectivePhase& phase = phaseOf(its, stream);
    const std::int32_t rank = rankOf_[static_cast<std::size_t>(slotOfStream(stream))];
    const std::int32_t target = rankOfIndex(its, phase, rank, to, stream);
    post(streamAt(its, target, stream), rank, target, as, mine.phase, static_cast<double>(phase.message));
}

void Collectives::treeExpect(std::uint32_t stream, std::uint32_t from) {
    if (await(stream, from)) return;
    Stream& mine = streams_[stream];
    mine.posted = static_cast<std::uint8_t>(mine.posted | 1U << from);
}

void Collectives::treeBecome(std::uint32_t stream, std::uint8_t state, SimTime delay) {
    Stream& mine = streams_[stream];
    mine.tree = static_cast<std::uint8_t>((mine.tree & root_first) | state);
    if (delay >= 0) queue_.schedule(queue_.now() + delay, StreamReady, stream);
}

void Collectives::treeStep(std::uint32_t stream, bool received) {
    const Stream& mine = streams_[stream];
    const Collective& its = collectives_[mine.collective];
    const CollectivePhase& phase = phaseOf(its, stream);
    const std::int64_t index =
        indexInPhase(its, phase, rankOf_[static_cast<std::size_t>(slotOfStream(stream))], stream);
    const bool rootLast = (mine.tree & root_first) == 0;
    const TreePlace place = treePlace(index, phase.size, rootLast);
    const SimTime sum = endpoint_ + reduction(phase.message);
    if ((mine.tree & state_bits) >= WaitResult) return treeDown(stream, received, place, sum);
    // The parent knows this rank as its left or right child.
    const bool left = place.parent >= 0 && treePlace(place.parent, phase.size, rootLast).left == index;
    treeUp(stream, received, place, sum, left ? Left : Right);
}

void Collectives::treeUp(std::uint32_t stream, bool received, const TreePlace& place, SimTime sum,
                         std::uint32_t asChild) {
    Stream& mine = streams_[stream];
    const bool leaf = place.left < 0 && place.right < 0, root = place.parent < 0;
    const auto handUp = [&] {
        treeBecome(stream, WaitResult);
        treeSend(stream, place.parent, asChild);
        treeExpect(stream, Parent);
    };
    switch (mine.tree & state_bits) {
        case Start:
            if (leaf) {
                treeBecome(stream, AtWire, endpoint_);
            } else if (root) {
                treeBecome(stream, WaitOne);
                treeExpect(stream, place.left >= 0 ? Left : Right);
            } else {
                treeBecome(stream, WaitBoth);
                treeExpect(stream, Left);
                treeExpect(stream, Right);
            }
            break;
        case AtWire:
            if (!received) handUp();
            break;
        case WaitBoth:
            if (received) treeBecome(stream, WaitOne, sum);
            break;
        case WaitOne:
            // The first child's sum may be done before the second one has come: it changes nothing.
            if (received)
                treeBecome(stream, root ? Passing : Reduce, sum);
            else
                ++mine.free;
            break;
        case Reduce:
            if (received) break;
            if (mine.free == 0)
                ++mine.free;
            else
                handUp();
            break;
    }
}

void Collectives::treeDown(std::uint32_t stream, bool received, const TreePlace& place, SimTime sum) {
    const bool leaf = place.left < 0 && place.right < 0;
    switch (streams_[stream].tree & state_bits) {
        case WaitResult:
            if (received) treeBecome(stream, leaf ? End : Passing, leaf ? endpoint_ : sum);
            break;
        case Passing:
            if (received) break;
            if (place.left >= 0) treeSend(stream, place.left, Parent);
            if (place.right >= 0) treeSend(stream, place.right, Parent);
            phaseDone(stream);
            break;
        case End:
            if (!received) phaseDone(stream);
            break;
    }
}

}  // namespace orrery
