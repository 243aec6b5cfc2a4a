#include "base/hash.h"
#include "evaluation/evaluation.h"
#include "evaluation/reference_checks.h"
#include "methods/cpu/cpu_view.h"
#include "workload/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace orrery {

namespace {

struct Gathered {
    std::optional<KernelRows> rows;  // none: refused
    Hash hash;
    std::vector<std::int32_t> tables;
    std::size_t refused = 0;
    std::optional<Diagnostic> why;
};

// A word that is part of another one is not in the list for that.
void append(std::string& list, const std::string& word) {
    const std::string between = " + ";
    if (word.empty() || (between + list + between).find(between + word + between) != std::string::npos) return;
    list.append(list.empty() ? "" : between).append(word);
}

Gathered open(const std::string& id, bool cpus) {
    Gathered gathered;
    const auto hardware = catalogueHardware(id);
    if (!hardware) {
        gathered.why = fail("hardware.unknown", fmt::format("the device '{}' cannot be loaded", id)).value();
        return gathered;
    }
    auto view = cpus ? cpuView(*hardware) : gpuView(*hardware);
    if (!view) {
        gathered.why = std::move(view.error());
        return gathered;
    }
    gathered.rows.emplace();
    gathered.rows->gpu = std::move(*view);
    // A design of one's own is known by its file: its name says as much, on other machines too.
    const auto slash = id.find_last_of('/');
    gathered.rows->deviceId = slash == std::string::npos ? id : id.substr(slash + 1);
    return gathered;
}

}  // namespace

Expected<std::vector<KernelRows>> kernelRows(std::span<const ReferenceTable> tables, std::span<const RowRef> refs,
                                             Diagnostics& warnings, bool cpus) {
    std::map<std::string, Gathered> devices;
    std::size_t unknown = 0;
    for (const RowRef ref : refs) {
        const auto& table = tables[static_cast<std::size_t>(ref.table)];
        if (!table.models.empty()) continue;  // a whole model is no kernel
        const auto& row = table.rows[static_cast<std::size_t>(ref.row)];
        const auto& id = table.devices[static_cast<std::size_t>(row.device)].catalogue;
        if (id.empty()) {
            ++unknown;
            continue;
        }
        auto found = devices.find(id);
        if (found == devices.end()) found = devices.emplace(id, open(id, cpus)).first;
        Gathered& gathered = found->second;
        if (!gathered.rows) {
            ++gathered.refused;
            continue;
        }
        gathered.rows->kernels.push_back(row.kernel);
        gathered.rows->seconds.push_back(row.seconds);
        gathered.rows->byHost.push_back(table.hostTimed ? 1 : 0);
        gathered.hash.add(kernelIdentity(row.kernel)).add(row.seconds);
        auto& used = gathered.tables;
        if (used.empty() || used.back() != ref.table) used.push_back(ref.table);
    }
    std::vector<KernelRows> all;
    for (auto& [id, gathered] : devices) {
        if (!gathered.rows) {
            gathered.why->severity = Severity::Warning;
            gathered.why->message += fmt::format("; {} rows on {} are left out", gathered.refused, id);
            warnings.push_back(std::move(*gathered.why));
            continue;
        }
        CalibrationSource& source = gathered.rows->source;
        for (const auto number : gathered.tables) {
            const auto& table = tables[static_cast<std::size_t>(number)];
            append(source.name, table.name);
            append(source.software, table.software);
            append(source.licence, table.licence);
        }
        source.hash = gathered.hash.hex();
        source.rows = static_cast<std::int64_t>(gathered.rows->kernels.size());
        all.push_back(std::move(*gathered.rows));
    }
    if (unknown > 0) {
        warnings.push_back(warning("reference.unknown-device",
                                   fmt::format("{} rows are of devices that are not in the library", unknown),
                                   "give an id with --device, or add a preset"));
    }
    if (!all.empty()) return all;
    return fail("reference.no-rows",
                fmt::format("there are no rows of a {} in the hardware catalogue", cpus ? "CPU" : "GPU"),
                "at least one row", refs.empty() ? "let --where accept some rows" : "add a preset of the device");
}

Expected<std::vector<KernelRows>> kernelRows(std::span<const ReferenceTable> tables, const ReferenceFilter& filter,
                                             Diagnostics& warnings) {
    return kernelRows(tables, selectRows(tables, filter), warnings);
}

}  // namespace orrery
