#include "methods/tile/tile_wave_gemm.h"

#include "hardware/views/power_limit.h"
#include "methods/tile/product_kernels.h"
#include "workload/kernel_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

using tile::ProductKernels, tile::ProductTile, tile::scaledAlongK;

// Nominal numbers: chosen by hand, not measured, where nothing was fitted; from them, held by their spread, every fit
// starts. Before each row what the fits that moved it came to (lowest, median, highest of the thirteen sections of
// presets/calibrations/tile-wave-gemm.json and tile-wave-products-narrow.json: products of aiconfigurator on A100,
// H100, L40S and, below 16 bits, B200), so that the distance of choice and measurement can be seen, and what a larger
// number does. A calibration that fits a device replaces all of them.
constexpr std::array<TileParameter, GemmParameterCount> parameterTable{{
    // 0.68, 0.91, 1.09; divides the time of large products
    {"compute share", 0.9, 0.1, 1.1, 0.15, Dimension::Fraction, "share of the tensor peak that large tiles reach"},
    // 0.46e-12, 0.62e-12, 1.05e-12 J; lowers the clock of capped devices, beside staticWatts()
    {"switched energy", gemmSwitchedEnergy, 0.0823529412e-12, 3.29411765e-12, 0.2, Dimension::Energy,
     "of one FLOP of bf16 in 4 nm at 1.83 GHz; the power cap pulls the clock down by it"},
    // 1e-6, 1.2e-5, 3.5e-3 s; keeps short kernels at the nominal clock
    {"throttle time", 1e-4, 1e-6, 0.1, 1, Dimension::Time, "length of a run from which the power limit shows"},
    // 1.6, 3.9, 44; favours large tiles
    {"tile cost", 5, 0.1, 100, 0.5, Dimension::Number, "rows and columns that a tile costs on top of its own"},
    // 0.60, 0.80, 0.83; divides the time of products that stream weights
    {"dram share", 0.82, 0.3, 1, 0.1, Dimension::Fraction, "share of the DRAM bandwidth that is reached"},
    // 17, 35, 82 B; shortens steps of small tiles
    {"feed", 40, 1, 512, 0.3, Dimension::Number, "bytes per cycle from L2 into one multiprocessor"},
    // 126, 271, 642 cycles; lengthens products with few blocks
    {"step latency", 265, 5, 5000, 0.3, Dimension::Number,
     "cycles of a 128-byte step along k that one block cannot hide"},
    // 1144, 3410, 8069 cycles; lengthens products with short k
    {"block latency", 1600, 20, 50000, 0.3, Dimension::Number, "cycles of prologue and epilogue of a block"},
    // 0.59e-6, 2.2e-6, 5.9e-6 s; all of a small product
    {"launch", 2e-6, 1e-7, 3e-5, 0.3, Dimension::Time, "time between two kernels of a graph, at 1.83 GHz"},
    // 2.0e-6, 3.6e-6, 8.4e-6 s; against splits along k
    {"split cost", 2.5e-6, 1e-8, 1e-3, 0.5, Dimension::Time, "time to gather what splits along k have made"},
    // 0.40, 0.44, 0.61 of A100, H100 and B200: 5 of 10 stand at its bound of 0.4, so that the law is wrong there, and
    // none says what devices without a fit get; fewer bytes fetched twice
    {"cache reach", 0.7, 0.4, 2, 0.1, Dimension::Number, "working set that an L2 of two halves keeps, of one of them"},
    // 2.9e-6, 3.7e-6, 4.0e-6 s; times quantisingTime() it is added to products that quantise their input
    {"quantise", 4e-6, 1e-7, 1e-4, 0.5, Dimension::Time,
     "unit of time of the launches that quantise activations first"},
    // 3.2 and 3.5; lengthens products with weights narrower than they compute
    {"unpack", 8, 0.01, 500, 0.7, Dimension::Number, "rows' worth of arithmetic to widen a narrow weight"},
    // 1.07 of L40S, three times: what fits, and data sheets say MB where a cache has MiB
    {"whole cache", 1.05, 0.4, 2, 0.1, Dimension::Number, "working set that an L2 of one piece keeps, of its capacity",
     true},
    // 0.24, 0.29, 0.39 of L40S and B200, whose large products draw more and less per FLOP than H100's: wide units read
    // an operand less often
    {"width saving", gemmWidthPower, 0.001, 1, 0.2, Dimension::Number,
     "power of the tensor rate of a multiprocessor by which the energy of a FLOP falls", true},
    // 128 cycles in which a wgmma of 256 columns completes and 29 of shared memory, where its scales are (H800: Luo et
    // al., arXiv:2402.13499): of Hopper alone, and taken for all. Ada has no wgmma; Blackwell's tensor units apply the
    // scales of fp4 themselves. Fits of 8 bits: 109, 110, 156 of H100, B200, L40S; of fp4: 28 beside a compute share of
    // 0.69, so that the nominal agreement there is a trade between the two. Lengthens products whose operands carry
    // scales
    {"scaled sum", 157, gemmAnyKernel, 2000, 0.3, Dimension::Number,
     "cycles from a step of a product with scales along k until its sums are scaled", true},
}};

