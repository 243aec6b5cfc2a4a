#include "methods/tile/features_collective.h"

#include "methods/tile/feature_terms.h"
#include "methods/tile/tile_wave_collective.h"

#include <array>

namespace orrery {

namespace {

using features::logOf;
using features::Row;

constexpr std::array<std::string_view, 15> names{
    "log2 seconds",        "log2 bytes",      "log2 wire bytes", "log2 ranks",          "all-reduce", "all-to-all",
    "reduce-scatter",      "gather",          "integer",         "reducible in switch", "custom",     "log2 chunk",
    "log2 transfer share", "log2 step bytes", "log2 link"};

void fill(const Kernel& kernel, const GpuView& gpu, const TilePhysics& price, std::span<double> out) {
    const CollectiveWork work = collectiveWork(kernel);
    const bool reduces = kernel.collective == CollectiveOp::AllReduce;
    const bool integer = kernel.type == DType::I8 || kernel.type == DType::I32;
    Row row{out};
    row.add(logOf(price.seconds * 1e6));
    row.add(logOf(work.bytes));
    row.add(logOf(work.wireBytes));
    row.add(logOf(work.ranks));
    row.add(reduces ? 1 : 0);
    row.add(kernel.collective == CollectiveOp::AllToAll || kernel.collective == CollectiveOp::SendReceive ? 1 : 0);
    row.add(kernel.collective == CollectiveOp::ReduceScatter ? 1 : 0);
    row.add(kernel.collective == CollectiveOp::AllGather || kernel.collective == CollectiveOp::Broadcast ? 1 : 0);
    row.add(integer ? 1 : 0);
    row.add(reduces && !integer && work.ranks >= 8 ? 1 : 0);
    row.add(kernel.library == CollectiveLibrary::Custom ? 1 : 0);
    row.add(logOf(work.bytes / work.ranks));
    row.add(logOf(price.link / price.seconds));
    row.add(logOf(work.wireBytes / linkBandwidthOf(gpu) * 1e6));
    row.add(logOf(linkBandwidthOf(gpu) / 1e9));
}

// About a hundred rows: networks for smooth curves of size, shallow trees for switches of protocol, and neither alone.
void tune(TrainingOptions& training, std::size_t, bool acrossDevices) {
    training.kind = acrossDevices ? "trees" : "blend";
    training.loss = "huber";
    training.minimumLeaf = 3;
    if (acrossDevices) return;
    training.rate = 0.1;
    training.featureShare = 0.6;
    training.blendTrees = 60;
    training.blendBoosters = 1;
    training.blendNetworks = 4;
    training.width = 12;
    training.steps = 400;
}

}  // namespace

const HybridFamily& collectiveFeatures() {
    static const HybridFamily family{collectiveFamily().name, names, fill, 1, 60, 4, tune, 60};
    return family;
}

}  // namespace orrery
