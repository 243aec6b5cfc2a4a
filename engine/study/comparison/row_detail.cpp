#include "study/comparison/row_detail.h"

#include "evaluation/reference_checks.h"
#include "evaluation/row_pricing.h"
#include "study/comparison/time_difference.h"
#include "workload/costs.h"
#include "workload/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace orrery {

namespace {

constexpr double sameWithin = 0.01;
constexpr std::size_t mostSteps = 8;

struct Asked {
    std::string text;
    const Method* method = nullptr;
    OptionValues options;
};
Expected<Asked> asked(const std::string& text, const EvaluateOptions& options) {
    auto choice = methodChoice(text, builtinMethods());
    if (!choice) return tl::unexpected(std::move(choice.error()));
    const Method* method = findMethod(choice->id);
    if (!method) return fail("method.unknown", fmt::format("there is no method '{}'", choice->id));
    Asked one{text, method, options.options};
    for (const auto& [key, value] : choice->options) one.options[key] = value;
    return one;
}

Diagnostic named(Diagnostic why, const Asked& method) {
    why.message = fmt::format("{}: {}", method.text, why.message);
    return why;
}

struct Side {
    double seconds = 0;
    std::vector<KernelTerm> terms;
    std::string none;  // why there are no terms
};

const CalibrationSet& calibrationsOf(const EvaluateOptions& options) {
    return options.calibrations ? *options.calibrations : shippedCalibrations().set;
}

Expected<Side> kernelSide(const Asked& method, const HardwarePtr& hardware, const ReferenceTable& table,
                          const Kernel& kernel, const EvaluateOptions& options) {
    const auto serial = makeSerialExecutor();
    Side side;
    if (const KernelMethod* kernels = findKernelMethod(method.method->card.id)) {
        const auto places = devicesOf(hardware);
        if (!places) return tl::unexpected(places.error());
        OptionValues settings = method.options;
        if (options.asMeasured) {
            for (const auto& [key, value] : settingsOf(kernels->options, table)) settings.try_emplace(key, value);
        }
        Expected<KernelPricerPtr> bound = fail("hardware.no-device", "no device computes");
        for (const DeviceRef& place : *places) {
            bound = kernels->bind(place, {calibrationsOf(options), settings, 0});
            if (bound) break;
        }
        if (!bound) return tl::unexpected(bound.error());
        PriceContext context{*serial, options.stop};
        const Expected<KernelPrice> price = table.hostTimed       ? (*bound)->priceByHost(kernel)
                                            : (*bound)->instant() ? (*bound)->price(kernel)
                                                                  : (*bound)->price(kernel, context);
        if (!price) return tl::unexpected(price.error());
        if (!price->priced) return fail("evaluation.not-covered", "the method does not predict this kernel");
        side.seconds = price->seconds;
        side.terms = (*bound)->explain(kernel).terms;
        if (side.terms.empty()) side.none = "says no terms";
        return side;
    }
    auto workload = std::make_shared<Workload>();
    workload->id = workload->name = "one kernel";
    addOperator(workload->graph, kernel, toText(kernel));
    workload->costs = costTable(workload->graph);
    workload->transformer = TransformerFacts{};
    EstimateContext context{*serial, options.stop};
    context.wantTimeline = false;
    context.options = method.options;
    context.calibrations = options.calibrations;
    const auto answer = estimate(*method.method, Scenario{hardware, workload}, context);
    if (!answer) return tl::unexpected(answer.error());
    side.seconds = answer->operators.size() == 1 ? answer->operators.seconds[0] : answer->latency.value;
    side.none = "is the larger of work over peak and bytes over bandwidth, without terms";
    return side;
}

bool differ(std::optional<double> a, std::optional<double> b) {
    if (!a || !b) return a.has_value() != b.has_value();
    return std::fabs(*a - *b) > sameWithin * std::max(std::fabs(*a), std::fabs(*b));
}

std::string valueText(const RowTerm& term, std::optional<double> value) {
    if (!value) return "nothing";
    if (term.dimension == Dimension::Time) return format(Seconds(*value));
    return term.unit.empty() ? fmt::format("{:.4g}", *value) : fmt::format("{:.4g} {}", *value, term.unit);
}

void sayFirst(RowDetail& detail, const std::string& noneA, const std::string& noneB) {
    for (const auto& [method, none] : {std::pair(detail.methodA, noneA), std::pair(detail.methodB, noneB)}) {
        if (!none.empty()) {
            detail.first = fmt::format("{} {}, so only the times can be compared", method, none);
            return;
        }
    }
    for (const RowTerm& term : detail.terms) {
        if (!differ(term.a, term.b)) continue;
        detail.first = fmt::format("First to differ: {}, {} against {}", term.label, valueText(term, term.a),
                                   valueText(term, term.b));
        return;
    }
    detail.first = fmt::format("No term differs by more than {:.0f} %", 100 * sameWithin);
}

/// Totals at both ends and in the middle, what the changes leave as a step of its own.
void finishSteps(RowDetail& detail, std::vector<RowStep> changes) {
    double sum = 0;
    for (const RowStep& step : changes) sum += step.seconds;
    detail.steps.push_back({detail.methodA, detail.a, RowStep::Of::Total});
    for (RowStep& step : changes) detail.steps.push_back(std::move(step));
    const double rest = detail.b - detail.a - sum;
    if (std::fabs(rest) > 1e-12 * std::max(detail.a, detail.b)) {
        detail.steps.push_back(
            {changes.empty() ? "the methods as wholes" : "what no term says", rest, RowStep::Of::Rest});
    }
    detail.steps.push_back({detail.methodB, detail.b, RowStep::Of::Total});
    detail.steps.push_back({"missed by " + detail.methodB, detail.measured - detail.b, RowStep::Of::Change});
    detail.steps.push_back({"measured", detail.measured, RowStep::Of::Total});
}

Expected<RowDetail> kernelDetail(RowDetail detail, const Asked& a, const Asked& b, const HardwarePtr& hardware,
                                 const ReferenceTable& table, const Kernel& kernel, const EvaluateOptions& options) {
    auto one = kernelSide(a, hardware, table, kernel, options);
    if (!one) return tl::unexpected(named(std::move(one.error()), a));
    auto other = kernelSide(b, hardware, table, kernel, options);
    if (!other) return tl::unexpected(named(std::move(other.error()), b));
    detail.a = one->seconds;
    detail.b = other->seconds;
    for (const KernelTerm& term : one->terms) {
        RowTerm row{term.name, term.value, {}, {}, term.dimension, term.unit};
        const auto same = std::find_if(other->terms.begin(), other->terms.end(), [&](const KernelTerm& each) {
            return each.name == term.name && each.dimension == term.dimension;
        });
        if (same != other->terms.end()) row.b = same->value;
        detail.terms.push_back(std::move(row));
    }
    for (const KernelTerm& term : other->terms) {
        const bool had = std::any_of(detail.terms.begin(), detail.terms.end(), [&](const RowTerm& each) {
            return each.label == term.name && each.dimension == term.dimension;
        });
        if (!had) detail.terms.push_back({term.name, {}, term.value, {}, term.dimension, term.unit});
    }
    sayFirst(detail, one->none, other->none);
    std::vector<RowStep> changes;
    for (const RowTerm& term : detail.terms) {
        // Times of terms overlap, so only what both have can be set against each other; the rest is said as such.
        if (term.dimension != Dimension::Time || !term.a || !term.b || !differ(term.a, term.b)) continue;
        changes.push_back({term.label, *term.b - *term.a, RowStep::Of::Change});
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const RowStep& x, const RowStep& y) { return std::fabs(x.seconds) > std::fabs(y.seconds); });
    if (changes.size() > mostSteps) changes.resize(mostSteps);
    finishSteps(detail, std::move(changes));
    return detail;
}

