#include "app/document/commands/work_in_type.h"

#include <algorithm>
#include <set>

namespace orrery::app {

namespace {

QString words(DType type) {
    const std::string_view text = toText(type);
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

Expected<Edit> workInTypeEdit(const ProjectState& state, int index, const Workload& loaded, DType from, DType to) {
    if (index < 0 || index >= static_cast<int>(state.workloads.size()))
        return fail("document.no-workload", "the workload is no longer in the project",
                    "one of the project's workloads", "choose a workload in the library");
    const ProjectWorkload& before = state.workloads[static_cast<std::size_t>(index)];
    WorkloadRecipe recipe = before.recipe;
    WorkloadOptions& options = recipe.options;
    if (builtinWorkload(recipe.source) || loaded.transformer) {
        // Scales that values shared mean nothing at another width.
        const bool sameWidth = bits(from) == bits(to);
        const auto put = [&](DType& type, Scaling& scaling) {
            if (type != from) return;
            type = to;
            if (!sameWidth) scaling = Scaling::Usual;
        };
        put(options.weights, options.weightScaling);
        put(options.activations, options.activationScaling);
        if (options.kv == from) options.kv = to;
    } else {
        std::set<OperatorKind> kinds;
        for (std::size_t i = 0; i < loaded.costs.size(); ++i)
            if (loaded.costs.type[i] == from && loaded.costs.macs[i] > 0) kinds.insert(loaded.costs.kind[i]);
        for (const OperatorKind kind : kinds) {
            const auto same = std::ranges::find_if(recipe.whatIfs, [&](const WhatIf& change) {
                const auto* retype = std::get_if<RetypeKind>(&change);
                return retype && retype->kind == kind;
            });
            if (same == recipe.whatIfs.end())
                recipe.whatIfs.emplace_back(RetypeKind{kind, to});
            else
                *same = RetypeKind{kind, to};
        }
    }
    Edit edit{state,
              QObject::tr("%1 in %2 instead of %3").arg(QString::fromStdString(before.name), words(to), words(from)),
              {},
              {},
              {}};
    edit.after.workloads[static_cast<std::size_t>(index)].recipe = std::move(recipe);
    return edit;
}

}  // namespace orrery::app
