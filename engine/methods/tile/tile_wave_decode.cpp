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
    DecodeLaunch,
    GroupedBlock,
    GroupedRate,
    GroupedTensor,
    GroupedBytes,
    SplitShare,
    HeadBlock,
    HeadRate,
    HeadVector,
    Dram,
    L2,
    Kept,
    Reduce,
    Detached,
    Fetching,
    Whole,
    parameterCount
};

// Nominal values are round numbers near those of H100, A100 and L40S under TensorRT-LLM (calibration files).
constexpr std::array<TileParameter, parameterCount> parameters{{
    {"launch", 7e-6, 1e-6, 3e-5, 0.4, Dimension::Time, "start of the kernel and of what prepares it"},
    {"grouped block", 4.5e-6, 5e-8, 2e-5, 0.8, Dimension::Time,
     "prologue and epilogue of a block of grouped heads at 1.8 GHz"},
    {"grouped rate", 3.8e10, 3e9, 4e11, 0.6, Dimension::DataRate,
     "at which one such block streams the cache at 1.8 GHz"},
    {"grouped tensor share", 0.4, 0.05, 1, 0.5, Dimension::Fraction, "of the tensor units' peak, grouped heads"},
    {"grouped bytes", 1, 0.4, 1, 0.3, Dimension::Number,
     "cache bytes that grouped heads read over those of its stated type"},
    {"split share", 1, 0.02, 1, 1, Dimension::Fraction, "of the parts that the cache of a group could be cut into"},
    {"head block", 1.3e-6, 5e-8, 2e-5, 0.8, Dimension::Time,
     "prologue and epilogue of a block of one query head at 1.8 GHz"},
    {"head rate", 9e10, 3e9, 4e11, 0.6, Dimension::DataRate, "at which one such block streams the cache at 1.8 GHz"},
    {"head vector share", 0.25, 0.01, 2, 0.8, Dimension::Number, "of the vector units' fp32 peak, query head by head"},
    {"dram share", 0.8, 0.4, 0.95, 0.15, Dimension::Fraction, "of the memory's bandwidth"},
    {"l2 rate", 8e10, 1e10, 3e11, 0.4, Dimension::DataRate, "of one multiprocessor from the last-level cache"},
    {"kept share", 0.5, 0.05, 2, 0.5, Dimension::Number, "of the cache that keeps data between runs"},
    {"reduction", 2.5e-6, 1e-7, 2e-5, 0.7, Dimension::Time, "adding up the parts of a split cache"},
    {"detached gain", 2.5, 0.5, 8, 0.5, Dimension::Number,
     "how much faster a block of grouped heads is where tensor units keep their sums outside of registers"},
    // Chosen as the gain above, not measured: there too some warps load while others multiply.
    {"fetching gain", 2.5, 0.5, 8, 0.5, Dimension::Number,
     "how much faster it is with a narrow cache where tensor units fetch their operands", true},
    wholeCacheParameter,
}};

double extent(std::int64_t value) {
    return static_cast<double>(std::max<std::int64_t>(1, value));
}

double bytesPer(DType type) {
    return std::max(1, bits(type)) / 8.0;
}

// TensorRT-LLM's kernel for Hopper takes caches of 8 bits alone (decoderXQAImplJIT, `supportConfigQGMMA`).
double gainOf(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    if (detachedSums(gpu)) return p[Detached];
    if (kernel.flashDecoding) return 1;
    return bits(kernel.kvType) <= 8 && fetchesOperands(gpu) ? p[Fetching] : 1;
}