Expected<AnsweredCase> modelSide(const Asked& method, const Scenario& scenario, const ModelRow& model,
                                 const EvaluateOptions& options) {
    const auto serial = makeSerialExecutor();
    EstimateContext context{*serial, options.stop};
    context.wantTimeline = false;
    context.options = method.options;
    if (options.asMeasured) {
        for (const auto& [key, value] : settingsOf(method.method->card, model)) context.options.try_emplace(key, value);
    }
    context.calibrations = options.calibrations;
    auto answer = estimate(*method.method, scenario, context);
    if (!answer) return tl::unexpected(named(std::move(answer.error()), method));
    return answeredCase({method.text, scenario, {}}, method.text, std::make_shared<const Estimate>(std::move(*answer)));
}

Expected<RowDetail> modelDetail(RowDetail detail, const Asked& a, const Asked& b, const HardwarePtr& hardware,
                                const ModelRow& model, const EvaluateOptions& options, const ReferenceIndex* truths) {
    auto workload = loadWorkload(model.recipe);
    if (!workload) return tl::unexpected(std::move(workload.error()));
    const Scenario scenario{hardware, *workload};
    const auto one = modelSide(a, scenario, model, options);
    if (!one) return tl::unexpected(one.error());
    const auto other = modelSide(b, scenario, model, options);
    if (!other) return tl::unexpected(other.error());
    detail.a = one->estimate->latency.value;
    detail.b = other->estimate->latency.value;
    const auto difference = timeDifference(*one, *other, DifferenceBy::Kinds);
    if (!difference) return tl::unexpected(difference.error());
    std::vector<double> measured((*workload)->graph.operators.size(), -1);
    if (truths) {
        for (const OperatorTruth& truth : truths->truthOf(scenario))
            measured[static_cast<std::size_t>(truth.op)] = truth.seconds;
    }
    std::vector<RowStep> changes;
    for (const DifferenceTerm& term : difference->terms) {
        RowTerm row{term.label, {}, {}, {}, Dimension::Time, {}};
        if (term.inBefore) row.a = term.before;
        if (term.inAfter) row.b = term.after;
        double sum = 0;
        const bool known = !term.operatorsBefore.empty() &&
                           std::all_of(term.operatorsBefore.begin(), term.operatorsBefore.end(), [&](std::int32_t op) {
                               const auto at = static_cast<std::size_t>(op);
                               if (at >= measured.size() || measured[at] < 0) return false;
                               sum += measured[at];
                               return true;
                           });
        if (known) row.measured = sum;
        detail.terms.push_back(std::move(row));
        const bool change = std::fabs(term.delta()) > 1e-12 * std::max(detail.a, detail.b);
        if (change && changes.size() < mostSteps) changes.push_back({term.label, term.delta(), RowStep::Of::Change});
    }
    sayFirst(detail, {}, {});
    finishSteps(detail, std::move(changes));
    return detail;
}

