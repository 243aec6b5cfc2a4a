#include "methods/analytical/tile_wave_gemm.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::array<TileParameter, GemmParameterCount> parameterTable{{
    {"compute share", 0.88, 0.1, 1.1, 0.15, Dimension::Fraction, "share of the tensor peak that large tiles reach"},
    {"sustained share", 0.9, 0.3, 1, 0.15, Dimension::Fraction,
     "share of it that long runs keep under the power limit"},
    {"throttle time", 1e-3, 3e-5, 0.1, 0.5, Dimension::Time, "length of a run from which the power limit shows"},
    {"tile cost", 8, 0.1, 100, 0.5, Dimension::Number, "rows and columns that a tile costs on top of its own"},
    {"dram share", 0.87, 0.3, 1, 0.1, Dimension::Fraction, "share of the DRAM bandwidth that is reached"},
    {"feed", 48, 4, 256, 0.3, Dimension::Number, "bytes per cycle from L2 into one multiprocessor"},
    {"step latency", 150, 5, 2000, 0.3, Dimension::Number,
     "cycles of a 128-byte step along k that one block cannot hide"},
    {"block latency", 1000, 20, 20000, 0.3, Dimension::Number, "cycles of prologue and epilogue of a block"},
    {"launch", 1.8e-6, 1e-7, 3e-5, 0.3, Dimension::Time, "time between two kernels of a graph"},
    {"split cost", 1.5e-6, 1e-8, 3e-5, 0.5, Dimension::Time, "time to gather what splits along k have made"},
    {"cache reach", 1, 0.3, 4, 0.2, Dimension::Number, "working set that L2 keeps, of its capacity"},
    {"quantise", 4e-6, 1e-7, 1e-4, 0.5, Dimension::Time, "time of the kernels that quantise activations first"},
    {"unpack", 8, 0.01, 500, 0.7, Dimension::Number, "rows' worth of arithmetic to widen a narrow weight"},
}};

struct Tile {
    double m, n;
};
constexpr std::array<Tile, 14> tiles{{{256, 128},
                                      {128, 256},
                                      {128, 128},
                                      {64, 256},
                                      {256, 64},
                                      {128, 64},
                                      {64, 128},
                                      {64, 64},
                                      {64, 32},
                                      {32, 128},
                                      {32, 64},
                                      {16, 128},
                                      {16, 64},
                                      {16, 32}}};

double together(double a, double b) {
    const double a2 = a * a, b2 = b * b;
    return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}
// Share that a cache keeps of a working set which is used again and again: falls from 1 to 0 around its reach.
double kept(double workingSet, double reach, int sharpness) {
    const double ratio = workingSet / reach;
    double power = ratio;
    for (int i = 0; i < sharpness; ++i) power *= power;
    return 1 / (1 + power);
}

}  // namespace

double gemmReuse(double weightBytes, double l2Bytes) {
    return weightBytes * std::clamp(std::ceil(l2Bytes / std::max(weightBytes, 1.0)), 1.0, 5.0);
}

