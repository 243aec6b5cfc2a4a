#include "serving/fields/field_path.h"

#include <fmt/format.h>

#include <charconv>

namespace orrery {

namespace {

struct PathStep {
    std::string_view key;
    std::size_t item = 0;  ///< from 1 on; 0: all
};

bool readStep(std::string_view text, PathStep& step) {
    step = {text, 0};
    if (!text.ends_with(']')) return !text.empty();
    const std::size_t open = text.find('[');
    if (open == text.npos) return false;
    step.key = text.substr(0, open);
    const std::string_view digits = text.substr(open + 1, text.size() - open - 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step.item);
    return error == std::errc{} && end == digits.data() + digits.size() && step.item > 0;
}

const FieldSpec* rowOf(const FieldTable& table, std::string_view key) {
    for (const FieldSpec& spec : table.fields)
        if (spec.key == key) return &spec;
    return nullptr;
}

// The members of `owner` that stand for the step: what is inside a part, an option, the items of a list.
void enterField(const FieldSpec& spec, void* owner, std::size_t item, std::vector<void*>& inside) {
    if (spec.form == FieldForm::List) {
        const std::size_t count = spec.count(owner);
        for (std::size_t i = 0; i < count; ++i)
            if (item == 0 || item == i + 1) inside.push_back(spec.item(owner, i));
    } else if (void* part = spec.member(owner)) {
        inside.push_back(part);
    }
}

template <class Row>
FieldAt walkPath(void* study, std::string_view path, Row&& onRow) {
    FieldAt at{nullptr, &fieldTable<ServingStudy>(), {}};
    if (study) at.owners.push_back(study);
    for (;;) {
        const std::size_t cut = path.find('/');
        PathStep step;
        if (!readStep(path.substr(0, cut), step)) return {};
        at.spec = rowOf(*at.table, step.key);
        if (!at.spec || (step.item > 0 && at.spec->form != FieldForm::List)) return {};
        onRow(*at.spec, at.owners);
        if (cut == path.npos) return at;
        if (!at.spec->inner) return {};
        std::vector<void*> inside;
        for (void* owner : at.owners) enterField(*at.spec, owner, step.item, inside);
        at.owners = std::move(inside);
        at.table = &at.spec->inner();
        path.remove_prefix(cut + 1);
    }
}

constexpr auto noVisit = [](const FieldSpec&, const std::vector<void*>&) {};

void listFields(const FieldTable& table, const void* owner, const std::string& before, std::vector<ListedField>& all) {
    for (const FieldSpec& spec : table.fields) {
        ListedField row{before + std::string(spec.key), &spec, &table, {}};
        if (spec.isScalar()) row.usual = spec.get(owner);
        all.push_back(row);
        if (!spec.inner || (spec.form == FieldForm::Optional && spec.inner == &fieldTable<SchedulerSpec>)) continue;
        std::vector<void*> inside;
        enterField(spec, const_cast<void*>(owner), 1, inside);  // only read
        listFields(spec.inner(), inside.empty() ? spec.inner().usual() : inside.front(), row.path + "/", all);
    }
}

}  // namespace

FieldAt fieldAt(ServingStudy& study, std::string_view path) {
    return walkPath(&study, path, noVisit);
}

const FieldSpec* findField(std::string_view path) {
    return walkPath(nullptr, path, noVisit).spec;
}

FieldValue fieldValue(const ServingStudy& study, std::string_view path) {
    const FieldAt at = fieldAt(const_cast<ServingStudy&>(study), path);  // only read
    if (!at.spec || !at.spec->get) return {};
    return at.spec->get(at.owners.empty() ? at.table->usual() : at.owners.front());
}

bool fieldMatters(const ServingStudy& study, std::string_view path) {
    bool matters = true;
    walkPath(const_cast<ServingStudy*>(&study), path, [&](const FieldSpec& spec, const std::vector<void*>& owners) {
        matters = matters && !owners.empty() && spec.matters(owners.front());
    });
    return matters;
}

bool setField(ServingStudy& study, std::string_view path, const FieldValue& value) {
    const FieldAt at = fieldAt(study, path);
    if (!at.spec || !at.spec->set) return false;
    for (void* owner : at.owners) at.spec->set(owner, value);
    return !at.owners.empty();
}

Expected<void> setFieldText(ServingStudy& study, std::string_view path, std::string_view text) {
    const Place place{.path = std::string(path)};
    const FieldAt at = fieldAt(study, path);
    if (!at.spec || !at.spec->set)
        return fail("serving.no-field", fmt::format("no value has the path `{}`", path), "a key of a serving file", {},
                    place);
    if (at.owners.empty())
        return fail("serving.no-field", fmt::format("nothing stands at `{}`", path), "a question that has it", {},
                    place);
    auto value = parseField(*at.spec, text);
    Expected<void> good;
    if (value) good = checkField(*at.spec, *value, path, at.table->code);
    if (!value) good = Unexpected(std::move(value.error()));
    if (!good) {
        good.error().place = place;
        return good;
    }
    for (void* owner : at.owners) at.spec->set(owner, *value);
    return {};
}

const std::vector<ListedField>& servingFields() {
    static const std::vector<ListedField> all = [] {
        std::vector<ListedField> made;
        listFields(fieldTable<ServingStudy>(), fieldTable<ServingStudy>().usual(), {}, made);
        return made;
    }();
    return all;
}

std::string servingKeysMarkdown() {
    std::string text = "| key | unit | default | range | meaning |\n|---|---|---|---|---|\n";
    for (const ListedField& row : servingFields()) {
        const FieldSpec& spec = *row.spec;
        const bool one = spec.isScalar();
        std::string usual = one ? fieldText(spec, row.usual) : std::string();
        if (one && spec.isNumber() && usual == "0 " + std::string(baseUnit(spec.dimension))) usual = "0";
        std::string range = rangeText(spec, false);
        if (spec.form == FieldForm::Choice) range = choiceWords(spec);
        if (!one && spec.inner) range = spec.form == FieldForm::List ? "a list" : "a map";
        std::string meaning(spec.meaning);
        if (!spec.none.empty())
            meaning += fmt::format("{}{}: {}.", meaning.empty() ? "" : " ", spec.isNumber() ? "0" : "Empty", spec.none);
        if (meaning.empty()) meaning = fmt::format("{}.", spec.title);
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.path, unitText(spec),
                            usual.empty() ? "" : fmt::format("`{}`", usual), range, meaning);
    }
    return text;
}

}  // namespace orrery
