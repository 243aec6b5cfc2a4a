#include "app/document/commands/project_edits.h"
#include "store/project/study_file.h"

#include <QStringList>

#include <algorithm>

namespace orrery::app {

Expected<Edit> setMethodsEdit(const ProjectState& state, std::vector<std::string> methods) {
    for (const std::string& method : methods) {
        if (auto choice = methodChoice(method, builtinMethods()); !choice) {
            return tl::unexpected(std::move(choice.error()));
        }
    }
    QStringList names;
    for (const std::string& id : methods) names << QString::fromStdString(id);
    Edit edit{state,
              QObject::tr("Methods"),
              {},
              names.isEmpty() ? QObject::tr("none") : names.join(QStringLiteral(", ")),
              {}};
    edit.after.methods = std::move(methods);
    return edit;
}

Expected<Edit> chooseScenarioEdit(const ProjectState& state, const ScenarioRef& scenario) {
    const QString hardware = QString::fromStdString(scenario.hardware);
    const QString workload = QString::fromStdString(scenario.workload);
    if (state.hardwareIndex(scenario.hardware) < 0 || state.workloadIndex(scenario.workload) < 0) {
        return fail("document.scenario",
                    "the project has no " +
                        (state.hardwareIndex(scenario.hardware) < 0 ? scenario.hardware : scenario.workload),
                    "a design and a workload of the project");
    }
    Edit edit{state, QObject::tr("Show %1 on %2").arg(workload, hardware), {}, {}, {}};
    auto& scenarios = edit.after.scenarios;
    const auto at = std::ranges::find_if(scenarios, [&](const ScenarioRef& there) {
        return there.hardware == scenario.hardware && there.workload == scenario.workload &&
               there.plan == scenario.plan && there.task == scenario.task;
    });
    if (at == scenarios.end()) {
        scenarios.insert(scenarios.begin(), scenario);
    } else {
        std::rotate(scenarios.begin(), at, at + 1);
    }
    return edit;
}

Expected<Edit> askQuestionEdit(const ProjectState& state, const Scenario& question, std::vector<std::string> methods,
                               const QString& words) {
    ProjectState after = state;
    ScenarioRef asked;
    const HardwarePtr open = openDesign(*question.hardware).hardware;
    const auto design = std::ranges::find_if(after.hardware, [&](const HardwarePtr& each) { return *each == *open; });
    if (design != after.hardware.end()) {
        asked.hardware = (*design)->name;
    } else {
        auto added = addHardwareEdit(after, *question.hardware, false);
        if (!added) return added;
        after = std::move(added->after);
        asked.hardware = after.hardware.back()->name;
    }
    const auto model = std::ranges::find(after.workloads, question.workload->recipe, &ProjectWorkload::recipe);
    if (model != after.workloads.end()) {
        asked.workload = model->name;
    } else {
        auto added = addWorkloadEdit(after, {question.workload->name, question.workload->recipe, {}}, false);
        if (!added) return added;
        after = std::move(added->after);
        asked.workload = after.workloads.back().name;
    }
    // What a project without a question fills in of itself names parts that are not there.
    std::erase_if(after.scenarios, [&](const ScenarioRef& each) {
        return after.hardwareIndex(each.hardware) < 0 || after.workloadIndex(each.workload) < 0;
    });
    auto shown = chooseScenarioEdit(after, asked);
    if (!shown) return shown;
    auto answered = setMethodsEdit(shown->after, std::move(methods));
    if (!answered) return answered;
    Edit edit{state, words, {}, {}, {}};
    edit.after = std::move(answered->after);
    return edit;
}

Expected<Edit> setPlanEdit(const ProjectState& state, const Plan& plan) {
    if (state.scenarios.empty()) return fail("document.scenario", "nothing is asked yet", "a design and a workload");
    if (auto good = checkPlan(plan); !good) return tl::unexpected(std::move(good.error()));
    Edit edit{state,
              QObject::tr("Plan"),
              QString::fromStdString(toText(state.scenarios.front().plan)),
              QString::fromStdString(toText(plan)),
              {}};
    edit.after.scenarios.front().plan = plan;
    return edit;
}

Expected<Edit> setPriceEdit(const ProjectState& state, const std::string& kind, double dollars) {
    if (!(dollars >= 0 && dollars < 1e6))
        return fail("document.price", "this is not a price per device-hour", "dollars from 0 to a million");
    const auto money = [](double value) { return QStringLiteral("$%1").arg(value, 0, 'f', 2); };
    const auto before = state.prices.find(kind);
    Edit edit{
        state,
        kind.empty() ? QObject::tr("Device-hour") : QObject::tr("Device-hour of %1").arg(QString::fromStdString(kind)),
        before == state.prices.end() ? QObject::tr("none") : money(before->second), money(dollars),
        QStringLiteral("price ") + QString::fromStdString(kind)};
    edit.after.prices[kind] = dollars;
    return edit;
}

Expected<Edit> setTaskEdit(const ProjectState& state, const std::string& task) {
    if (state.scenarios.empty()) return fail("document.scenario", "nothing is asked yet", "a design and a workload");
    ScenarioRef asked = state.scenarios.front();
    const std::string before = asked.task.empty() ? std::string(toText(TaskKind::Pass)) : asked.task;
    asked.task = task == toText(TaskKind::Pass) ? std::string() : task;
    if (auto good = taskOf(asked, state.serving); !good) return tl::unexpected(std::move(good.error()));
    Edit edit{state, QObject::tr("Task"), QString::fromStdString(before), QString::fromStdString(task), {}};
    edit.after.scenarios.front() = std::move(asked);
    return edit;
}

Expected<Edit> setSoftwareEdit(const ProjectState& state, const std::string& software) {
    if (state.scenarios.empty()) return fail("document.scenario", "nothing is asked yet", "a design and a workload");
    auto read = parseSoftware(software);
    if (!read) return tl::unexpected(std::move(read.error()));
    const auto words = [](const Software& said) {
        return said.empty() ? QObject::tr("not said") : QString::fromStdString(toText(said));
    };
    Edit edit{state, QObject::tr("Software"), words(state.scenarios.front().software), words(*read), {}};
    edit.after.scenarios.front().software = std::move(*read);
    return edit;
}

Expected<Edit> renameProjectEdit(const ProjectState& state, const QString& name) {
    if (name.trimmed().isEmpty()) return fail("document.name", "a project needs a name");
    Edit edit{state, QObject::tr("Rename project"), QString::fromStdString(state.name), name.trimmed(), {}};
    edit.after.name = name.trimmed().toStdString();
    return edit;
}

}  // namespace orrery::app
