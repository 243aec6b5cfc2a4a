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
    PrefillLaunch,
    Tensor,
    Exponential,
    PerTile,
    PerBlock,
    Dram,
    L2,
    Kept,
    Prepare,
    Tail,
    Energy,
    Whole,
    FetchingLaunch,
    OpenBlock,
    Fragments,
    parameterCount
};

// Nominal values are round numbers near those of H100, A100 and B200 under TensorRT-LLM (calibration files). Times of
// launches, tiles and blocks are cycles, stated in seconds at 1.8 GHz.
constexpr std::array<TileParameter, parameterCount> parameters{{
    {"launch", 8.8e-6, 1e-6, 3e-5, 0.4, Dimension::Time,
     "start of the preparing kernel and of the attention kernel at 1.8 GHz"},
    {"tensor share", 0.8, 0.05, 1, 0.3, Dimension::Fraction, "of the tensor units' peak inside a tile"},
    {"exponential share", 1.2, 0.05, 6, 0.7, Dimension::Number,
     "exponentials per cycle over those of the special-function units"},
    {"per tile", 5e-8, 1e-9, 5e-6, 1, Dimension::Time, "of a tile of scores at 1.8 GHz, whatever its work"},
    {"per block", 2.4e-6, 1e-8, 2e-5, 1, Dimension::Time, "prologue and epilogue of a block at 1.8 GHz"},
    {"dram share", 0.9, 0.3, 0.97, 0.15, Dimension::Fraction, "of the memory's bandwidth"},
    {"l2 rate", 31e9, 8e9, 2e11, 0.4, Dimension::DataRate, "of one multiprocessor from the last-level cache"},
    {"kept share", 0.6, 0.05, 3, 0.5, Dimension::Number, "of the cache that keeps data between kernels"},
    {"preparation", 1.6, 1, 6, 0.4, Dimension::Number, "bytes that preparing moves over those that it must"},
    {"tail", 0.45, 0.01, 2, 0.7, Dimension::Number, "idle end of the last wave over the longest block"},
    switchedEnergyParameter,
    wholeCacheParameter,
    // A100's launch takes 15,000 cycles, those of H100 and B200 21,000 to 23,000: theirs describe copies of tiles
    // first.
    {"fetching launch", 1.4, 0.5, 3, 0.2, Dimension::Number,
     "launch where tensor units fetch their operands over that where they do not", true},
    {"open block", 0.02, 1e-3, 1, 1, Dimension::Fraction,
     "of a block's ends that its neighbours do not hide where several share a multiprocessor: without fetching units",
     true},
    // Warps of 16 rows would read each key and value once for every 16 queries, warps of 32 half as often.
    {"fragment share", 0.77, 1e-6, 2, 0.3, Dimension::Number,
     "of what warps of 16 rows read out of shared memory, in turn with multiplying: without fetching units", true},
}};

double bytesPer(DType type) {
    return std::max(1, bits(type)) / 8.0;
}

double extent(std::int64_t value) {
    return static_cast<double>(std::max<std::int64_t>(1, value));
}

bool narrow(const Kernel& kernel, const GpuView& gpu) {
    return bits(kernel.type) <= 8 || (bits(kernel.kvType) <= 8 && fetchesOperands(gpu));
}

// Seconds in which the warps of a multiprocessor read a tile's keys and values out of shared memory: none where tensor
// units take operands from there by themselves (CUTLASS, ldmatrix and mma against wgmma).
double readFragments(const AttentionTiles& tiles, double width, double bytes, const GpuView& gpu) {
    if (fetchesOperands(gpu)) return 0;
    constexpr double rowsOfWarp = 16, bytesPerCycle = 128;
    const double shared = gpu.sharedBandwidth > 0 ? gpu.sharedBandwidth : bytesPerCycle * std::max(gpu.clock, 1.0);
    return tiles.tileQueries / rowsOfWarp * tiles.tileKeys * width * bytes / shared;
}

