#include "simulation/systolic/snapshot.h"

#include <algorithm>

namespace orrery::systolic {

namespace {

PeSnapshot outputPe(const FoldPlan& plan, const Fold& fold, std::int64_t local, std::int64_t row, std::int64_t col) {
    PeSnapshot pe;
    if (row >= fold.usedRows || col >= fold.usedCols) return pe;
    const std::int64_t m = fold.row * plan.rows + row;
    const std::int64_t n = fold.col * plan.cols + col;
    const std::int64_t t = local - row - col;
    pe.activity = t < 0 ? PeActivity::Waiting : t < plan.temporal ? PeActivity::Active : PeActivity::Done;
    if (t >= 0) pe.z = {m, n};
    if (pe.activity == PeActivity::Active) {
        pe.a = {m, t};
        pe.b = {t, n};
    }
    return pe;
}

PeSnapshot stationaryPe(const FoldPlan& plan, const Fold& fold, std::int64_t local, std::int64_t row,
                        std::int64_t col) {
    PeSnapshot pe;
    if (col >= fold.usedCols) return pe;
    const bool weightsStay = plan.loadsFilter();
    const std::int64_t across = fold.col * plan.cols + col;
    const auto hold = [&](std::int64_t k) {
        k += fold.row * plan.rows;
        if (weightsStay)
            pe.b = {k, across};
        else
            pe.a = {across, k};
    };
    if (local < plan.rows) {
        // The row that was pushed in `row` cycles ago.
        const std::int64_t k = plan.rows - 1 - (local - row);
        if (local < row || k >= fold.usedRows) {
            if (row < fold.usedRows) pe.activity = PeActivity::Waiting;
            return pe;
        }
        pe.activity = PeActivity::Loading;
        hold(k);
        return pe;
    }
    const std::int64_t t = local - plan.rows - row - col;
    const bool streams = t >= 0 && t < plan.temporal;
    if (streams) pe.z = weightsStay ? Element{t, across} : Element{across, t};
    if (row >= fold.usedRows) {
        if (streams) pe.activity = PeActivity::Passing;
        return pe;
    }
    hold(row);
    pe.activity = streams ? PeActivity::Active : PeActivity::Waiting;
    if (!streams) return pe;
    const std::int64_t k = fold.row * plan.rows + row;
    if (weightsStay)
        pe.a = {t, k};
    else
        pe.b = {k, t};
    return pe;
}

// Cycles × PEs at work in a fold before one of its cycles: sum of activePes.
double workBefore(const FoldPlan& plan, const Fold& fold, std::int64_t local) {
    // Sum over c < x of cellsBefore(c + 1) is the number of (r, j, c): a sum of tetrahedra.
    const auto cumulated = [&](std::int64_t steps) {
        const auto tetrahedron = [](double n) { return n > 0 ? n * (n + 1) * (n + 2) / 6 : 0; };
        const auto x = static_cast<double>(steps);
        const auto u = static_cast<double>(fold.usedRows);
        const auto v = static_cast<double>(fold.usedCols);
        return tetrahedron(x) - tetrahedron(x - u) - tetrahedron(x - v) + tetrahedron(x - u - v);
    };
    const std::int64_t step = local - (plan.dataflow == Dataflow::OutputStationary ? 0 : plan.rows);
    return cumulated(step) - cumulated(step - plan.temporal);
}

}  // namespace

SystolicSnapshot snapshot(const FoldPlan& plan, std::int64_t cycle) {
    SystolicSnapshot out;
    out.cycle = std::clamp<std::int64_t>(cycle, 0, plan.cycles() - 1);
    out.fold = plan.fold(out.cycle / plan.foldCycles);
    out.local = out.cycle % plan.foldCycles;
    out.rows = plan.rows;
    out.cols = plan.cols;
    out.activePes = plan.activePes(out.fold, out.local);
    out.ifmapReads = plan.ifmap(out.fold).at(out.local).count();
    out.filterReads = plan.filter(out.fold).at(out.local).count();
    out.ofmapWrites = plan.ofmap(out.fold).at(out.local).count();
    out.pes.reserve(static_cast<std::size_t>(plan.rows * plan.cols));
    const bool outputs = plan.dataflow == Dataflow::OutputStationary;
    for (std::int64_t row = 0; row < plan.rows; ++row) {
        for (std::int64_t col = 0; col < plan.cols; ++col) {
            out.pes.push_back(outputs ? outputPe(plan, out.fold, out.local, row, col)
                                      : stationaryPe(plan, out.fold, out.local, row, col));
        }
    }
    return out;
}

std::vector<PeActivity> activities(const FoldPlan& plan) {
    const bool outputs = plan.dataflow == Dataflow::OutputStationary;
    const bool partRows = plan.spatialRows % plan.rows != 0, partCols = plan.spatialCols % plan.cols != 0;
    // The skew between corners of the part in use, which is the whole array unless there is one fold of less.
    const std::int64_t skew = std::min(plan.rows, plan.spatialRows) + std::min(plan.cols, plan.spatialCols) - 2;
    std::vector<PeActivity> all{PeActivity::Active};
    if (!outputs) all.push_back(PeActivity::Loading);
    if (skew > 0 || (!outputs && (plan.rows > 1 || plan.cols > 1))) all.push_back(PeActivity::Waiting);
    if (!outputs && partRows) all.push_back(PeActivity::Passing);
    if (outputs && plan.foldCycles > plan.temporal) all.push_back(PeActivity::Done);
    if (partRows || partCols) all.push_back(PeActivity::Idle);
    return all;
}

std::vector<double> utilizationOverTime(const FoldPlan& plan, int points) {
    std::vector<double> out;
    points = static_cast<int>(std::clamp<std::int64_t>(points, 1, plan.cycles()));
    out.reserve(static_cast<std::size_t>(points));
    const auto workTo = [&](std::int64_t cycle) {
        const Fold fold = plan.fold(std::min(cycle / plan.foldCycles, plan.folds() - 1));
        // Folds before this one: four sizes, of which every column of folds has the same ones.
        double work = 0;
        const auto t = static_cast<double>(plan.temporal);
        const auto colWork = static_cast<double>(plan.spatialRows) * t;
        const auto doneCols = static_cast<double>(std::min(plan.spatialCols, fold.col * plan.cols));
        work += colWork * doneCols;
        work += static_cast<double>(fold.row * plan.rows) * static_cast<double>(fold.usedCols) * t;
        return work + workBefore(plan, fold, cycle - fold.begin);
    };
    double before = 0;
    std::int64_t from = 0;
    for (int i = 1; i <= points; ++i) {
        const auto to = static_cast<std::int64_t>(static_cast<double>(plan.cycles()) * i / points);
        const double work = workTo(to);
        const std::int64_t length = std::max<std::int64_t>(1, to - from);
        out.push_back((work - before) / (static_cast<double>(length) * static_cast<double>(plan.rows * plan.cols)));
        before = work;
        from = to;
    }
    return out;
}

}  // namespace orrery::systolic
