#include "methods/tile/tile_wave_collective.h"

#include "methods/tile/tile_wave_terms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

enum : std::size_t {
    LaunchTime,
    StepLow,
    Step128,
    StepSimple,
    ShareLow,
    Share128,
    ShareSimple,
    ShareSwitch,
    FourRanks,
    EightRanks,
    FourOnBus,
    EightOnBus,
    Gather,
    AllToAll,
    AllToAllExtra,
    Integer,
    ShotLaunch,
    ShotStep,
    ShotShare,
    ShotLimit,
    ShotLimitFall,
    ShotFill,
    AllToAllPair,
    BusSpill,
    BusReach,
    SecondShot,
    LateLinks,
    BusStep,
    SimpleFrom,
    parameterCount
};

// Nominal values are round numbers near those of NVLink nodes of A100 and H100 (calibration files). Latencies are
// cycles in truth (launch, flags and fences run on the multiprocessors): stated at tile::referenceClock. `late links`:
// the quickest small collectives of B200 over those of H100 under XLA (collective_interpolator_data.h, 1.2 to 1.9
// times); `bus step`: that of Intel's B60 under oneCCL.
constexpr std::array<TileParameter, parameterCount> parameters{{
    {"launch", 6e-6, 1e-6, 4e-5, 0.5, Dimension::Time, "start of NCCL's kernel on all ranks"},
    {"ll step", 0.8e-6, 1e-7, 1e-5, 0.5, Dimension::Time, "one step between neighbours, LL"},
    {"ll128 step", 1e-6, 1e-7, 1e-5, 0.5, Dimension::Time, "one step between neighbours, LL128"},
    {"simple start", 8e-6, 1e-7, 1e-4, 0.7, Dimension::Time, "of Simple, per doubling of the ranks"},
    {"ll share", 0.09, 0.005, 1, 0.5, Dimension::Number, "bandwidth of LL over the links'"},
    {"ll128 share", 0.3, 0.02, 1, 0.5, Dimension::Number, "bandwidth of LL128 over the links'"},
    {"simple share", 0.62, 0.05, 1, 0.2, Dimension::Number, "bandwidth of Simple between two ranks over the links'"},
    {"switch share", 0.45, 0.2, 0.8, 0.4, Dimension::Number,
     "message bytes per second of a reduction in the switch over the links' bandwidth"},
    {"four ranks", 1.15, 0.1, 1.6, 0.5, Dimension::Number, "bandwidth among four ranks over that of two"},
    {"eight ranks", 1.1, 0.1, 1.6, 0.5, Dimension::Number, "bandwidth among eight ranks over that of four"},
    {"four on a bus", 0.3, 0.05, 1.2, 0.5, Dimension::Number, "the same where links are a shared bus (PCIe)"},
    {"eight on a bus", 0.3, 0.05, 1.2, 0.5, Dimension::Number, "the same where links are a shared bus (PCIe)"},
    {"gather share", 0.85, 0.3, 1.5, 0.2, Dimension::Number,
     "bandwidth of all-gather and reduce-scatter over that of all-reduce"},
    {"all-to-all share", 0.87, 0.2, 2, 0.4, Dimension::Number, "bandwidth of all-to-all over that of all-reduce"},
    {"all-to-all start", 2e-6, 1e-7, 1e-4, 0.7, Dimension::Time, "of sends and receives between all pairs"},
    {"integer share", 0.95, 0.5, 1.2, 0.1, Dimension::Number, "bandwidth of reducing integers over that of fp16"},
    {"shot launch", 2.5e-6, 5e-7, 3e-5, 0.4, Dimension::Time, "start of the engine's own kernel"},
    {"shot step", 2e-7, 1e-8, 1e-5, 0.7, Dimension::Time, "flag of one peer"},
    {"shot share", 0.5, 0.05, 1, 0.4, Dimension::Number, "bandwidth of reads from peers over the links'"},
    {"shot limit", 1.6e7, 1e2, 6e7, 1, Dimension::Data, "message above which two ranks hand over to NCCL"},
    {"shot limit fall", 0.85, 0.2, 1.5, 0.3, Dimension::Number, "that limit, per doubling of the ranks"},
    {"shot fill", 1.5e-7, 1e-8, 3e-6, 0.7, Dimension::Time, "flag of one peer more, once many blocks wait for it"},
    {"all-to-all pair", 1.05, 0.5, 2, 0.2, Dimension::Number,
     "bandwidth of all-to-all between two ranks over that among more"},
    {"bus spill", 0.8, 0.2, 1, 0.4, Dimension::Fraction,
     "bandwidth of a shared bus that is left once the host's cache no longer holds what passes"},
    {"bus reach", 1.5e6, 1e5, 1e7, 0.3, Dimension::Data, "message from which that shows, among four ranks or more"},
    {"second shot", 4e-6, 1e-7, 1e-4, 0.7, Dimension::Time,
     "wait between both halves of an engine's two-shot all-reduce; long where an engine has none", true},
    {"late links", 1.5, 0.7, 3, 0.3, Dimension::Number,
     "latencies over links of 900 GB/s over those of 450 GB/s and less: faster lanes correct more errors", true},
    {"bus step", 1.5, 0.5, 5, 0.5, Dimension::Number, "a step through the host's memory over one between peers", true},
    {"simple from", 1.7e-6, 1e-7, 1, 0.4, Dimension::Time,
     "bytes of one step over the links' bandwidth, from which NCCL's tuner takes Simple among peers", true},
}};

