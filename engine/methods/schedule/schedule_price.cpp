#include "methods/schedule/schedule_price.h"

#include "learning/schedules/schedule_loops.h"
#include "methods/cpu/cpu_view.h"
#include "methods/tile/tile_wave_simt.h"
#include "methods/tile/tile_wave_terms.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// CUDA C++ Programming Guide, table of technical specifications: threads of a block, shared memory that a block may
// have without asking for more.
constexpr double mostThreads = 1024, mostShared = 48 * 1024;
constexpr double ownRegisters = 24;  // of a thread, for addresses and counters: chosen, not measured
constexpr double chain = 4, loadsPerCycle = 2;

// More multiply-adds are no operator, and extents would not fit whole numbers.
constexpr double mostMultiplies = 0x1p62;

// TVM's templates run a loop that they do not split step by step around their tiles: x86 convolutions take one row of
// the image at a time, or as many as `tile_oh` says. What was learned from logs has such a loop as one part.
ScheduleLoops tiledLoopsOf(const TunedRow& row) {
    ScheduleLoops loops = loopsOf(row);
    for (const auto& [role, extent] :
         {std::pair<LoopRole, double>{Rows, row.work.rows}, {Columns, row.work.columns}, {Outputs, row.work.outputs}}) {
        LoopSplit& split = loops.splits[role];
        if (split.count > 1) continue;
        const double inner = split.inner() < extent ? split.inner() : 1;
        split = {{1, 1, std::ceil(extent / inner), inner}, 2};
    }
    countLoops(row, loops);
    return loops;
}

Kernel productOf(const TunedRow& row) {
    const TensorWork& w = row.work;
    Kernel kernel;
    kernel.kind = KernelKind::Gemm;
    kernel.type = kernel.weightType = w.elementBytes == 2 ? DType::F16 : DType::F32;
    kernel.batch = w.product ? static_cast<std::int64_t>(w.batch) : 1;
    kernel.m = static_cast<std::int64_t>((w.product ? 1 : w.batch) * w.rows * w.columns);
    kernel.n = static_cast<std::int64_t>(w.outputs);
    kernel.k = static_cast<std::int64_t>(w.reduction());
    countWork(kernel);
    return kernel;
}

SchedulePrice onMultiprocessors(const TunedRow& row, const ScheduleLoops& loops, const GpuView& gpu) {
    const double bytes = row.work.elementBytes, threads = loops.threads, warps = std::ceil(threads / gpu.warpSize);
    const double shared = bytes * (loops.taskRows + loops.taskOutputs) * loops.step;
    if (threads > mostThreads || shared > mostShared) return {};
    const double sums = loops.threadRows * loops.threadOutputs, operands = loops.threadRows + loops.threadOutputs;
    const double registers = 4 * gpu.warpSize * warps * (sums + operands + ownRegisters);
    const double holds = gpu.sharedBytes > 0 ? gpu.sharedBytes : mostShared;
    // Blocks are half as many as warps at most, as residentBlocks() has it.
    double held =
        std::min({gpu.warpsPerSm / 2, std::floor(gpu.warpsPerSm / warps), std::floor(holds / std::max(1.0, shared))});
    if (gpu.registerBytes > 0) held = std::min(held, std::floor(gpu.registerBytes / registers));
    held = std::max(1.0, held);
    const Kernel kernel = productOf(row);
    const double k = static_cast<double>(kernel.k), line = 4 * gpu.warpSize;
    const double sharedRate = gpu.sharedBandwidth > 0 ? gpu.sharedBandwidth : line * gpu.clock;
    const double copied = 2 * std::ceil((loops.taskRows + loops.taskOutputs) * loops.step / threads) / loops.step;
    const double loads = warps * (operands + copied) * k * line / sharedRate;
    const double lanes = warps * gpu.warpSize * sums * k * 2 / (gpu.vectorOpsPerCycle(kernel.type) * gpu.clock);
    const double steps = k / loops.step * gpu.l2Latency / held;
    const double besides = tile::slower(tile::slower(loads, lanes), steps);
    const GivenTile tile{loops.taskRows, loops.taskOutputs, threads, held, besides};
    static const std::vector<double> nominal = nominalParameters(simtFamily());
    const TilePhysics physics = simtOfTile(kernel, gpu, nominal, tile);
    return {physics.seconds, physics.compute, physics.dram,
            besides * std::ceil(physics.blocks / std::max(1.0, gpu.sms))};
}