TilePhysics physics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const AttentionShape& a = kernel.attention;
    const DecodePlan plan = decodePlan(kernel, gpu);
    const double splits = plan.grouped ? 1 + (plan.splits - 1) * p[SplitShare] : plan.splits;
    const double keys = plan.keys / splits;  // of one block
    const double blocks = plan.heads * splits;
    const double width = extent(a.headDim) + extent(a.valueDim);
    const double share = plan.grouped ? p[GroupedBytes] : 1;
    const double speed = gpu.clock > 0 ? gpu.clock / tile::referenceClock : 1;
    const double gain = plan.grouped ? gainOf(kernel, gpu, p) : 1;
    const double rate = (plan.grouped ? p[GroupedRate] : p[HeadRate]) * speed * gain;
    const double peak = gpu.peak(plan.grouped, plan.grouped ? kernel.type : DType::F32) / gpu.sms;
    const double rows = plan.grouped ? std::min(plan.rows, plan.groups) : extent(a.queries);
    const double multiply =
        2 * rows * width * keys / (peak * (plan.grouped ? std::min(1.0, p[GroupedTensor] * gain) : p[HeadVector]));
    // Who converts a narrow cache in the warps that multiply streams it no faster than a wide one.
    const bool widens = !fetchesOperands(gpu) || kernel.flashDecoding;
    const double converted = widens ? std::max(1.0, 2 / bytesPer(kernel.kvType)) : 1;
    const double stream = keys * plan.rowBytes * share * converted / rate;
    // On tensor units products hide behind loads; the vector kernel converts and adds in the same threads.
    const double inside = plan.grouped ? std::max(stream, multiply) : stream + multiply;
    const double block = (plan.grouped ? p[GroupedBlock] : p[HeadBlock]) / (speed * gain) + inside;
    const double rounds = std::max(1.0, blocks / gpu.sms);
    const double result =
        extent(a.batch) * extent(a.heads) * extent(a.queries) * (extent(a.headDim) + extent(a.valueDim)) * 2;
    const double bytes = share * plan.cacheBytes + result;
    const double miss = tile::missShare(bytes, p[Kept] * keepingCache(gpu, p[Whole]));
    const double rereads = plan.grouped ? std::max(1.0, plan.groups / plan.rows) : plan.groups;

    TilePhysics out;
    out.launch = p[DecodeLaunch];
    out.dramBytes = bytes * miss;
    out.l2Bytes = bytes * rereads;
    out.dram = out.dramBytes / (gpu.dramBandwidth * p[Dram]);
    out.l2 = out.l2Bytes / (gpu.sms * p[L2]);
    out.compute = rounds * block;
    out.serial = splits > 1.01 ? p[Reduce] : 0;
    const double memory = tile::slower(out.dram, out.l2);
    out.seconds = p[DecodeLaunch] + tile::slower(out.compute, memory) + out.serial;
    out.tileM = rows;
    out.tileN = keys;
    out.tileK = extent(a.headDim);
    out.splits = splits;
    out.blocks = blocks;
    out.blocksPerWave = gpu.sms;
    out.waves = std::ceil(blocks / gpu.sms);
    out.steps = keys;
    out.fill = 1;
    out.bound.kind = p[DecodeLaunch] > memory && p[DecodeLaunch] > out.compute ? BoundKind::Overhead
                     : memory > out.compute                                    ? BoundKind::Memory
                                                                               : BoundKind::Compute;
    out.bound.level = out.bound.kind == BoundKind::Memory ? 0 : -1;
    return out;
}

bool covers(const Kernel& kernel) {
    return kernel.kind == KernelKind::DecodeAttention && !latentCache(kernel.attention);
}

}  // namespace

bool detachedSums(const GpuView& gpu) {
    // A multiprocessor of Blackwell's data-centre parts does 8,192 operations a cycle (bf16): twice what registers
    // feed.
    return std::max(gpu.tensorOpsPerCycle(DType::BF16), gpu.tensorOpsPerCycle(DType::F16)) > 6000;
}

bool fetchesOperands(const GpuView& gpu) {
    return gpu.sharedBytes <= 0 || gpu.sharedBytes >= tile::largeShared;
}

DecodePlan decodePlan(const Kernel& kernel, const GpuView& gpu) {
    const AttentionShape& a = kernel.attention;
    const double batch = extent(a.batch), heads = extent(a.heads), kvHeads = extent(a.kvHeads);
    const double history = extent(a.keys);
    // TensorRT-LLM's decoderXQAConstants.h: tokens of a part, blocks per multiprocessor at least, waves at most.
    constexpr double tokensPerPart = 128, blockFactor = 4, waveFactor = 8;
    DecodePlan plan;
    // A tile of FlashAttention has 64 rows at least, those of one warp group's products.
    plan.rows = kernel.flashDecoding ? 64 : 32;
    plan.groups = std::max(1.0, heads / kvHeads) * extent(a.queries);
    plan.keys = kernel.window > 0 ? std::min(history, extent(kernel.window)) : history;
    const double elements = latentCache(a) ? extent(a.headDim) : extent(a.headDim) + extent(a.valueDim);
    plan.rowBytes = elements * bytesPer(kernel.kvType);
    plan.cacheBytes = batch * kvHeads * plan.keys * plan.rowBytes;
    const double parts = std::max(1.0, std::floor((history + 1) / tokensPerPart));
    const bool suits = plan.groups > 1 && plan.groups <= plan.rows;
    plan.grouped = kernel.flashDecoding
                       ? plan.groups > 1
                       : suits && (bits(kernel.kvType) <= 8 || kvHeads * batch * parts * blockFactor >= gpu.sms);
    if (plan.grouped) {
        plan.heads = batch * kvHeads * std::ceil(plan.groups / plan.rows);
        double splits = std::floor(plan.keys / tokensPerPart);
        splits = std::max(1.0, std::min(splits, std::round(std::sqrt(8 * splits))));
        const double waves = batch * kvHeads * splits / gpu.sms;
        if (waves > waveFactor) splits = std::max(1.0, std::floor(splits * waveFactor / waves));
        plan.splits = splits;
    } else {
        plan.heads = batch * heads;
        plan.splits = std::max(1.0, std::min(std::ceil(gpu.sms / plan.heads), std::ceil(plan.keys / 64)));
    }
    return plan;
}

const TileFamily& decodeAttentionFamily() {
    static const TileFamily family{"decode attention", covers, parameters, physics};
    return family;
}

}  // namespace orrery
