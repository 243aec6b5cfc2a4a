#include "methods/model/explain.h"

#include "methods/model/columns.h"
#include "methods/model/explain_roofline.h"
#include "methods/one_operator.h"
#include "methods/reuse_pricer.h"

#include <fmt/format.h>

namespace orrery {

namespace {

Expected<std::vector<ExplainedKernel>> explainAlone(const Scenario& scenario, const MethodChoice& choice,
                                                    std::size_t op, const CalibrationSet* calibrations) {
    const std::string& asked = std::get<OneOperator>(scenario.task).name;
    if (scenario.workload->graph.operators[op].name != asked) {
        return fail("method.no-story", fmt::format("the question is about `{}` alone", asked), asked,
                    "Ask about that operator, or put the question about a whole pass");
    }
    auto only = onlyOperator(scenario.workload, asked);
    if (!only) return Unexpected(std::move(only.error()));
    auto explained = explainOperator({scenario.hardware, *only, scenario.plan, Pass{}}, choice, 0, calibrations);
    if (!explained) return explained;
    for (ExplainedKernel& each : *explained) each.operators = {static_cast<std::int32_t>(op)};
    return explained;
}

}  // namespace

bool tellsWhy(std::string_view method) {
    return method == "roofline" || (findMethod(method) && findKernelMethod(method));
}

Expected<std::vector<ExplainedKernel>> explainOperator(const Scenario& scenario, const MethodChoice& choice,
                                                       std::size_t op, const CalibrationSet* calibrations) {
    if (!tellsWhy(choice.id)) {
        return fail("method.no-story",
                    fmt::format("{} answers the whole pass and has no terms for an operator", methodTitle(choice.id)),
                    "a method that predicts kernel by kernel",
                    fmt::format("Choose {} or {}", methodTitle("tile-wave"), methodTitle("roofline")));
    }
    if (!scenario.hardware || !scenario.workload) {
        return fail("scenario.incomplete", "the scenario is not complete", "one hardware design and one workload");
    }
    if (op >= scenario.workload->graph.operators.size()) {
        return fail("method.no-operator", fmt::format("the workload has no operator {}", op),
                    fmt::format("0 to {}", scenario.workload->graph.operators.size()));
    }
    if (std::holds_alternative<OneOperator>(scenario.task)) return explainAlone(scenario, choice, op, calibrations);
    if (choice.id == "roofline") return explainRoofline(scenario, choice, op);
    const Method* method = findMethod(choice.id);
    const KernelMethod* kernels = findKernelMethod(choice.id);
    const auto executor = makeSerialExecutor();
    EstimateContext context{*executor, {}};
    context.options = choice.options;
    context.calibrations = calibrations;
    const auto composed = compose(scenario, *kernels, modelOptions(method->card, context, scenario.task), context);
    if (!composed) return Unexpected(composed.error());
    const std::int32_t leader = composed->list().leader[op];
    std::vector<std::int32_t> covered{leader};
    for (std::size_t i = 0; i < composed->list().leader.size(); ++i) {
        const auto index = static_cast<std::int32_t>(i);
        if (composed->list().leader[i] == leader && index != leader) covered.push_back(index);
    }
    const double latency = latencyOf(*composed);
    const auto* told = dynamic_cast<const ReusePricer*>(composed->pricer.get());
    std::vector<ExplainedKernel> explained;
    for (std::size_t i = 0; i < composed->list().launches.size(); ++i) {
        const Launch& launch = composed->list().launches[i];
        if (launch.op != leader) continue;
        const PricedLaunch& priced = composed->prices[i];
        ExplainedKernel one;
        one.kernel = launch.kernel;
        one.what = launch.what;
        if (launch.part != Part::Forward) one.what = fmt::format("{} {}", toText(launch.part), launch.what);
        one.price = priced.price;
        one.price.seconds = priced.seconds;
        one.price.low = priced.low;
        one.price.high = priced.high;
        one.story = told ? told->explainAfter(launch.kernel, composed->kernels->reuse[i])
                         : composed->pricer->explain(launch.kernel);
        const double extra = priced.seconds - launch.scale * priced.price.seconds;
        if (launch.scale != 1) {
            one.story.terms.push_back({"times the forward pass",
                                       launch.scale,
                                       Dimension::Number,
                                       {},
                                       "Work of the backward pass in units of the forward pass"});
        }
        if (extra > 0) {
            one.story.terms.push_back({"epilogue operands",
                                       extra,
                                       Dimension::Time,
                                       {},
                                       "What the fused operators read on top, at the memory's bandwidth"});
        }
        if (composed->pipelined.idle[i] > 0) {
            one.story.terms.push_back({"waiting for its launch",
                                       composed->pipelined.idle[i] / launch.count,
                                       Dimension::Time,
                                       {},
                                       "The GPU has nothing to do until the host issues it"});
        }
        one.times = launch.count;
        one.share = latency > 0 ? launch.count * priced.seconds / latency : 0;
        one.operators = covered;
        explained.push_back(std::move(one));
    }
    return explained;
}

}  // namespace orrery