/// Launches that quantise, in units of the parameter. A scale of a whole tensor is found before anything is narrowed by
/// it: maxima of blocks, of the tensor, the scale, and the narrowing (H100 and L40S: 9.6 and 10 µs); scales of blocks
/// and of rows are found by the launch that uses them (3 and 2 µs).
double quantisingTime(const Kernel& kernel) {
    return kernel.scaleBlock != 0 ? 0.75 : 2.5;
}
/// How often the activation is read for it.
double quantisingReads(const Kernel& kernel) {
    return kernel.scaleBlock != 0 ? 1 : 2;
}
/// Multiply-adds on vector units with which a step of `k` elements scales one result: where tensor units take no scales
/// of blocks (they do who multiply fp4), sums of a block are widened and scaled before they are added up (DeepSeek-V3,
/// arXiv:2412.19437, section 3.3.2).
double promotionsPerStep(const Kernel& kernel, const GpuView& gpu, double k) {
    return scaledAlongK(kernel) && gpu.peak(true, DType::FP4) <= 0 ? k / kernel.scaleBlock : 0;
}
constexpr double leastSpilled = 0.01;  // below, nothing is fetched twice

// The library's ceil is a call on machines without SSE 4.1.
double up(double value) {
    const auto whole = static_cast<double>(static_cast<std::int64_t>(value));
    return whole < value ? whole + 1 : whole;
}
double whole(double value) {
    return static_cast<double>(static_cast<std::int64_t>(value));
}
// Whole multiples of `step` that hold the whole number `value`, by 1 / step: a division waits, and its result may
// differ from this product's by what the comparison mends.
double multiples(double value, double step, double perStep) {
    const double below = whole(value * perStep);
    return below * step < value ? below + 1 : below;
}
// Two things at once: as long as the longer, and up to 19 % more the nearer they are; (a⁴ + b⁴)^¼ within 1.5 %.
double together(double a, double b) {
    const double most = std::max(a, b), ratio = std::min(a, b) / most, square = ratio * ratio;
    return most * (1 + 0.189207 * square * square);
}
// Share that a cache keeps of a working set which is used again and again: falls from 1 to 0 around its reach, with
// the 2^sharpness-th power.
double kept(double workingSet, double reach, int sharpness) {
    double power = workingSet / reach;
    for (int i = 0; i < sharpness; ++i) power *= power;
    return 1 / (1 + power);
}

bool knowsKernels(std::span<const double> p) {
    return p[GemmScaled] > gemmAnyKernel;
}
double keptBytes(const GpuView& gpu, std::span<const double> p) {
    return p[halvedCache(gpu) ? GemmReuse : GemmWhole] * gemmCache(gpu);
}

