#include "simulation/power/counter_table.h"

#include "base/text/csv_stream.h"
#include "base/text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace orrery {

namespace {

struct CounterName {
    std::string_view published;
    GpuEvent event;
};
// AccelWattch's measured counters (accelwattch_counters_volta_measured.csv): sectors, packets, passes.
constexpr CounterName publishedNames[] = {
    {"L1_RH", GpuEvent::L1ReadHits},      {"L1_RM", GpuEvent::L1ReadMisses}, {"L1_WM", GpuEvent::L1WriteMisses},
    {"SHRD_ACC", GpuEvent::SharedPasses}, {"DRAM_Rd", GpuEvent::DramReads},  {"DRAM_Wr", GpuEvent::DramWrites},
    {"L2_RH", GpuEvent::L2ReadHits},      {"L2_RM", GpuEvent::L2ReadMisses}, {"L2_WH", GpuEvent::L2WriteHits},
    {"L2_WM", GpuEvent::L2WriteMisses},   {"NOC", GpuEvent::NocPackets},
};
constexpr std::string_view nameColumns[] = {"kernel", "validation_name", "name"};
constexpr std::string_view cycleColumns[] = {"cycles", "Elapsed_Cycles"};
constexpr std::string_view idleColumns[] = {"idle_sms", "Num_Idle_SMs"};
constexpr std::string_view busyColumns[] = {"pipeline_busy", "Pipeline_Duty"};
constexpr double most = std::numeric_limits<double>::infinity();

}  // namespace

Expected<std::vector<CountedKernel>> readGpuCounters(const std::string& path) {
    // First what there is, then the columns that mean something.
    TableSpec spec;
    spec.area = "power";
    spec.what = "counters of kernels, one row each";
    std::vector<std::pair<std::string, double GpuActivity::*>> plain;
    std::vector<std::pair<std::string, GpuEvent>> events;
    std::string name, busy;
    const auto firstOf = [&](std::span<const std::string_view> names) {
        const auto found =
            std::find_if(names.begin(), names.end(), [&](std::string_view each) { return hasColumn(path, each); });
        return found == names.end() ? std::string() : std::string(*found);
    };
    const auto number = [&](const std::string& column, double upTo = most) {
        spec.columns.push_back({column, false, 0, upTo});
    };
    const std::string cycles = firstOf(cycleColumns);
    number(cycles.empty() ? "cycles" : cycles);
    name = firstOf(nameColumns);
    if (!name.empty()) spec.columns.push_back(textColumn(name));
    if (const std::string idle = firstOf(idleColumns); !idle.empty())
        number(idle), plain.push_back({idle, &GpuActivity::idleSms});
    if (hasColumn(path, "lanes_per_warp"))
        number("lanes_per_warp", 32), plain.push_back({"lanes_per_warp", &GpuActivity::lanesPerWarp});
    busy = firstOf(busyColumns);
    if (!busy.empty()) number(busy, 1);
    for (std::size_t i = 0; i < gpuEvents; ++i) {
        const std::string own(gpuEventNames[i]);
        if (hasColumn(path, own)) number(own), events.push_back({own, static_cast<GpuEvent>(i)});
    }
    for (const auto& [published, event] : publishedNames) {
        const auto same = [event = event](const auto& each) { return each.second == event; };
        if (!hasColumn(path, published) || std::any_of(events.begin(), events.end(), same)) continue;
        number(std::string(published)), events.push_back({std::string(published), event});
    }
    auto table = readTable(path, spec);
    if (!table) return Unexpected(table.error());
    const bool counted = hasColumn(path, "warp_instructions");
    if (!counted && busy.empty()) {
        return fail("power.no-column", "neither `warp_instructions` nor `pipeline_busy` stands in the table",
                    "how many instructions a kernel issued, or the share of cycles in which its pipelines were busy",
                    "AccelWattch's tables call the latter `Pipeline_Duty`", {path});
    }
    std::vector<CountedKernel> kernels(table->size());
    const auto at = [&](const std::string& column) -> const std::vector<double>& { return **table->column(column); };
    for (std::size_t row = 0; row < kernels.size(); ++row) {
        CountedKernel& kernel = kernels[row];
        kernel.name = fmt::format("row {}", row + 1);
        kernel.activity.cycles = at(cycles)[row];
        for (const auto& [column, member] : plain) kernel.activity.*member = at(column)[row];
        for (const auto& [column, event] : events) kernel.activity[event] = at(column)[row];
        if (!counted) kernel.pipelineBusy = at(busy)[row];
    }
    if (!name.empty()) {
        const auto column = std::find(table->names.begin(), table->names.end(), name) - table->names.begin();
        for (std::size_t row = 0; row < kernels.size(); ++row)
            kernels[row].name = table->texts[static_cast<std::size_t>(column)][row];
    }
    return kernels;
}

GpuPower gpuPower(const GpuPowerTable& table, const CountedKernel& kernel, GpuOperatingPoint point) {
    return kernel.pipelineBusy < 0 ? gpuPower(table, kernel.activity, point)
                                   : gpuPower(table, MeasuredGpuCounters{kernel.activity, kernel.pipelineBusy}, point);
}

}  // namespace orrery
