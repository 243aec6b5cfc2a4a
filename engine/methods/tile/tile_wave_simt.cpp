#include "methods/tile/tile_wave_simt.h"

#include "hardware/views/power_limit.h"
#include "methods/tile/tile_wave_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

// Nominal values: fitted to linear layers and batched products of NeuSight's five training devices together. What
// describes chip and tiles is the same for both, so its range is narrow: rows of one kind alone cannot tell a slower
// clock from a smaller share. The issue share is counted from the inner loop of a 128×128 tile (8×8 results per
// thread: 512 multiply-adds beside 32 shared-memory loads, addresses and barriers), not fitted: none of those devices
// has 32 lanes per scheduler and a single issue.
constexpr std::array<TileParameter, SimtParameterCount> parameterTable{{
    {"simt compute share", 0.976, 0.95, 1, 0.1, Dimension::Fraction, "share of the vector peak that large tiles reach"},
    {"issue share", 0.85, 0.85, 0.85, 0.05, Dimension::Fraction,
     "share of it where multiply-adds need every issue slot of a scheduler"},
    {"warps to hide", 0.29, 0.2, 0.4, 0.3, Dimension::Number, "resident warps per 16 lanes that reach half the rate"},
    {"small tile loss", 0.018, 0.012, 0.03, 0.5, Dimension::Number, "share lost with each halving of a tile"},
    {"tile steps", 1.5, 1, 3, 0.5, Dimension::Number, "steps along k that a tile costs on top of its own"},
    {"cache reach", 0.22, 0.15, 0.3, 0.3, Dimension::Number,
     "working set that L2 keeps between waves, of its capacity"},
    {"warm share", 1.28, 1.1, 1.5, 0.3, Dimension::Number, "footprint that L2 keeps between runs, of its capacity"},
    {"dram share", 0.6, 0.55, 0.65, 0.15, Dimension::Fraction, "share of the DRAM rate that is reached"},
    {"feed", 9.6, 9, 10.5, 0.1, Dimension::Number, "bytes per cycle from L2 into one multiprocessor"},
    {"gather", 2e-5, 1e-7, 5e-5, 0.5, Dimension::Time, "time of the kernel that adds up splits along k"},
    {"throttle time", 3.4e-4, 3e-4, 4e-4, 0.5, Dimension::Time, "length of a run at which the power limit shows"},
    {"arithmetic energy", 8.1375e-12, 7.4375e-12, 8.75e-12, 0.05, Dimension::Number,
     "joules per operation at 7 nm and the nominal clock, with operands and instruction"},
    {"feed load", 6.5, 6, 7, 0.05, Dimension::Number, "operations' worth of power of a byte from L2"},
    {"dram load", 5.8, 5, 6.5, 0.05, Dimension::Number, "operations' worth of power of a byte from DRAM"},
    {"sustained reach", 1.445, 1.4, 1.5, 0.02, Dimension::Number,
     "clock of arithmetic alone, of the stated sustained clock"},
    {"launch", 4e-5, 1e-7, 2e-4, 0.3, Dimension::Time, "time of a launch as the data have it"},
}};

// As bf16 products have it on A100 and H100 where graphs hold them (the launches of tile-hybrid-gemm-*, 2.2 to 2.3 µs).
constexpr double graphLaunch = 2.3e-6;

struct Tile {
    double n, m;  // of the weight's side, of the rows' side
    double threads, registers;
    int least, batched;  // generations that have it: from `least` on; bits of those that batch with it
};
// Threads as recorded; registers of 8×8 (or fewer) results per thread and their operands, a bound on residency.
constexpr std::array<Tile, 8> tiles{{
    {128, 128, 256, 122, 1, 0b1100},
    {128, 64, 128, 122, 0, 0b1011},
    {64, 64, 64, 126, 0, 0b1010},
    {128, 32, 256, 57, 0, 0b1010},
    {32, 128, 256, 57, 0, 0b1010},
    {32, 32, 128, 86, 1, 0},
    {64, 32, 128, 86, 1, 0},
    {128, 32, 256, 72, 1, 0},
}};
constexpr std::array<double, 8> splitChoices{1, 2, 3, 4, 6, 8, 12, 18};
constexpr double shortestSplit = 64;  // steps along k

}  // namespace