TilePhysics physics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const AttentionShape& a = kernel.attention;
    const AttentionTiles tiles = attentionTiles(kernel);
    const PrefillTraffic traffic = prefillTraffic(kernel, gpu);
    const double width = extent(a.headDim) + extent(a.valueDim);
    const double heads = extent(a.batch) * extent(a.heads);
    const bool fetches = fetchesOperands(gpu);
    const DType type = narrow(kernel, gpu) ? DType::FP8 : kernel.type;
    const double peak = gpu.peak(true, type) / gpu.sms;
    const double cells = tiles.tileQueries * tiles.tileKeys;
    const double speed = gpu.clock > 0 ? gpu.clock / tile::referenceClock : 1;
    const double launch = p[PrefillLaunch] * (fetches ? p[FetchingLaunch] : 1) / speed;
    // Blocks over expanded keys, longer than their values, stand alone everywhere.
    const double ends = p[PerBlock] * (fetches || latentAttention(a) ? 1 : p[OpenBlock]) / speed;
    // CUDA C++ Programming Guide, arithmetic throughput: four special-function results per scheduler and cycle.
    const double special = 4 * gpu.subCores * gpu.clock;
    const double atPeak = 2 * cells * width / peak;
    const double multiply =
        atPeak / p[Tensor] + p[Fragments] * readFragments(tiles, width, std::max(1, bits(type)) / 8.0, gpu);
    const double exponential = cells / (special * p[Exponential]);
    const double tile = multiply + exponential + p[PerTile] / speed;
    const double blocks = heads * tiles.rows;
    const double work = heads * (tiles.tiles * tile + tiles.rows * ends) / gpu.sms;
    const double longest = tiles.longest * tile + ends;
    double run = tile::slower(work + longest * p[Tail] * std::min(1.0, blocks / gpu.sms), longest);
    run *= slowedByPower(gpu, type, p[Energy], heads * tiles.tiles * atPeak / gpu.sms, run);
    const double kept = p[Kept] * keepingCache(gpu, p[Whole]);
    const double miss = tile::missShare(traffic.footprint, kept);
    const double perByte = miss / (gpu.dramBandwidth * p[Dram]) + (1 - miss) / (gpu.sms * p[L2]);
    const double prepare = traffic.prepared * p[Prepare] * perByte;
    const double memory = traffic.attended * perByte;

    TilePhysics out;
    out.launch = launch;
    out.compute = run;
    out.serial = prepare;
    out.dram = (prepare + memory) * (perByte > 0 ? miss / (gpu.dramBandwidth * p[Dram]) / perByte : 0);
    out.l2 = prepare + memory - out.dram;
    out.seconds = launch + prepare + tile::slower(run, memory);
    out.tileM = tiles.tileQueries;
    out.tileN = tiles.tileKeys;
    out.tileK = extent(a.headDim);
    out.blocks = blocks;
    out.blocksPerWave = gpu.sms;
    out.waves = std::ceil(blocks / gpu.sms);
    out.fill = std::min(1.0, tiles.scores / (tiles.tiles * cells));
    out.steps = tiles.longest;
    out.dramBytes = miss * (traffic.prepared + traffic.attended);
    out.l2Bytes = traffic.prepared + traffic.attended;
    const double moved = prepare + memory;
    out.bound.kind = launch > run && launch > moved ? BoundKind::Overhead
                     : moved > run                  ? BoundKind::Memory
                                                    : BoundKind::Compute;
    out.bound.level = out.bound.kind == BoundKind::Memory ? 0 : -1;
    return out;
}

bool covers(const Kernel& kernel) {
    return kernel.kind == KernelKind::PrefillAttention;
}

}  // namespace

