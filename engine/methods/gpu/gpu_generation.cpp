#include "methods/gpu/gpu_generation.h"

#include "hardware/views/power_limit.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

Expected<gpusim::GpuGeneration> generationOf(const GpuView& gpu) {
    const auto& all = gpusim::gpuGenerations();
    if (!all) return Unexpected(all.error());
    const bool stacked = gpu.dramTiming.starts_with("HBM") || (gpu.dramTiming.empty() && gpu.dramBandwidth > 1.3e12);
    const auto takes = [&](DType type) { return gpu.tensorPeak(type) > 0; };
    const std::string_view name = gpu.warpSize == 64   ? (takes(DType::FP8) ? "cdna3" : "cdna2")
                                  : takes(DType::FP4)  ? (stacked ? "blackwell" : "blackwell-rtx")
                                  : takes(DType::FP8)  ? (stacked ? "hopper" : "ada")
                                  : takes(DType::BF16) ? (stacked ? "ampere" : "ampere-ga10x")
                                  : takes(DType::I8)   ? "turing"
                                                       : "volta";
    if (const auto* found = gpusim::generationOf(name)) return *found;
    return fail("gpu.generation", fmt::format("the table of generations has no `{}`", name));
}

double clockShareOf(const gpusim::GpuGeneration::TensorPower& power, const GpuView& gpu, DType type, double operations,
                    double bytes, double seconds) {
    if (gpu.powerCap <= 0 || seconds <= 0 || gpu.clock <= 0) return 1;
    const double voltage = voltageAt(gpu.clock / power.clock);
    const double always = power.wattsPerSm * gpu.sms + power.joulesPerByte * bytes / seconds;
    const double units = power.joulesPerOperation * bits(type) / 16 * voltage * voltage * operations / seconds;
    const double share = clockUnderPower(gpu.powerCap, std::min(always, gpu.powerCap), units);
    return gpu.sustained < 1 ? std::max(share, gpu.sustained) : share;
}

}  // namespace orrery