// One product on one device: what all tiles share.
struct Product {
    double m, n, k, batch;
    double typeBytes, weightTypeBytes;
    double a, w;      ///< bytes of the operands
    double once = 1;  ///< share of the first operand's elements that differ: windows of a convolution overlap
    double sms, perSms, clock, cycle;
    double flopsPerCycle;        ///< of one multiprocessor
    double stepK, steps;         ///< elements of 128 bytes; how many of them there are along k
    double onceBytes, spilled;   ///< past the cache; share of what waves want again that it has lost
    double dramRate, leastDram;  ///< B/s; s that the bytes take which everybody moves
    double feedRate;             ///< B/s from L2 into all multiprocessors
    double unpack;
    double feed, step, block;  ///< the parameters at this device's tensor rate
    double scaling = 0;        ///< cycles of a step until its sums are scaled, in which nothing else is added up
};

struct Placement {
    ProductTile tile;
    double occupancy, tilesOfY;
    double perStep, feed;              ///< cycles of a step: arithmetic, bytes from L2
    double dramBytes = -1, dram = -1;  ///< bytes and seconds, once somebody asks
};

// Blocks that run together share rows and columns; a wave's own are fetched again if they have left the cache.
double dramBytes(const Product& product, const Placement& placed) {
    if (product.spilled < leastSpilled) return product.onceBytes;
    const ProductTile& tile = placed.tile;
    const double atOnce = std::min(placed.tilesOfY, product.sms * placed.occupancy);
    const double gridM = up(product.m * tile.perM), gridN = up(product.n * tile.perN) * product.batch;
    const double rows = std::clamp(std::sqrt(atOnce * tile.n / tile.m), 1.0, gridM);
    const double columns = std::min(gridN, atOnce / rows);
    const double fetched =
        placed.tilesOfY / atOnce * product.k *
        (product.once * rows * tile.m * product.typeBytes + columns * tile.n * product.weightTypeBytes);
    return product.onceBytes + 0.5 * product.spilled * std::max(0.0, fetched - product.a - product.w);
}

constexpr std::array<double, 5> perOccupancy{1, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4};

// The fastest so far, and the seconds of computing from which nothing is faster whatever else it takes.
struct Best {
    TilePhysics physics;
    double limit = INFINITY;
};

// Takes the placed with these splits if it is faster than the best.
void consider(const Product& product, Placement& placed, double splits, std::span<const double> p, Best& all) {
    TilePhysics& best = all.physics;
    if (splits > 1 && product.leastDram + p[GemmSplit] >= best.seconds) return;
    const double blocks = placed.tilesOfY * splits;
    const double steps = splits > 1 ? up(product.steps / splits) : up(product.steps);
    const double perSm = multiples(blocks, product.sms, product.perSms);
    const double busy = perSm * steps * std::max(placed.perStep, placed.feed);
    if (busy >= all.limit * product.clock) return;
    const double rounds = multiples(perSm, placed.occupancy, perOccupancy[static_cast<std::size_t>(placed.occupancy)]);
    const double waiting = rounds * steps * product.step, ends = rounds * product.block;
    const double scaled = busy + rounds * steps * product.scaling;
    // What can only be longer is asked for first: most choices end here.
    if ((std::max(scaled, waiting) + ends) * product.cycle >= all.limit) return;
    const double compute = (std::max(together(busy, waiting), scaled) + ends) * product.cycle;
    if (compute >= all.limit) return;
    double gather = 0;
    if (splits > 1) {
        gather = p[GemmSplit] + splits * product.m * product.n * product.batch * 8 / product.feedRate;
    }
    if (std::max(compute, product.leastDram) + gather >= best.seconds) return;
    if (placed.dram < 0) {
        placed.dramBytes = dramBytes(product, placed);
        placed.dram = placed.dramBytes / product.dramRate;
    }
    if (std::max(compute, placed.dram) + gather >= best.seconds) return;
    const double seconds = together(compute, placed.dram) + gather;
    if (seconds >= best.seconds) return;
    // Where all choices move the same bytes, computing alone decides.
    all.limit = std::min(all.limit, product.spilled < leastSpilled && gather == 0 ? compute : seconds);
    best.seconds = seconds;
    best.compute = perSm * steps * placed.perStep * product.cycle;
    best.l2 = perSm * steps * placed.feed * product.cycle;
    best.dram = placed.dram;
    best.serial = (std::max(waiting, scaled - busy) + ends) * product.cycle + gather;
    best.tileM = placed.tile.m, best.tileN = placed.tile.n, best.tileK = product.stepK, best.splits = splits;
    best.blocks = blocks, best.blocksPerWave = product.sms * placed.occupancy;
    best.steps = steps;
    best.dramBytes = placed.dramBytes;
    best.l2Bytes =
        placed.tilesOfY * product.k * (placed.tile.m * product.typeBytes + placed.tile.n * product.weightTypeBytes);
}

