#include "simulation/network/collective_software.h"

namespace orrery {

namespace {

constexpr std::array<CollectiveProtocol, 1> bare_wires{{{.name = "wires"}}};

// An adapter of 400 Gbit/s counts as 48.5 of 50 GB/s (SimAI's measured peaks of ConnectX-7). What NVLinks reach stands
// in link_generations.
constexpr double adapter = 48.5 / 50;
// Rings' bus bandwidth of 8 GiB over the links of one device: 122 of 150 GB/s on V100 (NVIDIA GTC 2024, s62129), 231.6
// of 300 on A100 (Azure), 365.6 of 450 on H200 and 680 of 900 on B200 with switches off (stas00/ml-engineering). NCCL's
// own table (topo.h) has 20 to 20.6 of 25 and 40.1 of 50.
constexpr std::array<LinkGeneration, 4> link_generations{
    {{0, 122.0 / 150}, {200e9, 231.6 / 300}, {400e9, 365.6 / 450}, {800e9, 680.0 / 900}}};
// Fitted to half of the published all-reduces of eight A100, H100 and B200 (tst_collective_table).
constexpr ChannelFill channel_fill{10e-6, 2e6, 4e6};
// 210, 320, 640 GB/s of 300, 450, 900 on A100, H100, B200 (NVIDIA GTC 2025, s72583); 24 and 48 GB/s of 32 devices whose
// adapters bring 25 and 50, of which three in four bytes leave the node.
constexpr PairwiseShare pairwise_share{0.71, 0.744};
// LL reaches half of that and at most 87.7 GB/s on 12 links of an A100, 141 on 18 of an H100 (llMaxBws); LL128 carries
// 120 of 128 bytes, 0.92 with its flags; Tree 0.92 of a ring, its LL one part in 3.8.
constexpr double low_latency = 141.0 / 370.8, flags = 0.92, tree = 0.92;
constexpr std::array<CollectiveProtocol, 3> nccl_rings{{
    {"LL", 6.6e-6, 0.6e-6, 2.7e-6, low_latency, adapter * 0.5},
    {"LL128", 14e-6, 1.9e-6, 4e-6, flags, adapter* flags},
    {"Simple", 8.4e-6, 3.4e-6, 14e-6, 1, adapter},
}};
constexpr std::array<CollectiveProtocol, 3> nccl_trees{{
    {"LL", 6.8e-6, 0.6e-6, 5e-6, 1 / 3.8, adapter / 3.8},
    {"LL128", 14e-6, 1.25e-6, 8.5e-6, flags* tree, adapter* flags* tree},
    {"Simple", 8.4e-6, 4e-6, 14e-6, flags, adapter* flags},
}};
// NVLS exists from the switches of NVLink 4 on (450 GB/s a device): 479 GB/s of bus bandwidth there, 735 to 845 on
// NVLink 5 (as above); NCCL counts 0.85 and 0.74. It was seen in use from 5 and 6 ranks on. Several nodes join in a
// tree (NVLSTree), that as other trees has 0.92 of it inside.
constexpr double hopper = 0.855, blackwell = 0.77;
constexpr std::array<SwitchReduction, 2> nccl_switches{{
    {400e9, 5, {"NVLS", 8.4e-6, 25e-6, 0, hopper, 0}, {"NVLS", 8.4e-6, 25e-6, 20.9e-6, hopper* tree, adapter}},
    {800e9, 6, {"NVLS", 8.4e-6, 25e-6, 0, blackwell, 0}, {"NVLS", 8.4e-6, 25e-6, 20.9e-6, blackwell* tree, adapter}},
}};

}  // namespace

const CollectiveSoftware& wiresAlone() {
    static const CollectiveSoftware software{
        "wires", "The wires alone", "No library: links at their full rate", bare_wires, {}};
    return software;
}

const CollectiveSoftware& ncclTuning() {
    static const CollectiveSoftware software{.id = "nccl",
                                             .title = "NCCL",
                                             .source = "NCCL's tuning model (src/graph/tuning.cc, 2026-06)",
                                             .ring = nccl_rings,
                                             .tree = nccl_trees,
                                             .inSwitch = nccl_switches,
                                             .links = link_generations,
                                             .fill = channel_fill,
                                             .allToAll = pairwise_share};
    return software;
}

}  // namespace orrery
