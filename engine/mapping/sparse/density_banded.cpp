#include "mapping/sparse/tile_tables.h"

#include <algorithm>
#include <unordered_map>

namespace orrery {

namespace {

/// Nonzeros (r, c) with |r − c| ≤ width in a tile of rows × columns whose first column is `offset` right of its first
/// row.
double inBand(std::int64_t rows, std::int64_t columns, std::int64_t offset, std::int64_t width) {
    double held = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t from = std::max<std::int64_t>(0, r - offset - width);
        const std::int64_t to = std::min(columns, r - offset + width + 1);
        if (to > from) held += static_cast<double>(to - from);
    }
    return held;
}

/// Tiles of equal extent and offset hold the same.
class Counter {
public:
    explicit Counter(std::int64_t width) : width_(width) {}
    double operator()(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
        auto& known = known_[(static_cast<std::uint64_t>(rows) << 32) ^ static_cast<std::uint64_t>(columns)];
        const auto [found, fresh] = known.try_emplace(offset, 0.0);
        if (fresh) found->second = inBand(rows, columns, offset, width_);
        return found->second;
    }

private:
    std::int64_t width_;
    std::unordered_map<std::uint64_t, std::unordered_map<std::int64_t, double>> known_;
};

std::int64_t groups(std::int64_t whole, std::int64_t part) {
    return (whole + part - 1) / part;
}

/// Calls f(first row, rows, first column, columns) for the tiles of a box that the band may touch.
template <class F>
void touched(std::int64_t row0, std::int64_t rows, std::int64_t column0, std::int64_t columns, const TileShape& tile,
             std::int64_t width, F&& f) {
    const std::int64_t high = tile.extents[0], wide = tile.extents[1];
    for (std::int64_t r = 0; r < rows; r += high) {
        const std::int64_t height = std::min(high, rows - r);
        const std::int64_t left = row0 + r - width - column0, right = row0 + r + height - 1 + width - column0;
        if (right < 0 || left >= columns) continue;
        const std::int64_t from = std::max<std::int64_t>(0, left) / wide * wide;
        for (std::int64_t c = from; c <= std::min(right, columns - 1); c += wide)
            f(row0 + r, height, column0 + c, std::min(wide, columns - c));
    }
}

}  // namespace

TileCensus bandedCensus(const DensityModel& model, const TileShape& tile) {
    TileCensus seen;
    const std::int64_t rows = model.tensor.extents[0], columns = model.tensor.extents[1];
    seen.tiles =
        static_cast<double>(groups(rows, tile.extents[0])) * static_cast<double>(groups(columns, tile.extents[1]));
    Counter count(model.bandWidth);
    double found = 0;
    touched(0, rows, 0, columns, tile, model.bandWidth,
            [&](std::int64_t r, std::int64_t height, std::int64_t c, std::int64_t width) {
                const double held = count(height, width, c - r);
                if (held <= 0) return;
                ++seen.tilesOf[held];
                ++found;
                seen.held += held;
            });
    if (seen.tiles > found) seen.tilesOf[0] = seen.tiles - found;
    return seen;
}

PartCensus bandedParts(const DensityModel& model, const TileShape& tile, const TileShape& part) {
    Counter count(model.bandWidth);
    std::map<double, std::pair<double, double>> sums;  // occupancy → parts, of which not empty
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, double> filledOf;
    touched(0, model.tensor.extents[0], 0, model.tensor.extents[1], tile, model.bandWidth,
            [&](std::int64_t r, std::int64_t height, std::int64_t c, std::int64_t width) {
                const double held = count(height, width, c - r);
                if (held <= 0) return;
                const auto [known, fresh] = filledOf.try_emplace({c - r, height, width}, 0.0);
                if (fresh)
                    touched(r, height, c, width, part, model.bandWidth,
                            [&](std::int64_t pr, std::int64_t ph, std::int64_t pc, std::int64_t pw) {
                                known->second += count(ph, pw, pc - pr) > 0;
                            });
                auto& [parts, filled] = sums[held];
                parts += static_cast<double>(groups(height, part.extents[0])) *
                         static_cast<double>(groups(width, part.extents[1]));
                filled += known->second;
            });
    PartCensus seen;
    for (const auto& [held, sum] : sums) seen[held] = 1 - sum.second / sum.first;
    return seen;
}

}  // namespace orrery
