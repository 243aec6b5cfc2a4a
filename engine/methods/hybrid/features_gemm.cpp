#include "methods/hybrid/features_gemm.h"

#include "methods/analytical/tile_wave_gemm.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 38> names{
    "ln m", "ln n", "ln k", "ln seconds", "ln compute share", "ln dram share", "ln feed share", "ln serial share",
    "ln launch share", "ln intensity / ridge", "ln waves", "wave tail", "tile fill", "ln splits", "ln tile m",
    "ln tile n", "ln steps", "m to 8", "m to 16", "m to 64", "m to 128", "m to 256", "n to 128", "n to 256", "k to 64",
    "tail 256x128", "tail 128x256", "tail 128x128", "tail 64x64", "ln blocks 128x128 / sm", "ln working set / l2",
    "ln operands / l2", "weight copies", "ln m / n",
    // of the device
    "ln flops per cycle and sm", "ln sms", "ln dram bytes per cycle and sm", "ln l2 / ridge tile"};
constexpr std::size_t ofDevice = 4;

double ln(double value) {
    return std::log(std::max(value, 1e-12));
}
// How much rounding up to whole `step`s adds.
double padding(double value, double step) {
    return std::ceil(value / step) * step / value - 1;
}

void fill(const Kernel& kernel, const GpuView& gpu, const TilePhysics& physics, std::span<double> out) {
    const auto m = static_cast<double>(kernel.m), n = static_cast<double>(kernel.n), k = static_cast<double>(kernel.k);
    const auto batch = static_cast<double>(std::max<std::int64_t>(kernel.batch, 1));
    const double type = bits(kernel.type) / 8.0, weightType = bits(kernel.weightType) / 8.0;
    const double a = batch * m * k * type, w = batch * n * k * weightType, c = 2 * batch * m * n;
    const double flopsPerSecond = std::max(gpu.peak(true, kernel.type), 1.0);
    const double ridge = flopsPerSecond / gpu.dramBandwidth;
    const double l2 = std::max(gpu.l2Bytes, 1.0);
    const auto tail = [&](double tileM, double tileN) {
        return padding(std::ceil(m / tileM) * std::ceil(n / tileN) * batch, gpu.sms);
    };
    std::size_t i = 0;
    const auto put = [&](double value) { out[i++] = value; };
    put(ln(m * batch)), put(ln(n)), put(ln(k)), put(ln(physics.seconds));
    for (const double term : {physics.compute, physics.dram, physics.l2, physics.serial, physics.launch}) {
        put(std::max(ln(term / physics.seconds), -8.0));
    }
    put(ln(2 * batch * m * n * k / (a + w + c) / ridge));
    put(ln(physics.waves));
    put(std::min(padding(physics.waves, 1), 4.0));
    put(physics.fill);
    put(ln(physics.splits)), put(ln(physics.tileM)), put(ln(physics.tileN)), put(ln(physics.steps));
    for (const double step : {8.0, 16.0, 64.0, 128.0, 256.0}) put(std::min(padding(m, step), 4.0));
    for (const double step : {128.0, 256.0}) put(std::min(padding(n, step), 4.0));
    put(std::min(padding(k, 64), 4.0));
    put(std::min(tail(256, 128), 4.0)), put(std::min(tail(128, 256), 4.0)), put(std::min(tail(128, 128), 4.0));
    put(std::min(tail(64, 64), 4.0));
    put(ln(std::ceil(m / 128) * std::ceil(n / 128) * batch / gpu.sms));
    put(ln((gemmReuse(w, l2) + a + c) / l2)), put(ln((a + w + c) / l2)), put(gemmReuse(w, l2) / w);
    put(ln(m / n));
    const double perSm = 1 / (gpu.sms * gpu.clock);
    put(ln(flopsPerSecond * perSm)), put(ln(gpu.sms)), put(ln(gpu.dramBandwidth * perSm)),
        put(ln(l2 / (ridge * ridge)));
}

// A network for what is smooth and trees for what a library's choices make jump, about 150 kB together.
void tune(TrainingOptions& options, std::size_t rows, bool acrossDevices) {
    options.loss = "squared";
    options.depth = 12;
    options.leaves = 63;
    options.rate = 0.15;
    options.minimumLeaf = 8;
    options.featureShare = 0.7;
    options.subsample = 0.8;
    if (rows < 600) {
        options.steps = 60;
        options.leaves = 15;
        return;
    }
    options.kind = acrossDevices ? "trees" : "blend";
    options.width = 32, options.layers = 2;
    options.steps =
        acrossDevices ? 60 : static_cast<int>(std::clamp(1200000.0 / static_cast<double>(rows), 150.0, 400.0));
    options.blendTrees = 60;
}

}  // namespace

const HybridFamily& gemmHybrid() {
    static const HybridFamily family{"matrix products", names, fill, ofDevice, 60, 12, tune};
    return family;
}

}  // namespace orrery
