#include "mapping/sparse/formats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

// Of F fibers with S coordinates each, f = F · (1 − P(fiber empty)) are written:
//   UOP   metadata 0                            payload f · (S + 1)
//   CP    metadata f · ⌈S · (1 − P(empty))⌉     payload the same
//   RLE   metadata f · S · (1 − P(empty))       payload the same
//   B     metadata f · S                        payload f · ⌈S · (1 − P(empty))⌉
//   UB    metadata F · S                        payload F · S
// P(empty) is of one coordinate's tile.

namespace orrery {

namespace {

constexpr std::array<std::pair<std::string_view, RankFormat>, 9> names{
    {{"uop", RankFormat::OffsetPairs},
     {"uncompressed-offset-pair", RankFormat::OffsetPairs},
     {"cp", RankFormat::CoordinatePayload},
     {"coordinate-payload", RankFormat::CoordinatePayload},
     {"rle", RankFormat::RunLength},
     {"run-length-encoding", RankFormat::RunLength},
     {"b", RankFormat::Bitmask},
     {"bitmask", RankFormat::Bitmask},
     {"ub", RankFormat::UncompressedBitmask}}};

}  // namespace

std::optional<RankFormat> rankFormat(std::string_view name) {
    std::string lower;
    for (const char c : name) lower += c == '_' ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    for (const auto& [text, format] : names)
        if (text == lower) return format;
    return {};
}

std::string_view toText(RankFormat format) {
    for (const auto& [text, known] : names)
        if (known == format) return text;
    return {};
}

bool compresses(RankFormat format) {
    return format != RankFormat::OffsetPairs && format != RankFormat::UncompressedBitmask;
}

bool TensorFormat::compressed() const {
    return std::any_of(ranks.begin(), ranks.end(), [](const FormatRank& rank) { return compresses(rank.format); });
}

bool TensorFormat::hasMetadata() const {
    // One rank of offsets alone says nothing: every word is at its place.
    return compressed() || ranks.size() > 1 || (ranks.size() == 1 && ranks[0].format != RankFormat::OffsetPairs);
}

RankOccupancy rankOccupancy(RankFormat format, const RankQuery& query, const DensityModel& model,
                            const TileGiven& given) {
    const double all = query.fibers, shape = query.fiberShape;
    if (format == RankFormat::UncompressedBitmask) return {all * shape, all * shape};
    const double written = all * (1 - emptyProbability(model, query.fiber, given));
    if (format == RankFormat::OffsetPairs) return {0, written * (shape + 1)};
    const double filled = shape * (1 - emptyProbability(model, query.coordinate, given));
    if (format == RankFormat::RunLength) return {written * filled, written * filled};
    const double whole = std::ceil(filled);
    if (format == RankFormat::CoordinatePayload) return {written * whole, written * whole};
    return {written * shape, written * whole};
}

void treeOccupancy(const FiberTree& tree, const std::vector<FormatRank>& formats, const DensityModel& model,
                   const TileGiven& given, std::vector<RankOccupancy>& out) {
    out.assign(tree.ranks.size(), {});
    TileShape scalar = given.shape;
    for (std::size_t r = 0; r < scalar.ranks; ++r) scalar.extents[r] = 1;
    const std::size_t kept = tree.innerToOuter ? 0 : tree.ranks.size() - 1;  // takes its loop first, whatever it is
    double fibers = 1;
    for (std::size_t r = tree.ranks.size(); r-- > 0;) {
        const FiberTree::Rank& rank = tree.ranks[r];
        if (rank.fiberShape > 1 || r == kept)
            out[r] = rankOccupancy(formats[r].format,
                                   {fibers, rank.fiberShape, r + 1 == tree.ranks.size() ? given.shape : rank.tile,
                                    r == 0 ? scalar : tree.ranks[r - 1].tile},
                                   model, given);
        fibers *= rank.fiberShape;
    }
    for (RankOccupancy& rank : out)
        if (!rank.empty()) {
            rank.payload = 0;
            break;
        }
}

double metadataBits(const std::vector<RankOccupancy>& occupancy, const std::vector<FormatRank>& formats) {
    double bits = 0;
    for (std::size_t r = 0; r < occupancy.size(); ++r)
        bits += occupancy[r].metadata * formats[r].metadataBits + occupancy[r].payload * formats[r].payloadBits;
    return bits;
}

}  // namespace orrery
