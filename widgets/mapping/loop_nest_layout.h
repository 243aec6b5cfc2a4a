#pragma once

// Where the parts of a loop nest stand: plain geometry, tested without a window. Outer levels and loops stand above
// inner ones, as in a program.

#include "mapping/nest_edit.h"
#include "mapping/nest_evaluator.h"

#include <QRect>

#include <optional>
#include <vector>

namespace orrery::ui {

struct LoopRow {
    LoopPlace place;
    QRect box;    ///< the whole line
    QRect bound;  ///< the number that can be turned
};

struct TensorRow {
    std::size_t level = 0, tensor = 0;
    QRect box, keep, name, held, traffic;
};

struct LevelBlock {
    std::size_t level = 0;
    QRect box, head;
};

struct LoopNestLayout {
    std::vector<LevelBlock> levels;  ///< outermost first
    std::vector<LoopRow> loops;      ///< outermost first
    std::vector<TensorRow> tensors;
    QRect units;  ///< the array's picture
    int height = 0;
};

/// `row` is the height of a line, `digit` the width of a digit.
LoopNestLayout layOutNest(const NestProblem& problem, const NestHardware& hardware, const NestMapping& mapping,
                          int width, int row, int digit);

/// The loop of which a box holds the point; none beside them.
std::optional<LoopPlace> loopAt(const LoopNestLayout& layout, const QPoint& point);
/// Where a loop that is dropped at this height would be put: into the level under it, between the loops there.
std::optional<LoopPlace> dropAt(const LoopNestLayout& layout, const NestMapping& mapping, int y);

}  // namespace orrery::ui
