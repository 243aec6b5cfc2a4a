#pragma once

// Collectives among the GPUs of one node: NCCL's rings with its three protocols and the reduction in the switch, of
// which the fastest is taken as its tuner does (NCCL, tuning.cc: time = steps × latency + bytes ÷ bandwidth), or Simple
// once a step is long enough, and the
// all-reduces of inference engines (one-shot: every rank reads all others; two-shot: each reduces a part and reads the
// others' parts), which hand over to NCCL above a size.

#include "methods/tile/tile_family.h"

namespace orrery {

const TileFamily& collectiveFamily();

/// What a collective over rings must do at least.
struct CollectiveWork {
    double ranks = 1;
    double bytes = 0;      ///< of the message, as NCCL's tests count it
    double wireBytes = 0;  ///< that one rank sends
    double steps = 1;      ///< one after the other
};
CollectiveWork collectiveWork(const Kernel& kernel);

/// Time of each way, without launch; the fastest counts. Infinite where a way is not open.
struct CollectiveWays {
    double lowLatency = 0;     ///< NCCL's LL: flags in the data, no fences
    double lowLatency128 = 0;  ///< LL128: a flag per 128 bytes
    double simple = 0;         ///< whole links, fences between steps
    double inSwitch = 0;       ///< NVLS
    double rings = 0;          ///< the fastest of these
    double shots = 0;          ///< one- or two-shot all-reduce, with its own launch
    double shotsShare = 0;     ///< 1 where the engine's own kernel runs, 0 where NCCL does
};
/// `parameters` in the family's order.
CollectiveWays collectiveWays(const Kernel& kernel, const GpuView& gpu, std::span<const double> parameters);

/// B/s of one direction, from the view. Where neither links nor a network are drawn nothing is priced (tileFamilyOn).
double linkBandwidthOf(const GpuView& gpu);

}  // namespace orrery
