#include "simulation/power/gpu_power.h"

#include <algorithm>
#include <numeric>

namespace orrery {

namespace {

using Part = GpuPowerPart;
using Event = GpuEvent;

constexpr std::array<Part, gpuEvents> partOfEvent{
    Part::InstructionBuffer,  // warp instructions
    Part::Scheduler,
    Part::Pipeline,
    Part::Registers,
    Part::Registers,
    Part::Integer,
    Part::IntegerMultiply,
    Part::FloatAdd,
    Part::FloatMultiply,
    Part::SpecialFunctions,
    Part::SpecialFunctions,
    Part::SpecialFunctions,
    Part::SpecialFunctions,
    Part::Double,
    Part::Tensor,
    Part::SharedMemory,
    Part::L1,
    Part::L1,
    Part::L1,
    Part::L2,
    Part::L2,
    Part::L2,
    Part::L2,
    Part::Network,
    Part::Memory,
    Part::Memory,
    Part::Memory,
};

struct Scales {
    double clock = 0, dynamic = 1, leaking = 1;
};

Scales scalesOf(const GpuPowerTable& table, GpuOperatingPoint point) {
    const double v = point.voltage > 0 ? point.voltage / table.voltage : 1;
    return {point.clock > 0 ? point.clock : table.clock, v * v, v};
}

double busyShare(const GpuPowerTable& table, const GpuActivity& activity) {
    return std::clamp(1 - activity.idleSms / table.sms, 0.0, 1.0);
}

// Joules of each event → watts of its part.
void addEvents(GpuPower& power, const GpuPowerTable& table, const GpuActivity& activity, double perJoule) {
    for (std::size_t i = 0; i < gpuEvents; ++i)
        power[partOfEvent[i]] += activity.counts[i] * table.energies[i] * perJoule;
}

}  // namespace

double GpuPower::total() const {
    return std::accumulate(watts.begin(), watts.end(), 0.0);
}

GpuMix mixOf(const GpuActivity& a) {
    const double special = a[Event::SqrtLanes] + a[Event::LogLanes] + a[Event::SinLanes] + a[Event::ExpLanes];
    const bool single = a[Event::FpAddLanes] + a[Event::FpMultiplyLanes] > 0;
    const bool twice = a[Event::DoubleMultiplyLanes] > 0, tensor = a[Event::TensorLanes] > 0;
    const int kinds = int{twice} + int{special > 0} + int{a.textures} + int{tensor};
    if (kinds > 1) return GpuMix::Several;
    if (twice) return GpuMix::IntFpDp;
    if (special > 0) return GpuMix::IntFpSfu;
    if (a.textures) return GpuMix::IntFpTexture;
    if (tensor) return GpuMix::IntFpTensor;
    if (single) return GpuMix::IntFp;
    const bool adds = a[Event::IntLanes] > 0, multiplies = a[Event::IntMultiplyLanes] > 0;
    if (adds && multiplies) return GpuMix::Int;
    if (adds) return GpuMix::IntAdd;
    if (multiplies) return GpuMix::IntMultiply;
    if (a[Event::L1ReadHits] + a[Event::L1ReadMisses] + a[Event::L1WriteMisses] > 0) return GpuMix::L1;
    if (a[Event::SharedPasses] > 0) return GpuMix::Shared;
    const double l2 = a[Event::L2ReadHits] + a[Event::L2ReadMisses] + a[Event::L2WriteHits] + a[Event::L2WriteMisses];
    return l2 > 0 ? GpuMix::L2 : GpuMix::Light;
}

GpuPower gpuPower(const GpuPowerTable& table, const GpuActivity& activity, GpuOperatingPoint point) {
    const Scales scale = scalesOf(table, point);
    GpuPower power;
    power[Part::Constant] = table.constant;
    power[Part::MemoryControllers] = table.memoryControllers;
    const bool runs = activity.cycles > 0;
    power[Part::IdleSms] = table.idleSm * (runs ? activity.idleSms : table.sms) * scale.leaking;
    if (!runs) return power;
    const auto& leak = table.leakage[static_cast<std::size_t>(mixOf(activity))];
    power[Part::Static] = (leak.firstLane + std::max(0.0, activity.lanesPerWarp - 1) * leak.laneMore) *
                          busyShare(table, activity) * scale.leaking;
    addEvents(power, table, activity, scale.dynamic * scale.clock / activity.cycles);
    return power;
}

GpuPower gpuPower(const GpuPowerTable& table, std::span<const GpuActivity> stretches, GpuOperatingPoint point) {
    GpuPower mean;
    double cycles = 0;
    for (const GpuActivity& one : stretches) {
        if (!(one.cycles > 0)) continue;
        const GpuPower power = gpuPower(table, one, point);
        for (std::size_t i = 0; i < gpuPowerParts; ++i) mean.watts[i] += power.watts[i] * one.cycles;
        cycles += one.cycles;
    }
    if (!(cycles > 0)) return gpuPower(table, GpuActivity{}, point);
    for (double& watts : mean.watts) watts /= cycles;
    return mean;
}

GpuPower gpuPower(const GpuPowerTable& table, const MeasuredGpuCounters& counters, GpuOperatingPoint point) {
    const Scales scale = scalesOf(table, point);
    const GpuActivity& a = counters.traffic;
    GpuPower power;
    power[Part::Constant] = table.constant;
    const bool runs = a.cycles > 0;
    power[Part::IdleSms] = table.idleSm * (runs ? a.idleSms : table.sms) * scale.leaking;
    if (!runs) return power;
    power[Part::Static] = table.measured.active * busyShare(table, a) * scale.leaking;
    power[Part::Unassigned] = table.measured.pipeline * counters.pipelineBusy * scale.dynamic;
    addEvents(power, table, a, table.measured.memoryShare * scale.dynamic * scale.clock / a.cycles);
    return power;
}

}  // namespace orrery
