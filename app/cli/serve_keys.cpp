#include "app/cli/serve_keys.h"

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "serving/fields/field_path.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace orrery::cli {

namespace {

using KeysJson = nlohmann::ordered_json;

KeysJson propertiesOf(const FieldTable& table);

KeysJson objectOf(const FieldTable& table) {
    return {{"type", "object"}, {"properties", propertiesOf(table)}};
}

// The ends of a range that a file can be held to.
void addRange(KeysJson& json, const FieldSpec& spec) {
    const FieldRange& range = spec.range;
    const auto number = [&](double value) {
        return spec.form == FieldForm::Whole ? KeysJson(static_cast<std::int64_t>(value)) : KeysJson(value);
    };
    if (std::isfinite(range.low)) json[range.aboveLow ? "exclusiveMinimum" : "minimum"] = number(range.low);
    if (std::isfinite(range.high)) json[range.belowHigh ? "exclusiveMaximum" : "maximum"] = number(range.high);
}

KeysJson schemaOf(const FieldSpec& spec) {
    KeysJson json;
    switch (spec.form) {
        case FieldForm::Part:
        case FieldForm::Optional:
            json = objectOf(spec.inner());
            break;
        case FieldForm::List:
            json = {{"type", "array"}, {"items", objectOf(spec.inner())}};
            break;
        case FieldForm::Texts:
            json = {{"type", "array"}, {"items", {{"type", "string"}}}};
            break;
        case FieldForm::Numbers:
            json = {{"type", "object"}, {"additionalProperties", {{"type", "number"}}}};
            break;
        case FieldForm::Axes:
            json = {{"type", "object"}, {"additionalProperties", {{"type", "array"}}}};
            break;
        case FieldForm::Whole:
            json = {{"type", "integer"}};
            addRange(json, spec);
            break;
        case FieldForm::Number:
            // With its unit it is a text.
            if (spec.dimension == Dimension::Number) json = {{"type", "number"}};
            if (spec.dimension != Dimension::Number) json = {{"type", {"number", "string"}}};
            addRange(json, spec);
            break;
        case FieldForm::Flag:
            json = {{"type", "boolean"}};
            break;
        case FieldForm::Choice: {
            KeysJson words = KeysJson::array();
            for (std::size_t i = 0; i < spec.titles.size(); ++i) words.push_back(spec.word(static_cast<int>(i)));
            json = {{"enum", std::move(words)}};
            break;
        }
        default:
            json = {{"type", "string"}};
    }
    std::string said(spec.meaning.empty() ? fmt::format("{}.", spec.title) : std::string(spec.meaning));
    if (!spec.none.empty()) said += fmt::format(" {}: {}.", spec.isNumber() ? "0" : "Empty", spec.none);
    json["description"] = std::move(said);
    return json;
}

KeysJson propertiesOf(const FieldTable& table) {
    KeysJson all;
    for (const FieldSpec& spec : table.fields) all[std::string(spec.key)] = schemaOf(spec);
    return all;
}

}  // namespace

int serveKeys(bool json) {
    if (json) {
        KeysJson schema{
            {"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"title", "orrery: serving/1"},
            {"description",
             "A question about serving. Numbers with a unit may be texts: `250 ms`. Keys of a newer version are kept."},
            {"type", "object"},
            {"properties", {{"orrery", {{"enum", {"serving/1"}}}}}}};
        schema["properties"].update(propertiesOf(fieldTable<ServingStudy>()));
        return print(schema.dump(1) + "\n") ? Answered : Unanswered;
    }
    Table table({"key", "unit", "default", "range", "meaning"});
    for (const ListedField& row : servingFields()) {
        if (!row.spec->isScalar()) continue;
        table.add({row.path, std::string(unitText(*row.spec)), fieldText(*row.spec, row.usual),
                   choiceWords(*row.spec).empty() ? rangeText(*row.spec, false) : choiceWords(*row.spec),
                   std::string(row.spec->meaning)});
    }
    return print(table.text()) ? Answered : Unanswered;
}

}  // namespace orrery::cli
