#include "methods/tile/tile_wave_experts.h"

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
    Tensor,
    PerBlock,
    Tail,
    Dram,
    L2,
    Kept,
    Permute,
    Product,
    Energy,
    Whole,
    parameterCount
};

// Nominal values are round numbers near those of H100 under TensorRT-LLM.
constexpr std::array<TileParameter, parameterCount> parameters{{
    {"launch", 2.2e-5, 3e-6, 3e-4, 0.5, Dimension::Time,
     "of all kernels of the block at 1.8 GHz, from routing to the last sum"},
    {"expert tensor share", 0.85, 0.02, 1, 0.4, Dimension::Fraction, "of the tensor units' peak inside a tile"},
    {"expert block", 1.5e-6, 2e-8, 3e-5, 0.8, Dimension::Time, "prologue and epilogue of a tile at 1.8 GHz"},
    {"tail", 1.2, 0.01, 2, 0.7, Dimension::Number, "idle end of a product's last wave, in tiles"},
    {"dram share", 0.75, 0.2, 0.97, 0.2, Dimension::Fraction, "of the memory's bandwidth"},
    {"l2 rate", 1.4e11, 5e9, 3e11, 0.4, Dimension::DataRate, "of one multiprocessor from the last-level cache"},
    {"kept share", 0.3, 0.02, 3, 0.6, Dimension::Number, "of the cache that keeps data between runs"},
    {"permutation", 1.3, 0.5, 12, 0.5, Dimension::Number, "bytes that permuting and quantising move over the rows'"},
    {"between products", 3.5e-6, 2e-7, 6e-5, 0.7, Dimension::Time, "one more kernel's start and fill at 1.8 GHz"},
    switchedEnergyParameter,
    wholeCacheParameter,
}};

double expertExtent(std::int64_t value) {
    return static_cast<double>(std::max<std::int64_t>(1, value));
}

struct GroupedProduct {
    double compute = 0, dram = 0, l2 = 0, blocks = 0, steps = 0;
};

TilePhysics physics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const ExpertShape& e = kernel.experts;
    const ExpertTiles tiles = expertTiles(kernel);
    const double rows = expertExtent(e.rows), hidden = expertExtent(e.hidden), inner = expertExtent(e.inner);
    const double narrow = std::max(1, bits(kernel.type)) / 8.0, wide = std::max(1, bits(wideType(kernel.type))) / 8.0;
    const double weight = weightBytesPerElement(kernel.weightType, kernel.scaleBlock);
    const double peak = gpu.peak(true, kernel.type) / gpu.sms * p[Tensor];
    const double speed = gpu.clock > 0 ? gpu.clock / tile::referenceClock : 1;
    const double up = (e.gated ? 2 : 1) * inner;
    const double moved = rows * (2 * hidden * (wide + narrow) + up * wide + inner * (wide + narrow));
    const double footprint = tiles.bytes + moved;
    const double miss = tile::missShare(footprint, p[Kept] * keepingCache(gpu, p[Whole]));
    const double perDram = 1 / (gpu.dramBandwidth * p[Dram]), perL2 = 1 / (gpu.sms * p[L2]);

    const auto product = [&](double n, double k) {
        GroupedProduct out;
        const double columns = std::ceil(n / tiles.tileN);
        out.blocks = tiles.rows * columns;
        out.steps = k / 64;
        const double tile = 2 * tiles.tileM * tiles.tileN * k / peak + p[PerBlock] / speed;
        out.compute = (std::max(1.0, out.blocks / gpu.sms) + p[Tail] * std::min(1.0, out.blocks / gpu.sms)) * tile;
        const double working = 2 * out.blocks * tiles.tileM * tiles.tileN * k / gpu.peak(true, kernel.type);
        out.compute *= slowedByPower(gpu, kernel.type, p[Energy], working, out.compute);
        const double weights = expertExtent(e.touched) * n * k * weight;
        const double operands = rows * k * narrow + rows * n * wide;
        out.dram = (weights + operands) * miss * perDram;
        // Every tile of rows reads the weights of its expert, every tile of columns the rows.
        const double again = std::max(1.0, tiles.rows / expertExtent(e.touched));
        out.l2 = (weights * again + rows * k * narrow * columns + rows * n * wide) * perL2;
        return out;
    };
    const double launch = p[LaunchTime] / speed;
    const GroupedProduct first = product(up, hidden), second = product(hidden, inner);
    const auto seconds = [](const GroupedProduct& one) {
        return tile::slower(one.compute, tile::slower(one.dram, one.l2));
    };
    const double permute = p[Permute] * moved * (miss * perDram + (1 - miss) * perL2);

    TilePhysics out;
    out.launch = launch;
    out.compute = first.compute + second.compute;
    out.dram = first.dram + second.dram;
    out.l2 = first.l2 + second.l2;
    out.serial = permute + p[Product] / speed;
    out.seconds = launch + seconds(first) + seconds(second) + out.serial;
    out.tileM = tiles.tileM;
    out.tileN = tiles.tileN;
    out.tileK = 64;
    out.blocks = first.blocks + second.blocks;
    out.blocksPerWave = gpu.sms;
    out.waves = std::ceil(first.blocks / gpu.sms) + std::ceil(second.blocks / gpu.sms);
    out.fill = tiles.fill;
    out.steps = first.steps;
    out.dramBytes = footprint * miss;
    out.l2Bytes = footprint;
    const double memory = std::max(out.dram, out.l2);
    out.bound.kind = launch > memory && launch > out.compute ? BoundKind::Overhead
                     : memory > out.compute                  ? BoundKind::Memory
                                                             : BoundKind::Compute;
    out.bound.level = out.bound.kind == BoundKind::Memory ? 0 : -1;
    return out;
}

bool covers(const Kernel& kernel) {
    return kernel.kind == KernelKind::Experts;
}

}  // namespace

ExpertTiles expertTiles(const Kernel& kernel) {
    const ExpertShape& e = kernel.experts;
    const double rows = expertExtent(e.rows), touched = expertExtent(e.touched);
    const double each = rows / touched;
    ExpertTiles out;
    // Libraries take the smallest tile that holds an expert's rows, up to 128; weights are the other operand there.
    out.tileM = each <= 16 ? 16 : each <= 32 ? 32 : each <= 64 ? 64 : 128;
    // Evenly spread rows fill the tiles but for the last of each expert; unevenly spread ones leave half a tile open.
    const double even = touched * std::ceil(each / out.tileM);
    const double uneven = std::max(touched, rows / out.tileM + 0.5 * touched);
    out.rows = e.skew > 0 ? uneven : even;
    out.fill = std::min(1.0, rows / (out.rows * out.tileM));
    out.bytes = touched * (e.gated ? 3 : 2) * expertExtent(e.hidden) * expertExtent(e.inner) *
                weightBytesPerElement(kernel.weightType, kernel.scaleBlock);
    return out;
}

const TileFamily& expertsFamily() {
    static const TileFamily family{"experts", covers, parameters, physics};
    return family;
}

}  // namespace orrery
