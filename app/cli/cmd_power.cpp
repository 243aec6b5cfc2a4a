#include "app/cli/command.h"
#include "app/cli/output.h"
#include "base/text/read_file.h"
#include "base/unit.h"
#include "simulation/power/counter_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace orrery::cli {

namespace {

Expected<GpuPowerTable> tableOf(const Arguments& arguments) {
    const auto file = arguments.value("table");
    if (!file) return voltaPower();
    auto text = readFile(*file);
    if (!text) return Unexpected(text.error());
    return readGpuPowerTable(*text, *file);
}

Expected<double> above0(const Arguments& arguments, std::string_view option, Dimension dimension,
                        std::string_view example) {
    const auto text = arguments.value(option);
    if (!text) return 0.0;
    const auto read = parseMeasure(*text, dimension);
    if (read && read->si > 0) return read->si;
    return fail("usage.number", fmt::format("`--{} {}`", option, *text),
                fmt::format("a number above 0 with its unit, as {}", example));
}

int runPower(const Arguments& arguments, Watch&) {
    const auto table = tableOf(arguments);
    if (!table) return report(table.error()), Unanswered;
    GpuOperatingPoint point;
    const auto clock = above0(arguments, "clock", Dimension::Frequency, "1.4GHz");
    if (!clock) return report(clock.error()), Usage;
    point.clock = *clock;
    const auto voltage = above0(arguments, "voltage", Dimension::Number, "0.9");
    if (!voltage) return report(voltage.error()), Usage;
    point.voltage = *voltage;
    const auto kernels = readGpuCounters(*arguments.value("counters"));
    if (!kernels) return report(kernels.error()), Unanswered;

    nlohmann::ordered_json out{{"format", "orrery-gpu-power"}, {"version", 1}, {"table", table->name}};
    out["clock_hz"] = point.clock > 0 ? point.clock : table->clock;
    out["voltage_v"] = point.voltage > 0 ? point.voltage : table->voltage;
    out["kernels"] = nlohmann::ordered_json::array();
    Table text({"kernel", "power W", "constant", "static and idle", "instructions", "L1 and shared", "L2 and network",
                "memory", "counted"},
               {false, true, true, true, true, true, true, true, false});
    for (const CountedKernel& kernel : *kernels) {
        const GpuPower power = gpuPower(*table, kernel, point);
        nlohmann::ordered_json parts;
        for (std::size_t i = 0; i < gpuPowerParts; ++i) parts[std::string(gpuPowerPartNames[i])] = power.watts[i];
        const bool measured = kernel.pipelineBusy >= 0;
        out["kernels"].push_back({{"kernel", kernel.name},
                                  {"power_w", power.total()},
                                  {"counted", measured ? "traffic" : "instructions"},
                                  {"parts_w", std::move(parts)}});
        using Part = GpuPowerPart;
        const double caches = power[Part::L1] + power[Part::SharedMemory], l2 = power[Part::L2] + power[Part::Network];
        const double memory = power[Part::Memory] + power[Part::MemoryControllers];
        const double still = power[Part::Static] + power[Part::IdleSms];
        const auto watts = [](double value) { return fmt::format("{:.1f}", value); };
        text.add({kernel.name, watts(power.total()), watts(power[Part::Constant]), watts(still),
                  watts(power.total() - power[Part::Constant] - still - caches - l2 - memory), watts(caches), watts(l2),
                  watts(memory), measured ? "traffic and how busy" : "instructions"});
    }
    return print(arguments.has("json") ? out.dump(2) + "\n" : text.text()) ? Answered : Unanswered;
}

}  // namespace

const Command powerCommand{
    .name = "power",
    .summary = "what a GPU's kernels draw, from counters of what they did",
    .details =
        "Watts of each kernel, part by part: counts times energy per event, what leaks, the board. The counters come "
        "from "
        "a simulator (instructions by kind) or from the hardware (traffic, and how busy the pipelines were); a "
        "table has one kernel per row. Handbook: gpu-power.",
    .options = {{"counters", "FILE", "one kernel per row (.csv): cycles, then events by name; AccelWattch's names too"},
                {"clock", "FREQUENCY", "at which the kernels ran; the table's own if left out"},
                {"voltage", "V", "of the cores; the table's own if left out"},
                {"table", "FILE", "energies and watts (orrery: gpu-power/1); a Volta GV100 if left out"},
                {"json", "", "as JSON (resources/schema/gpu-power.schema.json)"}},
    .required = {"counters"},
    .examples = {{"orrery-cli power --counters counters.csv", "watts of every kernel, part by part"},
                 {"orrery-cli power --counters counters.csv --clock 1.417GHz --json", "at another clock, as JSON"}},
    .run = runPower,
};

}  // namespace orrery::cli
