#include "evaluation/reference_checks.h"
#include "evaluation/survey/survey.h"
#include "hardware/views/device_ref.h"
#include "methods/kernel_method.h"
#include "workload/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace orrery {

namespace {

struct KernelAsked {
    HardwarePtr hardware;
    Kernel kernel;
};

/// The first kernel that it priced.
std::optional<KernelAsked> firstKernel(const Evaluation& evaluation, std::span<const ReferenceTable> tables) {
    for (const RowRef ref : evaluation.rows.ref) {
        const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
        if (!table.models.empty()) continue;
        const ReferenceRow& row = table.rows[static_cast<std::size_t>(ref.row)];
        auto hardware = catalogueHardware(table.devices[static_cast<std::size_t>(row.device)].catalogue);
        if (hardware) return KernelAsked{std::move(hardware), row.kernel};
    }
    return std::nullopt;
}

void readKernelPrice(SurveyLine& line, const KernelMethod& method, const KernelAsked& asked,
                     const CalibrationSet& calibrations) {
    const auto places = devicesOf(asked.hardware);
    if (!places) return;
    for (const DeviceRef& place : *places) {
        const auto bound = method.bind(place, {calibrations, {}, 0});
        if (!bound || !(*bound)->instant()) continue;
        const KernelStory story = (*bound)->explain(asked.kernel);
        if (!story.terms.empty() || !story.stack.empty()) {
            line.reading = "terms";
            line.terms = story.terms.size() + story.stack.size();
            line.readingWhy = fmt::format("{} named terms make the price of {}{}", line.terms, toText(asked.kernel),
                                          story.stack.empty() ? "" : ", cycles by cause among them");
            return;
        }
        const bool limit = (*bound)->price(asked.kernel).bound.kind != BoundKind::None;
        line.reading = limit ? "limits" : "time";
        line.readingWhy = limit ? "names the limit of each kernel, without terms" : "says a time alone";
        return;
    }
}

void readGraphPrice(SurveyLine& line, const Method& method, const KernelAsked& asked,
                    const CalibrationSet& calibrations) {
    auto workload = std::make_shared<Workload>();
    workload->id = workload->name = "one kernel";
    addOperator(workload->graph, asked.kernel, toText(asked.kernel));
    workload->costs = costTable(workload->graph);
    // As for every row that is a single kernel: methods for transformers answer about it too.
    workload->transformer = TransformerFacts{};
    const auto serial = makeSerialExecutor();
    EstimateContext context{*serial, {}};
    context.wantTimeline = false;
    context.calibrations = &calibrations;
    const auto answer = estimate(method, Scenario{asked.hardware, workload}, context);
    if (!answer) return;
    const bool limit = std::any_of(answer->operators.bound.begin(), answer->operators.bound.end(),
                                   [](const Bound& bound) { return bound.kind != BoundKind::None; });
    line.reading = limit ? "limits" : "time";
    line.readingWhy = limit ? "names the limit of each operator, without terms" : "says a time alone";
}

}  // namespace

void readPrice(SurveyLine& line, const MatrixEntry& entry, std::span<const ReferenceTable> tables,
               const CalibrationSet& calibrations) {
    line.reading = "not asked";
    const Method* method = findMethod(entry.asked);
    if (!entry.evaluation || !method) {
        line.readingWhy = "it answers none of these rows";
        return;
    }
    if (!method->card.live) {
        line.readingWhy = "a price of it takes its time";
        return;
    }
    const auto asked = firstKernel(*entry.evaluation, tables);
    line.readingWhy = asked ? "it did not answer when asked once more" : "it predicts no single kernel here";
    if (!asked) return;
    if (const KernelMethod* kernels = findKernelMethod(method->card.id)) {
        readKernelPrice(line, *kernels, *asked, calibrations);
    } else {
        readGraphPrice(line, *method, *asked, calibrations);
    }
}

}  // namespace orrery
