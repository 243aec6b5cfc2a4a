#pragma once

// Edges across frames, cut into segments of one level each.

#include "widgets/graph/layered_layout.h"
#include "widgets/graph/layered_level.h"

#include <utility>
#include <vector>

namespace orrery::ui::layered {

struct Cuts {
    struct Piece {
        std::int32_t level = 0, segment = 0;
    };
    std::vector<Level> levels;                       ///< 0: outside all frames; frame + 1: inside that frame
    std::vector<std::vector<std::int32_t>> nodeAt;   ///< per level and item: node, -1: none
    std::vector<std::vector<std::int32_t>> frameAt;  ///< per level and item: frame, -1: none; a port has neither
    std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> ports;  ///< per level and segment: items inside the
                                                                            ///< frames that it joins, -1: no frame
    std::vector<std::vector<Piece>> pieces;  ///< per edge, in its direction; none for a loop
    std::vector<char> upwards;               ///< per edge: drawn against the layers
};

/// `sizes`: of nodes, as drawn from top to bottom. Empty frames get no item.
Cuts cut(const LayoutGraph& graph, const std::vector<QSizeF>& sizes);

}  // namespace orrery::ui::layered
