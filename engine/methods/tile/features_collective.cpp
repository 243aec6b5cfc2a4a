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

// About a hundred rows of curves that follow each other from size to size, with jumps where a protocol switches.
void tune(TrainingOptions& training, std::size_t, bool acrossDevices) {
    if (acrossDevices) return;
    training.kind = "gaussian-process";
    // In the order of names: two doublings of bytes or ranks forget half of what was learned, another collective more,
    // the engine's own kernel as much.
    training.scales = {0, 2, 0, 2, 0.83, 0.83, 9, 9, 10, 0, 0.83, 0, 0, 0};
}

}  // namespace

const HybridFamily& collectiveFeatures() {
    static const HybridFamily family = [] {
        HybridFamily made{collectiveFamily().name, names, fill, 1, 60, 4, tune, 60};
        made.ownDeviceOnly = true;
        return made;
    }();
    return family;
}

}  // namespace orrery
