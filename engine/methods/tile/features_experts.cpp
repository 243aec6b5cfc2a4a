#include "methods/tile/features_experts.h"

#include "methods/tile/feature_terms.h"
#include "methods/tile/tile_wave_experts.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 20> names{"log2 seconds",
                                                 "log2 rows",
                                                 "log2 tokens",
                                                 "log2 rows of an expert",
                                                 "log2 touched",
                                                 "log2 touched / held",
                                                 "log2 hidden",
                                                 "log2 inner",
                                                 "log2 blocks per sm",
                                                 "wave fill",
                                                 "tile fill",
                                                 "log2 compute share",
                                                 "log2 memory share",
                                                 "log2 weights / l2",
                                                 "skew",
                                                 "gated",
                                                 "log2 sms",
                                                 "log2 l2",
                                                 "log2 ridge",
                                                 "log2 memory"};

void expertFeatures(const Kernel& kernel, const GpuView& gpu, const TilePhysics& price, std::span<double> out) {
    const ExpertShape& e = kernel.experts;
    const auto real = [](std::int64_t value) { return static_cast<double>(std::max<std::int64_t>(1, value)); };
    features::Row row{out};
    row.add(features::logOf(price.seconds * 1e6));
    row.add(features::logOf(real(e.rows)));
    row.add(features::logOf(real(e.tokens)));
    row.add(features::logOf(real(e.rows) / real(e.touched)));
    row.add(features::logOf(real(e.touched)));
    row.add(features::logOf(real(e.touched) / real(e.held)));
    row.add(features::logOf(real(e.hidden)));
    row.add(features::logOf(real(e.inner)));
    row.add(features::logOf(price.blocks / gpu.sms));
    row.add(features::fraction(price.blocks, gpu.sms));
    row.add(price.fill);
    row.add(features::logOf(price.compute / price.seconds));
    row.add(features::logOf((price.dram + price.l2) / price.seconds));
    row.add(features::logOf(expertTiles(kernel).bytes / std::max(gpu.l2Bytes, 1e5)));
    row.add(e.skew);
    row.add(e.gated ? 1 : 0);
    row.add(features::logOf(gpu.sms / 128));
    row.add(features::logOf(gpu.l2Bytes / 50e6));
    row.add(features::logOf(gpu.peak(true, kernel.type) / gpu.dramBandwidth));
    row.add(features::logOf(gpu.dramBandwidth / 1e12));
}

void tune(TrainingOptions& training, std::size_t rows, bool) {
    training.kind = "network";
    training.width = 32;
    training.steps = rows < 2000 ? 600 : 200;
}

}  // namespace

const HybridFamily& expertsFeatures() {
    static const HybridFamily family{expertsFamily().name, names, expertFeatures, 4, 100, 6, tune};
    return family;
}

}  // namespace orrery
