#include "widgets/mapping/loop_nest_layout.h"

#include <algorithm>

namespace orrery::ui {

namespace {
constexpr int gap = 8;
constexpr int picture = 96;  ///< side of the array's picture
}  // namespace

LoopNestLayout layOutNest(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping,
                          int width, int row, int digit) {
    LoopNestLayout layout;
    // Where there is little room the loops keep theirs: numbers have tool tips.
    const int left = std::max(width * 9 / 20, std::min(27 * digit, width * 11 / 20));
    std::size_t deepest = 1;
    for (const LevelMapping& level : mapping.levels) deepest += level.loops.size();
    const int step = std::clamp((left - 24 * digit) / static_cast<int>(deepest), 2, gap * 3 / 2);
    const int right = width - gap;
    const int nameWidth = std::min(12 * digit, (right - left) * 3 / 10);
    const int barsWidth = right - left - row - nameWidth - 3 * gap;
    int y = gap;
    int depth = 0;
    for (std::size_t level = hardware.levels.size(); level-- > 0;) {
        const int top = y;
        LevelBlock block{level, {}, QRect(gap, y, width - 2 * gap, row)};
        y += row;
        int line = y;
        const auto& loops = mapping.levels[level].loops;
        for (std::size_t index = loops.size(); index-- > 0;) {
            const int indent = 2 * gap + std::min(depth, 20) * step;
            LoopRow loop{{level, index}, QRect(indent, line, left - indent - gap, row), {}};
            // `for K in 0…` and then the number.
            const int name = static_cast<int>(problem.dimensions[loops[index].dimension].size());
            loop.bound = QRect(indent + (10 + name) * digit, line, 8 * digit, row);
            layout.loops.push_back(loop);
            line += row;
            ++depth;
        }
        int tensorLine = y;
        for (std::size_t tensor = 0; tensor < problem.tensors.size(); ++tensor) {
            TensorRow what{level, tensor, QRect(left, tensorLine, right - left, row), {}, {}, {}, {}};
            what.keep = QRect(left, tensorLine + (row - digit * 2) / 2, digit * 2, digit * 2);
            what.name = QRect(left + row, tensorLine, nameWidth, row);
            what.held = QRect(what.name.right() + gap, tensorLine, barsWidth / 2, row);
            what.traffic = QRect(what.held.right() + gap, tensorLine, barsWidth / 2, row);
            layout.tensors.push_back(what);
            tensorLine += row;
        }
        y = std::max({line, tensorLine, y + row}) + gap / 2;
        block.box = QRect(gap, top, width - 2 * gap, y - top);
        layout.levels.push_back(block);
        y += gap / 2;
    }
    layout.units = QRect(gap, y, width - 2 * gap, picture + row);
    layout.height = layout.units.bottom() + gap;
    return layout;
}

std::optional<LoopPlace> loopAt(const LoopNestLayout& layout, const QPoint& point) {
    for (const LoopRow& loop : layout.loops) {
        if (loop.box.contains(point)) return loop.place;
    }
    return std::nullopt;
}

std::optional<LoopPlace> dropAt(const LoopNestLayout& layout, const NestMapping& mapping, int y) {
    for (const LevelBlock& block : layout.levels) {
        if (y < block.box.top() || y > block.box.bottom()) continue;
        // Rows go from outer to inner, indices the other way.
        std::size_t index = mapping.levels[block.level].loops.size();
        for (const LoopRow& loop : layout.loops) {
            if (loop.place.level == block.level && y > loop.box.center().y()) index = loop.place.index;
        }
        return LoopPlace{block.level, index};
    }
    return std::nullopt;
}

}  // namespace orrery::ui
