#include "serving/fields/study_hash.h"

#include "base/hash.h"
#include "serving/fields/field_path.h"

#include <map>
#include <variant>

namespace orrery {

namespace {

void addValue(Hash& hash, const FieldValue& value) {
    hash.add(static_cast<std::uint64_t>(value.index()));
    std::visit(
        [&hash](const auto& held) {
            using Held = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<Held, std::int64_t> || std::is_same_v<Held, bool>)
                hash.add(static_cast<std::uint64_t>(held));
            else
                hash.add(held);
        },
        value);
}

std::uint64_t lengthOf(std::size_t count) {
    return static_cast<std::uint64_t>(count);
}

void addTable(Hash& hash, const FieldTable& table, void* owner, bool question) {
    for (const FieldSpec& spec : table.fields) {
        if (question && (spec.key == "name" || spec.key == "description")) continue;
        hash.add(spec.key);
        if (spec.isScalar()) {
            addValue(hash, spec.get(owner));
        } else if (spec.form == FieldForm::Part) {
            addTable(hash, spec.inner(), spec.member(owner), false);
        } else if (spec.form == FieldForm::List || spec.form == FieldForm::Optional) {
            const std::size_t count = spec.count(owner);
            hash.add(lengthOf(count));
            const bool list = spec.form == FieldForm::List;
            for (std::size_t i = 0; i < count; ++i)
                addTable(hash, spec.inner(), list ? spec.item(owner, i) : spec.member(owner), false);
        } else if (spec.form == FieldForm::Texts) {
            const auto& texts = *static_cast<const std::vector<std::string>*>(spec.member(owner));
            hash.add(lengthOf(texts.size()));
            for (const std::string& text : texts) hash.add(text);
        } else if (spec.form == FieldForm::Numbers) {
            const auto& numbers = *static_cast<const std::map<std::string, double, std::less<>>*>(spec.member(owner));
            hash.add(lengthOf(numbers.size()));
            for (const auto& [name, number] : numbers) hash.add(name).add(number);
        } else {
            const auto& axes = *static_cast<const std::vector<SweepAxis>*>(spec.member(owner));
            hash.add(lengthOf(axes.size()));
            for (const SweepAxis& axis : axes) {
                hash.add(axis.key).add(lengthOf(axis.values.size()));
                for (const auto& value : axis.values) hash.add(value);
            }
        }
    }
}

}  // namespace

std::string servingHash(const ServingStudy& study) {
    Hash hash;
    addTable(hash, fieldTable<ServingStudy>(), const_cast<ServingStudy*>(&study), true);  // only read
    return hash.hex();
}

}  // namespace orrery
