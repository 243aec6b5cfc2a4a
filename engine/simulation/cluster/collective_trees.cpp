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
    const CollectivePhase& phase = its.phases[mine.phase];
    const std::int32_t rank = rankOf_[static_cast<std::size_t>(slotOfStream(stream))];
    const std::int32_t target = rankOfIndex(its, phase, rank, to);
    post(streamAt(its, target, stream), rank, target, as, mine.phase, static_cast<double>(phase.message));
}

void Collectives::treeStep(std::uint32_t stream, bool received) {
    Stream& mine = streams_[stream];
    const Collective& its = collectives_[mine.collective];
    const CollectivePhase& phase = its.phases[mine.phase];
    const std::int64_t index = indexInPhase(its, phase, rankOf_[static_cast<std::size_t>(slotOfStream(stream))]);
    const bool rootLast = (mine.tree & root_first) == 0;
    const TreePlace place = treePlace(index, phase.size, rootLast);
    const SimTime sum = endpoint_ + reduction(phase.message);
    const auto become = [&](TreeState state) {
        mine.tree = static_cast<std::uint8_t>((mine.tree & root_first) | state);
    };
    const auto expect = [&](std::uint32_t from) {
        if (!await(stream, from)) mine.posted = static_cast<std::uint8_t>(mine.posted | 1U << from);
    };
    const auto later = [&](SimTime delay) { queue_.schedule(queue_.now() + delay, StreamReady, stream); };
    // The parent knows this rank as its left or right child.
    const auto asChild = [&] { return treePlace(place.parent, phase.size, rootLast).left == index ? Left : Right; };
    const bool leaf = place.left < 0 && place.right < 0, root = place.parent < 0;
    const auto state = static_cast<TreeState>(mine.tree & state_bits);

    switch (state) {
        case Start:
            if (leaf) {
                become(AtWire);
                later(endpoint_);
            } else if (root) {
                become(WaitOne);
                expect(place.left >= 0 ? Left : Right);
            } else {
                become(WaitBoth);
                expect(Left);
                expect(Right);
            }
            break;
        case AtWire:
            if (received) break;
            become(WaitResult);
            treeSend(stream, place.parent, asChild());
            expect(Parent);
            break;
        case WaitBoth:
            if (!received) break;
            become(WaitOne);
            later(sum);
            break;
        case WaitOne:
            // The first child's sum may be done before the second one has come: it changes nothing.
            if (!received) {
                ++mine.free;
                break;
            }
            become(root ? Passing : Reduce);
            later(sum);
            break;
        case Reduce:
            if (received) break;
            if (mine.free == 0) {
                ++mine.free;
                break;
            }
            become(WaitResult);
            treeSend(stream, place.parent, asChild());
            expect(Parent);
            break;
        case WaitResult:
            if (!received) break;
            become(leaf ? End : Passing);
            later(leaf ? endpoint_ : sum);
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
