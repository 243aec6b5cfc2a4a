#include "mapping/mapspace_dataflow.h"
#include "methods/array/data_centric.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace orrery {

namespace {

/// The memory that all elements share, nearest to the array, and the one inside each element.
struct Memories {
    const ArrayLevel* shared = nullptr;
    const ArrayLevel* own = nullptr;
};

Memories memoriesOf(const SpatialArrayView& view) {
    Memories found;
    for (const ArrayLevel& level : view.levels) {
        if (level.kind == ComponentKind::Dram) continue;
        if (level.instances >= view.elements()) {
            if (!found.own || level.capacity > found.own->capacity) found.own = &level;
        } else {
            found.shared = &level;
        }
    }
    return found;
}

double wordsPerCycle(const ArrayLevel& level, const SpatialArrayView& view, double bytesPerWord) {
    const double rate = level.bandwidth.value * static_cast<double>(level.instances);
    return rate > 0 ? std::max(rate / view.clock.value / bytesPerWord, 1e-6) : FlowHardware{}.nocBandwidth;
}

/// Joules to read one word of a memory; that many multiply-accumulates where the design does not say.
double wordEnergy(const ArrayLevel* level, const SpatialArrayView& view, const NestHardware& nest, double bytesPerWord,
                  double inMacs) {
    if (level) {
        const auto at = static_cast<std::size_t>(level - view.levels.data());
        const NestLevel& same = nest.levels[view.levels.size() - 1 - at];
        const double joules = same.energy.vectorRead;
        if (joules > 0) return joules * 8 * bytesPerWord / static_cast<double>(same.wordBits * same.blockSize);
    }
    return inMacs * nest.arithmetic.energy;
}

std::int64_t coefficient(const NestTensor& tensor, std::uint8_t dimension) {
    for (const TensorRank& rank : tensor.ranks) {
        for (const ProjectionTerm& term : rank.terms) {
            if (term.dimension == dimension) return term.coefficient;
        }
    }
    return 1;
}

FlowLayer productLayer(const NestProblem& nest) {
    FlowLayer layer;
    layer.kind = FlowLayerKind::Product;
    for (const auto dim : {FlowDim::B, FlowDim::M, FlowDim::N, FlowDim::K}) layer.extent(dim) = 1;
    for (std::size_t i = 0; i < nest.dimensions.size(); ++i) {
        const char letter = nest.dimensions[i].front();
        // Queries of one head that share its keys are rows of one product.
        const auto dim = letter == 'B' || letter == 'H' ? FlowDim::B
                         : letter == 'N'                ? FlowDim::N
                         : letter == 'K'                ? FlowDim::K
                                                        : FlowDim::M;
        layer.extent(dim) *= nest.extents[i];
    }
    return layer;
}

std::optional<FlowLayer> convolutionLayer(const NestProblem& nest) {
    FlowLayer layer;
    for (const auto dim : {FlowDim::K, FlowDim::C, FlowDim::R, FlowDim::S, FlowDim::Y, FlowDim::X})
        layer.extent(dim) = 1;
    std::int64_t rows = 1, columns = 1;
    for (std::size_t i = 0; i < nest.dimensions.size(); ++i) {
        const std::int64_t extent = nest.extents[i];
        const auto dimension = static_cast<std::uint8_t>(i);
        switch (nest.dimensions[i].front()) {
            case 'N':
            case 'O':
                layer.extent(FlowDim::N) = std::max<std::int64_t>(layer.extent(FlowDim::N), 1) * extent;
                break;
            case 'G':
                layer.extent(FlowDim::G) = extent;
                break;
            case 'K':
                layer.extent(FlowDim::K) *= extent;
                break;
            case 'C':
            case 'T':
                layer.extent(FlowDim::C) *= extent;
                break;
            case 'R':
                layer.extent(FlowDim::R) = extent;
                break;
            case 'S':
                layer.extent(FlowDim::S) = extent;
                break;
            case 'P':
                rows = extent;
                layer.strideY = coefficient(nest.tensors[0], dimension);
                break;
            case 'Q':
                columns = extent;
                layer.strideX = coefficient(nest.tensors[0], dimension);
                break;
            default:
                return std::nullopt;
        }
    }
    layer.extent(FlowDim::Y) = (rows - 1) * layer.strideY + layer.extent(FlowDim::R);
    layer.extent(FlowDim::X) = (columns - 1) * layer.strideX + layer.extent(FlowDim::S);
    if (layer.extent(FlowDim::G) > 1 && layer.extent(FlowDim::C) == 1) {
        layer.kind = FlowLayerKind::Depthwise;
        layer.extent(FlowDim::C) = layer.extent(FlowDim::G);
        layer.extent(FlowDim::G) = 0;
    }
    return layer;
}

}  // namespace