// Few rows: a block dots them with a few columns, read as fast as they come.
void considerVector(const Product& product, TilePhysics& best) {
    constexpr double columns = 8;
    const double blocks = up(product.n / columns) * product.batch, perSm = up(blocks / product.sms);
    const double feed = columns * product.k * product.weightTypeBytes / product.feed;
    const double compute = (perSm * feed + 0.5 * product.block) / product.clock;
    const double dram = product.onceBytes / product.dramRate;
    const double seconds = together(compute, dram);
    if (seconds >= best.seconds) return;
    best = {};
    best.seconds = seconds;
    best.l2 = best.compute = perSm * feed / product.clock;
    best.dram = dram;
    best.serial = 0.5 * product.block / product.clock;
    best.tileM = 1, best.tileN = columns, best.tileK = product.k;
    best.blocks = blocks, best.blocksPerWave = product.sms * 4;
    best.steps = 1;
    best.dramBytes = product.onceBytes, best.l2Bytes = product.w;
}

Product productOf(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    Product product;
    product.m = static_cast<double>(kernel.m), product.n = static_cast<double>(kernel.n);
    product.k = static_cast<double>(kernel.k);
    product.batch = static_cast<double>(std::max<std::int64_t>(kernel.batch, 1));
    product.typeBytes = bits(kernel.type) / 8.0;
    product.weightTypeBytes = weightBytesPerElement(kernel.weightType, kernel.scaleBlock);
    product.sms = gpu.sms, product.perSms = 1 / gpu.sms;
    product.clock = gpu.clock, product.cycle = 1 / gpu.clock;
    product.flopsPerCycle = std::max(gpu.peak(true, kernel.type) / (gpu.sms * gpu.clock), 1.0);
    // Multiprocessors are balanced: with the tensor rate grow the paths that feed it (multicast, copy engines) and
    // shrink the latencies that it must not wait for. Fits of three generations agree on these products within a fifth.
    // Latencies shrink as long as more loads are under way, not as memories get faster, which they do not (pointer
    // chases to L2 and DRAM: A100 203 and 530 cycles, H800 265 and 603; latency_levels of gpu-benches and
    // hopper-benchmark).
    // Narrower types multiply more elements per cycle, and a step of 128 bytes holds more of them: bytes per cycle and
    // latencies of a device stay.
    const double wide = std::max(gpu.peak(true, DType::BF16), gpu.peak(true, DType::F16)) / (gpu.sms * gpu.clock);
    const double generation = (wide > 0 ? wide : product.flopsPerCycle) / gemmReferenceRate;
    const double underWay = knowsKernels(p) ? std::min(generation, gemmMostUnderWay) : generation;
    product.feed = p[GemmFeed] * generation;
    product.step = p[GemmStep] / underWay;
    product.block = p[GemmBlock] / underWay;
    product.stepK = 128 / product.typeBytes, product.steps = product.k / product.stepK;
    product.unpack = bits(kernel.weightType) < bits(kernel.type) ? p[GemmUnpack] : 0;
    product.a = product.batch * product.m * product.k * product.typeBytes;
    if (const ConvolutionShape& c = kernel.convolution; c.kernelHeight * c.kernelWidth > 1) {
        const double inputs = static_cast<double>(c.batch * c.inChannels) * static_cast<double>(c.height * c.width);
        product.once = std::min(1.0, inputs * product.typeBytes / product.a);
        product.a *= product.once;
    }
    product.w = product.batch * product.n * product.k * product.weightTypeBytes;
    const double c = product.batch * product.m * product.n * 2;
    const double reach = keptBytes(gpu, p);
    // Weights are walked through in a circle, of which a cache keeps all or nearly nothing. The kernels for one row
    // stream them past it and so keep a part.
    const double workingSet = gemmReuse(product.w, gpu.l2Bytes) + product.a + c;
    double weightsKept = kept(workingSet, reach, 5);
    if (kernel.m == 1) weightsKept = std::max(weightsKept, 0.4 * kept(workingSet, reach, 2));
    const double othersKept = kept(product.a + product.w + c, reach, 3);
    product.onceBytes = product.w * (1 - weightsKept) + (product.a + c) * (1 - othersKept);
    product.spilled = 1 - kept(product.a + product.w, reach, 1);
    product.dramRate = p[GemmDram] * gpu.dramBandwidth, product.leastDram = product.onceBytes / product.dramRate;
    product.feedRate = product.feed * product.sms * product.clock;
    return product;
}

}  // namespace

