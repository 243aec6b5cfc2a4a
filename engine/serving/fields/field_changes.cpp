#include "serving/fields/field_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace orrery {

namespace {

using ByName = std::map<std::string, double, std::less<>>;

class Comparison {
public:
    std::vector<FieldChange> changes;

    void compare(const FieldTable& table, const void* before, const void* after, const std::string& group,
                 bool mattered) {
        for (const FieldSpec& spec : table.fields) {
            const std::string path = group.empty() ? std::string(spec.key) : fmt::format("{}/{}", group, spec.key);
            FieldChange change{path, group, &spec, &table, {}, {}, mattered && spec.matters(before)};
            if (spec.isScalar())
                scalar(change, before, after);
            else
                structure(change, const_cast<void*>(before), const_cast<void*>(after));  // only read
        }
    }

private:
    void scalar(FieldChange change, const void* before, const void* after) {
        const FieldValue from = change.spec->get(before), to = change.spec->get(after);
        if (from == to) return;
        change.from = fieldWords(*change.spec, from);
        change.to = fieldWords(*change.spec, to);
        add(std::move(change));
    }
    void structure(FieldChange change, void* before, void* after) {
        const FieldSpec& spec = *change.spec;
        if (spec.form == FieldForm::Part)
            return compare(spec.inner(), spec.member(before), spec.member(after), change.path, change.mattered);
        if (spec.form == FieldForm::List || spec.form == FieldForm::Optional) {
            const std::size_t from = spec.count(before), to = spec.count(after);
            if (from != to) {
                if (spec.form == FieldForm::List) change.from = std::to_string(from), change.to = std::to_string(to);
                return add(std::move(change));
            }
            for (std::size_t i = 0; i < from; ++i) {
                const bool list = spec.form == FieldForm::List;
                compare(spec.inner(), list ? spec.item(before, i) : spec.member(before),
                        list ? spec.item(after, i) : spec.member(after), change.path, change.mattered);
            }
            return;
        }
        const void *from = spec.member(before), *to = spec.member(after);
        const auto same = [&]<class T>(T*) { return *static_cast<const T*>(from) == *static_cast<const T*>(to); };
        const bool equal = spec.form == FieldForm::Texts     ? same(static_cast<std::vector<std::string>*>(nullptr))
                           : spec.form == FieldForm::Numbers ? same(static_cast<ByName*>(nullptr))
                                                             : same(static_cast<std::vector<SweepAxis>*>(nullptr));
        if (!equal) add(std::move(change));
    }
    void add(FieldChange change) {
        if (std::ranges::find(changes, change.path, &FieldChange::path) == changes.end())
            changes.push_back(std::move(change));
    }
};

}  // namespace

std::vector<FieldChange> fieldChanges(const ServingStudy& before, const ServingStudy& after) {
    Comparison comparison;
    comparison.compare(fieldTable<ServingStudy>(), &before, &after, {}, true);
    return std::move(comparison.changes);
}

std::string titleOf(const FieldChange& change) {
    const std::string title(change.spec->title);
    if (change.group.empty()) return title;
    const auto& all = servingFields();
    const FieldSpec* around = findField(change.group);
    const auto alike = std::ranges::count_if(
        all, [&](const ListedField& each) { return each.spec->isScalar() && each.spec->title == title; });
    if (alike < 2 && around->form != FieldForm::List) return title;
    return change.group == "pools" ? title : fmt::format("{}: {}", around->title, title);
}

}  // namespace orrery