std::optional<FlowLayer> flowLayer(const NestProblem& nest) {
    if (nest.dimensions.size() != nest.extents.size() || nest.tensors.size() != 3) return std::nullopt;
    const auto has = [&](std::string_view name) {
        return std::find(nest.dimensions.begin(), nest.dimensions.end(), name) != nest.dimensions.end();
    };
    auto layer = has("M") ? std::optional(asConvolution(productLayer(nest))) : convolutionLayer(nest);
    if (!layer) return layer;
    layer->name = nest.name;
    if (!check(*layer) || macs(*layer) != nest.operations()) return std::nullopt;
    return layer;
}

std::vector<const StockDataflow*> dataflowsOf(const SpatialArrayView& view) {
    std::vector<std::string_view> ids;
    if (view.dataflow == Dataflow::WeightStationary) ids = {"kcp-ws", "ckp-ws", "xp-ws"};
    if (view.dataflow == Dataflow::OutputStationary) ids = {"yxp-os"};
    if (view.dataflow == Dataflow::RowStationary) ids = {"yrp-rs"};
    std::vector<const StockDataflow*> chosen;
    for (const StockDataflow& each : stockDataflows()) {
        if (ids.empty() || std::find(ids.begin(), ids.end(), each.id) != ids.end()) chosen.push_back(&each);
    }
    return chosen;
}

FlowHardware flowHardware(const SpatialArrayView& view, double bytesPerWord, std::vector<std::string>* assumptions) {
    const Memories memories = memoriesOf(view);
    FlowHardware hardware;
    hardware.pes = view.elements();
    hardware.simdLanes = view.macsPerElement;
    hardware.nocLatency = 0;
    if (memories.shared) {
        hardware.nocBandwidth = wordsPerCycle(*memories.shared, view, bytesPerWord);
        hardware.l2Words =
            memories.shared->capacity.value * static_cast<double>(memories.shared->instances) / bytesPerWord;
    }
    if (memories.own && !memories.own->implied) hardware.l1Words = memories.own->capacity.value / bytesPerWord;
    const FlowHardware stated;
    const ArrayHardware nest = nestHardware(view);
    hardware.macEnergy = nest.energies ? nest.hardware.arithmetic.energy : 0;
    hardware.l1Energy =
        nest.energies ? wordEnergy(memories.own, view, nest.hardware, bytesPerWord, stated.l1Energy) : 0;
    hardware.l2Energy =
        nest.energies ? wordEnergy(memories.shared, view, nest.hardware, bytesPerWord, stated.l2Energy) : 0;
    if (assumptions) {
        assumptions->push_back(
            memories.shared ? fmt::format("`{}` is the shared buffer whose bandwidth the network between elements has",
                                          memories.shared->name)
                            : "No buffer is shared by the elements: the network between them limits nothing");
        assumptions->push_back(
            "Operands reach the elements without latency, as in a pipeline; the elements form clusters as the dataflow "
            "asks");
    }
    return hardware;
}

}  // namespace orrery
