#include "app/document/commands/training_edits.h"

#include "app/document/commands/project_edits.h"
#include "hardware/walk.h"

#include <QObject>

#include <algorithm>
#include <array>

namespace orrery::app {

namespace {

struct PlanWord {
    std::int64_t Plan::*member;
    const char* name;  ///< in the context QObject
    bool follows;      ///< is changed along with others
};
constexpr std::array<PlanWord, 10> planWords{
    {{&Plan::tensor, QT_TRANSLATE_NOOP("QObject", "Tensor parallelism"), false},
     {&Plan::pipeline, QT_TRANSLATE_NOOP("QObject", "Pipeline stages"), false},
     {&Plan::data, QT_TRANSLATE_NOOP("QObject", "Data parallelism"), true},
     {&Plan::context, QT_TRANSLATE_NOOP("QObject", "Context parallelism"), false},
     {&Plan::expert, QT_TRANSLATE_NOOP("QObject", "Expert parallelism"), false},
     {&Plan::interleave, QT_TRANSLATE_NOOP("QObject", "Chunks of a stage"), false},
     {&Plan::zero, QT_TRANSLATE_NOOP("QObject", "ZeRO"), false},
     {&Plan::shard, QT_TRANSLATE_NOOP("QObject", "Copies that share"), true},
     {&Plan::sequence, QT_TRANSLATE_NOOP("QObject", "Sequence parallelism"), false},
     {&Plan::microbatches, QT_TRANSLATE_NOOP("QObject", "Micro-batches"), true}}};

QString inText(std::int64_t value) {
    return QString::number(value);
}

/// What one change a person has made, null: more than one, or something else of the plan.
const PlanWord* changedWord(const Plan& before, const Plan& after) {
    const PlanWord *own = nullptr, *following = nullptr;
    int owns = 0, followings = 0;
    Plan same = before;
    for (const PlanWord& word : planWords) {
        if (before.*word.member == after.*word.member) continue;
        same.*word.member = after.*word.member;
        (word.follows ? following : own) = &word;
        ++(word.follows ? followings : owns);
    }
    if (!(same == after) || owns > 1) return nullptr;
    if (owns == 1) return own;
    // Of copies and what follows their number.
    if (followings >= 2 && before.data != after.data) return &planWords[2];
    return following;
}

}  // namespace

Expected<Edit> setTrainingEdit(const ProjectState& state, const Plan& plan, const std::string& task) {
    Expected<Edit> planned = setPlanEdit(state, plan);
    if (!planned) return planned;
    const Plan before = state.scenarios.front().plan;
    Expected<Edit> edit = setTaskEdit(planned->after, task);
    if (!edit) return edit;
    if (before == plan) {
        edit->target = QStringLiteral("training task");
        return edit;
    }
    Plan reordered = before;
    reordered.schedule = plan.schedule;
    const bool sameTask = planned->after.scenarios.front().task == edit->after.scenarios.front().task;
    edit->subject = planned->subject;
    edit->from = planned->from;
    edit->to = planned->to;
    if (const PlanWord* word = sameTask ? changedWord(before, plan) : nullptr) {
        edit->subject = QObject::tr(word->name);
        edit->from = inText(before.*word->member);
        edit->to = inText(plan.*word->member);
        edit->target = QStringLiteral("training ") + QLatin1String(word->name);
    } else if (sameTask && reordered == plan) {
        edit->subject = QObject::tr("Schedule");
        edit->from = QString::fromStdString(std::string(toText(before.schedule)));
        edit->to = QString::fromStdString(std::string(toText(plan.schedule)));
        edit->target = QStringLiteral("training schedule");
    } else {
        edit->target = QStringLiteral("training plan");
    }
    return edit;
}

Expected<Edit> startTrainingEdit(const ProjectState& state, const TrainingStart& start) {
    Edit edit{state, QObject::tr("Ask for a training step"), {}, {}, {}};
    ProjectState& after = edit.after;
    ScenarioRef asked{start.hardwareName, start.workloadName, {}, start.plan, start.task};
    if (start.hardware) {
        // An empty sheet gives way.
        const int shown = after.currentHardware();
        const bool blank = shown >= 0 && partsIn(after.hardware[static_cast<std::size_t>(shown)]->root).empty();
        Expected<Edit> added =
            blank ? replaceHardwareEdit(after, shown, *start.hardware) : addHardwareEdit(after, *start.hardware, false);
        if (!added) return added;
        after = std::move(added->after);
        asked.hardware = blank ? after.hardware[static_cast<std::size_t>(shown)]->name : after.hardware.back()->name;
    }
    if (start.workload) {
        Expected<Edit> added = addWorkloadEdit(after, *start.workload, false);
        if (!added) return added;
        after = std::move(added->after);
        asked.workload = after.workloads.back().name;
    }
    if (start.options) {
        Expected<Edit> changed = setWorkloadOptionsEdit(after, after.workloadIndex(asked.workload), *start.options);
        if (!changed) return changed;
        after = std::move(changed->after);
    }
    // The same pair is asked something else; pairs that adding made, and that nobody has asked about, go.
    const auto old = std::ranges::find_if(after.scenarios, [&](const ScenarioRef& each) {
        return each.hardware == asked.hardware && each.workload == asked.workload;
    });
    if (old != after.scenarios.end()) {
        std::rotate(after.scenarios.begin(), old, old + 1);
        after.scenarios.front().plan = asked.plan;
        after.scenarios.front().task = asked.task;
    }
    Expected<Edit> shown = chooseScenarioEdit(after, asked);
    if (!shown) return shown;
    after = std::move(shown->after);
    const ScenarioRef kept = after.scenarios.front();
    std::erase_if(after.scenarios, [&](const ScenarioRef& each) {
        return !(each == kept) && (each.workload.empty() || each.hardware.empty());
    });
    if (after.methods.empty()) after.methods = start.methods;
    return edit;
}

}  // namespace orrery::app
