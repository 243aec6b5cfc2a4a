#include "simulation/network/collective_software.h"

namespace orrery {

namespace {

constexpr std::array<CollectiveProtocol, 1> bare_wires{{{.name = "wires"}}};

// NCCL counts an NVLink of 25 GB/s as 20 to 20.6 and one of 50 as 40 (topo.h: SM80_NVLINK_BW, SM90_NVLINK_BW,
// SM100_NVLINK_BW), an adapter of 400 Gbit/s as 48.5 of 50 (SimAI's measured peaks of ConnectX-7).
constexpr double nvlink = 20.6 / 25, adapter = 48.5 / 50;
// LL reaches half of that and at most 87.7 GB/s on 12 links of an A100, 141 on 18 of an H100 (llMaxBws); LL128 carries
// 120 of 128 bytes, 0.92 with its flags; Tree 0.92 of a ring, its LL one part in 3.8.
constexpr double low_latency = 141.0 / 370.8, flags = 0.92;
constexpr std::array<CollectiveProtocol, 3> nccl_rings{{
    {"LL", 6.6e-6, 0.6e-6, 2.7e-6, nvlink* low_latency, adapter * 0.5},
    {"LL128", 14e-6, 1.9e-6, 4e-6, nvlink* flags, adapter* flags},
    {"Simple", 8.4e-6, 3.4e-6, 14e-6, nvlink, adapter},
}};
constexpr std::array<CollectiveProtocol, 3> nccl_trees{{
    {"LL", 6.8e-6, 0.6e-6, 5e-6, nvlink * 2 / 3.8, adapter * 2 / 3.8},
    {"LL128", 14e-6, 1.25e-6, 8.5e-6, nvlink* flags* flags, adapter* flags* flags},
    {"Simple", 8.4e-6, 4e-6, 14e-6, nvlink* flags, adapter* flags},
}};
// NVLS exists from the switches of NVLink 4 on (450 GB/s a device) and reaches 0.85 of the links on Hopper, 0.74 on
// Blackwell (900 GB/s a device, counted as 18 × 40.1 of 50); it was seen in use from 5 and 6 ranks on.
constexpr std::array<SwitchReduction, 2> nccl_switches{{
    {400e9, 6, {"NVLS", 8.4e-6, 25e-6, 0, nvlink * 0.85, 0}},
    {800e9, 6, {"NVLS", 8.4e-6, 25e-6, 0, 40.1 / 50 * 0.74, 0}},
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
                                             .inSwitch = nccl_switches};
    return software;
}

}  // namespace orrery
