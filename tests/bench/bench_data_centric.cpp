#include "mapping/data_centric/data_centric.h"
#include "mapping/data_centric/stock_dataflows.h"

#include <benchmark/benchmark.h>

using namespace orrery;

namespace {

FlowLayer convolution(std::int64_t k, std::int64_t c, std::int64_t filter, std::int64_t side, std::int64_t stride) {
    FlowLayer layer;
    layer.name = "layer";
    layer.extent(FlowDim::K) = k;
    layer.extent(FlowDim::C) = c;
    layer.extent(FlowDim::R) = layer.extent(FlowDim::S) = filter;
    layer.extent(FlowDim::Y) = layer.extent(FlowDim::X) = side;
    layer.strideY = layer.strideX = stride;
    return layer;
}

// Layers a second under one stock dataflow, binding included: shapes of ResNet-50 on 256 elements.
void BM_DataCentricLayer(benchmark::State& state) {
    const StockDataflow& stock = stockDataflows()[static_cast<std::size_t>(state.range(0))];
    const std::vector<FlowLayer> layers{convolution(64, 3, 7, 224, 2),   convolution(64, 64, 1, 56, 1),
                                        convolution(64, 64, 3, 56, 1),   convolution(256, 64, 1, 56, 1),
                                        convolution(128, 256, 1, 56, 2), convolution(256, 256, 3, 14, 1),
                                        convolution(512, 512, 3, 7, 1),  convolution(1000, 2048, 7, 7, 1)};
    FlowHardware hardware;
    hardware.pes = 256;
    hardware.nocBandwidth = 1000;
    hardware.offchipBandwidth = 50;
    FlowAnalysis analysis;
    std::int64_t priced = 0;
    for (auto _ : state) {
        for (const FlowLayer& layer : layers) {
            const auto& dataflow = directivesOf(stock, layer.kind);
            const auto bound = bind(dataflow, layer);
            benchmark::DoNotOptimize(analysis(layer, *bound, hardware, dataflow.file));
        }
        priced += static_cast<std::int64_t>(layers.size());
    }
    state.SetItemsProcessed(priced);
    state.SetLabel(std::string(stock.id));
}
BENCHMARK(BM_DataCentricLayer)->DenseRange(0, 5)->Unit(benchmark::kMicrosecond);

}  // namespace