Expected<HardwarePtr> deviceOfRow(const ReferenceTable& table, const ReferenceRow& row) {
    const std::string& id = table.devices[static_cast<std::size_t>(row.device)].catalogue;
    auto hardware = id.empty() ? nullptr : catalogueHardware(id);
    if (!hardware) return fail("hardware.unknown", fmt::format("the device '{}' cannot be loaded", id));
    return hardware;
}

}  // namespace

Expected<Scenario> rowQuestion(std::span<const ReferenceTable> tables, RowRef ref) {
    const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
    const ReferenceRow& row = table.rows[static_cast<std::size_t>(ref.row)];
    const auto hardware = deviceOfRow(table, row);
    if (!hardware) return tl::unexpected(hardware.error());
    WorkloadRecipe recipe;
    if (table.models.empty()) {
        recipe.source = kernelSource(row.kernel);
    } else {
        recipe = table.models[static_cast<std::size_t>(ref.row)].recipe;
    }
    if (recipe.source.empty())
        return fail("row.no-question", fmt::format("{} is no question to one device", toText(row.kernel)),
                    "a row of a kernel or a model that one device computes");
    auto workload = loadWorkload(recipe);
    if (!workload) return tl::unexpected(std::move(workload.error()));
    return Scenario{*hardware, *workload};
}

Expected<std::string> methodAsMeasured(std::span<const ReferenceTable> tables, RowRef ref, const std::string& method) {
    auto choice = methodChoice(method, builtinMethods());
    if (!choice) return tl::unexpected(std::move(choice.error()));
    const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
    const Method* known = findMethod(choice->id);
    if (known && !table.models.empty()) {
        for (const auto& [key, value] : settingsOf(known->card, table.models[static_cast<std::size_t>(ref.row)]))
            choice->options.try_emplace(key, value);
    }
    if (known && table.models.empty()) {
        for (const auto& [key, value] : settingsOf(known->card.options, table)) choice->options.try_emplace(key, value);
    }
    return toText(*choice);
}

Expected<RowDetail> rowDetail(std::span<const ReferenceTable> tables, RowRef ref, const std::string& methodA,
                              const std::string& methodB, const EvaluateOptions& options,
                              const ReferenceIndex* truths) {
    const auto a = asked(methodA, options);
    if (!a) return tl::unexpected(a.error());
    const auto b = asked(methodB, options);
    if (!b) return tl::unexpected(b.error());
    const ReferenceTable& table = tables[static_cast<std::size_t>(ref.table)];
    const ReferenceRow& row = table.rows[static_cast<std::size_t>(ref.row)];
    const auto hardware = deviceOfRow(table, row);
    if (!hardware) return tl::unexpected(hardware.error());
    RowDetail detail;
    detail.row = rowText(tables, ref);
    detail.methodA = methodA;
    detail.methodB = methodB;
    detail.measured = row.seconds;
    if (table.models.empty()) return kernelDetail(std::move(detail), *a, *b, *hardware, table, row.kernel, options);
    return modelDetail(std::move(detail), *a, *b, *hardware, table.models[static_cast<std::size_t>(ref.row)], options,
                       truths);
}

}  // namespace orrery
