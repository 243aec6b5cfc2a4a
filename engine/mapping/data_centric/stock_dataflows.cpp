#include "mapping/data_centric/stock_dataflows.h"

#include "mapping/data_centric/maestro_reader.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace orrery {

namespace {

constexpr std::string_view channelsAlone =
    "SpatialMap(1,1) C; TemporalMap(1,1) Y'; TemporalMap(1,1) X'; TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) "
    "S;";

constexpr std::array<StockDataflow, 6> all{{
    {"kcp-ws", "NVDLA-style: output and input channels side by side, weights stay",
     "KC-P of Kwon et al., MICRO 2019, table 3; kcp_ws of MAESTRO", 64,
     "SpatialMap(1,1) K; TemporalMap(Units,Units) C; TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S;"
     "TemporalMap(1,1) Y'; TemporalMap(1,1) X'; Cluster(Units, P);"
     "SpatialMap(1,1) C; TemporalMap(1,1) Y'; TemporalMap(1,1) X'; TemporalMap(Sz(R),Sz(R)) R; "
     "TemporalMap(Sz(S),Sz(S)) S;",
     channelsAlone},
    {"yxp-os", "ShiDianNao-style: rows and columns of outputs side by side, outputs stay",
     "YX-P of Kwon et al., MICRO 2019, table 3; yxp_os of MAESTRO", 8,
     "TemporalMap(1,1) K; TemporalMap(1,1) C; SpatialMap(1,1) Y'; TemporalMap(Units,Units) X';"
     "TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S; Cluster(Units, P);"
     "SpatialMap(1,1) X'; TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S;",
     ""},
    {"yrp-rs", "Eyeriss-style: rows of outputs and of the filter side by side, rows stay",
     "YR-P of Kwon et al., MICRO 2019, table 3; rs of MAESTRO", 0,
     "SpatialMap(1,1) Y'; TemporalMap(1,1) X'; TemporalMap(1,1) C; TemporalMap(16,16) K;"
     "TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S; Cluster(Sz(R), P);"
     "SpatialMap(1,1) Y; SpatialMap(1,1) R; TemporalMap(Sz(S),Sz(S)) S;",
     ""},
    {"xp-ws", "Columns of outputs side by side, weights stay",
     "X-P of Kwon et al., MICRO 2019, table 3; xp_ws of MAESTRO", 0,
     "TemporalMap(1,1) K; TemporalMap(1,1) C; TemporalMap(1,1) Y'; SpatialMap(1,1) X';"
     "TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S;",
     ""},
    {"cp-nlr", "Input channels side by side, nothing stays", "C-P of Kwon et al., MICRO 2019, table 3; nlr of MAESTRO",
     0,
     "TemporalMap(1,1) K; TemporalMap(1,1) Y'; TemporalMap(1,1) X'; TemporalMap(Sz(R),Sz(R)) R;"
     "TemporalMap(Sz(S),Sz(S)) S; SpatialMap(1,1) C;",
     ""},
    {"ckp-ws", "Input channels outside, output channels inside, weights stay", "ckp_ws of MAESTRO (vgg16_ckp_ws.m)", 64,
     "SpatialMap(1,1) C; TemporalMap(Units,Units) K; TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S;"
     "TemporalMap(1,1) Y'; TemporalMap(1,1) X'; Cluster(Units, P);"
     "SpatialMap(1,1) K; TemporalMap(Sz(R),Sz(R)) R; TemporalMap(Sz(S),Sz(S)) S;",
     channelsAlone},
}};

DirectiveDataflow parsed(const StockDataflow& stock, std::string_view text, std::int64_t units) {
    auto dataflow = parseDataflow(text, std::string(stock.id), {{"Units", std::max<std::int64_t>(units, 1)}});
    assert(dataflow);
    if (!dataflow) return {};
    dataflow->name = stock.id;
    return *dataflow;
}

}  // namespace

std::span<const StockDataflow> stockDataflows() {
    return all;
}

const StockDataflow* stockDataflow(std::string_view id) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const StockDataflow& each) { return each.id == id; });
    return found == all.end() ? nullptr : found;
}

const DirectiveDataflow& directivesOf(const StockDataflow& stock, FlowLayerKind kind) {
    struct Both {
        DirectiveDataflow usual, depthwise;
    };
    static const auto every = [] {
        std::array<Both, all.size()> made;
        for (std::size_t i = 0; i < all.size(); ++i) {
            made[i].usual = parsed(all[i], all[i].text, all[i].units);
            made[i].depthwise =
                all[i].depthwise.empty() ? made[i].usual : parsed(all[i], all[i].depthwise, all[i].units);
        }
        return made;
    }();
    const auto& both = every[static_cast<std::size_t>(&stock - all.data())];
    return kind == FlowLayerKind::Depthwise ? both.depthwise : both.usual;
}

DirectiveDataflow directivesOf(const StockDataflow& stock, FlowLayerKind kind, std::int64_t units) {
    const bool alone = kind == FlowLayerKind::Depthwise && !stock.depthwise.empty();
    return parsed(stock, alone ? stock.depthwise : stock.text, units);
}

FlowLayer asConvolution(const FlowLayer& layer) {
    if (layer.kind != FlowLayerKind::Product) return layer;
    const auto orOne = [&](FlowDim dim) { return std::max<std::int64_t>(layer.extent(dim), 1); };
    FlowLayer convolution;
    convolution.name = layer.name;
    convolution.extent(FlowDim::G) = orOne(FlowDim::B);
    convolution.extent(FlowDim::Y) = orOne(FlowDim::M);
    convolution.extent(FlowDim::K) = orOne(FlowDim::N);
    convolution.extent(FlowDim::C) = orOne(FlowDim::K);
    for (const auto dim : {FlowDim::X, FlowDim::R, FlowDim::S}) convolution.extent(dim) = 1;
    return convolution;
}

}  // namespace orrery
