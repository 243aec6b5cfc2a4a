#include "simulation/power/simulated.h"

#include "simulation/gpu/opcodes.h"

#include <algorithm>

namespace orrery {

GpuActivity activityOf(const gpusim::KernelResult& kernel, int sms) {
    using gpusim::Energy;
    const gpusim::Counters& n = kernel.counts;
    const auto lanes = [&](Energy kind) { return static_cast<double>(n.lanes[static_cast<std::size_t>(kind)]); };
    const auto warps = static_cast<double>(n.warpInstructions);
    GpuActivity a;
    a.cycles = static_cast<double>(kernel.cycles);
    a.idleSms = a.cycles > 0 ? std::max(0.0, sms - static_cast<double>(n.activeSmCycles) / a.cycles) : sms;
    a.lanesPerWarp = warps > 0 ? static_cast<double>(n.threadInstructions) / warps : 0;
    a.textures = lanes(Energy::Texture) > 0;
    a[GpuEvent::WarpInstructions] = warps;
    a[GpuEvent::Scheduled] = warps - static_cast<double>(n.memoryInstructions);
    a[GpuEvent::Pipeline] = static_cast<double>(n.threadInstructions) / 32;
    a[GpuEvent::RegisterReads] = static_cast<double>(n.registerReads);
    a[GpuEvent::RegisterWrites] = static_cast<double>(n.registerWrites);
    a[GpuEvent::IntLanes] = lanes(Energy::Int);
    a[GpuEvent::IntMultiplyLanes] = lanes(Energy::IntMultiply);
    a[GpuEvent::FpAddLanes] = lanes(Energy::Fp);
    a[GpuEvent::FpMultiplyLanes] = lanes(Energy::FpMultiply);
    a[GpuEvent::SqrtLanes] = lanes(Energy::Sqrt);
    a[GpuEvent::LogLanes] = lanes(Energy::Log);
    a[GpuEvent::SinLanes] = lanes(Energy::Sin);
    a[GpuEvent::ExpLanes] = lanes(Energy::Exp);
    // The table has one energy for all double precision.
    a[GpuEvent::DoubleMultiplyLanes] = lanes(Energy::Dp) + lanes(Energy::DpMultiply);
    a[GpuEvent::TensorLanes] = lanes(Energy::Tensor);
    a[GpuEvent::SharedPasses] = static_cast<double>(n.sharedPasses);
    a[GpuEvent::L1ReadHits] = static_cast<double>(n.l1.readHits);
    a[GpuEvent::L1ReadMisses] = static_cast<double>(n.l1.readMisses + n.l1.readPending);
    a[GpuEvent::L1WriteMisses] = static_cast<double>(n.l1.writeMisses);
    a[GpuEvent::L2ReadHits] = static_cast<double>(n.l2.readHits);
    a[GpuEvent::L2ReadMisses] = static_cast<double>(n.l2.readMisses + n.l2.readPending);
    a[GpuEvent::L2WriteHits] = static_cast<double>(n.l2.writeHits);
    a[GpuEvent::L2WriteMisses] = static_cast<double>(n.l2.writeMisses);
    a[GpuEvent::NocPackets] = static_cast<double>(n.networkPackets);
    a[GpuEvent::DramReads] = static_cast<double>(n.dramReads);
    a[GpuEvent::DramWrites] = static_cast<double>(n.dramWrites);
    a[GpuEvent::DramPrecharges] = static_cast<double>(n.dramPrecharges);
    return a;
}

}  // namespace orrery