int simtGeneration(const GpuView& gpu) {
    if (gpu.tensorPeak(DType::BF16) <= 0) return gpu.tensorPeak(DType::F16) > 0 ? 1 : 0;
    // Hopper has a library of its own; Ada, which takes fp8 too, runs Ampere's.
    return gpu.tensorPeak(DType::FP8) > 0 && gpu.sharedBytes >= tile::largeShared ? 3 : 2;
}

double simtClock(const GpuView& gpu, double load, double flopRate, std::span<const double> p) {
    if (gpu.sustained < 1) return std::min(1.0, gpu.sustained * p[SimtSustained] / load);
    const double nanometres = processNanometres(gpu.process);
    const double scale = nanometres > 0 ? std::sqrt(nanometres / 7) : 1;
    return clockUnderPower(gpu.powerCap, staticWatts(gpu.powerCap, gpu.idlePower),
                           flopRate * p[SimtEnergy] * scale * load);
}

double simtIssueShare(const GpuView& gpu, double lanes, std::span<const double> p) {
    return simtGeneration(gpu) > 0 && lanes / std::max(gpu.subCores, 1.0) >= 32 ? p[SimtIssue] : 1;
}

namespace {

// What all tiles of a product share on a device.
struct SimtProduct {
    const GpuView& gpu;
    std::span<const double> p;
    double m, n, k, batch, width, clock, perCycle, lanes, issue, l2, dramRate, w, x, y, warm;

    SimtProduct(const Kernel& kernel, const GpuView& of, std::span<const double> parameters)
        : gpu(of),
          p(parameters),
          m(static_cast<double>(kernel.m)),
          n(static_cast<double>(kernel.n)),
          k(static_cast<double>(kernel.k)),
          batch(static_cast<double>(std::max<std::int64_t>(kernel.batch, 1))),
          width(bits(kernel.type) / 8.0),
          clock(of.clock),
          perCycle(std::max({of.vectorPeak(kernel.type), of.tensorPeak(kernel.type), 1.0}) / (of.sms * of.clock)),
          lanes(perCycle / 2),
          issue(simtIssueShare(of, lanes, parameters)),
          l2(std::max(of.l2Bytes, 1.0)),
          dramRate(parameters[SimtDram] * of.dramBandwidth),
          w(k * n * width),
          x(m * k * width),
          y(m * n * width),
          warm(tile::missShare(batch * (w + x + y), parameters[SimtWarm] * l2)) {}
};

struct SimtTime {
    TilePhysics physics;
    double flops = 0, gather = 0;
};

// `besides`: see GivenTile.
SimtTime timeOf(const SimtProduct& of, double tileM, double tileN, double threads, double splits, double occupancy,
                double besides) {
    const auto& p = of.p;
    const double sms = of.gpu.sms, gridN = std::ceil(of.n / tileN), gridM = std::ceil(of.m / tileM);
    const double blocks = of.batch * gridN * gridM * splits, perSm = std::ceil(blocks / sms);
    const double steps = std::ceil(of.k / splits / 8) * 8;
    const double resident = std::min(perSm, occupancy) * threads / 32 / (of.lanes / 16);
    const double share = p[SimtCompute] * of.issue / (1 + p[SimtWarps] / resident) *
                         (1 - p[SimtSmall] * std::log2(16384 / (tileM * tileN)));
    const double work = perSm * 2 * tileM * tileN * (steps + p[SimtSteps]);
    double compute = work / (of.perCycle * of.clock * std::max(share, 0.05));
    if (besides > 0) compute = tile::slower(compute, perSm * besides);
    // Blocks start row by row of the grid: a wave shares `rows` rows of tiles and `columns` of them.
    const double wave = std::min(sms * occupancy, blocks), columns = std::min(gridN, wave);
    const double rows = std::clamp(wave / columns, 1.0, gridM);
    const double waves = std::max(1.0, gridN * gridM / (columns * rows));
    const double sharedRows = std::min(rows * tileM, of.m) * of.k * of.width;
    const double asked = waves * (std::min(columns * tileN, of.n) * of.k * of.width + sharedRows);
    const double lost = (of.w + sharedRows) / (p[SimtReach] * of.l2), miss = lost * lost / (1 + lost * lost);
    const double bytes = of.batch * (of.w + of.x + miss * std::max(0.0, asked - of.w - of.x) + of.y) * of.warm;
    const double l2Bytes = blocks * (tileM + tileN) * steps * of.width;
    const double feed = l2Bytes / (sms * p[SimtFeed] * of.clock), dram = bytes / of.dramRate;
    SimtTime out;
    out.gather = splits > 1 ? p[SimtGather] + of.batch * of.y * (splits + 1) / of.dramRate : 0;
    out.flops = work * sms;
    TilePhysics& one = out.physics;
    one.seconds = tile::slower(tile::slower(compute, feed), dram) + out.gather;
    one.compute = compute, one.l2 = feed, one.dram = dram, one.serial = out.gather;
    one.tileM = tileM, one.tileN = tileN, one.tileK = 8, one.splits = splits;
    one.blocks = blocks, one.blocksPerWave = sms * occupancy, one.waves = blocks / one.blocksPerWave;
    one.fill = of.m * of.n / (gridN * tileN * gridM * tileM);
    one.steps = steps / 8;
    one.dramBytes = bytes, one.l2Bytes = l2Bytes;
    return out;
}

}  // namespace