bool halvedCache(const GpuView& gpu) {
    return gpu.dramTiming.starts_with("HBM") && gpu.l2Bytes > 20e6;
}

double gemmCache(const GpuView& gpu) {
    return std::max(gpu.l2Bytes / (halvedCache(gpu) ? 2 : 1), 1.0);
}

double gemmClockShare(DType type, const GpuView& gpu, double energy) {
    if (!(gpu.powerCap > 0)) return 1;
    const double nanometres = processNanometres(gpu.process);
    const double feature = nanometres > 0 ? nanometres / gemmReferenceProcess : 1;
    const double voltage = gpu.clock / gemmReferenceClock;
    const double watts = energy * bits(type) / 16 * feature * voltage * voltage * std::max(gpu.peak(true, type), 0.0);
    return clockUnderPower(gpu.powerCap, staticWatts(gpu.powerCap, gpu.idlePower), watts);
}

double gemmWidthSaving(const GpuView& gpu, double power) {
    const double rate = gpu.peak(true, DType::BF16) / (gpu.sms * gpu.clock);
    return rate > 0 ? std::pow(rate / (2 * gemmReferenceRate), -power) : 1;
}

double slowedByPower(const GpuView& gpu, DType type, double energy, double working, double seconds) {
    constexpr double shows = 1e-4;  // as the nominal throttle time
    const double busy = seconds > 0 ? std::min(1.0, working / seconds) : 0;
    const double share = gemmClockShare(type, gpu, energy * gemmWidthSaving(gpu, gemmWidthPower) * busy);
    return 1 + (1 / share - 1) * seconds / (seconds + shows);
}

double keepingCache(const GpuView& gpu, double whole) {
    return gpu.l2Bytes * (halvedCache(gpu) ? 1 : whole);
}

double gemmReuse(double weightBytes, double l2Bytes) {
    return weightBytes * std::clamp(std::ceil(l2Bytes / std::max(weightBytes, 1.0)), 1.0, 5.0);
}

