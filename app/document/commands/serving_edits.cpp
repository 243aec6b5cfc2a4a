#include "app/document/commands/serving_edits.h"

#include "serving/fields/field_changes.h"

#include <QObject>

#include <algorithm>
#include <vector>

namespace orrery::app {

namespace {

struct Words {
    QString subject, from, to;
    QString target;  ///< edits of one gesture with equal targets become one step; empty: never
};

QString inWords(const std::string& text) {
    return QString::fromStdString(text);
}

bool isId(const FieldChange& change) {
    return change.spec->isId();
}

/// Without what follows from another change: numbers of a policy that is replaced, values that did not matter, the
/// price that goes with its device, what is read now that a trace is named.
std::vector<FieldChange> ownChanges(const std::vector<FieldChange>& all) {
    const auto changed = [&](std::string_view path) {
        return std::ranges::find(all, path, &FieldChange::path) != all.end();
    };
    std::vector<FieldChange> own;
    for (const FieldChange& each : all) {
        const bool chosenAnew = !isId(each) && std::ranges::any_of(all, [&](const FieldChange& other) {
            return isId(other) && other.group == each.group && other.group != "model";
        });
        const bool byDevice = each.path == "pools/dollars_per_hour" && changed("pools/hardware");
        const bool byTrace =
            each.path.starts_with("traffic/") && each.path != "traffic/trace/file" && changed("traffic/trace/file");
        const bool byModel = each.path == "pools/speculation/draft_seconds" && changed("pools/speculation/draft_model");
        if (each.mattered && !chosenAnew && !byDevice && !byTrace && !byModel) own.push_back(each);
    }
    return own.empty() ? all : own;
}

/// Prefill and decode, where it is that which parts two questions with other numbers of pools.
std::optional<Words> poolsApart(const ServingStudy& before, const ServingStudy& after,
                                std::vector<FieldChange>& changes) {
    const auto &a = before.scenario.pools, &b = after.scenario.pools;
    if (a.size() == b.size() || a.empty() || b.empty()) return {};
    std::erase_if(changes, [](const FieldChange& each) { return each.path == "pools"; });
    // What the first has in common with the one that was, beside its part.
    ServingStudy first = before, second = before;
    first.scenario.pools = {a.front()};
    second.scenario.pools = {b.back()};
    PoolSpec& pool = second.scenario.pools.front();
    pool.name = a.front().name;
    pool.role = a.front().role;
    pool.replicas = a.front().replicas;
    for (FieldChange& each : fieldChanges(first, second)) changes.push_back(std::move(each));
    return Words{b.size() > 1 ? QObject::tr("Prefill and decode apart") : QObject::tr("Prefill and decode together"),
                 {},
                 {},
                 QStringLiteral("pools")};
}

Words wordsOf(const FieldChange& change, const ServingStudy& after) {
    Words words{inWords(titleOf(change)), inWords(change.from), inWords(change.to), inWords(change.path)};
    if (change.table->together && !change.group.empty()) words.target = inWords(change.group);
    if (change.path == "compare_with") words.to = inWords(after.compareWith ? after.compareWith->id : "none");
    if (change.spec->form == FieldForm::Axes) {
        const auto count = countPoints(after.sweep, std::size_t{1} << 62);
        words.to = count ? QString::number(*count) : QString();
    }
    // Things that are added or ticked one after another are entries of their own.
    if (change.spec->form == FieldForm::Axes || change.spec->form == FieldForm::List) words.target.clear();
    return words;
}

/// What a person would say has changed.
Words difference(const ServingStudy& before, const ServingStudy& after) {
    std::vector<FieldChange> all = fieldChanges(before, after);
    const auto apart = poolsApart(before, after, all);
    all = ownChanges(all);
    std::vector<Words> said;
    if (apart) said.push_back(*apart);
    for (const FieldChange& each : all) said.push_back(wordsOf(each, after));
    if (said.empty()) return {QObject::tr("Serving"), {}, {}, QStringLiteral("serving")};
    if (said.size() == 1) return said.front();
    const std::string& group = all.front().group;
    const bool together = !apart && !group.empty() && std::ranges::all_of(all, [&](const FieldChange& each) {
        return each.group == group && each.table->together;
    });
    if (together) return {inWords(std::string(findField(group)->title)), {}, {}, inWords(group)};
    QStringList subjects;
    for (const Words& each : said) subjects << each.subject;
    return {QObject::tr("Configuration"), {}, subjects.join(QStringLiteral(", ")), QStringLiteral("configuration")};
}

}  // namespace

Expected<Edit> setServingEdit(const ProjectState& state, const ServingStudy& study, const ServingStudy& usual) {
    const Words words = difference(state.serving ? *state.serving : usual, study);
    const QString target = words.target.isEmpty() ? QString() : QStringLiteral("serving/") + words.target;
    Edit edit{state, words.subject, words.from, words.to, target};
    edit.after.serving = study;
    return edit;
}

}  // namespace orrery::app