TilePhysics simtPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const SimtProduct of(kernel, gpu, p);
    const int generation = simtGeneration(gpu);
    const double registers = gpu.registerBytes > 0 ? gpu.registerBytes / 4 : 65536;
    SimtTime best;
    best.physics.seconds = INFINITY;
    for (const Tile& tile : tiles) {
        if (of.batch > 1 ? !(tile.batched >> generation & 1) : tile.least > generation) continue;
        const double occupancy = std::max(1.0, std::min(std::floor(registers / (tile.threads * tile.registers)),
                                                        std::floor(gpu.warpsPerSm * 32 / tile.threads)));
        const double grid = std::ceil(of.n / tile.n) * std::ceil(of.m / tile.m);
        for (const double splits : splitChoices) {
            if (splits > 1 && (of.batch > 1 || of.k / splits < shortestSplit || grid * splits > 4 * gpu.sms)) break;
            const SimtTime one = timeOf(of, tile.m, tile.n, tile.threads, splits, occupancy, 0);
            if (one.physics.seconds < best.physics.seconds) best = one;
        }
    }
    finishSimt(best.physics, best.flops, best.gather, gpu, p);
    return best.physics;
}

TilePhysics simtOfTile(const Kernel& kernel, const GpuView& gpu, std::span<const double> p, const GivenTile& tile) {
    SimtTime one = timeOf(SimtProduct(kernel, gpu, p), tile.m, tile.n, tile.threads, 1, tile.held, tile.besides);
    finishSimt(one.physics, one.flops, one.gather, gpu, p);
    return one.physics;
}

void finishSimt(TilePhysics& out, double flops, double gather, const GpuView& gpu, std::span<const double> p) {
    const double fast = out.seconds - gather;
    const double load = 1 + (p[SimtFeedLoad] * out.l2Bytes + p[SimtDramLoad] * out.dramBytes) / flops;
    const double share = simtClock(gpu, load, flops / fast, p);
    const double slow = tile::slower(tile::slower(out.compute, out.l2) / share, out.dram);
    const double early = 1 / (1 + std::pow(fast / p[SimtThrottle], 0.7));
    const double run = 1 / (early / fast + (1 - early) / slow);
    out.compute *= run / fast, out.l2 *= run / fast;
    out.clockDoubt = std::log(std::max(1.0, slow / fast));
    out.launch = p[SimtLaunch];
    out.seconds = out.launch + run + gather;
    out.bound = out.dram > out.compute ? Bound{BoundKind::Memory, 0} : Bound{BoundKind::Compute, -1};
    if (out.launch > std::max(out.dram, out.compute)) out.bound = {BoundKind::Overhead, -1};
}

const TileFamily& simtFamily() {
    static const TileFamily family{"vector-unit products",
                                   [](const Kernel& kernel) {
                                       return kernel.kind == KernelKind::Gemm && kernel.m > 0 && kernel.n > 0 &&
                                              kernel.k > 0 && (kernel.type == DType::F32 || kernel.type == DType::F64);
                                   },
                                   parameterTable,
                                   simtPhysics,
                                   nullptr,
                                   0.1,
                                   graphLaunch};
    return family;
}

}  // namespace orrery
