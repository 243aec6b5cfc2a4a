#pragma once

// Which of many rectangles touch an area: a uniform grid, made once. Plain geometry.

#include <QRectF>

#include <cstdint>
#include <utility>
#include <vector>

namespace orrery::ui {

class GridIndex {
public:
    using Part = std::pair<std::int32_t, QRectF>;  ///< an id and a rectangle that it covers; ids may have several

    GridIndex() = default;
    /// `count`: ids are 0 … count-1. Linear in parts and in the cells that they cover.
    GridIndex(std::size_t count, const std::vector<Part>& parts);

    /// Ids whose cells touch the area, ascending, each once. May include near misses, never leaves one out.
    std::vector<std::int32_t> in(const QRectF& area) const;

private:
    struct Cells {
        int left, top, right, bottom;
    };
    Cells cellsOf(const QRectF& area) const;

    std::size_t count_ = 0;
    QRectF bounds_;
    double cell_ = 1;
    int columns_ = 0, rows_ = 0;
    std::vector<std::uint32_t> begin_;  ///< per cell, into ids_
    std::vector<std::int32_t> ids_;
};

}  // namespace orrery::ui
