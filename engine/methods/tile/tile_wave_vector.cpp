#include "methods/tile/tile_wave_vector.h"

#include "methods/tile/tile_wave_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

// Nominal values: fitted to all vector operators of NeuSight's five training devices together, and held near them where
// one operator alone cannot tell two costs of a row, or a slower memory from more passes, apart; the feed is not below
// what was measured of L2: 20 B per cycle and multiprocessor on T4 (Jia et al., 2019), 25.6 on V100, 47 on A100 (white
// papers).
constexpr std::array<TileParameter, VectorParameterCount> parameterTable{{
    {"stacked dram share", 0.9, 0.8, 1, 0.1, Dimension::Fraction, "share of the data rate that HBM gives a stream"},
    {"graphics dram share", 0.77, 0.74, 1, 0.1, Dimension::Fraction,
     "share of the data rate that GDDR or LPDDR gives a stream"},
    {"normalisation passes", 1.3, 0.8, 1.8, 0.3, Dimension::Number, "reads of a row beyond the first, normalisation"},
    {"softmax passes", 3, 2.5, 3, 0.3, Dimension::Number,
     "reads of a row beyond the first, softmax of more than 1024 elements"},
    {"cache reach", 0.75, 0.6, 0.9, 0.3, Dimension::Number, "rows in flight that L2 keeps, of its capacity"},
    {"warm share", 0.62, 0.5, 0.8, 0.3, Dimension::Number, "footprint that L2 keeps between runs, of its capacity"},
    {"feed", 20.5, 20, 24, 0.3, Dimension::Number, "bytes per cycle between L2 and one multiprocessor"},
    {"row cost", 550, 400, 700, 0.5, Dimension::Number,
     "cycles of a multiprocessor that one row of normalisation, or 1024 elements of softmax, cost"},
    {"launch", 1.9e-5, 1e-7, 1e-4, 0.3, Dimension::Time, "time of a launch as the data have it"},
    {"normalisation launch", 2.5e-5, 1e-8, 1e-4, 0.5, Dimension::Time, "time that normalisation takes to launch more"},
    // Measured of P100 by others: 510 of 732 GB/s (Jia et al., "Dissecting the NVIDIA Volta GPU architecture via
    // microbenchmarking", 2018), and about three quarters by STREAM.
    {"early dram share", 0.73, 0.7, 0.85, 0.05, Dimension::Fraction,
     "share of the data rate that the first generation with HBM gives a stream"},
}};

// As bf16 operators have it where a profiler times them (tile-hybrid-vector-*: 0.9 to 5 µs).
constexpr double graphLaunch = 2.3e-6;
constexpr double statedShare = 0.8;   // of an L2 rate that the design states
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
    // A row of softmax has a thread for four elements, up to 1024; a row of normalisation has 128.
    const double threads = softmax ? std::clamp(row / 4, 32.0, 1024.0) : 128;
    const double inFlight = gpu.sms * std::min(16.0, gpu.warpsPerSm * 32 / threads) * row * elementBytes(kernel.type);
    const double l2 = std::max(gpu.l2Bytes, 1.0);
    const double ratio = p[VectorReach] * l2 / inFlight;
    const double again = passes / (1 + ratio * ratio);
    const double warm = tile::missShare((reads + 1) * bytes, p[VectorWarm] * l2);
    const bool early = gpu.tensorPeak(DType::F16) <= 0;
    const double share = graphicsMemory(gpu) ? p[VectorGraphics] : early ? p[VectorEarly] : p[VectorStacked];

    out.dramBytes = bytes * ((reads + 1) * warm + again);
    out.l2Bytes = bytes * (reads + 1 + passes);
    out.dram = out.dramBytes / (share * gpu.dramBandwidth);
    const double feed = p[VectorFeed] * gpu.sms * gpu.clock;
    out.l2 = out.l2Bytes / std::max(feed, statedShare * gpu.l2Bandwidth);
    // A short row of softmax is the work of a part of a warp, several stand in one; normalisation has a block for each.
    const double rowShare = softmax ? std::min(1.0, row / registerRow) : 1;
    out.serial = softmax || norm ? rows * rowShare * p[VectorRow] / (gpu.sms * gpu.clock) : 0;
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
                                   parameterTable,
                                   vectorPhysics,
                                   nullptr,
                                   0.1,
                                   graphLaunch};
    return family;
}

}  // namespace orrery