TilePhysics gemmPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    Product product = productOf(kernel, gpu, p);
    const double m = product.m, n = product.n, k = product.k;
    const bool scaled = scaledAlongK(kernel);
    const ProductKernels kernels = knowsKernels(p) ? tile::productKernels(kernel, gpu) : tile::anyProductKernels();
    product.scaling = kernels.scaledSteps * p[GemmScaled];
    const double registers = (gpu.registerBytes > 0 ? gpu.registerBytes : 262144.0) * 0.7;
    Best all;
    TilePhysics& best = all.physics;
    best.seconds = INFINITY;
    const double perStage = gpu.sharedBytes / (3 * product.stepK);
    double perStep = 2 * product.stepK / (product.flopsPerCycle * p[GemmCompute]);
    const double vector = gpu.vectorPeak(DType::F32) / (product.sms * product.clock);
    if (vector > 0) perStep += 2 * promotionsPerStep(kernel, gpu, product.stepK) / vector;
    const double perFeed = product.stepK / product.feed;
    const auto considerAll = [&](const ProductKernels& among, double leastStages) {
        for (const ProductTile& tile : among.tiles) {
            if (!among.whole && ((tile.m > 16 && m < tile.m / 2) || (tile.n > 32 && n < tile.n / 2))) continue;
            const double bytesOfK = tile.m * product.typeBytes + tile.n * product.weightTypeBytes;
            Placement placed{tile, 1, 0, 0, 0};
            placed.tilesOfY = up(m * tile.perM) * up(n * tile.perN) * product.batch;
            const double overhead = p[GemmTileCost] * (tile.perM + tile.perN) + product.unpack * tile.perM;
            placed.perStep = tile.m * tile.n * perStep * (1 + overhead);
            placed.feed = bytesOfK * perFeed;
            // Not even with its work in equal parts.
            const double least =
                placed.tilesOfY * product.steps * std::max(placed.perStep, placed.feed) * product.perSms;
            if (least * 0.999999 >= all.limit * product.clock) continue;
            const double stages = gpu.sharedBytes > 0 ? std::max(leastStages, whole(perStage / bytesOfK)) : 2;
            if (stages < 1) continue;
            placed.occupancy = std::clamp(std::min(stages, whole(registers * 0.25 * tile.perM * tile.perN)), 1.0, 4.0);
            consider(product, placed, 1, p, all);
            if (scaled || product.sms * placed.occupancy < 2 * placed.tilesOfY) continue;
            const double room =
                std::min({product.sms * placed.occupancy / placed.tilesOfY, product.steps / 2, among.mostSplits});
            if (room >= 2) {
                consider(product, placed, whole(room), p, all);
                if (room >= 4) consider(product, placed, whole(room / 2), p, all);
            }
        }
    };
    considerAll(kernels, 0);
    // Where shared memory holds none of them there are others, and the smallest run however little it holds.
    for (const double leastStages : {0.0, 1.0}) {
        if (best.seconds == INFINITY) considerAll(tile::anyProductKernels(), leastStages);
    }
    if (m <= kernels.vectorRows && !scaled) considerVector(product, best);
    best.waves = best.blocks / best.blocksPerWave;
    best.fill = m * n / (up(m / best.tileM) * best.tileM * up(n / best.tileN) * best.tileN);
    // Power limits clocks in long runs, by as much as the tensor units are at work.
    const double work =
        2 * product.batch * m * n * k / (product.flopsPerCycle * product.sms * product.clock * p[GemmCompute]);
    const double throttled = best.seconds / (best.seconds + p[GemmThrottle]) * std::min(1.0, work / best.seconds);
    const double saving = gemmWidthSaving(gpu, p[GemmWidth]);
    best.seconds *= 1 + (1 / gemmClockShare(kernel.type, gpu, p[GemmEnergy] * saving) - 1) * throttled;
    best.launch = p[GemmLaunch] * gemmReferenceClock / product.clock;
    if (kernel.quantisesInput) {
        const double wide = 2 * product.batch * m * k, reach = keptBytes(gpu, p);
        const double held = kept(wide * (1 + product.typeBytes / 2), reach, 3);
        const double moved = wide * quantisingReads(kernel) + product.batch * m * k * product.typeBytes;
        best.launch += quantisingTime(kernel) * p[GemmQuantise] +
                       moved * ((1 - held) / product.dramRate + 4 * held / product.feedRate);
    }
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
