#include "evaluation/reference_checks.h"

#include "base/unit.h"
#include "evaluation/import_description.h"
#include "hardware/files/catalogue.h"
#include "hardware/views/device_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace orrery {

namespace {

// What drivers call them (torch.cuda.get_device_name, nvidia-smi), where that is neither name nor id.
constexpr std::pair<std::string_view, std::string_view> driverNames[] = {
    {"NVIDIA A100-PCIE-40GB", "a100-40-pcie"},
    {"NVIDIA A100 80GB PCIe", "a100-80-pcie"},
    {"NVIDIA A100-SXM4-40GB", "a100-40-sxm"},
    {"NVIDIA A100-SXM4-80GB", "a100-80-sxm"},
    {"NVIDIA H100 80GB HBM3", "h100-sxm"},
    {"NVIDIA H100 PCIe", "h100-pcie"},
    {"NVIDIA H200", "h200-sxm"},
    {"NVIDIA H20", "h20-sxm"},
    {"NVIDIA H800", "h800-sxm"},
    {"NVIDIA B200", "b200-sxm"},
    {"NVIDIA GB200", "gb200-nvl72"},
    {"NVIDIA GB300", "gb300-nvl72"},
    {"Tesla V100-SXM2-32GB", "v100"},
    {"Tesla V100-PCIE-32GB", "v100-pcie"},
    {"Tesla P100-PCIE-16GB", "p100"},
    {"Tesla P4", "p4"},
    {"Tesla T4", "t4"},
    {"NVIDIA GeForce RTX 3090", "rtx-3090"},
    {"NVIDIA GeForce RTX 4090", "rtx-4090"},
    {"NVIDIA GeForce RTX 4080", "rtx-4080"},
    {"NVIDIA GeForce RTX 5090", "rtx-5090"},
    {"NVIDIA RTX A6000", "rtx-a6000"},
};

const std::map<std::string, std::string, std::less<>>& catalogueNames() {
    static const auto all = [] {
        std::map<std::string, std::string, std::less<>> names;
        const auto entries = hardwareCatalogue();
        for (const auto& entry : entries) names.emplace(plainName(entry.name), entry.id);
        for (const auto& entry : entries) names[entry.id] = entry.id;
        for (const auto& [name, id] : driverNames) {
            if (names.contains(id)) names.emplace(plainName(name), id);
        }
        return names;
    }();
    return all;
}

bool usesMatrixUnits(const Kernel& kernel) {
    return kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::Experts ||
           kernel.kind == KernelKind::PrefillAttention || kernel.kind == KernelKind::DecodeAttention ||
           kernel.kind == KernelKind::Convolution;
}

double rooflineSeconds(const DeviceView& device, const Kernel& kernel) {
    if (kernel.kind == KernelKind::Collective) return 0;
    const double peak = std::max(device.peak(usesMatrixUnits(kernel), kernel.type).value,
                                 device.peak(usesMatrixUnits(kernel), kernel.weightType).value);
    const double bandwidth = device.main().bandwidth.value;
    return std::max(peak > 0 ? kernel.flops / peak : 0, bandwidth > 0 ? kernel.bytes() / bandwidth : 0);
}

// Kernels as a whole: a floor of launching for the slow side, of issuing anything at all for the fast one.
constexpr double launchSeconds = 20e-6, leastSeconds = 1e-6;
constexpr double suspicious = 10;

/// A table whose rows lie off physics as a whole, though none is absurd by itself: most likely a wrong unit.
std::optional<Diagnostic> suspiciousUnit(const ReferenceTable& table,
                                         const std::vector<std::optional<DeviceView>>& views) {
    std::vector<double> slow, fast;
    for (const auto& row : table.rows) {
        const auto& view = views[static_cast<std::size_t>(row.device)];
        if (!view || row.kernel.kind == KernelKind::Collective) continue;
        const double least = rooflineSeconds(*view, row.kernel);
        slow.push_back(row.seconds / (least + launchSeconds));
        fast.push_back(row.seconds / std::max(least, leastSeconds));
    }
    if (slow.empty()) return std::nullopt;
    const auto ordered = [](std::vector<double>& values, std::size_t at) {
        const auto place = values.begin() + static_cast<std::ptrdiff_t>(at);
        std::nth_element(values.begin(), place, values.end());
        return *place;
    };
    const double slower = ordered(slow, (slow.size() - 1) / 2), faster = ordered(fast, fast.size() / 2);
    if (slower <= suspicious && faster * suspicious >= 1) return std::nullopt;
    const bool tooSlow = slower > suspicious;
    return warning("reference.unit",
                   fmt::format("more than half of the rows take {:.3g} times {} than the device's peak rates{}",
                               tooSlow ? slower : 1 / faster, tooSlow ? "longer" : "less",
                               tooSlow ? " and a launch of 20 µs" : " and a microsecond allow"),
                   tooSlow ? "are the times microseconds declared as milliseconds?"
                           : "are the times milliseconds declared as microseconds?",
                   Place{table.file, table.rows.front().line, 0, {}});
}

}  // namespace

std::string catalogueId(std::string_view name) {
    const auto found = catalogueNames().find(plainName(name));
    return found == catalogueNames().end() ? std::string() : found->second;
}

std::shared_ptr<const Hardware> catalogueHardware(const std::string& id) {
    static std::mutex guard;
    static std::map<std::string, std::shared_ptr<const Hardware>> known;
    const std::scoped_lock lock(guard);
    auto& hardware = known[id];
    if (!hardware) {
        if (auto loaded = loadHardware(id)) hardware = std::make_shared<const Hardware>(std::move(loaded->hardware));
    }
    return hardware;
}

Expected<void> leaveOutAbsurd(ReferenceTable& table) {
    std::vector<std::optional<DeviceView>> views(table.devices.size());
    for (std::size_t i = 0; i < views.size(); ++i) {
        const auto& id = table.devices[i].catalogue;
        const auto hardware = id.empty() ? nullptr : catalogueHardware(id);
        if (!hardware) continue;
        if (auto view = deviceView(*hardware)) views[i] = std::move(*view);
    }
    std::optional<Diagnostic> first;
    const auto absurd = [&](const ReferenceRow& row) {
        const auto& view = views[static_cast<std::size_t>(row.device)];
        if (!view) return false;
        const double least = rooflineSeconds(*view, row.kernel);
        const bool fast = row.seconds * absurdlyFast < least;
        if (!fast && row.seconds <= 1000 * least + 10) return false;
        if (!first) {
            first = warning("reference.absurd",
                            fmt::format("{} in {} is {} than {} can", toText(row.kernel), format(Seconds(row.seconds)),
                                        fast ? "a hundred times faster" : "a thousand times slower",
                                        table.devices[static_cast<std::size_t>(row.device)].name),
                            "check the unit of the time and the device", Place{table.file, row.line, 0, {}});
            first->expected = fmt::format("about {} or more", format(Seconds(least)));
        }
        return true;
    };
    const auto before = table.rows.size();
    std::erase_if(table.rows, absurd);
    const auto left = before - table.rows.size();
    if (auto unit = suspiciousUnit(table, views)) table.warnings.push_back(std::move(*unit));
    if (left == 0) return {};
    if (2 * left > before) {
        first->severity = Severity::Error;
        first->code = "reference.unit";
        first->message += fmt::format("; so are {} of {} rows, so the unit must be another", left, before);
        return tl::unexpected(std::move(*first));
    }
    first->message += fmt::format("; {} rows were not read for this reason", left);
    table.warnings.push_back(std::move(*first));
    return {};
}

}  // namespace orrery
