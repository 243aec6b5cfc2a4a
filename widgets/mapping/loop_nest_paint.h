#pragma once

#include "widgets/mapping/loop_nest_layout.h"

#include <QString>

class QPainter;

namespace orrery::ui {

struct LoopNestPicture {
    const NestProblem& problem;
    const NestHardware& hardware;
    const NestMapping& mapping;
    const LoopNestLayout& layout;
    const NestCounts* counts = nullptr;  ///< null: none known
    bool stale = false;                  ///< counts are of the last mapping that fitted
    QString refusal;                     ///< why the mapping does not fit
    std::optional<LoopPlace> current, hovered, dragged, drop;
    bool focused = false;
};

/// Paints in the coordinates of the layout; `visible` of them.
void paintNest(QPainter& painter, const LoopNestPicture& picture, const QRect& visible);
/// `for K in 0…16, across columns`.
QString loopText(const NestProblem& problem, const NestLoop& loop);
/// `12,544 words`, with the share of the capacity where there is one.
QString heldText(const NestHardware& hardware, const TensorCounts& counts, std::size_t level);
QString trafficText(const TensorCounts& counts);

}  // namespace orrery::ui
