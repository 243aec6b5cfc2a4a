#include "methods/analytical/tile_wave_vector.h"

#include "methods/analytical/tile_wave_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

// Nominal values: fitted to the five training devices of NeuSight's vector operators; the feed is not below what was
// measured of L2: 20 B per cycle and multiprocessor on T4 (Jia et al., 2019), 25.6 on V100, 47 on A100 (white papers).
constexpr std::array<TileParameter, VectorParameterCount> parameterTable{{
    {"stacked dram share", 0.9, 0.4, 1, 0.1, Dimension::Fraction, "share of the data rate that HBM gives a stream"},
    {"graphics dram share", 0.77, 0.4, 1, 0.1, Dimension::Fraction,
     "share of the data rate that GDDR or LPDDR gives a stream"},
    {"normalisation passes", 1.6, 0.01, 3, 0.3, Dimension::Number, "reads of a row beyond the first, normalisation"},
    {"softmax passes", 1.5, 0.01, 3, 0.3, Dimension::Number,
     "reads of a row beyond the first, softmax of more than 1024 elements"},
    {"cache reach", 1.6, 0.05, 8, 0.3, Dimension::Number, "rows in flight that L2 keeps, of its capacity"},
    {"warm share", 0.72, 0.05, 4, 0.3, Dimension::Number, "footprint that L2 keeps between runs, of its capacity"},
    {"feed", 25, 20, 64, 0.3, Dimension::Number, "bytes per cycle between L2 and one multiprocessor"},
    {"row cost", 277, 1, 3000, 0.5, Dimension::Number,
     "cycles of a multiprocessor that one row of softmax or "
     "normalisation costs"},
    {"launch", 2.1e-5, 1e-7, 1e-4, 0.3, Dimension::Time, "time of a launch as the data have it"},
    {"normalisation launch", 1.6e-5, 1e-8, 1e-4, 0.5, Dimension::Time, "time that normalisation takes to launch more"},
}};

constexpr double registerRow = 1024;  // elements of a row that PyTorch's softmax keeps in the registers of a warp

double elementBytes(DType type) {
    return std::max(bits(type), 8) / 8.0;
}

}  // namespace

bool graphicsMemory(const GpuView& gpu) {
    const std::string_view timing = gpu.dramTiming;
    return timing.find("GDDR") != std::string_view::npos || timing.find("LPDDR") != std::string_view::npos;
}

TilePhysics vectorPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    TilePhysics out;
    const double rows = std::max<double>(
        1, static_cast<double>(kernel.m) * static_cast<double>(std::max<std::int64_t>(kernel.batch, 1)));
    const double row = std::max<double>(1, static_cast<double>(kernel.n));
    const double bytes = rows * row * elementBytes(kernel.type);
    const bool softmax = kernel.kind == KernelKind::Softmax, norm = kernel.kind == KernelKind::Normalization;
    const double reads = softmax || norm ? 1 : std::max<double>(1, kernel.operands);
    const double passes = norm ? p[VectorNormPass] : softmax && row > registerRow ? p[VectorSoftmaxPass] : 0;
    const double inFlight = gpu.sms * (softmax ? 8 : 16) * row * elementBytes(kernel.type);
    const double l2 = std::max(gpu.l2Bytes, 1.0);
    const double ratio = p[VectorReach] * l2 / inFlight;
    const double again = passes / (1 + ratio * ratio);
    const double warm = tile::missShare((reads + 1) * bytes, p[VectorWarm] * l2);
    const double share = graphicsMemory(gpu) ? p[VectorGraphics] : p[VectorStacked];

    out.dramBytes = bytes * ((reads + 1) * warm + again);
    out.l2Bytes = bytes * (reads + 1 + passes);
    out.dram = out.dramBytes / (share * gpu.dramBandwidth);
    out.l2 = out.l2Bytes / (p[VectorFeed] * gpu.sms * gpu.clock);
    out.serial = softmax || norm ? rows * p[VectorRow] / (gpu.sms * gpu.clock) : 0;
    const double peak = gpu.vectorPeak(kernel.type);
    out.compute = peak > 0 ? kernel.flops / peak : 0;
    out.launch = p[VectorLaunch] + (norm ? p[VectorNormLaunch] : 0);
    out.blocks = softmax || norm ? rows : std::ceil(bytes / 4 / 512);
    out.blocksPerWave = gpu.sms * std::max(1.0, std::floor(gpu.warpsPerSm / 4));
    out.waves = out.blocks / out.blocksPerWave;
    out.seconds = out.launch + tile::slower(out.dram, tile::slower(out.l2 + out.serial, out.compute));
    out.bound = out.compute > std::max(out.dram, out.l2) ? Bound{BoundKind::Compute, -1} : Bound{BoundKind::Memory, 0};
    return out;
}

const TileFamily& vectorFamily() {
    static const TileFamily family{"vector operators",
                                   [](const Kernel& kernel) {
                                       return kernel.kind == KernelKind::Elementwise ||
                                              kernel.kind == KernelKind::Softmax ||
                                              kernel.kind == KernelKind::Normalization;
                                   },
                                   parameterTable, vectorPhysics};
    return family;
}

}  // namespace orrery
