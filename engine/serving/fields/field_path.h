#pragma once

// Fields of a whole question by their paths in its file: `traffic/arrivals/rate`, `pools/plan/tensor` of every pool,
// `pools[2]/plan/tensor` of the second.

#include "serving/fields/field.h"
#include "serving/serving_study.h"

#include <functional>

namespace orrery {

/// A field and the structs of one question that it is a member of: one for each item of the lists on its way.
struct FieldAt {
    const FieldSpec* spec = nullptr;  ///< null: no field has that path
    const FieldTable* table = nullptr;
    std::vector<void*> owners;  ///< empty: the lists and options on the way hold nothing
};
FieldAt fieldAt(ServingStudy& study, std::string_view path);
/// Of no question in particular; null if no field has that path.
const FieldSpec* findField(std::string_view path);

/// The value of the first that has the field, or what it is by default.
FieldValue fieldValue(const ServingStudy& study, std::string_view path);
/// Whether the field matters in the first that has it: it, and every part around it.
bool fieldMatters(const ServingStudy& study, std::string_view path);
/// Sets it in all of them. False: no such field, or nobody has it.
bool setField(ServingStudy& study, std::string_view path, const FieldValue& value);
/// The same from text, its range looked at. Fails as parseField(), with the table's code, and with `serving.no-field`;
/// the place is the path.
Expected<void> setFieldText(ServingStudy& study, std::string_view path, std::string_view text);

/// A row of the whole: parts, options and lists come before the fields in them.
struct ListedField {
    std::string path;
    const FieldSpec* spec;
    const FieldTable* table;  ///< that the row stands in
    FieldValue usual;         ///< of a scalar: its default
};
/// Every field of a question, in the order of files. `compare_with` is listed without the fields of its scheduler.
const std::vector<ListedField>& servingFields();

/// The handbook's table of keys: `| key | unit | default | range | meaning |`.
std::string servingKeysMarkdown();

}  // namespace orrery
