#include "app/document/commands/comparison_edits.h"

#include "hardware/edit/difference.h"

#include <QObject>

#include <algorithm>

namespace orrery::app {

namespace {

QString qtext(const std::string& text) {
    return QString::fromStdString(text);
}

bool insideCases(const ProjectState& state, int scenario) {
    return scenario >= 0 && scenario < static_cast<int>(state.scenarios.size());
}

Unexpected noSuchCase() {
    return fail("document.scenario", "the case is no longer in the project", "one of its scenarios");
}

// The same but for its name, and kept by another case: then it need not be copied.
std::optional<std::string> keptDesign(const ProjectState& state, int shown) {
    const Hardware& wanted = *state.hardware[static_cast<std::size_t>(shown)];
    for (std::size_t s = 1; s < state.scenarios.size(); ++s) {
        const int at = state.hardwareIndex(state.scenarios[s].hardware);
        if (at < 0 || at == shown) continue;
        Hardware other = *state.hardware[static_cast<std::size_t>(at)];
        other.name = wanted.name;
        other.derivedFrom = wanted.derivedFrom;
        if (other == wanted) return state.scenarios[s].hardware;
    }
    return std::nullopt;
}

std::optional<std::string> keptWorkload(const ProjectState& state, int shown) {
    const ProjectWorkload& wanted = state.workloads[static_cast<std::size_t>(shown)];
    for (std::size_t s = 1; s < state.scenarios.size(); ++s) {
        const int at = state.workloadIndex(state.scenarios[s].workload);
        if (at < 0 || at == shown) continue;
        if (state.workloads[static_cast<std::size_t>(at)].recipe == wanted.recipe) return state.scenarios[s].workload;
    }
    return std::nullopt;
}

bool sameQuestion(const ScenarioRef& a, const ScenarioRef& b) {
    return a.hardware == b.hardware && a.workload == b.workload && a.plan == b.plan && a.task == b.task &&
           a.software == b.software;
}

Expected<Edit> addedCase(Edit edit, ScenarioRef scenario) {
    auto& scenarios = edit.after.scenarios;
    const bool there = std::any_of(scenarios.begin() + 1, scenarios.end(),
                                   [&](const ScenarioRef& each) { return sameQuestion(each, scenario); });
    if (there) return fail("document.case", "this is one of the cases already", "another design, model or plan");
    scenario.unknown.clear();
    if (!baselineOf(scenarios)) markBaseline(scenario, true);
    scenarios.push_back(std::move(scenario));
    return edit;
}

}  // namespace

Expected<Edit> keepCaseEdit(const ProjectState& state) {
    const int design = state.currentHardware(), model = state.currentWorkload();
    if (design < 0 || model < 0) return fail("document.scenario", "nothing is asked yet", "a design and a workload");
    const Hardware& shown = *state.hardware[static_cast<std::size_t>(design)];
    Edit edit{state, QObject::tr("Keep %1 to compare with").arg(qtext(shown.name)), {}, {}, {}};
    ScenarioRef kept = state.scenarios.front();
    if (const auto name = keptDesign(state, design)) {
        kept.hardware = *name;
    } else {
        auto copy = std::make_shared<Hardware>(shown);
        copy->name = freeHardwareName(state, QObject::tr("%1, kept").arg(qtext(shown.name)).toStdString());
        kept.hardware = copy->name;
        edit.after.hardware.push_back(std::move(copy));
        edit.after.placements.resize(edit.after.hardware.size());
        edit.after.placements.back() = state.placementsOf(design);
    }
    if (const auto name = keptWorkload(state, model)) {
        kept.workload = *name;
    } else {
        ProjectWorkload copy = state.workloads[static_cast<std::size_t>(model)];
        copy.name = freeWorkloadName(state, QObject::tr("%1, kept").arg(qtext(copy.name)).toStdString());
        kept.workload = copy.name;
        edit.after.workloads.push_back(std::move(copy));
    }
    return addedCase(std::move(edit), std::move(kept));
}

Expected<Edit> addCaseEdit(const ProjectState& state, Hardware design) {
    if (state.currentWorkload() < 0)
        return fail("document.scenario", "nothing is asked yet", "a design and a workload");
    design.name = freeHardwareName(state, design.name);
    Edit edit{state, QObject::tr("Compare with %1").arg(qtext(design.name)), {}, {}, {}};
    ScenarioRef scenario = state.scenarios.front();
    scenario.hardware = design.name;
    edit.after.placements.resize(edit.after.hardware.size());
    OpenDesign open = openDesign(std::move(design));
    edit.after.hardware.push_back(std::move(open.hardware));
    edit.after.placements.push_back(std::move(open.placements));
    return addedCase(std::move(edit), std::move(scenario));
}

Expected<Edit> addCaseOfDesignEdit(const ProjectState& state, int design) {
    if (state.currentWorkload() < 0 || design < 0 || design >= static_cast<int>(state.hardware.size()))
        return fail("document.scenario", "nothing is asked yet", "a design and a workload");
    const std::string& name = state.hardware[static_cast<std::size_t>(design)]->name;
    Edit edit{state, QObject::tr("Compare with %1").arg(qtext(name)), {}, {}, {}};
    ScenarioRef scenario = state.scenarios.front();
    if (scenario.hardware == name) return keepCaseEdit(state);
    scenario.hardware = name;
    return addedCase(std::move(edit), std::move(scenario));
}

Expected<Edit> removeCaseEdit(const ProjectState& state, int scenario) {
    if (!insideCases(state, scenario)) return noSuchCase();
    if (scenario == 0)
        return fail("document.case", "the question of the window is always compared", "one of the other cases");
    Edit edit{state,
              QObject::tr("Compare no longer with %1")
                  .arg(qtext(state.scenarios[static_cast<std::size_t>(scenario)].hardware)),
              {},
              {},
              {}};
    edit.after.scenarios.erase(edit.after.scenarios.begin() + scenario);
    return edit;
}

Expected<Edit> pinCaseEdit(const ProjectState& state, int scenario) {
    if (!insideCases(state, scenario)) return noSuchCase();
    const bool was = isBaseline(state.scenarios[static_cast<std::size_t>(scenario)]);
    const QString name = qtext(state.scenarios[static_cast<std::size_t>(scenario)].hardware);
    Edit edit{state, was ? QObject::tr("Unpin %1").arg(name) : QObject::tr("Pin %1 as baseline").arg(name), {}, {}, {}};
    for (std::size_t i = 0; i < edit.after.scenarios.size(); ++i)
        markBaseline(edit.after.scenarios[i], !was && static_cast<int>(i) == scenario);
    return edit;
}

Expected<Edit> keepBreakEvenEdit(const ProjectState& state, int scenario, std::optional<KeptBreakEven> kept) {
    if (!insideCases(state, scenario)) return noSuchCase();
    Edit edit{
        state,
        kept ? QObject::tr("Keep the break-even of %1").arg(qtext(kept->attribute)) : QObject::tr("Keep no break-even"),
        {},
        {},
        {}};
    keepBreakEven(edit.after.scenarios[static_cast<std::size_t>(scenario)], kept);
    return edit;
}

Expected<Edit> openCaseEdit(const ProjectState& state, int scenario) {
    if (!insideCases(state, scenario)) return noSuchCase();
    Edit edit{state,
              QObject::tr("Open %1").arg(qtext(state.scenarios[static_cast<std::size_t>(scenario)].hardware)),
              {},
              {},
              {}};
    const auto at = edit.after.scenarios.begin() + scenario;
    std::rotate(edit.after.scenarios.begin(), at, at + 1);
    return edit;
}

}  // namespace orrery::app
