#include "methods/one_operator.h"

#include "base/text/nearest.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

std::size_t indexOf(const Graph& graph, const std::string& name) {
    const auto& ops = graph.operators;
    const auto found = std::find_if(ops.begin(), ops.end(), [&](const Operator& op) { return op.name == name; });
    return static_cast<std::size_t>(found - ops.begin());
}

template <class Value>
void widen(std::vector<Value>& column, std::size_t rows, std::size_t at) {
    if (column.empty()) return;
    std::vector<Value> wide(rows);
    wide[at] = column.front();
    column = std::move(wide);
}

}  // namespace

Expected<WorkloadPtr> onlyOperator(const WorkloadPtr& workload, const std::string& name) {
    const Graph& graph = workload->graph;
    const std::size_t at = indexOf(graph, name);
    if (at == graph.operators.size()) {
        std::vector<std::string> names;
        for (const Operator& op : graph.operators) names.push_back(op.name);
        return fail("task.no-operator", fmt::format("{} has no operator `{}`", workload->name, name),
                    "the name of an operator of the graph", didYouMean(name, names));
    }
    Graph one;
    one.name = graph.name;
    Operator op = graph.operators[at];
    op.repeat = 1;
    op.block = {};
    const auto bring = [&](std::vector<TensorId>& ids, bool input) {
        for (TensorId& id : ids) {
            const Tensor* tensor = graph.tensor(id);
            if (!tensor) continue;
            id = one.addTensor(*tensor);
            if (!input) one.outputs.push_back(id);
            if (input && tensor->role == TensorRole::Activation) one.inputs.push_back(id);
        }
    };
    bring(op.inputs, true);
    bring(op.outputs, false);
    one.operators.push_back(std::move(op));
    return finishWorkload(workload->id, name + " of " + workload->name, workload->recipe, std::move(one), {},
                          workload->transformer);
}

Expected<Estimate> estimateOneOperator(const Method& method, const Scenario& scenario, EstimateContext& context) {
    const auto& name = std::get<OneOperator>(scenario.task).name;
    auto only = onlyOperator(scenario.workload, name);
    if (!only) return Unexpected(std::move(only.error()));
    if (scenario.plan.split()) {
        return fail("plan.one-operator", "one operator runs on one device", "a plan of one device",
                    "ask for a pass to spread the model", Place{.path = "plan"});
    }
    auto answer = method.estimate(Scenario{scenario.hardware, *only, scenario.plan, Pass{}}, context);
    if (!answer) return answer;
    const std::size_t rows = scenario.workload->costs.size();
    const std::size_t at = indexOf(scenario.workload->graph, name);
    auto& ops = answer->operators;
    for (auto* column : {&ops.seconds, &ops.flops, &ops.bytes, &ops.joules, &ops.lowSeconds, &ops.highSeconds})
        widen(*column, rows, at);
    widen(ops.bound, rows, at);
    for (auto& level : ops.levelBytes) widen(level, rows, at);
    for (TimelineSpan& span : answer->timeline.spans) {
        if (span.op == 0) span.op = static_cast<std::int32_t>(at);
    }
    return answer;
}

}  // namespace orrery
