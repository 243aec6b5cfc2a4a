#include "mapping/nest_chain.h"

#include <cmath>

namespace orrery::nest {
namespace {

// One tensor's column of levels.
struct Column {
    std::array<double, maxLevels> accesses, delivered, links, fanOut;
    std::array<double, maxLevels> partition, share, neighbourReads{}, neighbourFills{};
    std::array<bool, maxLevels> kept;
};

// Words of the tensor that ever pass through one instance. The outermost level holds all; each level inside gets the
// part that its tile is of what all its siblings hold together. Whole words, as the original divides.
void partitions(const Traffic& traffic, std::size_t levels, std::size_t tensor, Column& column) {
    double words = traffic.tile[levels - 1][tensor];
    column.partition[levels - 1] = words;
    for (std::size_t l = levels - 1; l-- > 0;) {
        const double together = traffic.shared[l][tensor];
        if (together > 0) {
            words =
                std::floor(static_cast<double>(static_cast<long double>(words) * traffic.tile[l][tensor] / together));
        }
        column.partition[l] = words;
    }
}

// A level that passes the tensor by is asked as often as it would have asked itself, and asks its parent as often.
void passBy(std::size_t levels, Column& column) {
    for (std::size_t l = 0; l + 1 < levels; ++l) {
        if (column.kept[l]) continue;
        const double all = column.accesses[l] * column.fanOut[l + 1];
        const double factor = column.delivered[l + 1] > 0 ? all / column.delivered[l + 1] : 0;
        column.accesses[l + 1] = column.delivered[l + 1] > 0 ? column.accesses[l + 1] * factor : all;
        column.delivered[l + 1] = all;
        column.links[l + 1] = 0;
    }
}

}  // namespace

void countTensor(const Frame& frame, const FlatNest& flat, const Traffic& traffic, const NestMapping& mapping,
                 std::size_t tensor, NestCounts& counts) {
    const std::size_t levels = flat.levels;
    Column column;
    std::size_t outermost = levels;
    for (std::size_t l = 0; l < levels; ++l) {
        const Flow& flow = traffic.flow[l][tensor];
        column.accesses[l] = flow.accesses;
        column.delivered[l] = flow.delivered;
        column.links[l] = flow.links;
        column.fanOut[l] = static_cast<double>(flat.fanOutX[l] * flat.fanOutY[l]);
        column.kept[l] = (mapping.levels[l].keeps >> tensor & 1u) != 0;
        if (column.kept[l]) outermost = l;
    }
    partitions(traffic, levels, tensor, column);
    for (std::size_t l = 0; l + 1 < levels; ++l) column.share[l] = column.delivered[l + 1] / column.fanOut[l + 1];
    passBy(levels, column);
    for (std::size_t l = outermost; l > 0; --l) {
        if (column.links[l] <= 0) continue;
        // Links end at a level that keeps the tensor: passing by has cleared the others.
        const double each = std::floor(column.links[l] / static_cast<double>(flat.instances[l - 1]));
        column.neighbourReads[l - 1] += each;
        column.neighbourFills[l - 1] += each;
    }
    for (std::size_t l = 0; l < levels; ++l) {
        TensorCounts& at = counts.levels[l].tensors[tensor];
        at = {};
        at.kept = column.kept[l];
        at.instances = static_cast<double>(flat.instances[l]);
        if (!column.kept[l]) continue;
        at.tile = traffic.tile[l][tensor];
        at.partition = column.partition[l];
        at.linkTransfers = column.links[l];
        const double share = l == outermost ? 0 : column.share[l];
        const double asked = column.accesses[l] + column.neighbourReads[l];
        if (frame.written[tensor]) {
            // The first value of every result is written without reading one.
            at.updates = std::round(column.accesses[l]);
            at.reads = std::max(0.0, std::round(asked - column.partition[l]));
            at.temporalReductions = at.reads;
            const double fills = share + column.neighbourFills[l];
            at.fills = l == outermost ? std::round(fills) : std::max(0.0, std::round(fills - column.partition[l]));
        } else {
            at.reads = std::round(asked);
            at.fills = std::floor(share + column.neighbourFills[l] + 1e-9);
        }
    }
}

}  // namespace orrery::nest
