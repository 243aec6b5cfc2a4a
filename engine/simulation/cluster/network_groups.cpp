#include "simulation/cluster/network_groups.h"

#include <algorithm>

namespace orrery {

int dimensionBetween(const std::vector<FabricDimension>& dimensions, std::int64_t a, std::int64_t b) {
    int found = -1;
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
        const std::int64_t size = dimensions[d].size;
        if (a % size != b % size) {
            if (found >= 0) return -2;
            found = static_cast<int>(d);
        }
        a /= size;
        b /= size;
    }
    return found;
}

namespace {

// The dimension, where it has no neighbours; -1 else.
int plainDimension(const std::vector<FabricDimension>& dimensions, std::int64_t a, std::int64_t b) {
    const int d = dimensionBetween(dimensions, a, b);
    if (d < 0) return -1;
    const FabricDimension& one = dimensions[static_cast<std::size_t>(d)];
    const bool plain = !one.routes && one.shape != TopologyShape::Ring;
    return plain ? d : -1;
}

}  // namespace

bool alikeApart(const std::vector<FabricDimension>& dimensions, std::int64_t first, std::int64_t count,
                std::int64_t apart) {
    const int d = plainDimension(dimensions, first, first + apart);
    if (d < 0) return false;
    for (std::int64_t r = first + 1; r < first + count; ++r)
        if (plainDimension(dimensions, r, r + apart) != d) return false;
    return true;
}

int ringDimension(const std::vector<FabricDimension>& dimensions, std::span<const std::int32_t> members) {
    int d = -1;
    for (std::size_t m = 0; m < members.size(); ++m) {
        const int mine = plainDimension(dimensions, members[m], members[(m + 1) % members.size()]);
        if (mine < 0 || (d >= 0 && mine != d)) return -1;
        d = mine;
    }
    return d;
}

bool ringsAlike(const std::vector<FabricDimension>& dimensions, std::int64_t first, std::int64_t count,
                std::int64_t size, std::int64_t stride) {
    if (size < 2) return true;
    int d = -1;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t member = i / stride % size, next = i + ((member + 1) % size - member) * stride;
        const int mine = plainDimension(dimensions, first + i, first + next);
        if (mine < 0 || (d >= 0 && mine != d)) return false;
        d = mine;
    }
    return true;
}

std::int32_t blockOf(const std::vector<FabricDimension>& dimensions, std::span<const std::int32_t> members) {
    std::int64_t stride = 1, inner = 1;
    for (const FabricDimension& one : dimensions) {
        for (const std::int32_t member : members)
            if (member / stride % one.size != members.front() / stride % one.size) inner = stride;
        stride *= one.size;
    }
    std::size_t block = 1;
    while (block < members.size() && members[block] / inner == members.front() / inner) ++block;
    if (block == members.size() || members.size() % block != 0) return 1;
    for (std::size_t m = 0; m < members.size(); ++m)
        if (members[m] / inner != members[m / block * block] / inner) return 1;
    return static_cast<std::int32_t>(block);
}

double ringMessages(TraceCollective op, std::int64_t size) {
    const auto others = static_cast<double>(size - 1);
    return op == TraceCollective::AllReduce || op == TraceCollective::Barrier ? 2 * others : others;
}

}  // namespace orrery
