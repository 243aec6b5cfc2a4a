#include "methods/tile/wave_scaling_origin.h"

#include "hardware/views/power_limit.h"
#include "methods/tile/tile_wave_vector.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace orrery {

namespace {

struct Number {
    std::string_view name;
    double GpuView::*member;
    bool needed;
};
constexpr std::array<Number, 18> numbers{{
    {"origin sms", &GpuView::sms, true},
    {"origin clock", &GpuView::clock, true},
    {"origin dram bandwidth", &GpuView::dramBandwidth, true},
    {"origin sub-cores", &GpuView::subCores, true},
    {"origin warps", &GpuView::warpsPerSm, true},
    {"origin sustained", &GpuView::sustained, true},
    {"origin warp size", &GpuView::warpSize, true},
    {"origin l2 slices", &GpuView::l2Slices, true},
    {"origin vector lanes", &GpuView::vectorLanes, false},
    {"origin registers", &GpuView::registerBytes, false},
    {"origin shared memory", &GpuView::sharedBytes, false},
    {"origin l2", &GpuView::l2Bytes, false},
    {"origin l2 bandwidth", &GpuView::l2Bandwidth, false},
    {"origin link bandwidth", &GpuView::linkBandwidth, false},
    {"origin power cap", &GpuView::powerCap, false},
    {"origin idle power", &GpuView::idlePower, false},
    {"origin dram", &GpuView::dramBytes, false},
    {"origin tensor units", &GpuView::tensorUnits, false},
}};
constexpr std::array<std::string_view, 2> units{"vector", "tensor"};  // in the order of UnitKind

}  // namespace

void keepOrigin(CalibrationSection& section, const GpuView& gpu) {
    for (const Number& number : numbers) section.parameters[std::string(number.name)] = gpu.*number.member;
    section.parameters["origin nanometres"] = processNanometres(gpu.process);
    section.parameters["origin graphics memory"] = graphicsMemory(gpu) ? 1 : 0;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
        for (int type = 0; type < dtypeCount; ++type) {
            const double peak = gpu.device.peaks[unit][static_cast<std::size_t>(type)].value;
            if (peak <= 0) continue;
            section.parameters[fmt::format("origin {} {}", units[unit], toText(static_cast<DType>(type)))] = peak;
        }
    }
}

Expected<GpuView> originOf(const CalibrationSection& section) {
    const auto& parameters = section.parameters;
    const auto get = [&](std::string_view name) {
        const auto found = parameters.find(name);
        return found == parameters.end() ? 0.0 : found->second;
    };
    GpuView gpu;
    for (const Number& number : numbers) {
        gpu.*number.member = get(number.name);
        if (number.needed && !(gpu.*number.member > 0)) {
            return fail(
                "calibration.no-origin",
                fmt::format("section {} {} has no positive `{}`", toText(section.kind), section.variant, number.name),
                "the device that was measured, among the parameters of each section",
                "calibrate wave-scaling again with `orrery-cli calibrate --method wave-scaling`");
        }
    }
    if (const double nanometres = get("origin nanometres"); nanometres > 0) {
        gpu.process = fmt::format("{:g} nm", nanometres);
    }
    gpu.dramTiming = get("origin graphics memory") > 0 ? "GDDR" : "HBM";
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
        for (int type = 0; type < dtypeCount; ++type) {
            const double peak = get(fmt::format("origin {} {}", units[unit], toText(static_cast<DType>(type))));
            gpu.device.peaks[unit][static_cast<std::size_t>(type)] = FlopsPerSecond{std::max(peak, 0.0)};
        }
    }
    return gpu;
}

}  // namespace orrery
