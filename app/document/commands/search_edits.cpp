#include "app/document/commands/search_edits.h"

#include "app/document/commands/project_edits.h"
#include "workload/option_text.h"

#include <QObject>

#include <algorithm>

namespace orrery::app {

Expected<Edit> setSearchEdit(const ProjectState& state, const SearchSettings& settings, const QString& words) {
    Edit edit{state, words, {}, {}, {}};
    edit.after.search = settings;
    return edit;
}

Expected<Edit> useLearnedEdit(const ProjectState& state, const std::string& method) {
    if (auto choice = methodChoice(method, builtinMethods()); !choice) return Unexpected(std::move(choice.error()));
    Edit edit{state, QObject::tr("Use the learned method"), {}, {}, {}};
    SearchSettings settings = state.search.value_or(SearchSettings{});
    settings.method = method;
    edit.after.search = settings;
    auto& methods = edit.after.methods;
    if (!methods.empty() && std::find(methods.begin(), methods.end(), method) == methods.end())
        methods.push_back(method);
    return edit;
}

Expected<Edit> openSearchEdit(const ProjectState& state, const Scenario& base, const SearchSettings& settings,
                              const QString& name) {
    const auto design = addHardwareEdit(state, *base.hardware);
    if (!design) return design;
    const auto model = addWorkloadEdit(design->after, {base.workload->name, base.workload->recipe, {}});
    if (!model) return model;
    Edit edit{model->after, QObject::tr("Open the search %1").arg(name), {}, {}, {}};
    if (const auto* run = std::get_if<ServingRun>(&base.task)) edit.after.serving = *run->study;
    const auto plan = setPlanEdit(edit.after, base.plan);
    if (!plan) return plan;
    const auto task = setTaskEdit(plan->after, std::holds_alternative<ServingRun>(base.task)
                                                   ? std::string(toText(TaskKind::ServingRun))
                                                   : toText(base.task));
    if (!task) return task;
    edit.after = task->after;
    edit.after.scenarios.front().software = base.software;
    edit.after.search = settings;
    return edit;
}

Expected<Edit> usePointEdit(const ProjectState& state, std::span<const Knob> knobs,
                            std::span<const std::string> values) {
    const int design = state.currentHardware(), model = state.currentWorkload();
    if (design < 0 || model < 0) return fail("document.scenario", "nothing is asked yet", "a design and a workload");
    ProjectState after = state;
    QStringList words;
    std::vector<const Knob*> ofTask;
    std::vector<std::string_view> ofPlan;
    std::vector<std::string> taskValues, planValues;
    for (std::size_t i = 0; i < knobs.size(); ++i) {
        const Knob& knob = knobs[i];
        words << QStringLiteral("%1 %2").arg(QString::fromStdString(knob.path), QString::fromStdString(values[i]));
        if (knob.of == KnobOf::Hardware) {
            auto changed = withAttribute(*after.hardware[static_cast<std::size_t>(design)], knob.path, values[i]);
            if (!changed) return Unexpected(changed.error());
            after.hardware[static_cast<std::size_t>(design)] = std::make_shared<const Hardware>(std::move(*changed));
        } else if (knob.of == KnobOf::Workload) {
            WorkloadOptions& options = after.workloads[static_cast<std::size_t>(model)].recipe.options;
            auto changed = withOption(options, knob.path, values[i]);
            if (!changed) return Unexpected(changed.error());
            options = std::move(*changed);
        } else if (knob.of == KnobOf::Serving) {
            ofTask.push_back(&knob);
            taskValues.push_back(values[i]);
        } else if (knob.of == KnobOf::Software) {
            auto changed = parseSoftware(values[i]);
            if (!changed) return Unexpected(changed.error());
            after.scenarios.front().software = std::move(*changed);
        } else if (knob.of == KnobOf::Method) {
            if (!after.search) return fail("document.search", "nothing is searched", "a search");
            auto asked = methodChoice(after.search->method, builtinMethods());
            if (!asked) return Unexpected(asked.error());
            auto changed = withMethodValue(*asked, keyOf(knob), values[i]);
            if (!changed) return Unexpected(changed.error());
            after.search->method = toText(*changed);
        } else {
            ofPlan.emplace_back(knob.path);
            planValues.push_back(values[i]);
        }
    }
    if (!ofPlan.empty()) {
        auto changed = withPlanValues(after.scenarios.front().plan, ofPlan, planValues);
        if (!changed) return Unexpected(changed.error());
        if (auto good = checkPlan(*changed); !good) return Unexpected(good.error());
        after.scenarios.front().plan = std::move(*changed);
    }
    if (!ofTask.empty()) {
        if (!after.serving) return fail("document.serving", "no serving run is asked", "a serving run");
        const auto changed =
            withServingValues(ServingRun{std::make_shared<const ServingStudy>(*after.serving)}, ofTask, taskValues);
        if (!changed) return Unexpected(changed.error());
        after.serving = *std::get<ServingRun>(*changed).study;
    }
    return Edit{std::move(after), QObject::tr("Use %1").arg(words.join(QStringLiteral(", "))), {}, {}, {}};
}

}  // namespace orrery::app
