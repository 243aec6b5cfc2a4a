#include "learning/schedules/schedule_features.h"

#include "learning/schedules/machine_features.h"
#include "learning/schedules/schedule_loops.h"

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

}  // namespace

void workFeaturesOf(const TunedRow& row, std::span<double> out) {
    const TensorWork& w = row.work;
    const double sites = w.batch * w.rows * w.columns;
    const std::array<double, workFeatures> all{lg(w.flops()),
                                               lg(w.flops() / w.bytes()),
                                               lg(w.outputs),
                                               lg(w.inputs),
                                               lg(sites),
                                               std::min(w.kernelRows, 7.0),
                                               lg(w.stride),
                                               w.depthwise ? 1.0 : 0.0,
                                               w.winograd ? 1.0 : 0.0,
                                               w.product ? 1.0 : 0.0,
                                               w.transposed ? 1.0 : 0.0,
                                               lg(w.elementBytes),
                                               lg(evenness(w.outputs)),
                                               lg(evenness(w.inputs)),
                                               lg(evenness(w.columns)),
                                               lg(w.batch),
                                               lg(w.rows)};
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
    names.insert(names.end(), vectorFeatureNames.begin(), vectorFeatureNames.end());
    names.insert(names.end(), blockFeatureNames.begin(), blockFeatureNames.end());
    return names;
}

void scheduleFeaturesOf(const TunedRow& row, std::span<double> out) {
    const TensorWork& w = row.work;
    const ScheduleLoops loops = loopsOf(row);
    const LoopSplit &o = loops.splits[Outputs], &k = loops.splits[Reduction];
    std::size_t at = 0;
    const auto put = [&](double value) { out[at++] = value; };
    put(lg(w.batch)), put(lg(w.rows * w.columns)), put(lg(w.outputs)), put(lg(w.reduction()));
    for (const LoopSplit& each : loops.splits)
        for (const double part : each.parts) put(lg(part));
    put(loops.unroll), put(loops.explicitly);
    const double im = loops.tileRows, in = o.inner(), ik = k.inner(), blocks = loops.tasks, all = loops.threads;
    put(lg(im * in)), put(lg(im * in * ik)), put(lg(im * ik + ik * in + im * in)), put(lg(std::min(im, in)));
    put(2 * lg(im * in) - lg(im + in));
    put(lg(blocks));
    put(std::fmod(w.rows * w.columns, im) == 0), put(std::fmod(w.outputs, in) == 0), put(std::fmod(w.inputs, ik) == 0);
    put(loops.gpu);
    const LoopSplit& first = loops.splits[w.product ? Rows : Columns];
    const double across = loops.gpu && first.count >= 3 ? first.parts[2] : 1;
    put(lg(all)), put(lg(across));
    put(lg(loops.virtualThreads(Rows) * loops.virtualThreads(Columns) * loops.virtualThreads(Outputs)));
    put(loops.gpu ? lg(blocks) : 0);
    const double blockRows = loops.taskRows, blockOutputs = loops.taskOutputs;
    put(lg(w.elementBytes * (blockRows + blockOutputs) * loops.step));
    put(lg(std::max(1.0, blockRows * blockOutputs / all)));
    put(lg(blockRows)), put(lg(blockOutputs)), put(blockRows * blockOutputs / (blockRows + blockOutputs));
    put(loops.gpu ? all / (32 * std::ceil(all / 32)) : 0);
    // How full the last wave is, where the device's cores are known.
    put(row.cores > 0 ? blocks / (row.cores * std::ceil(blocks / row.cores)) : 0), put(lg(blocks * all));
    put(lg(w.elementBytes * (im + in) * w.reduction())), put(lg(evenness(in)));
    const std::span<double> rest = out.subspan(at);
    std::fill(rest.begin(), rest.end(), 0.0);
    vectorFeatures(row, loops, rest.first(vectorFeatureNames.size()));
    if (loops.gpu) blockFeatures(row, loops, rest.subspan(vectorFeatureNames.size()));
}

}  // namespace orrery
