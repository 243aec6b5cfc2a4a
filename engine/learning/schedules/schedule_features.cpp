#include "learning/schedules/schedule_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

double lg(double value) {
    return std::log2(std::max(value, 1e-9));
}

// The largest power of two that divides it, 64 at most.
double evenness(double extent) {
    double power = 1;
    while (power < 64 && std::fmod(extent, 2 * power) == 0) power *= 2;
    return power;
}

// The names that TVM's templates give to splits of a loop.
enum Role : std::size_t { Rows, Columns, Outputs, Reduction, loopRoles };
Role roleOf(std::string_view name, const TunedRow& row, bool& known) {
    known = true;
    if (row.work.product) {
        const bool swapped = row.task.find("large_batch") != row.task.npos;  // there tile_x splits the rows
        if (name == "tile_y") return swapped ? Outputs : Rows;
        if (name == "tile_x") return swapped ? Rows : Outputs;
        if (name == "tile_k") return Reduction;
        known = false;
        return Rows;
    }
    for (const auto& [word, role] : {std::pair<std::string_view, Role>{"tile_y", Rows},
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

struct LoopSplit {
    std::array<double, 4> parts{1, 1, 1, 1};  ///< innermost last
    std::size_t count = 0;
    double inner() const { return parts[3]; }
    double outer() const { return count > 1 ? parts[4 - count] : parts[3]; }
};

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

}  // namespace

std::vector<std::string> workFeatureNames() {
    return {"flops",
            "bytes",
            "flops per byte",
            "sites",
            "outputs",
            "inputs",
            "reduction",
            "kernel",
            "stride",
            "rows",
            "results",
            "weights",
            "bytes of an element",
            "depthwise",
            "winograd",
            "transposed",
            "even outputs",
            "even inputs",
            "even sites",
            "even columns",
            "batch",
            "product"};
}

void workFeaturesOf(const TunedRow& row, std::span<double> out) {
    const TensorWork& w = row.work;
    const double sites = w.batch * w.rows * w.columns;
    const std::array<double, workFeatures> all{lg(w.flops()),
                                               lg(w.bytes()),
                                               lg(w.flops() / w.bytes()),
                                               lg(sites),
                                               lg(w.outputs),
                                               lg(w.inputs),
                                               lg(w.reduction()),
                                               w.kernelRows,
                                               w.stride,
                                               lg(w.rows),
                                               lg(sites * w.outputs),
                                               lg(w.outputs * w.reduction()),
                                               w.elementBytes,
                                               w.depthwise ? 1.0 : 0.0,
                                               w.winograd ? 1.0 : 0.0,
                                               w.transposed ? 1.0 : 0.0,
                                               evenness(w.outputs),
                                               evenness(w.inputs),
                                               evenness(w.rows * w.columns),
                                               evenness(w.columns),
                                               lg(w.batch),
                                               w.product ? 1.0 : 0.0};
    std::copy(all.begin(), all.end(), out.begin());
}

std::vector<std::string> scheduleFeatureNames() {
    std::vector<std::string> names{"batch", "rows", "outputs", "reduction"};
    for (const char* role : {"rows", "columns", "outputs", "reduction"})
        for (int i = 0; i < 4; ++i) names.push_back(fmt::format("{} split {}", role, i));
    for (const char* name : {"unroll",
                             "unrolled explicitly",
                             "tile",
                             "tile × steps",
                             "data of a tile",
                             "least side of a tile",
                             "reuse in a tile",
                             "tasks",
                             "even rows",
                             "even outputs",
                             "even reduction",
                             "GPU",
                             "threads",
                             "threads across",
                             "virtual threads",
                             "blocks",
                             "shared memory",
                             "results of a thread",
                             "block rows",
                             "block outputs",
                             "reuse in a block",
                             "full warps",
                             "last wave",
                             "parallel work",
                             "data of a task",
                             "vector"})
        names.emplace_back(name);
    return names;
}

void scheduleFeaturesOf(const TunedRow& row, std::span<double> out) {
    const TensorWork& w = row.work;
    const std::array<double, loopRoles> extents{w.rows, w.columns, w.outputs, w.inputs};
    std::array<LoopSplit, loopRoles> splits;
    for (std::size_t i = 0; i < loopRoles; ++i) splits[i] = splitOf({-1}, extents[i]);
    double unroll = 0, explicitly = 0;
    for (const ScheduleKnob& knob : row.knobs) {
        bool known = false;
        const Role role = roleOf(knob.name, row, known);
        if (known && !knob.parts.empty()) splits[role] = splitOf(knob.parts, extents[role]);
        if (knob.name == "auto_unroll_max_step" && !knob.parts.empty()) unroll = knob.parts[0];
        if (knob.name == "unroll_explicit" && !knob.parts.empty()) explicitly = knob.parts[0];
    }
    const LoopSplit &r = splits[Rows], &c = splits[Columns], &o = splits[Outputs], &k = splits[Reduction];
    std::size_t at = 0;
    const auto put = [&](double value) { out[at++] = value; };
    put(lg(w.batch)), put(lg(w.rows * w.columns)), put(lg(w.outputs)), put(lg(w.reduction()));
    for (const LoopSplit& each : splits)
        for (const double part : each.parts) put(lg(part));
    put(unroll), put(explicitly);
    const double im = r.inner() * c.inner(), in = o.inner(), ik = k.inner();
    put(lg(im * in)), put(lg(im * in * ik)), put(lg(im * ik + ik * in + im * in)), put(lg(std::min(im, in)));
    put(2 * lg(im * in) - lg(im + in));
    const double blocks = w.batch * r.outer() * c.outer() * o.outer();
    put(lg(blocks));
    put(std::fmod(w.rows * w.columns, im) == 0), put(std::fmod(w.outputs, in) == 0), put(std::fmod(w.inputs, ik) == 0);
    const bool gpu = onGpu(row.task);
    put(gpu);
    // Of four parts of a GPU's split the outermost is of blocks, then of virtual threads, of threads, of one thread; of
    // three there are no virtual ones.
    const auto threads = [&](const LoopSplit& s) { return s.count >= 3 ? s.parts[2] : 1.0; };
    const auto virtuals = [&](const LoopSplit& s) { return s.count >= 4 ? s.parts[1] : 1.0; };
    const double across = gpu ? (w.product ? threads(r) : threads(c)) : 1;
    const double all = gpu ? threads(r) * threads(c) * threads(o) : 1;
    const double blockRows = w.rows * w.columns / (r.outer() * c.outer()), blockOutputs = w.outputs / o.outer();
    const double step = k.count > 2 ? k.parts[2] * k.parts[3] : k.inner();
    put(lg(all)), put(lg(across)), put(lg(virtuals(r) * virtuals(c) * virtuals(o))), put(gpu ? lg(blocks) : 0);
    put(lg(w.elementBytes * (blockRows + blockOutputs) * step)), put(lg(std::max(1.0, blockRows * blockOutputs / all)));
    put(lg(blockRows)), put(lg(blockOutputs)), put(blockRows * blockOutputs / (blockRows + blockOutputs));
    put(gpu ? all / (32 * std::ceil(all / 32)) : 0);
    // How full the last wave is, where the device's cores are known.
    put(row.cores > 0 ? blocks / (row.cores * std::ceil(blocks / row.cores)) : 0), put(lg(blocks * all));
    put(lg(w.elementBytes * (im + in) * w.reduction())), put(lg(evenness(in)));
}

}  // namespace orrery
