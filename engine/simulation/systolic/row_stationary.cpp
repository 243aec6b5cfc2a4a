#include "simulation/systolic/row_stationary.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::systolic {

namespace {

std::int64_t times(std::int64_t extent, std::int64_t step) {
    return (extent + step - 1) / step;
}

/// Multiplications before a cycle of the run, exactly.
double workBefore(const RowPlan& plan, std::int64_t cycle) {
    const Layer& layer = plan.layer;
    const std::int64_t index = std::min(cycle / plan.passCycles, plan.passes() - 1);
    const Fold pass = plan.pass(index);
    const auto outRows = static_cast<double>(std::min(layer.outHeight(), plan.strip(index) * plan.cols));
    const auto columns = static_cast<double>(std::min(plan.cols, layer.outHeight() - plan.strip(index) * plan.cols));
    const double row = static_cast<double>(layer.outWidth() * layer.filterWidth);
    const double set = row * static_cast<double>(layer.filterHeight);
    double work = set * outRows * static_cast<double>(layer.filters * layer.channels);
    work += set * columns * static_cast<double>(pass.col * layer.channels + pass.row * plan.sets);
    const std::int64_t local = cycle - pass.begin;
    for (std::int64_t r = 0; r < layer.filterHeight; ++r) {
        const std::int64_t begun = local - (layer.filterHeight - 1 - r);
        work += static_cast<double>(std::clamp<std::int64_t>(begun, 0, static_cast<std::int64_t>(row))) * columns *
                static_cast<double>(pass.usedRows / layer.filterHeight);
    }
    return work;
}

}  // namespace

Fold RowPlan::pass(std::int64_t index) const {
    Fold pass;
    pass.index = index;
    pass.row = index % groups;
    pass.col = index / groups % layer.filters;
    pass.usedRows = std::min(sets, layer.channels - pass.row * sets) * layer.filterHeight;
    pass.usedCols = std::min(cols, layer.outHeight() - strip(index) * cols);
    pass.begin = index * passCycles;
    return pass;
}

Expected<RowPlan> planRows(std::int64_t rows, std::int64_t cols, const Layer& layer) {
    Array array;
    array.rows = rows;
    array.cols = cols;
    if (auto checked = planFolds(array, layer); !checked) return Unexpected(checked.error());
    if (layer.filterHeight > rows)
        return fail("systolic.filter-rows",
                    fmt::format("the filter has {} rows, the array {}", layer.filterHeight, rows),
                    "a filter of no more rows than the array", "give the array more rows");
    RowPlan plan;
    plan.layer = layer;
    plan.rows = rows;
    plan.cols = cols;
    plan.sets = std::min(rows / layer.filterHeight, layer.channels);
    plan.strips = times(layer.outHeight(), cols);
    plan.groups = times(layer.channels, plan.sets);
    plan.passCycles = layer.outWidth() * layer.filterWidth + layer.filterHeight - 1;
    const double cycles = static_cast<double>(plan.strips) * static_cast<double>(layer.filters) *
                          static_cast<double>(plan.groups) * static_cast<double>(plan.passCycles);
    constexpr double most = 4e18;  // below 2^62
    if (cycles > most)
        return fail("systolic.too-long", "the layer takes more cycles than can be counted", "a smaller layer",
                    "choose fewer filters or channels");
    return plan;
}

SystolicSnapshot snapshot(const RowPlan& plan, std::int64_t cycle) {
    const Layer& layer = plan.layer;
    SystolicSnapshot shot;
    shot.cycle = std::clamp<std::int64_t>(cycle, 0, plan.cycles() - 1);
    shot.fold = plan.pass(shot.cycle / plan.passCycles);
    shot.local = shot.cycle - shot.fold.begin;
    shot.rows = plan.rows;
    shot.cols = plan.cols;
    shot.pes.resize(static_cast<std::size_t>(plan.rows * plan.cols));
    const std::int64_t length = layer.outWidth() * layer.filterWidth;
    const std::int64_t firstRow = plan.strip(shot.fold.index) * plan.cols;
    for (std::int64_t row = 0; row < shot.fold.usedRows; ++row) {
        const std::int64_t r = row % layer.filterHeight;
        const std::int64_t step = shot.local - (layer.filterHeight - 1 - r);
        for (std::int64_t col = 0; col < shot.fold.usedCols; ++col) {
            PeSnapshot& pe = shot.pes[static_cast<std::size_t>(row * plan.cols + col)];
            const std::int64_t out = firstRow + col, in = layer.strideHeight * out + r;
            if (step < 0 || step >= length) {
                pe.activity = step < 0 ? PeActivity::Waiting : PeActivity::Done;
                pe.b = {r, 0};  // the row that stays
                continue;
            }
            const std::int64_t x = step / layer.filterWidth, k = step % layer.filterWidth;
            pe.activity = PeActivity::Active;
            pe.a = {in, layer.strideWidth * x + k};
            pe.b = {r, k};
            pe.z = {out, x};
            ++shot.activePes;
        }
    }
    return shot;
}

std::vector<PeActivity> activities(const RowPlan& plan) {
    std::vector<PeActivity> all{PeActivity::Active};
    // Rows of one filter begin and end one after another.
    if (plan.layer.filterHeight > 1) all.insert(all.end(), {PeActivity::Waiting, PeActivity::Done});
    if (plan.sets * plan.layer.filterHeight < plan.rows || plan.layer.channels % plan.sets != 0 ||
        plan.layer.outHeight() % plan.cols != 0)
        all.push_back(PeActivity::Idle);
    return all;
}

std::vector<double> utilizationOverTime(const RowPlan& plan, int points) {
    points = static_cast<int>(std::clamp<std::int64_t>(points, 1, plan.cycles()));
    std::vector<double> shares;
    double before = 0;
    std::int64_t from = 0;
    for (int i = 1; i <= points; ++i) {
        const auto to = static_cast<std::int64_t>(static_cast<double>(plan.cycles()) * i / points);
        const double work = workBefore(plan, to);
        const auto length = static_cast<double>(std::max<std::int64_t>(1, to - from));
        shares.push_back((work - before) / (length * static_cast<double>(plan.rows * plan.cols)));
        before = work;
        from = to;
    }
    return shares;
}

}  // namespace orrery::systolic
