#include "evaluation/reference_index.h"

#include "evaluation/reference_checks.h"
#include "methods/provenance.h"
#include "workload/kernel.h"

#include <algorithm>

namespace orrery {

namespace {

/// Kernels that differ in name alone are one: a residual is a sum, and one query sees all keys whether it is called
/// causal or not. Only here: splits of rows hang on kernelIdentity() as it is.
std::uint64_t sought(Kernel kernel) {
    if (kernel.kind == KernelKind::DecodeAttention) kernel.attention.causal = true;
    if (kernel.kind == KernelKind::Elementwise && kernel.function == "Residual") kernel.function = "Add";
    return kernelIdentity(kernel);
}

}  // namespace

ReferenceIndex::ReferenceIndex(std::shared_ptr<const std::vector<ReferenceTable>> tables) : tables_(std::move(tables)) {
    for (std::size_t t = 0; t < tables_->size(); ++t) {
        const ReferenceTable& table = (*tables_)[t];
        if (!table.models.empty()) continue;
        for (const ReferenceRow& row : table.rows) {
            const std::string& id = table.devices[static_cast<std::size_t>(row.device)].catalogue;
            if (id.empty()) continue;
            auto device = std::ranges::find(devices_, id, &Device::id);
            if (device == devices_.end()) device = devices_.insert(device, {id, {}, {}, {}});
            device->kernels.try_emplace(sought(row.kernel),
                                        Entry{static_cast<float>(row.seconds), static_cast<std::int32_t>(t)});
        }
    }
    for (Device& device : devices_) {
        if (const auto hardware = catalogueHardware(device.id)) {
            device.hardwareName = hardware->name;
            device.hardwareHash = hardwareHash(*hardware);
        }
    }
}

std::vector<OperatorTruth> ReferenceIndex::truthOf(const Scenario& scenario) const {
    std::vector<OperatorTruth> found;
    const auto named = [&](const Device& device) { return device.hardwareName == scenario.hardware->name; };
    const auto device = std::ranges::find_if(devices_, named);
    if (device == devices_.end() || device->hardwareHash != hardwareHash(*scenario.hardware)) return found;
    const Workload& workload = *scenario.workload;
    for (std::size_t i = 0; i < workload.graph.operators.size(); ++i) {
        const Kernel kernel = kernelOf(workload.graph, workload.costs, i);
        if (kernel.kind == KernelKind::Other || kernel.kind == KernelKind::Movement) continue;
        const auto at = device->kernels.find(sought(kernel));
        if (at == device->kernels.end()) continue;
        const ReferenceTable& table = (*tables_)[static_cast<std::size_t>(at->second.table)];
        found.push_back(
            {static_cast<std::int32_t>(i), at->second.seconds * workload.costs.repeat[i], table.kind, &table});
    }
    return found;
}

}  // namespace orrery
