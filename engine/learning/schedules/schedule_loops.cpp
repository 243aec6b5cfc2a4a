#include "learning/schedules/schedule_loops.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// The names that TVM's templates give to splits of a loop.
LoopRole roleOf(std::string_view name, const TunedRow& row, bool& known) {
    known = true;
    if (row.work.product) {
        const bool swapped = row.task.find("large_batch") != row.task.npos;  // there tile_x splits the rows
        if (name == "tile_y") return swapped ? Outputs : Rows;
        if (name == "tile_x") return swapped ? Rows : Outputs;
        if (name == "tile_k") return Reduction;
        known = false;
        return Rows;
    }
    for (const auto& [word, role] : {std::pair<std::string_view, LoopRole>{"tile_y", Rows},
                                     {"tile_oh", Rows},
                                     {"tile_h", Rows},
                                     {"block_oh", Rows},
                                     {"tile_x", Columns},
                                     {"tile_ow", Columns},
                                     {"tile_w", Columns},
                                     {"block_ow", Columns},
                                     {"tile_f", Outputs},
                                     {"tile_co", Outputs},
                                     {"tile_oc", Outputs},
                                     {"tile_fc", Outputs},
                                     {"tile_c", Outputs},
                                     {"tile_rc", Reduction},
                                     {"tile_rcc", Reduction},
                                     {"tile_ic", Reduction},
                                     {"tile_ci", Reduction}}) {
        if (name == word) return role;
    }
    known = false;
    return Rows;
}

// −1 is what remains of the extent.
LoopSplit splitOf(const std::vector<double>& parts, double extent) {
    LoopSplit split;
    split.count = std::min<std::size_t>(parts.size(), 4);
    double product = 1;
    for (const double each : parts) product *= each > 0 ? each : 1;
    for (std::size_t i = 0; i < split.count; ++i) {
        const double part = parts[parts.size() - 1 - i];
        split.parts[3 - i] = part > 0 ? part : std::max(1.0, std::ceil(extent / product));
    }
    return split;
}

bool onGpu(std::string_view task) {
    for (const std::string_view word : {".cuda", ".gpu", ".image2d", ".mali", ".intel_graphics"})
        if (task.find(word) != task.npos) return true;
    return false;
}

constexpr double warpThreads = 32, sharedOfAll = 65536, usualWarps = 64;

}  // namespace

ScheduleLoops loopsOf(const TunedRow& row) {
    const TensorWork& w = row.work;
    const std::array<double, loopRoles> extents{w.rows, w.columns, w.outputs, w.inputs};
    ScheduleLoops loops;
    for (std::size_t i = 0; i < loopRoles; ++i) loops.splits[i] = splitOf({-1}, extents[i]);
    for (const ScheduleKnob& knob : row.knobs) {
        bool known = false;
        const LoopRole role = roleOf(knob.name, row, known);
        if (known && !knob.parts.empty()) loops.splits[role] = splitOf(knob.parts, extents[role]);
        if (knob.name == "auto_unroll_max_step" && !knob.parts.empty()) loops.unroll = knob.parts[0];
        if (knob.name == "unroll_explicit" && !knob.parts.empty()) loops.explicitly = knob.parts[0];
    }
    loops.gpu = onGpu(row.task);
    countLoops(row, loops);
    return loops;
}

void countLoops(const TunedRow& row, ScheduleLoops& loops) {
    const TensorWork& w = row.work;
    const LoopSplit &r = loops.splits[Rows], &c = loops.splits[Columns], &o = loops.splits[Outputs],
                    &k = loops.splits[Reduction];
    loops.tasks = w.batch * r.outer() * c.outer() * o.outer();
    loops.taskRows = w.rows * w.columns / (r.outer() * c.outer());
    loops.taskOutputs = w.outputs / o.outer();
    loops.tileRows = r.inner() * c.inner(), loops.tileOutputs = o.inner();
    loops.step = k.count > 2 ? k.parts[2] * k.parts[3] : k.inner();
    if (!loops.gpu) return;
    const auto threads = [](const LoopSplit& s) { return s.count >= 3 ? s.parts[2] : 1.0; };
    loops.rowThreads = threads(r) * threads(c);
    loops.threads = loops.rowThreads * threads(o);
    loops.threadRows = loops.virtualThreads(Rows) * loops.virtualThreads(Columns) * loops.tileRows;
    loops.threadOutputs = loops.virtualThreads(Outputs) * loops.tileOutputs;
}

double residentBlocks(const TunedRow& row, const ScheduleLoops& loops) {
    const double most = row.warps > 0 ? row.warps : usualWarps;
    const double shared = row.work.elementBytes * (loops.taskRows + loops.taskOutputs) * loops.step;
    return std::min({most / 2, std::floor(most / std::ceil(loops.threads / warpThreads)),
                     std::floor(sharedOfAll / std::max(1.0, shared))});
}

double filledPlaces(const TunedRow& row) {
    const ScheduleLoops loops = loopsOf(row);
    if (!loops.gpu || row.cores <= 0) return 1;
    return std::min(1.0, loops.tasks / (row.cores * std::max(1.0, residentBlocks(row, loops))));
}

}  // namespace orrery
