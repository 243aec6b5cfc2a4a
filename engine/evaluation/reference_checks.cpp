#include "evaluation/reference_checks.h"

#include "base/unit.h"
#include "evaluation/import_description.h"
#include "hardware/catalogue.h"
#include "hardware/device_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

namespace orrery {

namespace {

const std::map<std::string, std::string, std::less<>>& catalogueNames() {
    static const auto all = [] {
        std::map<std::string, std::string, std::less<>> names;
        const auto entries = hardwareCatalogue();
        for (const auto& entry : entries) names.emplace(plainName(entry.name), entry.id);
        for (const auto& entry : entries) names[entry.id] = entry.id;
        return names;
    }();
    return all;
}

bool usesMatrixUnits(const Kernel& kernel) {
    return kernel.kind == KernelKind::Gemm || kernel.kind == KernelKind::PrefillAttention ||
           kernel.kind == KernelKind::DecodeAttention || kernel.kind == KernelKind::Convolution;
}

double rooflineSeconds(const DeviceView& device, const Kernel& kernel) {
    if (kernel.kind == KernelKind::Collective) return 0;
    const double peak = std::max(device.peak(usesMatrixUnits(kernel), kernel.type).value,
                                 device.peak(usesMatrixUnits(kernel), kernel.weightType).value);
    const double bandwidth = device.main().bandwidth.value;
    return std::max(peak > 0 ? kernel.flops / peak : 0, bandwidth > 0 ? kernel.bytes() / bandwidth : 0);
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
    if (left == 0) return {};
    if (2 * left > before) {
        first->severity = Severity::Error;
        first->code = "reference.unit";
        first->message += fmt::format("; so are {} of {} rows, so the unit must be another", left, before);
        return tl::unexpected(std::move(*first));
    }
    first->message += fmt::format("; {} rows were left out for this reason", left);
    table.warnings.push_back(std::move(*first));
    return {};
}

}  // namespace orrery
