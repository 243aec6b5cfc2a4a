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

InputWords::InputWords(const Layer& layer, const FoldPlan& plan, Numbers numbers)
    : height_(layer.ifmapHeight),
      width_(layer.ifmapWidth),
      overhangs_(windowsOverhang(layer)),
      distinct_(inputDistinct(layer)) {
    const std::int64_t pixels = layer.ifmapHeight * layer.ifmapWidth;
    numbers_ = pixels * layer.channels;
    if (distinct_ && numbers == Numbers::Askew) return;
    const Product& product = plan.product;
    const std::int64_t outWidth = layer.outWidth();
    // A block of channels takes that many numbers per pixel, and more pixels by so much as its last channel is set
    // back. Where rows hold the reduction a fold stays within one block; where it streams, long blocks are crossed less
    // often.
    const std::int64_t rows = std::clamp<std::int64_t>(plan.rows, 16, 128);
    std::int64_t block = std::min(plan.dataflow == Dataflow::WeightStationary ? rows : 4 * rows, layer.channels);
    std::int64_t step = outWidth > 1 ? layer.strideWidth : layer.strideHeight * layer.ifmapWidth;
    if (numbers == Numbers::AsAddresses || plan.dataflow == Dataflow::InputStationary || step * block > 2 * pixels) {
        // Loads go straight along the windows, and a small input is not worth the room: no skew.
        block = layer.channels;
        step = 0;
    }
    const std::int64_t blockSlots = (pixels + step * (block - 1)) * block;
    const auto numberOf = [&](std::int64_t pixel, std::int64_t channel) {
        const std::int64_t within = channel % block;
        return channel / block * blockSlots + (pixel + step * within) * block + within;
    };
    numbers_ = (layer.channels + block - 1) / block * blockSlots;
    const auto add = [&](std::vector<std::int32_t>& words, std::vector<Corner>& corners, std::int64_t row,
                         std::int64_t col, std::int64_t channel) {
        words.push_back(static_cast<std::int32_t>(numberOf(row * layer.ifmapWidth + col, channel)));
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
    findStretches(step * block, step * block + 1);
}

void InputWords::findStretches(std::int64_t windowStep, std::int64_t tapStep) {
    const auto find = [](const std::vector<std::int32_t>& words, std::int64_t step, std::vector<std::int32_t>& before,
                         std::vector<std::int32_t>& after) {
        before.assign(words.size(), 1);
        after.assign(words.size(), 1);
        for (std::size_t i = 1; i < words.size(); ++i) {
            if (words[i] - words[i - 1] == step) before[i] = before[i - 1] + 1;
        }
        for (std::size_t i = words.size() - 1; i-- > 0;) {
            if (words[i + 1] - words[i] == step) after[i] = after[i + 1] + 1;
        }
    };
    find(windowBase_, windowStep, windowsBefore_, windowsAfter_);
    find(tapOffset_, tapStep, tapsBefore_, tapsAfter_);
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
        case Dataflow::RowStationary:
            break;
    }
    return {true, plan.temporal, plan.rowFolds, plan.rows, plan.spatialRows - (plan.rowFolds - 1) * plan.rows};
}

}  // namespace orrery::systolic