AttentionTiles attentionTiles(const Kernel& kernel) {
    const AttentionShape& a = kernel.attention;
    AttentionTiles out;
    const double queries = extent(a.queries), keys = extent(a.keys);
    out.tileQueries = queries <= 64 ? 64 : 128;
    out.tileKeys = a.headDim <= 128 ? 128 : 64;
    out.rows = std::ceil(queries / out.tileQueries);
    const double before = a.causal ? keys - queries : 0;  // keys that stand before the first query
    const double window = kernel.window > 0 && static_cast<double>(kernel.window) < keys ? extent(kernel.window) : 0;
    out.windowed = window > 0;
    // Whole numbers, for this is the inner loop of a price.
    const auto edge = static_cast<std::int64_t>(out.tileQueries), lane = static_cast<std::int64_t>(out.tileKeys);
    const auto rows = static_cast<std::int64_t>(out.rows), all = static_cast<std::int64_t>(keys);
    const auto asked = static_cast<std::int64_t>(queries), ahead = static_cast<std::int64_t>(before);
    const auto back = static_cast<std::int64_t>(window);
    constexpr std::int64_t exact = 128;
    const std::int64_t count = std::min(rows, exact);
    std::int64_t tiles = 0, longest = 1, seenTwice = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = rows > exact ? (2 * i + 1) * rows / (2 * exact) : i;
        const std::int64_t first = row * edge, last = std::min(first + edge, asked);  // one past the last query
        const std::int64_t end = a.causal ? std::clamp<std::int64_t>(ahead + last, 1, all) : all;
        const std::int64_t begin = back > 0 ? std::clamp<std::int64_t>(ahead + first - back + 1, 0, end - 1) : 0;
        const std::int64_t walked = (lane == 128 ? (end + 127) / 128 - begin / 128 : (end + 63) / 64 - begin / 64);
        tiles += walked;
        longest = std::max(longest, walked);
        const std::int64_t twice =
            a.causal ? std::clamp<std::int64_t>(2 * ahead + first + last + 1, 1, 2 * all) : 2 * all;
        seenTwice += (last - first) * (back > 0 ? std::min(twice, 2 * back) : twice);
    }
    const double stride = out.rows / static_cast<double>(count);
    out.tiles = static_cast<double>(std::max<std::int64_t>(1, tiles)) * stride;
    out.scores = 0.5 * static_cast<double>(seenTwice) * stride;
    out.longest = static_cast<double>(longest);
    return out;
}

PrefillTraffic prefillTraffic(const Kernel& kernel, const GpuView& gpu) {
    const AttentionShape& a = kernel.attention;
    const double queries = extent(a.batch) * extent(a.queries), keys = extent(a.batch) * extent(a.keys);
    const double width = extent(a.headDim) + extent(a.valueDim);
    // Activations arrive and leave as 16-bit numbers, whatever the products compute in.
    const double wide = std::max(2.0, std::min(4.0, bytesPer(kernel.type)));
    const double queryElements = queries * extent(a.heads) * extent(a.headDim);
    const double newKeys = std::min(queries, keys) * extent(a.kvHeads) * width;
    const double cacheType = bits(kernel.type) <= 8 ? bytesPer(kernel.type) : bytesPer(kernel.kvType);
    const double cached = keys * extent(a.kvHeads) * width * cacheType;
    const double result = queries * extent(a.heads) * extent(a.valueDim) * wide;
    const double arriving = (queryElements + newKeys) * wide;
    const double prepared = queryElements * bytesPer(kernel.type);
    // Without fusion each score is written, normalised in place and read again.
    const double scores = a.flash ? 0 : 4 * wide * queries * extent(a.heads) * extent(a.keys);
    PrefillTraffic out;
    out.prepared = arriving + newKeys * cacheType + prepared;
    if (latentAttention(a)) {
        // Only positions are turned, in place, and one latent vector per token is stored (its value as wide as four of
        // the expanded ones in DeepSeek-V2); a narrow cache asks for narrow operands, all of which are rewritten.
        const double position = extent(a.headDim) - std::min(extent(a.headDim), extent(a.valueDim));
        const double turned =
            2 * position * wide * (queries * extent(a.heads) + std::min(queries, keys) * extent(a.kvHeads));
        const double stored = std::min(queries, keys) * (4 * extent(a.valueDim) + position) * bytesPer(kernel.kvType);
        out.prepared = turned + stored;
        if (narrow(kernel, gpu)) out.prepared += arriving + (queryElements + newKeys);
    }
    out.attended = prepared + cached + result + scores;
    out.footprint = arriving + cached + prepared + result + scores;
    return out;
}

const TileFamily& prefillAttentionFamily() {
    static const TileFamily family{"prefill attention", covers, parameters, physics};
    return family;
}

}  // namespace orrery
