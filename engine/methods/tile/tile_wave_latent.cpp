#include "methods/tile/tile_wave_attention.h"
#include "methods/tile/tile_wave_gemm.h"
#include "methods/tile/tile_wave_terms.h"
#include "workload/kernel_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

enum : std::size_t {
    LaunchTime,
    PerBlock,
    Stream,
    Tensor,
    Dram,
    L2,
    Kept,
    Prepare,
    SplitShare,
    Reduce,
    Walk,
    parameterCount
};

// Nominal values are round numbers near those of H100 and B200 under TensorRT-LLM.
constexpr std::array<TileParameter, parameterCount> parameters{{
    {"launch", 7.5e-6, 1e-6, 1e-4, 0.4, Dimension::Time, "start of the kernel and of what prepares it"},
    {"latent block", 4.5e-6, 1e-7, 3e-5, 0.7, Dimension::Time, "prologue and epilogue of a block of heads at 1.8 GHz"},
    {"latent rate", 2.5e11, 3e9, 6e11, 0.6, Dimension::DataRate, "at which one block streams the cache at 1.8 GHz"},
    {"latent tensor share", 0.9, 0.05, 1, 0.4, Dimension::Fraction, "of the tensor units' peak"},
    {"dram share", 0.9, 0.4, 0.97, 0.15, Dimension::Fraction, "of the memory's bandwidth"},
    {"l2 rate", 4e10, 1e10, 3e11, 0.4, Dimension::DataRate, "of one multiprocessor from the last-level cache"},
    {"kept share", 0.2, 0.05, 2, 0.5, Dimension::Number, "of the cache that keeps data between runs"},
    {"preparation", 1.7, 0.5, 8, 0.5, Dimension::Number, "bytes that preparing the queries moves over theirs"},
    {"split share", 1, 1e-3, 1, 1, Dimension::Fraction,
     "of the parts that a sequence's cache could be cut into: none without a kernel of their own"},
    {"reduction", 4e-6, 1e-7, 3e-5, 0.7, Dimension::Time, "adding up the parts of a split cache"},
    // Counted, not fitted: A100 takes 1.05 times, L40S 0.88 times the time of a key that walkedKey() says.
    {"walk share", 1, 0.2, 2, 0.3, Dimension::Number,
     "of the rate at which multiplying and loading in turn would walk a cache", true},
}};

double latentExtent(std::int64_t value) {
    return static_cast<double>(std::max<std::int64_t>(1, value));
}

// Seconds of one key in a block that walks the cache: without tensor units that fetch for themselves, the same warps
// load their operands out of shared memory and multiply, in turn. Each warp has 16 rows of queries and reads keys and
// values for them; a page is written once, and all queries are read once for each page of as many keys.
double walkedKey(const Kernel& kernel, const GpuView& gpu, double rows, double width, double wide) {
    const double shared = gpu.sharedBandwidth > 0 ? gpu.sharedBandwidth : 128 * std::max(gpu.clock, 1.0);
    const double read = rows / 16 * width + 2 * latentExtent(kernel.attention.headDim);
    return 2 * rows * width / (gpu.peak(true, kernel.type) / gpu.sms) + read * wide / shared;
}