// Bytes that pass a level whose inner neighbours keep `kept` of each core.
double passing(const TunedRow& row, const ScheduleLoops& loops, double kept, double copies) {
    const TensorWork& w = row.work;
    const double bytes = w.elementBytes, k = w.reduction(), sites = (w.product ? 1 : w.batch) * w.rows * w.columns;
    const double panel = bytes * loops.tileRows * k, whole = bytes * w.outputs * k;
    const double across = panel + bytes * loops.tileOutputs * k <= kept ? 1 : w.outputs / loops.tileOutputs;
    const double down = whole + panel <= kept                           ? copies
                        : bytes * loops.taskOutputs * k + panel <= kept ? sites / loops.taskRows
                                                                        : sites / loops.tileRows;
    return (w.product ? w.batch : 1) * (bytes * sites * k * across + whole * down + bytes * sites * w.outputs);
}

SchedulePrice onCores(const TunedRow& row, const ScheduleLoops& loops, const GpuView& cpu) {
    const TensorWork& w = row.work;
    const double perCycle = cpu.vectorOpsPerCycle(DType::F32) / 2;  // multiply-adds
    const double lanes = perCycle >= 32 ? 16 : perCycle >= 16 ? 8 : 4, units = std::max(1.0, perCycle / lanes);
    const double registers = lanes >= 16 ? 32 : 16;
    const double im = loops.tileRows, in = loops.tileOutputs, ik = loops.splits[Reduction].inner();
    // Which loop is vectorised: by TVM's templates the reduction's innermost where a product's weights are not packed,
    // else, and by Ansor always, the outputs'.
    const bool packed = row.task.find("pack") != row.task.npos && row.task.find("nopack") == row.task.npos;
    const bool along = w.product && !packed && row.steps.empty();
    const double vectors = std::ceil((along ? ik : in) / lanes), sums = along ? im * in * vectors : im * vectors;
    const double multiplies = along ? sums : sums * ik;
    const double loads = along ? (im + in) * vectors : (im + vectors) * ik;
    const double spilled = std::max(0.0, sums - registers) / sums * multiplies;
    const double step = std::max({multiplies / units, loads / loadsPerCycle, multiplies / sums * chain}) + spilled;
    const double ends =
        along ? im * in * std::min(ik, lanes * vectors) / loadsPerCycle : 0;  // sums of lanes, one by one
    const double tiles = w.batch * w.rows * w.columns / im * (w.outputs / in);
    const double tileCycles = step * w.reduction() / ik + ends;
    const double turns = std::ceil(loops.tasks / cpu.sms);
    SchedulePrice price;
    price.compute = turns * tiles / loops.tasks * tileCycles / (cpu.clock * cpu.sustained);
    const auto& levels = cpu.device.levels;
    const double busy = std::min(cpu.sms, loops.tasks);
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        if (levels[i].bandwidth.value <= 0) continue;
        const MemoryLevel& inner = levels[i + 1];
        const double instances = static_cast<double>(std::max<std::int64_t>(1, inner.instances));
        const double bytes = passing(row, loops, inner.capacity.value / instances, std::min(busy, instances));
        price.memory = std::max(price.memory, bytes / levels[i].bandwidth.value);
    }
    price.seconds = cpu.device.launchOverhead.value + price.compute + price.memory;
    return price;
}

}  // namespace

Expected<ScheduleDevice> scheduleDevice(const Hardware& hardware) {
    if (auto gpu = gpuView(hardware)) return ScheduleDevice{std::move(*gpu), true};
    auto cpu = cpuView(hardware);
    if (!cpu) return Unexpected(cpu.error());
    return ScheduleDevice{std::move(*cpu), false};
}

std::optional<SchedulePrice> priceSchedule(const TunedRow& row, const ScheduleDevice& device) {
    const TensorWork& w = row.work;
    if (w.depthwise || w.winograd || w.transposed || w.groups > 1 || row.knobs.empty()) return std::nullopt;
    if (w.elementBytes != 4 && !(device.gpu && w.elementBytes == 2)) return std::nullopt;
    if (!(w.batch * w.rows * w.columns * w.outputs * w.reduction() < mostMultiplies)) return std::nullopt;
    const ScheduleLoops loops = tiledLoopsOf(row);
    if (loops.gpu != device.gpu) return std::nullopt;
    return device.gpu ? onMultiprocessors(row, loops, device.view) : onCores(row, loops, device.view);
}

}  // namespace orrery
