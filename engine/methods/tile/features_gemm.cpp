#include "methods/tile/features_gemm.h"

#include "methods/tile/tile_wave_gemm.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 41> names{
    "ln m", "ln n", "ln k", "ln seconds", "ln compute share", "ln dram share", "ln feed share", "ln serial share",
    "ln launch share", "ln intensity / ridge", "ln waves", "wave tail", "tile fill", "ln splits", "ln tile m",
    "ln tile n", "ln steps", "m to 8", "m to 16", "m to 64", "m to 128", "m to 256", "n to 128", "n to 256", "k to 64",
    "waves 256x128", "waves 128x256", "waves 256x256", "waves 192x128", "waves 128x128", "waves 64x128", "waves 64x64",
    "ln blocks 128x128 / sm", "ln working set / l2", "ln operands / l2", "weight copies", "ln m / n",
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
    // Work of the multiprocessor that has most, with these tiles, ÷ an even share.
    const auto waves = [&](double tileM, double tileN) {
        const double tiles = std::ceil(m / tileM) * std::ceil(n / tileN) * batch;
        return std::min(ln(std::ceil(tiles / gpu.sms) * gpu.sms * tileM * tileN / (m * n * batch)), 4.0);
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
    put(waves(256, 128)), put(waves(128, 256)), put(waves(256, 256)), put(waves(192, 128)), put(waves(128, 128));
    put(waves(64, 128)), put(waves(64, 64));
    put(ln(std::ceil(m / 128) * std::ceil(n / 128) * batch / gpu.sms));
    put(ln((gemmReuse(w, l2) + a + c) / l2)), put(ln((a + w + c) / l2)), put(gemmReuse(w, l2) / w);
    put(ln(m / n));
    if (out.size() < names.size()) return;
    const double perSm = 1 / (gpu.sms * gpu.clock);
    put(ln(flopsPerSecond * perSm)), put(ln(gpu.sms)), put(ln(gpu.dramBandwidth * perSm)),
        put(ln(l2 / (ridge * ridge)));
}

// Networks for what is smooth and trees for what a library's choices make jump: the more rows, the more the trees say.
// Some rows took several times as long as their neighbours: such must not pull.
void tune(TrainingOptions& options, std::size_t rows, bool acrossDevices) {
    options.loss = "huber";
    options.depth = 16;
    options.minimumLeaf = 4;
    options.featureShare = 0.5;
    options.subsample = 0.8;
    if (acrossDevices) {  // of devices there are few: more would follow each one's own ways
        options.kind = "compact-trees";
        options.rate = 0.16, options.leaves = 31, options.steps = 40;
        return;
    }
    options.kind = "blend";
    options.rate = 0.05;
    options.leaves = rows < 600 ? 15 : rows < 3000 ? 63 : 90;
    options.blendTrees = rows < 600 ? 100 : 300;
    options.blendNetworks = rows < 3000 ? 2 : 1;
    options.blendBoosters = 3;
    options.width = rows < 3000 ? 16 : 32, options.layers = 2;
    const double epochs = std::clamp(2000000.0 / static_cast<double>(rows), 60.0, 250.0);
    options.steps = static_cast<int>(epochs);
}

// Few large trees, walked in half the time of many small ones.
void tunePupil(TrainingOptions& options, std::size_t rows) {
    options.loss = "squared";
    options.depth = 14;
    options.minimumLeaf = 4;
    options.featureShare = 0.8;
    options.subsample = 0.8;
    options.rate = 0.25;
    options.steps = 24;
    options.leaves = rows < 600 ? 64 : rows < 3000 ? 128 : 320;
}

Kernel mix(const Kernel& a, const Kernel& b, const Kernel& c) {
    Kernel mixed = a;
    mixed.n = b.n;
    mixed.k = c.k;
    countWork(mixed);
    return mixed;
}

}  // namespace

const HybridFamily& gemmHybrid() {
    static const HybridFamily family{"matrix products", names, fill, ofDevice, 40, 16, tune, 150, 0, mix, tunePupil, 3};
    return family;
}

}  // namespace orrery