TilePhysics latentPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const AttentionShape& a = kernel.attention;
    const LatentPlan plan = latentPlan(kernel, gpu);
    const double width = latentExtent(a.headDim) + latentExtent(a.valueDim);
    const double wide = std::max(2.0, bits(kernel.type) / 8.0);
    const double splits = 1 + (plan.splits - 1) * p[SplitShare];
    const double keys = plan.keys / splits;
    const double blocks = plan.tiles * splits;
    const double speed = gpu.clock > 0 ? gpu.clock / tile::referenceClock : 1;
    const double narrow = gpu.tensorPeak(DType::FP8);
    const double peak = bits(kernel.kvType) <= 8 && narrow > 0 ? narrow : gpu.peak(true, kernel.type);
    const double multiply = 2 * plan.rows * width * keys / (peak / gpu.sms * p[Tensor]);
    const double stream = keys * plan.rowBytes / (p[Stream] * speed);
    double block = p[PerBlock] / speed + tile::slower(stream, multiply), rounds = std::max(1.0, blocks / gpu.sms);
    double launch = p[LaunchTime];
    if (plan.walked) {
        // One block's prologue is part of the launch, which runs on the device's clock as the blocks do.
        launch /= speed;
        block = keys * walkedKey(kernel, gpu, plan.rows, width, wide) / p[Walk];
        rounds = std::ceil(rounds);
    }

    const double queries = latentExtent(a.batch) * latentExtent(a.heads) * latentExtent(a.queries);
    const double around = queries * width * wide;
    const double footprint = plan.cacheBytes + around;
    // Stated of caches of two halves, as of those that it was fitted on.
    const double miss = tile::missShare(footprint, 2 * p[Kept] * gemmCache(gpu));
    const double perDramByte = 1 / (gpu.dramBandwidth * p[Dram]), perL2Byte = 1 / (gpu.sms * p[L2]);

    TilePhysics out;
    out.launch = launch;
    out.dramBytes = footprint * miss;
    out.l2Bytes = plan.cacheBytes * plan.readers + around;
    out.dram = out.dramBytes * perDramByte;
    out.l2 = out.l2Bytes * perL2Byte;
    out.compute = rounds * block;
    const double prepared = around * p[Prepare] * (miss * perDramByte + (1 - miss) * perL2Byte);
    out.serial = prepared + (splits > 1.01 ? p[Reduce] : 0);
    const double memory = tile::slower(out.dram, out.l2);
    out.seconds = launch + tile::slower(out.compute, memory) + out.serial;
    out.tileM = plan.rows;
    out.tileN = keys;
    out.tileK = latentExtent(a.headDim);
    out.splits = splits;
    out.blocks = blocks;
    out.blocksPerWave = gpu.sms;
    out.waves = std::ceil(blocks / gpu.sms);
    out.steps = keys;
    out.fill = std::min(1.0, latentExtent(a.heads) * latentExtent(a.queries) / (plan.rows * plan.readers));
    out.bound.kind = launch > memory && launch > out.compute ? BoundKind::Overhead
                     : memory > out.compute                  ? BoundKind::Memory
                                                             : BoundKind::Compute;
    out.bound.level = out.bound.kind == BoundKind::Memory ? 0 : -1;
    return out;
}

bool coversLatent(const Kernel& kernel) {
    return kernel.kind == KernelKind::DecodeAttention && latentCache(kernel.attention);
}

}  // namespace

LatentPlan latentPlan(const Kernel& kernel, const GpuView& gpu) {
    const AttentionShape& a = kernel.attention;
    // FlashMLA: a block takes 64 rows of heads and walks its part of the cache in pages of 64 tokens; as many parts as
    // keep every multiprocessor busy.
    constexpr double rowsPerBlock = 64, page = 64, fewestKeys = 256;
    const double heads = latentExtent(a.heads) * latentExtent(a.queries);
    LatentPlan plan;
    // Of wavefronts of 64 nothing was measured; their library cuts sequences.
    plan.walked = !fetchesOperands(gpu) && gpu.warpSize <= 32;
    plan.rows = heads <= 16 ? 16 : rowsPerBlock;
    plan.readers = std::ceil(heads / rowsPerBlock);
    plan.keys = latentExtent(windowed(kernel).keys);
    const int stored = plan.walked ? std::max(bits(kernel.kvType), 16) : std::max(1, bits(kernel.kvType));
    plan.rowBytes = latentExtent(a.headDim) * stored / 8.0;
    plan.cacheBytes = latentExtent(a.batch) * plan.keys * plan.rowBytes;
    plan.tiles = latentExtent(a.batch) * plan.readers;
    const double most = std::max(1.0, std::floor(plan.keys / fewestKeys));
    plan.splits = std::clamp(std::floor(gpu.sms / plan.tiles), 1.0, most);
    plan.keys = std::max(plan.keys, page);
    if (plan.walked) {
        plan.rows = rowsPerBlock, plan.splits = 1;
        plan.keys = std::ceil(plan.keys / page) * page;
    }
    return plan;
}

const TileFamily& latentDecodeFamily() {
    static const TileFamily family{"latent decode attention", coversLatent, parameters, latentPhysics};
    return family;
}

}  // namespace orrery
