#include "learning/schedules/machine_features.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

double lg(double value) {
    return std::log2(std::max(value, 1e-9));
}

constexpr double wide = 64, narrow = 32;  // bytes of a vector register
constexpr double registersOfAll = 65536;  // of a multiprocessor
constexpr double ownRegisters = 24;       // of a thread, for addresses and counters: chosen, not measured

}  // namespace

void vectorFeatures(const TunedRow& row, const ScheduleLoops& loops, std::span<double> out) {
    const TensorWork& w = row.work;
    const double im = loops.tileRows, in = loops.tileOutputs, ik = loops.splits[Reduction].inner();
    const double bytes = w.elementBytes, reduction = w.reduction();
    std::size_t at = 0;
    const auto put = [&](double value) { out[at++] = value; };
    if (loops.gpu) {
        at = 8;
    } else {
        const bool packed = row.task.find("pack") != row.task.npos && row.task.find("nopack") == row.task.npos;
        const bool along = w.product && !packed;
        const double vector = bytes * (along ? ik : in);
        const auto full = [&](double width) { return vector / (width * std::ceil(vector / width)); };
        const auto sums = [&](double width) { return (along ? im * in : im) * std::ceil(vector / width); };
        const double vectors = std::ceil(vector / wide);
        put(along), put(lg(vector)), put(full(wide)), put(full(narrow)), put(lg(sums(wide))), put(lg(sums(narrow)));
        put(along ? (im + in) / (im * in) : (im + vectors) / (im * vectors));
        put(lg(im * vectors * (along ? in : ik)));
    }
    const double rows = loops.taskRows, outputs = loops.taskOutputs;
    const double traffic = bytes * loops.tasks * (rows + outputs) * reduction;
    put(lg(rows * outputs * reduction)), put(lg(bytes * (rows + outputs) * reduction));
    put(lg(bytes * rows * reduction)), put(lg(bytes * outputs * reduction)), put(lg(bytes * rows * outputs));
    put(lg(traffic / w.bytes())), put(lg(traffic / w.flops())), put(lg(bytes * (im + in) * reduction));
    put(lg(loops.splits[Reduction].outer()));
}

void blockFeatures(const TunedRow& row, const ScheduleLoops& loops, std::span<double> out) {
    const TensorWork& w = row.work;
    const double rows = loops.threadRows, outputs = loops.threadOutputs, sums = rows * outputs;
    const double warps = std::ceil(loops.threads / 32), registers = sums + rows + outputs + ownRegisters;
    const double resident =
        std::max(0.25, std::min(residentBlocks(row, loops), std::floor(registersOfAll / (32 * registers * warps))));
    const double reduction = w.reduction();
    // Which results neighbouring threads hold: those of TVM's large product are rows, of its other products outputs.
    const bool byRows = row.task.find("large_batch") != row.task.npos;
    const LoopSplit& columns = loops.splits[Columns];
    const double across = !w.product ? (columns.count >= 3 ? columns.parts[2] : 1)
                          : byRows   ? loops.rowThreads
                                     : loops.threads / loops.rowThreads;
    const double own = !w.product ? columns.inner() : byRows ? loops.tileRows : loops.tileOutputs;
    std::size_t at = 0;
    const auto put = [&](double value) { out[at++] = value; };
    put(lg(sums + rows + outputs)), put(lg(resident)), put(lg(resident * warps)), put(lg(resident * warps * sums));
    put((rows + outputs) / sums), put(lg(loops.tasks * warps));
    put(lg((loops.taskRows + loops.taskOutputs) * loops.step / loops.threads)), put(lg(rows)), put(lg(outputs));
    put(lg(across)), put(lg(own)), put(lg(across * own)), put(std::min(across * own, 32.0));
    put(lg(loops.step)), put(lg(reduction / loops.step));
    put(lg(2 * loops.taskRows * loops.taskOutputs / ((loops.taskRows + loops.taskOutputs) * w.elementBytes)));
    put(lg(w.flops() / (loops.threads * loops.tasks)));
}

}  // namespace orrery