// Bandwidth of two shots over that of one: each part is written to memory and read again (NVLink nodes of A100 to
// B200).
constexpr double ofTwoShots = 0.8;

constexpr double never = std::numeric_limits<double>::infinity();

double eighth(double x) {
    const double x2 = x * x, x4 = x2 * x2;
    return x4 * x4;
}

// Smooth minimum of the ways: tuners choose late, and near a crossing neither is much faster.
double fastest(double a, double b, double c, double d) {
    const double least = std::min(std::min(a, b), std::min(c, d));
    if (least <= 0) return 0;
    const double sum = eighth(least / a) + eighth(least / b) + eighth(least / c) + eighth(least / d);
    return least / std::sqrt(std::sqrt(std::sqrt(sum)));
}

// What this device's latencies are over those at the reference clock and of NVLink 4.
double latencyOf(const GpuView& gpu, double links, std::span<const double> p) {
    constexpr double early = 450e9, late = 900e9;
    const double generation = std::log2(std::clamp(links, early, late) / early);
    // Hardly any power is drawn: the clock is that of the vector units where they have a higher one of their own.
    const double lanes = gpu.sms * gpu.vectorLanes;
    const double vectors = lanes > 0 ? gpu.vectorPeak(DType::F32) / (2 * lanes) : 0;
    const double clock = std::clamp(vectors, gpu.clock, 1.25 * gpu.clock);
    return tile::referenceClock / std::max(1e8, clock) * std::pow(p[LateLinks], generation);
}

bool integer(DType type) {
    return type == DType::I8 || type == DType::I16 || type == DType::I32 || type == DType::I64 || type == DType::I4;
}

TilePhysics physics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const CollectiveWork work = collectiveWork(kernel);
    const CollectiveWays ways = collectiveWays(kernel, gpu, p);
    const bool pairs = kernel.collective == CollectiveOp::AllToAll;
    const double latency = latencyOf(gpu, linkBandwidthOf(gpu), p);
    const double start = latency * (p[LaunchTime] + (pairs ? p[AllToAllExtra] : 0));
    const double rings = start + ways.rings;
    TilePhysics out;
    out.seconds = rings;
    if (ways.shotsShare > 1e-6) {
        // An engine takes its own kernel where that is faster, up to a size; geometric between both around it.
        const double own = fastest(ways.shots, rings, never, never);
        out.seconds = std::exp(ways.shotsShare * std::log(own) + (1 - ways.shotsShare) * std::log(rings));
    }
    out.launch = ways.shotsShare > 0.5 && ways.shots < rings ? latency * p[ShotLaunch] : start;
    out.link = std::max(0.0, out.seconds - out.launch);
    out.steps = work.steps;
    out.blocks = work.ranks;
    out.bound.kind = out.launch > out.link ? BoundKind::Overhead : BoundKind::Network;
    return out;
}

bool covers(const Kernel& kernel) {
    return kernel.kind == KernelKind::Collective;
}

}  // namespace

double linkBandwidthOf(const GpuView& gpu) {
    // Where nothing is drawn the pricers refuse (tileFamilyOn); the sums stay finite all the same.
    return std::max(1.0, gpu.linkBandwidth);
}

CollectiveWork collectiveWork(const Kernel& kernel) {
    CollectiveWork out;
    out.ranks = static_cast<double>(std::max<std::int64_t>(1, kernel.ranks));
    out.bytes = std::max(0.0, kernel.messageBytes);
    const double others = out.ranks - 1;
    switch (kernel.collective) {
        case CollectiveOp::AllReduce:
            out.wireBytes = 2 * others / out.ranks * out.bytes;
            out.steps = 2 * others;
            break;
        case CollectiveOp::AllGather:
        case CollectiveOp::ReduceScatter:
            out.wireBytes = others / out.ranks * out.bytes;
            out.steps = others;
            break;
        case CollectiveOp::AllToAll:
            out.wireBytes = others / out.ranks * out.bytes;
            out.steps = others > 0 ? 1 : 0;
            break;
        case CollectiveOp::Broadcast:
            out.wireBytes = others > 0 ? out.bytes : 0;
            out.steps = others;
            break;
        case CollectiveOp::SendReceive:
            out.wireBytes = out.bytes;
            out.steps = 1;
            break;
    }
    return out;
}

