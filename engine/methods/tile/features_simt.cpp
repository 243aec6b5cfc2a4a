#include "methods/tile/features_simt.h"

#include "methods/tile/feature_terms.h"
#include "methods/tile/tile_wave_convolution.h"
#include "methods/tile/tile_wave_vector.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

using features::logOf;
using features::Row;

constexpr std::array<std::string_view, 21> simtNames{"blocks per sm", "last wave", "dram / arithmetic",
                                                     "feed / arithmetic", "steps", "splits", "tile area", "tile aspect",
                                                     "fill", "weights / l2", "operands / l2", "seconds / launch",
                                                     "last warp row", "last warp column", "launch share",
                                                     // for the domain alone
                                                     "rows", "columns", "reduction", "batch",
                                                     // of the device
                                                     "throttle depth", "generation"};
constexpr std::array<std::string_view, 10> vectorNames{"bytes / l2", "dram / feed", "row", "rows per sm", "operands",
                                                       "launch share", "arithmetic / dram",
                                                       // for the domain alone
                                                       "rows",
                                                       // of the device
                                                       "graphics memory", "bytes per sm and cycle"};

double remainder(double value, double step) {
    return value / (std::ceil(value / step) * step);
}

void simtFeatures(const Kernel& kernel, const GpuView& gpu, const TilePhysics& physics, std::span<double> out) {
    const auto m = static_cast<double>(kernel.m), n = static_cast<double>(kernel.n), k = static_cast<double>(kernel.k);
    const auto batch = static_cast<double>(std::max<std::int64_t>(kernel.batch, 1));
    const double width = bits(kernel.type) / 8.0, l2 = std::max(gpu.l2Bytes, 1.0);
    const double run = std::max(physics.seconds - physics.launch, 1e-12);
    Row row{out};
    row.add(logOf(physics.blocks / gpu.sms));
    row.add(features::fraction(physics.blocks, gpu.sms));
    row.add(logOf(physics.dram / physics.compute));
    row.add(logOf(physics.l2 / physics.compute));
    row.add(logOf(physics.steps));
    row.add(physics.splits);
    row.add(logOf(physics.tileM * physics.tileN));
    row.add(logOf(physics.tileM / physics.tileN));
    row.add(physics.fill);
    row.add(logOf(k * n * width / l2));
    row.add(logOf(batch * width * (k * n + m * k + m * n) / l2));
    row.add(logOf(run / physics.launch));
    row.add(remainder(m, 32));
    row.add(remainder(n, 32));
    row.add(physics.launch / physics.seconds);
    row.add(logOf(m));
    row.add(logOf(n));
    row.add(logOf(k));
    row.add(logOf(batch));
    row.add(gpu.sustained * run / (run + 1e-3));
    row.add(simtGeneration(gpu));
}

void vectorFeatures(const Kernel& kernel, const GpuView& gpu, const TilePhysics& physics, std::span<double> out) {
    const auto rows = static_cast<double>(kernel.m * std::max<std::int64_t>(kernel.batch, 1));
    const auto n = static_cast<double>(kernel.n);
    const double width = std::max(bits(kernel.type), 8) / 8.0, l2 = std::max(gpu.l2Bytes, 1.0);
    Row row{out};
    row.add(logOf(rows * n * width / l2));
    row.add(logOf(physics.dram / physics.l2));
    row.add(logOf(n));
    row.add(logOf(rows / gpu.sms));
    row.add(kernel.operands);
    row.add(physics.launch / physics.seconds);
    row.add(logOf(physics.compute / physics.dram));
    row.add(logOf(rows));
    row.add(graphicsMemory(gpu) ? 1 : 0);
    row.add(gpu.dramBandwidth / (gpu.sms * gpu.clock));
}

constexpr std::array<std::string_view, 17> convolutionNames{
    "in channels", "out channels", "pixels", "batch", "height", "kernel", "in fours", "in blocks", "blocks per sm",
    "dram / arithmetic", "feed / arithmetic", "transforms share", "steps", "fill", "launch share",
    // of the device
    "throttle depth", "generation"};

void convolutionFeatures(const Kernel& kernel, const GpuView& gpu, const TilePhysics& physics, std::span<double> out) {
    const ConvolutionShape& shape = kernel.convolution;
    const auto height = static_cast<double>(shape.outHeight), width = static_cast<double>(shape.outWidth);
    Row row{out};
    row.add(logOf(static_cast<double>(shape.inChannels)));
    row.add(logOf(static_cast<double>(shape.outChannels)));
    row.add(logOf(static_cast<double>(shape.batch) * height * width));
    row.add(logOf(static_cast<double>(shape.batch)));
    row.add(logOf(height));
    row.add(static_cast<double>(shape.kernelHeight * shape.kernelWidth));
    row.add(remainder(height, 4) * remainder(width, 4));
    row.add(remainder(height, 8) * remainder(width, 16));
    row.add(logOf(physics.blocks / gpu.sms));
    row.add(logOf(physics.dram / physics.compute));
    row.add(logOf(physics.l2 / physics.compute));
    row.add(physics.serial / physics.seconds);
    row.add(logOf(physics.steps));
    row.add(physics.fill);
    row.add(physics.launch / physics.seconds);
    row.add(gpu.sustained);
    row.add(simtGeneration(gpu));
}

// Across devices a correction is learned from few of them: it is kept short, as leaving each training device out in
// turn showed (physics alone is off by 8–12 % on the newer three, a long correction by 11–13 %).
void shorten(TrainingOptions& training, std::size_t rows, bool acrossDevices) {
    if (!acrossDevices) return;
    training.steps = rows < 3000 ? 2 : 20, training.rate = 0.06, training.depth = 4;
    training.minimumLeaf = 100;
}

// Of one device: half as many trees at twice the rate, so that files stay small.
void tuneVectors(TrainingOptions& training, std::size_t rows, bool acrossDevices) {
    training.rate = 0.2;
    shorten(training, rows, acrossDevices);
}

// Which algorithm a library takes jumps with every extent: many shallow trees.
void tuneConvolutions(TrainingOptions& training, std::size_t rows, bool acrossDevices) {
    training.leaves = 12;
    training.rate = 0.25;
    training.minimumLeaf = acrossDevices ? 100 : 8;
    if (acrossDevices || rows < 500) training.steps = 20;
}

}  // namespace

const HybridFamily& simtHybrid() {
    static const HybridFamily family{"vector-unit products", simtNames, simtFeatures, 2, 120, 5, shorten, 150, 4};
    return family;
}

const HybridFamily& vectorHybrid() {
    static const HybridFamily family{"vector operators", vectorNames, vectorFeatures, 2, 30, 4, tuneVectors, 150, 1};
    return family;
}

const HybridFamily& convolutionHybrid() {
    static const HybridFamily family{
        "vector-unit convolutions", convolutionNames, convolutionFeatures, 2, 30, 6, tuneConvolutions};
    return family;
}

}  // namespace orrery
