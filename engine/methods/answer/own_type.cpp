#include "methods/answer/own_type.h"

#include "hardware/views/device_view.h"
#include "methods/answer/compute_rates.h"
#include "workload/costs.h"
#include "workload/what_if_costs.h"

#include <fmt/format.h>

namespace orrery {

namespace {

bool isIndex(DType type) {
    return type == DType::I64 || type == DType::I32 || type == DType::Bool || type == DType::String;
}

}  // namespace

std::optional<InOwnType> inOwnType(const Scenario& scenario) {
    const auto device = deviceView(*scenario.hardware);
    const auto own = device ? ownType(*device) : std::nullopt;
    if (!own) return std::nullopt;
    const auto foreign = [&](DType type) { return !isIndex(type) && device->peak(true, type).value <= 0; };
    const Workload& given = *scenario.workload;
    std::optional<DType> asked;
    for (std::size_t i = 0; i < given.costs.size() && !asked; ++i) {
        if (given.costs.macs[i] > 0 && foreign(given.costs.type[i])) asked = given.costs.type[i];
    }
    if (!asked) return std::nullopt;
    auto workload = std::make_shared<Workload>(given);
    for (Tensor& tensor : workload->graph.tensors) {
        if (!foreign(tensor.type)) continue;
        tensor.type = *own;
        tensor.bytesPerElement = 0;
    }
    for (Operator& op : workload->graph.operators) {
        const auto stated = op.attributes.find(computeTypeAttribute);
        if (stated == op.attributes.end()) continue;
        const auto* word = std::get_if<std::string>(&stated->second);
        const auto type = word ? dtype(*word) : std::nullopt;
        if (type && foreign(*type)) stated->second = std::string(toText(*own));
    }
    workload->costs = costTable(workload->graph);
    workload->totals = costTotals(workload->graph, workload->costs);
    InOwnType made{scenario, *asked, *own, device->name};
    made.scenario.workload = std::move(workload);
    return made;
}

void InOwnType::say(Estimate& answer) const {
    const std::string_view in = toText(own);
    answer.assumptions.insert(
        answer.assumptions.begin(),
        fmt::format("Everything stands and computes in {}, as {} has no unit for {}", in, device, toText(asked)));
    answer.warnings.insert(
        answer.warnings.begin(),
        warning("precision.own-type",
                fmt::format("{} multiplies nothing in {}: this is the time in {}", device, toText(asked), in),
                fmt::format("Choose {} for weights and activations", in)));
}

}  // namespace orrery
