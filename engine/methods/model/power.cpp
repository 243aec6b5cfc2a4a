#include "methods/model/power.h"

#include "base/unit.h"
#include "hardware/views/power_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// O'Connor et al., Fine-Grained DRAM, MICRO 2017: HBM2 about 4 pJ/bit; twice that for DRAM off the package (assumed).
constexpr double stackedJoulesPerByte = 8 * 4e-12, otherJoulesPerByte = 8 * 8e-12;
// From the memory's pins through controllers and caches into registers, at 7 nm. Fitted to the mean power of 30
// settings of Llama-2 70B on A100 with its measured times (Splitwise @ 8f99e7dc; prompts up to 4096 tokens), the only
// number fitted here; tests/methods/tst_power.cpp judges it on BLOOM-176B.
constexpr double wayAtSevenNanometres = 104e-12;

bool matrix(const Kernel& kernel) {
    return kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Experts ||
           kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention ||
           kernel.kind == KernelKind::Convolution;
}

}  // namespace

double wayJoulesPerByte(const GpuView& gpu) {
    // As arithmetic: with the root of the process length.
    const double nanometres = processNanometres(gpu.process);
    return wayAtSevenNanometres * (nanometres > 0 ? std::sqrt(nanometres / 7) : 1);
}

PowerModel powerModel(const GpuView& gpu) {
    PowerModel model;
    if (gpu.powerCap <= 0) return model;
    model.capWatts = gpu.powerCap;
    model.staticWatts = staticWatts(gpu.powerCap, gpu.idlePower);
    const auto& main = gpu.device.main();
    const bool stacked = gpu.dramTiming.starts_with("HBM") || main.name.starts_with("hbm");
    model.joulesPerByte = main.energy.value > 0 ? main.energy.value
                          : stacked             ? stackedJoulesPerByte
                                                : otherJoulesPerByte;
    model.joulesPerByte += wayJoulesPerByte(gpu);
    const double share = std::clamp(gpu.sustained, 0.1, 1.0);
    const double voltage = voltageAt(share);
    model.unitWatts = (model.capWatts - model.staticWatts) / (share * voltage * voltage) * gpu.device.drawnToRated;
    model.basis = fmt::format(
        "Energy is {} static{}, {} for units at full rate and the nominal clock, from the cap of {}{} at the sustained "
        "clock ({:.0f} %), and {:.0f} pJ per byte from {} to the units. On A100 that gave mean powers 4 % off where "
        "times were measured "
        "(BLOOM-176B in 11 settings, Splitwise); on other GPUs its error has not been measured, and an error of the "
        "time is one of the energy",
        format(Watts(model.staticWatts)),
        gpu.idlePower > 0 ? "" : fmt::format(" ({:.0f} % of the cap, as GenZ has it)", 100 * staticShareOfCap),
        format(Watts(model.unitWatts)), format(Watts(model.capWatts)),
        gpu.device.drawnToRated == 1 ? "" : fmt::format(" for 1/{:.3g} of them", gpu.device.drawnToRated), 100 * share,
        1e12 * model.joulesPerByte, main.name);
    return model;
}

PowerPoint powerOf(const PowerModel& model, const GpuView& gpu, const Kernel& kernel, double flops, double bytes,
                   double seconds) {
    PowerPoint point;
    if (!model.known() || seconds <= 0) {
        point.watts = model.staticWatts;
        return point;
    }
    const double peak = gpu.peak(matrix(kernel), kernel.type);
    const double rate = peak > 0 ? std::min(1.0, flops / seconds / peak) : 0;  // share of the nominal peak
    point.memoryWatts = model.joulesPerByte * bytes / seconds;
    const double fixed = std::min(model.capWatts, model.staticWatts + point.memoryWatts);
    // The slower the clock, the busier the units must be to keep the rate: busy at most all the time.
    for (int i = 0; i < 20; ++i) {
        const double busy = std::min(1.0, rate / point.clockShare);
        const double next = clockUnderPower(model.capWatts, fixed, busy * model.unitWatts);
        const bool settled = std::fabs(next - point.clockShare) < 1e-6;
        point.clockShare = next;
        if (settled) break;
    }
    const double voltage = voltageAt(point.clockShare);
    point.unitWatts = rate * voltage * voltage * model.unitWatts;
    point.watts = std::min(model.capWatts, fixed + point.unitWatts);
    return point;
}

}  // namespace orrery
