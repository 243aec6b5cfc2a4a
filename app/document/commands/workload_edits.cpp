#include "app/document/commands/project_edits.h"

#include <QStringList>

namespace orrery::app {

namespace {

Unexpected noSuch() {
    return fail("document.no-workload", "the workload is no longer in the project", "one of the project's workloads",
                "choose a workload in the library");
}

bool inside(const ProjectState& state, int index) {
    return index >= 0 && index < static_cast<int>(state.workloads.size());
}

struct Difference {
    QString what, from, to;
};

QString words(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// What a person changed, in the words of the inspector.
std::vector<Difference> differences(const WorkloadOptions& a, const WorkloadOptions& b) {
    std::vector<Difference> found;
    const auto number = [&](const QString& what, std::int64_t from, std::int64_t to) {
        if (from != to) found.push_back({what, QString::number(from), QString::number(to)});
    };
    const auto type = [&](const QString& what, DType from, DType to) {
        if (from != to) found.push_back({what, words(toText(from)), words(toText(to))});
    };
    number(QObject::tr("batch"), a.batch, b.batch);
    number(QObject::tr("sequence"), a.sequence, b.sequence);
    number(QObject::tr("image size"), a.image, b.image);
    if (a.phase != b.phase) found.push_back({QObject::tr("phase"), words(toText(a.phase)), words(toText(b.phase))});
    type(QObject::tr("weights"), a.weights, b.weights);
    type(QObject::tr("activations"), a.activations, b.activations);
    type(QObject::tr("KV cache"), a.kv, b.kv);
    if (a.flashAttention != b.flashAttention) {
        const auto state = [](bool on) { return on ? QObject::tr("on") : QObject::tr("off"); };
        found.push_back({QObject::tr("FlashAttention"), state(a.flashAttention), state(b.flashAttention)});
    }
    for (const auto& [symbol, value] : b.bindings) {
        const auto before = a.bindings.find(symbol);
        const QString from = before == a.bindings.end() ? QStringLiteral("–") : QString::number(before->second);
        if (before == a.bindings.end() || before->second != value) {
            found.push_back({QString::fromStdString(symbol), from, QString::number(value)});
        }
    }
    return found;
}

}  // namespace

Expected<Edit> addWorkloadEdit(const ProjectState& state, ProjectWorkload workload, bool show) {
    if (workload.name.empty()) workload.name = workload.recipe.source;
    workload.name = freeWorkloadName(state, workload.name);
    Edit edit{state, QObject::tr("Add %1").arg(QString::fromStdString(workload.name)), {}, {}, {}};
    if (edit.after.scenarios.empty()) {
        const std::string hardware = state.hardware.empty() ? std::string() : state.hardware.front()->name;
        edit.after.scenarios.push_back({hardware, workload.name});
    } else if (show && state.currentHardware() >= 0 && state.currentWorkload() >= 0) {
        const std::string hardware = state.scenarios.front().hardware;
        edit.after.scenarios.insert(edit.after.scenarios.begin(), {hardware, workload.name, {}});
    } else if (show || state.workloads.empty()) {
        edit.after.scenarios.front().workload = workload.name;
    }
    edit.after.workloads.push_back(std::move(workload));
    return edit;
}

Expected<Edit> removeWorkloadEdit(const ProjectState& state, int index) {
    if (!inside(state, index)) return noSuch();
    const std::string name = state.workloads[static_cast<std::size_t>(index)].name;
    Edit edit{state, QObject::tr("Remove %1").arg(QString::fromStdString(name)), {}, {}, {}};
    edit.after.workloads.erase(edit.after.workloads.begin() + index);
    const std::string hardware = state.scenarios.empty() ? std::string() : state.scenarios.front().hardware;
    std::erase_if(edit.after.scenarios, [&](const ScenarioRef& scenario) { return scenario.workload == name; });
    if (edit.after.scenarios.empty() && !edit.after.workloads.empty()) {
        edit.after.scenarios.push_back({hardware, edit.after.workloads.front().name});
    }
    return edit;
}

Expected<Edit> replaceWorkloadEdit(const ProjectState& state, int index, ProjectWorkload workload) {
    if (!inside(state, index)) return noSuch();
    ProjectState after = state;
    ProjectWorkload& place = after.workloads[static_cast<std::size_t>(index)];
    const std::string before = place.name;
    if (workload.name.empty()) workload.name = before;
    if (workload.name != before) workload.name = freeWorkloadName(state, workload.name);
    for (ScenarioRef& scenario : after.scenarios) {
        if (scenario.workload == before) scenario.workload = workload.name;
    }
    const QString subject =
        QObject::tr("Replace %1 by %2").arg(QString::fromStdString(before), QString::fromStdString(workload.name));
    place = std::move(workload);
    return Edit{std::move(after), subject, {}, {}, {}};
}

Expected<Edit> setWhatIfsEdit(const ProjectState& state, int index, std::vector<WhatIf> whatIfs, const QString& words) {
    if (!inside(state, index)) return noSuch();
    Edit edit{state, words, {}, {}, {}};
    edit.after.workloads[static_cast<std::size_t>(index)].recipe.whatIfs = std::move(whatIfs);
    return edit;
}

Expected<Edit> setWorkloadOptionsEdit(const ProjectState& state, int index, const WorkloadOptions& options) {
    if (!inside(state, index)) return noSuch();
    if (options.batch < 1 || options.sequence < 0 || options.image < 0) {
        return fail("document.options", "batch, sequence and image size cannot be negative, batch not zero",
                    "whole numbers of at least 1 (0 for the model's usual sequence or image size)");
    }
    ProjectState after = state;
    ProjectWorkload& workload = after.workloads[static_cast<std::size_t>(index)];
    const std::vector<Difference> changed = differences(workload.recipe.options, options);
    workload.recipe.options = options;
    Edit edit{std::move(after), {}, {}, {}, {}};
    const QString name = QString::fromStdString(state.workloads[static_cast<std::size_t>(index)].name);
    if (changed.size() == 1) {
        edit.subject = QStringLiteral("%1 %2").arg(name, changed.front().what);
        edit.from = changed.front().from;
        edit.to = changed.front().to;
        edit.target = QStringLiteral("options %1 %2").arg(index).arg(changed.front().what);
    } else {
        edit.subject = QObject::tr("Change options of %1").arg(name);
        edit.target = QStringLiteral("options %1").arg(index);
    }
    return edit;
}

}  // namespace orrery::app
