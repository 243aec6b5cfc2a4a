#include "simulation/gpu/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::gpusim {

int gpcOf(const Machine& machine, int sm) {
    const double sms = std::max(1.0, machine.generation.clusters.sms);
    return static_cast<int>((sms == std::floor(sms) ? sm : sm & ~1) / sms);
}

int mostOfCluster(const Machine& machine) {
    const auto& clusters = machine.generation.clusters;
    return machine.modernCore ? std::min({clusters.most, machine.sms, static_cast<int>(clusters.sms)}) : 0;
}

int clusterOf(const Machine& machine, const KernelHeader& kernel) {
    return kernel.cluster > mostOfCluster(machine) ? 1 : kernel.cluster;
}

int smsOfClusters(const Machine& machine, int members) {
    if (members < 2) return machine.sms;
    int out = 0, inGpc = 0;
    for (int sm = 0; sm < machine.sms; ++sm) {
        if (sm > 0 && gpcOf(machine, sm) != gpcOf(machine, sm - 1)) inGpc = 0;
        if (++inGpc % members == 0) out += members;
    }
    return out;
}

Occupancy occupancy(const Machine& machine, const KernelHeader& kernel) {
    Occupancy out;
    const int threads = kernel.warps() * kernel.lanes;
    const int byThreads = machine.maxThreads / threads;
    const int sharedPerBlock =
        kernel.sharedBytes +
        (machine.modernCore && machine.lanes == 32 && machine.generation.computeCapability >= 80 ? 1024 : 0);
    const int byShared = sharedPerBlock > 0 ? machine.sharedBytes / sharedPerBlock : 1 << 20;
    // Real SMs give registers to warps in units of 256 and keep 1 KB of shared memory per block.
    const int rounded = machine.modernCore ? (kernel.registers + 7) / 8 * 8 : (kernel.registers + 3) / 4 * 4;
    const int byRegisters = rounded > 0 ? machine.registers / (threads * rounded) : 1 << 20;
    out.registers = threads * rounded, out.sharedBytes = sharedPerBlock;
    out.fits = std::min({byThreads, byShared, byRegisters, machine.maxBlocks});
    const auto names = [&](int limit, std::string_view name) {
        if (limit == out.fits) out.limitedBy += fmt::format("{}{}", out.limitedBy.empty() ? "" : "+", name);
    };
    names(byThreads, "threads"), names(byShared, "shared"), names(byRegisters, "registers"),
        names(machine.maxBlocks, "blocks");
    const int sms = smsOfClusters(machine, clusterOf(machine, kernel));
    const std::int64_t share = (kernel.blocks() + sms - 1) / sms;
    out.used = static_cast<int>(std::min<std::int64_t>(out.fits, share));
    const int line = machine.l1.sets * 128;
    out.l1Bytes = machine.l1.ways * line;
    out.carvedBytes = machine.sharedBytes;
    if (machine.adaptiveL1 && machine.unifiedBytes > 0) {
        const int shared = kernel.sharedBytes * out.used;
        int carved = shared;
        for (const int option : machine.sharedOptions) {
            if (option >= shared) {
                carved = option;
                break;
            }
        }
        out.l1Bytes = std::max(line, machine.unifiedBytes - carved);
        out.changesL1 = true, out.carvedBytes = carved;
    }
    return out;
}

Unexpected doesNotFit(const Machine& machine, const std::string& kernel, const std::string& file) {
    return fail("gpu.kernel", fmt::format("a block of '{}' does not fit an SM", kernel),
                fmt::format("at most {} threads, {} bytes of shared memory and {} registers", machine.maxThreads,
                            machine.sharedBytes, machine.registers),
                "it was traced for a larger GPU", {file, 0, 0, {}});
}

}  // namespace orrery::gpusim