TilePhysics gemmPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const auto m = static_cast<double>(kernel.m), n = static_cast<double>(kernel.n), k = static_cast<double>(kernel.k);
    const auto batch = static_cast<double>(std::max<std::int64_t>(kernel.batch, 1));
    const double typeBytes = bits(kernel.type) / 8.0, weightTypeBytes = bits(kernel.weightType) / 8.0;
    const double outBytes = kernel.type == DType::F32 || kernel.type == DType::TF32 ? 4 : 2;
    const double a = batch * m * k * typeBytes, w = batch * n * k * weightTypeBytes, c = batch * m * n * outBytes;
    const double clock = gpu.clock, sms = gpu.sms;
    const double flopsPerCycle = std::max(gpu.peak(true, kernel.type) / (sms * clock), 1.0);
    const double stepK = 128 / typeBytes;
    const double unpack = weightTypeBytes < typeBytes ? p[GemmUnpack] : 0;

    const double reach = p[GemmReuse] * std::max(gpu.l2Bytes, 1.0);
    const double weightsKept = kept(gemmReuse(w, gpu.l2Bytes) + a + c, reach, 3);
    const double othersKept = kept(a + w + c, reach, 3);
    const double once = w * (1 - weightsKept) + (a + c) * (1 - othersKept);
    const double dramRate = p[GemmDram] * gpu.dramBandwidth;
    const double spilled = 1 - kept(a + w, reach, 1);

    TilePhysics best;
    best.seconds = INFINITY;
    const auto consider = [&](const Tile& tile, double splits, double occupancy, double tilesOfY, double perStep,
                              double feed) {
        const double blocks = tilesOfY * splits;
        const double steps = std::ceil(k / (splits * stepK));
        const double perSm = std::ceil(blocks / sms), rounds = std::ceil(blocks / (sms * occupancy));
        const double busy = perSm * steps * std::max(perStep, feed);
        const double waiting = rounds * steps * p[GemmStep];
        const double compute = (together(busy, waiting) + rounds * p[GemmBlock]) / clock;
        // Blocks that run together share rows and columns; what a wave needs again has left the cache if all is too
        // much.
        const double together1 = std::min(tilesOfY, sms * occupancy);
        const double gridM = std::ceil(m / tile.m), gridN = std::ceil(n / tile.n) * batch;
        const double rows = std::clamp(std::sqrt(together1 * tile.n / tile.m), 1.0, gridM);
        const double columns = std::min(gridN, together1 / rows);
        const double again = std::max(
            0.0, tilesOfY / together1 * (rows * tile.m * typeBytes + columns * tile.n * weightTypeBytes) * k - a - w);
        const double bytes = once + 0.5 * spilled * again;
        const double dram = bytes / dramRate;
        const double gather = splits > 1 ? p[GemmSplit] + splits * m * n * batch * 8 / (p[GemmFeed] * sms * clock) : 0;
        const double seconds = together(compute, dram) + gather;
        if (seconds >= best.seconds) return;
        best.seconds = seconds;
        best.compute = perSm * steps * perStep / clock;
        best.l2 = perSm * steps * feed / clock;
        best.dram = dram;
        best.serial = (waiting + rounds * p[GemmBlock]) / clock + gather;
        best.tileM = tile.m, best.tileN = tile.n, best.tileK = stepK, best.splits = splits;
        best.blocks = blocks, best.blocksPerWave = sms * occupancy, best.waves = blocks / (sms * occupancy);
        best.steps = steps;
        best.dramBytes = bytes;
        best.l2Bytes = tilesOfY * (tile.m * typeBytes + tile.n * weightTypeBytes) * k;
    };
    for (const Tile& tile : tiles) {
        if ((tile.m > 16 && m <= tile.m / 2) || (tile.n > 32 && n <= tile.n / 2)) continue;
        const double stage = (tile.m * typeBytes + tile.n * weightTypeBytes) * stepK;
        const double bySharedMemory = gpu.sharedBytes > 0 ? std::floor(gpu.sharedBytes / (3 * stage)) : 2;
        if (bySharedMemory < 1) continue;
        const double byRegisters =
            std::floor((gpu.registerBytes > 0 ? gpu.registerBytes : 262144.0) * 0.7 / (tile.m * tile.n * 4));
        const double occupancy = std::clamp(std::min(bySharedMemory, byRegisters), 1.0, 4.0);
        const double tilesOfY = std::ceil(m / tile.m) * std::ceil(n / tile.n) * batch;
        const double perStep = 2 * tile.m * tile.n * stepK / flopsPerCycle *
                               (1 + p[GemmTileCost] * (1 / tile.m + 1 / tile.n) + unpack / tile.m) / p[GemmCompute];
        const double feed = (tile.m * typeBytes + tile.n * weightTypeBytes) * stepK / p[GemmFeed];
        consider(tile, 1, occupancy, tilesOfY, perStep, feed);
        const double room = std::floor(std::min(sms * occupancy / tilesOfY, k / (2 * stepK)));
        if (room >= 2) {
            consider(tile, room, occupancy, tilesOfY, perStep, feed);
            if (room >= 4) consider(tile, std::floor(room / 2), occupancy, tilesOfY, perStep, feed);
        }
    }
    best.fill = m * n / (std::ceil(m / best.tileM) * best.tileM * std::ceil(n / best.tileN) * best.tileN);
    // Power limits clocks in long runs, by as much as the tensor units are at work.
    const double work = 2 * batch * m * n * k / (flopsPerCycle * sms * clock * p[GemmCompute]);
    const double throttled = best.seconds / (best.seconds + p[GemmThrottle]) * std::min(1.0, work / best.seconds);
    best.seconds *= 1 + (1 / p[GemmSustained] - 1) * throttled;
    best.launch = p[GemmLaunch];
    if (kernel.quantisesInput) best.launch += p[GemmQuantise] + 3 * batch * m * k / dramRate;
    best.bound.kind = best.dram > best.compute ? BoundKind::Memory : BoundKind::Compute;
    if (best.bound.kind == BoundKind::Memory) best.bound.level = 0;
    if (best.launch > std::max(best.dram, best.compute)) best.bound = {BoundKind::Overhead, -1};
    best.seconds += best.launch;
    return best;
}

const TileFamily& gemmFamily() {
    static const TileFamily family{"matrix products",
                                   [](const Kernel& kernel) {
                                       return kernel.kind == KernelKind::Gemm && kernel.m > 0 && kernel.n > 0 &&
                                              kernel.k > 0 && bits(kernel.type) <= 16;
                                   },
                                   parameterTable, gemmPhysics, nullptr};
    return family;
}

}  // namespace orrery
