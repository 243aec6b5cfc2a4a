#include "simulation/systolic/operand.h"

namespace orrery::systolic {

namespace {

bool windowsOverhang(const Layer& layer) {
    return (layer.outHeight() - 1) * layer.strideHeight + layer.filterHeight > layer.ifmapHeight ||
           (layer.outWidth() - 1) * layer.strideWidth + layer.filterWidth > layer.ifmapWidth;
}

}  // namespace

bool inputDistinct(const Layer& layer) {
    const bool apart = (layer.outHeight() == 1 || layer.strideHeight >= layer.filterHeight) &&
                       (layer.outWidth() == 1 || layer.strideWidth >= layer.filterWidth);
    return apart && !windowsOverhang(layer);
}

InputWords::InputWords(const Layer& layer, const Product& product)
    : height_(layer.ifmapHeight),
      width_(layer.ifmapWidth),
      words_(layer.ifmapHeight * layer.ifmapWidth * layer.channels),
      overhangs_(windowsOverhang(layer)),
      distinct_(inputDistinct(layer)) {
    if (distinct_) return;
    const std::int64_t outWidth = layer.outWidth();
    const auto add = [&](std::vector<std::int32_t>& words, std::vector<Corner>& corners, std::int64_t row,
                         std::int64_t col, std::int64_t channel) {
        words.push_back(static_cast<std::int32_t>((row * layer.ifmapWidth + col) * layer.channels + channel));
        if (overhangs_) corners.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(col)});
    };
    windowBase_.reserve(static_cast<std::size_t>(product.m));
    for (std::int64_t m = 0; m < product.m; ++m) {
        add(windowBase_, windowCorner_, m / outWidth * layer.strideHeight, m % outWidth * layer.strideWidth, 0);
    }
    tapOffset_.reserve(static_cast<std::size_t>(product.k));
    const bool pruned = product.k < product.denseK;
    for (std::int64_t kept = 0; kept < product.k; ++kept) {
        const std::int64_t k = pruned ? kept / layer.sparseKept * layer.sparseOf + kept % layer.sparseKept : kept;
        const std::int64_t rest = k % (layer.filterWidth * layer.channels);
        add(tapOffset_, tapCorner_, k / (layer.filterWidth * layer.channels), rest / layer.channels,
            rest % layer.channels);
    }
}

std::int64_t FetchOrder::position(std::int64_t tile, std::int64_t row, std::int64_t lane) const {
    const std::int64_t full = height() - tileHeight;  // rows above the last tile
    const std::int64_t y = tile * tileHeight + row;
    if (!diagonal) {
        const std::int64_t above = std::min(y, full) * width + std::max<std::int64_t>(0, y - full) * lastLanes;
        return above + lane;
    }
    const std::int64_t d = y + lane;
    const std::int64_t empty = width - lastLanes;
    std::int64_t before = cellsBefore(d, height(), width) - cellsBefore(d - full - lastLanes, tileHeight, empty);
    // On the diagonal itself lanes ascend; the empty places have lane ≥ lastLanes and lie in the last tile.
    const std::int64_t lowest = std::max<std::int64_t>(0, d - height() + 1);
    before += lane - lowest;
    if (lane > lastLanes) {
        const std::int64_t from = std::max(lastLanes, lowest);
        const std::int64_t to = std::min(lane - 1, d - full);
        before -= std::max<std::int64_t>(0, to - from + 1);
    }
    return before;
}

FetchOrder ifmapOrder(const FoldPlan& plan) {
    if (plan.loadsIfmap()) {
        return {false, plan.spatialRows, plan.colFolds, plan.cols, plan.spatialCols - (plan.colFolds - 1) * plan.cols};
    }
    return {true, plan.temporal, plan.rowFolds, plan.rows, plan.spatialRows - (plan.rowFolds - 1) * plan.rows};
}

FetchOrder filterOrder(const FoldPlan& plan) {
    switch (plan.dataflow) {
        case Dataflow::OutputStationary:
            return {true, plan.temporal, plan.colFolds, plan.cols, plan.spatialCols - (plan.colFolds - 1) * plan.cols};
        case Dataflow::WeightStationary:
            return {false, plan.spatialRows, plan.colFolds, plan.cols,
                    plan.spatialCols - (plan.colFolds - 1) * plan.cols};
        case Dataflow::InputStationary:
            break;
    }
    return {true, plan.temporal, plan.rowFolds, plan.rows, plan.spatialRows - (plan.rowFolds - 1) * plan.rows};
}

}  // namespace orrery::systolic
