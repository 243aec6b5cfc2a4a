#include "methods/tile/features_attention.h"

#include "methods/tile/feature_terms.h"
#include "methods/tile/tile_wave_attention.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

using features::fraction;
using features::logOf;
using features::Row;

constexpr std::array<std::string_view, 26> prefillNames{"log2 seconds",
                                                        "log2 queries",
                                                        "log2 batch x heads",
                                                        "log2 blocks per sm",
                                                        "head dim",
                                                        "value dim",
                                                        "log2 group",
                                                        "log2 kv heads",
                                                        "log2 heads",
                                                        "log2 batch",
                                                        "log2 footprint / l2",
                                                        "log2 compute share",
                                                        "log2 prepare share",
                                                        "log2 longest share",
                                                        "windowed",
                                                        "window stated",
                                                        "log2 window",
                                                        "fill",
                                                        "wave fill",
                                                        "row fill",
                                                        "log2 keys / queries",
                                                        "causal",
                                                        "log2 sms",
                                                        "log2 l2",
                                                        "log2 ridge",
                                                        "log2 memory"};
constexpr std::array<std::string_view, 25> decodeNames{"log2 seconds",
                                                       "log2 blocks per sm",
                                                       "log2 kv blocks per sm",
                                                       "log2 keys of a block",
                                                       "log2 keys",
                                                       "log2 keys in window",
                                                       "log2 group",
                                                       "head dim",
                                                       "value dim",
                                                       "grouped",
                                                       "log2 splits",
                                                       "log2 compute share",
                                                       "log2 memory share",
                                                       "log2 bytes / l2",
                                                       "log2 batch",
                                                       "log2 kv heads",
                                                       "log2 heads",
                                                       "wave fill",
                                                       "window stated",
                                                       "log2 heads per sm",
                                                       "log2 queries",
                                                       "log2 sms",
                                                       "log2 l2",
                                                       "log2 ridge",
                                                       "log2 memory"};

double real(std::int64_t value) {
    return static_cast<double>(std::max<std::int64_t>(1, value));
}

void deviceRow(Row& row, const GpuView& gpu, DType type) {
    row.add(logOf(gpu.sms / 128));
    row.add(logOf(gpu.l2Bytes / 50e6));
    row.add(logOf(gpu.peak(true, type) / gpu.dramBandwidth));
    row.add(logOf(gpu.dramBandwidth / 1e12));
}

void prefillFeatures(const Kernel& kernel, const GpuView& gpu, const TilePhysics& price, std::span<double> out) {
    const AttentionShape& a = kernel.attention;
    const double heads = real(a.batch) * real(a.heads);
    const double window = kernel.window > 0 ? std::min(real(kernel.window), real(a.keys)) : real(a.keys);
    const double rows = std::max(1.0, price.blocks / heads);
    Row row{out};
    row.add(logOf(price.seconds * 1e6));
    row.add(logOf(real(a.queries)));
    row.add(logOf(heads));
    row.add(logOf(price.blocks / gpu.sms));
    row.add(real(a.headDim) / 64);
    row.add(real(a.valueDim) / 64);
    row.add(logOf(real(a.heads) / real(a.kvHeads)));
    row.add(logOf(real(a.kvHeads)));
    row.add(logOf(real(a.heads)));
    row.add(logOf(real(a.batch)));
    row.add(logOf(prefillTraffic(kernel, gpu).footprint / std::max(gpu.l2Bytes, 1e5)));
    row.add(logOf(price.compute / price.seconds));
    row.add(logOf(price.serial / price.seconds));
    row.add(logOf(price.steps * gpu.sms / std::max(1.0, price.blocks)));
    row.add(kernel.window > 0 && kernel.window < a.keys ? 1 : 0);
    row.add(kernel.window > 0 ? 1 : 0);
    row.add(logOf(window));
    row.add(price.fill);
    row.add(fraction(price.blocks, gpu.sms));
    row.add(real(a.queries) / (rows * std::max(1.0, price.tileM)));
    row.add(logOf(real(a.keys) / real(a.queries)));
    row.add(a.causal ? 1 : 0);
    deviceRow(row, gpu, kernel.type);
}

void decodeFeatures(const Kernel& kernel, const GpuView& gpu, const TilePhysics& price, std::span<double> out) {
    const AttentionShape& a = kernel.attention;
    const DecodePlan plan = decodePlan(kernel, gpu);
    Row row{out};
    row.add(logOf(price.seconds * 1e6));
    row.add(logOf(price.blocks / gpu.sms));
    row.add(logOf(real(a.batch) * real(a.kvHeads) / gpu.sms));
    row.add(logOf(price.tileN));
    row.add(logOf(real(a.keys)));
    row.add(logOf(plan.keys));
    row.add(logOf(real(a.heads) / real(a.kvHeads)));
    row.add(real(a.headDim) / 64);
    row.add(real(a.valueDim) / 64);
    row.add(plan.grouped ? 1 : 0);
    row.add(logOf(price.splits));
    row.add(logOf(price.compute / price.seconds));
    row.add(logOf((price.dram + price.l2) / price.seconds));
    row.add(logOf(plan.cacheBytes / std::max(gpu.l2Bytes, 1e5)));
    row.add(logOf(real(a.batch)));
    row.add(logOf(real(a.kvHeads)));
    row.add(logOf(real(a.heads)));
    row.add(fraction(price.blocks, gpu.sms));
    row.add(kernel.window > 0 ? 1 : 0);
    row.add(logOf(real(a.batch) * real(a.heads) / gpu.sms));
    row.add(logOf(real(a.queries)));
    deviceRow(row, gpu, kernel.type);
}

// Smooth functions of some thousand rows: a small network is a tenth of the ensemble's size and as accurate.
void tune(TrainingOptions& training, std::size_t rows, bool) {
    training.kind = "network";
    training.width = 32;
    training.steps = rows < 2000 ? 600 : 200;
}

}  // namespace

const HybridFamily& prefillAttentionFeatures() {
    static const HybridFamily family{prefillAttentionFamily().name, prefillNames, prefillFeatures, 4, 100, 6, tune};
    return family;
}

const HybridFamily& decodeAttentionFeatures() {
    static const HybridFamily family{decodeAttentionFamily().name, decodeNames, decodeFeatures, 4, 100, 6, tune};
    return family;
}

const HybridFamily& latentDecodeFeatures() {
    static const HybridFamily family{latentDecodeFamily().name, decodeNames, decodeFeatures, 4, 100, 6, tune};
    return family;
}

}  // namespace orrery