CollectiveWays collectiveWays(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const CollectiveWork work = collectiveWork(kernel);
    const double links = linkBandwidthOf(gpu);
    const double doublings = std::log2(work.ranks);
    const bool reduces = kernel.collective == CollectiveOp::AllReduce;
    // NVLink-class links meet in switches of full bandwidth; below that they share a host's bus.
    const bool switched = links > 100e9;
    double shared = links * std::pow(p[switched ? FourRanks : FourOnBus], std::clamp(doublings - 1, 0.0, 1.0)) *
                    std::pow(p[switched ? EightRanks : EightOnBus], std::clamp(doublings - 2, 0.0, 1.0));
    // A bus carries the same whoever sends to whom.
    if (!switched) {
        shared *= reduces && integer(kernel.type) ? p[Integer] : 1;
    } else if (kernel.collective == CollectiveOp::AllToAll) {
        shared *= p[AllToAll] * (work.ranks <= 2 ? p[AllToAllPair] : 1);
    } else if (!reduces) {
        shared *= p[Gather];
    } else if (integer(kernel.type)) {
        shared *= p[Integer];
    }
    // Without direct links data pass through the host's memory, at first through its cache.
    if (!switched && work.ranks > 2) {
        const double over2 = (work.bytes / p[BusReach]) * (work.bytes / p[BusReach]), over4 = over2 * over2;
        shared *= p[BusSpill] + (1 - p[BusSpill]) / (1 + over4 * over4);
    }
    CollectiveWays out;
    // A ring sends no more than the links carry, whatever was fitted.
    const auto over = [&](double share) { return work.wireBytes / std::min(shared * share, links); };
    const double latency = latencyOf(gpu, links, p);
    const double perStep = latency * (switched ? 1 : p[BusStep]);
    out.lowLatency = work.steps * perStep * p[StepLow] + over(p[ShareLow]);
    out.lowLatency128 = work.steps * perStep * p[Step128] + over(p[Share128]);
    out.simple = latency * p[StepSimple] * doublings + work.steps * perStep * p[Step128] + over(p[ShareSimple]);
    // Switches reduce from NVLink 4 on (450 GB/s); below eight ranks the tuner keeps to rings.
    const bool inSwitch = reduces && !integer(kernel.type) && work.ranks >= 8 && links > 400e9;
    out.inSwitch = inSwitch ? latency * p[StepSimple] * doublings + work.bytes / (links * p[ShareSwitch]) : never;
    out.rings = work.steps > 0 ? fastest(out.lowLatency, out.lowLatency128, out.simple, out.inSwitch) : 0;
    if (work.steps > 0 && switched) {
        // The tuner holds Simple's start for shorter than it is, and takes it before it is the faster.
        const double over1 = work.wireBytes / work.steps / links / p[SimpleFrom], over2 = over1 * over1;
        const double share = 1 - 1 / (1 + over2 * over2 * over2);
        const double high = fastest(out.simple, out.inSwitch, never, never);
        out.rings *= std::pow(high / out.rings, share);
    }
    out.shots = never;
    // Engines read peers' memory where it is mapped through such links, and leave others to NCCL.
    if (kernel.library == CollectiveLibrary::Custom && reduces && switched && work.ranks > 1) {
        const double flags =
            latency * (p[ShotLaunch] + work.ranks * (p[ShotStep] + p[ShotFill] * work.bytes / (work.bytes + 8192)));
        const double over1 = links * p[ShotShare];
        // One shot: every rank reads all others and reduces all. Two: each reduces its part, then reads the others'.
        const double one = flags + work.bytes * (work.ranks - 1) / over1;
        const double two = flags + latency * p[SecondShot] + work.wireBytes / (over1 * ofTwoShots);
        out.shots = work.ranks > 2 ? fastest(one, two, never, never) : one;
        const double limit = p[ShotLimit] * std::pow(p[ShotLimitFall], doublings - 1);
        const double over2 = (work.bytes / limit) * (work.bytes / limit);
        out.shotsShare = 1 / (1 + over2 * over2 * over2);
    }
    return out;
}

const TileFamily& collectiveFamily() {
    static const TileFamily family{"collectives", covers, parameters, physics};
    return family;
}

}  // namespace orrery
