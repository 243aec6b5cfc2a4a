#pragma once

// How rows of a FieldTable are written: `number<&ArrivalSpec::rate>("rate", "Rate", "…").above(0).to(1e6)`. For this
// folder's tables only.

#include "base/dtype.h"
#include "serving/fields/field.h"

#include <functional>
#include <map>
#include <optional>
#include <type_traits>

namespace orrery::fields {

template <class Struct, class Member>
Struct ownerType(Member Struct::*);
template <class Lambda, class Result, class Struct>
Struct ownerType(Result (Lambda::*)(Struct&) const);

template <auto Access>
auto ownerOf() {
    if constexpr (std::is_member_object_pointer_v<decltype(Access)>)
        return std::type_identity<decltype(ownerType(Access))>{};
    else
        return std::type_identity<decltype(ownerType(&decltype(Access)::operator()))>{};
}
template <auto Access>
using OwnerOf = typename decltype(ownerOf<Access>())::type;
template <auto Access>
auto& memberOf(const void* owner) {
    return std::invoke(Access, *const_cast<OwnerOf<Access>*>(static_cast<const OwnerOf<Access>*>(owner)));
}
template <auto Access>
using MemberOf = std::remove_cvref_t<decltype(memberOf<Access>(nullptr))>;

template <auto Condition, class Struct>
bool holds(const void* owner, bool (*)(const Struct&)) {
    return Condition(*static_cast<const Struct*>(owner));
}

/// A row that is still being written.
struct FieldRow : FieldSpec {
    constexpr FieldRow unit(Dimension is) const {
        return with([&](FieldRow& r) { r.dimension = is; });
    }
    constexpr FieldRow from(double end) const {
        return with([&](FieldRow& r) { r.range.low = end; });
    }
    constexpr FieldRow above(double end) const {
        return with([&](FieldRow& r) { r.range.low = end, r.range.aboveLow = true; });
    }
    constexpr FieldRow to(double end) const {
        return with([&](FieldRow& r) { r.range.high = end; });
    }
    constexpr FieldRow below(double end) const {
        return with([&](FieldRow& r) { r.range.high = end, r.range.belowHigh = true; });
    }
    constexpr FieldRow called(std::string_view text) const {
        return with([&](FieldRow& r) { r.label = text; });
    }
    constexpr FieldRow zeroIs(std::string_view words) const {
        return with([&](FieldRow& r) { r.none = words; });
    }
    constexpr FieldRow in(std::string_view formSection) const {
        return with([&](FieldRow& r) { r.section = formSection; });
    }
    constexpr FieldRow failsAs(std::string_view diagnostic) const {
        return with([&](FieldRow& r) { r.code = diagnostic; });
    }
    constexpr FieldRow fileOnly() const {
        return with([&](FieldRow& r) { r.inForm = false; });
    }
    /// An id of a list that this layer may not see: kernel methods, software stacks.
    constexpr FieldRow namesOne() const {
        return with([](FieldRow& r) { r.named = true; });
    }
    constexpr FieldRow always() const {
        return with([](FieldRow& r) { r.strict = true; });
    }
    constexpr FieldRow counted() const {
        return with([](FieldRow& r) { r.ordinal = true; });
    }
    constexpr FieldRow fixed() const {
        return with([&](FieldRow& r) { r.mayVary = false; });
    }
    constexpr FieldRow offering(std::vector<FieldOffer> (*ids)()) const {
        return with([&](FieldRow& r) { r.offers = ids; });
    }
    /// Read only where the condition, a function of the struct, holds.
    template <auto Condition>
    constexpr FieldRow when() const {
        return with(
            [](FieldRow& r) { r.reads = [](const void* owner) { return holds<Condition>(owner, Condition); }; });
    }

private:
    template <class Change>
    constexpr FieldRow with(Change change) const {
        FieldRow made = *this;
        change(made);
        return made;
    }
};

template <auto Access>
constexpr FieldRow row(FieldForm form, std::string_view key, std::string_view title, std::string_view meaning) {
    FieldRow made;
    made.key = key;
    made.title = title;
    made.meaning = meaning;
    made.form = form;
    made.member = [](void* owner) -> void* { return &memberOf<Access>(owner); };
    return made;
}
template <auto Access, class Kept>
constexpr FieldRow scalar(FieldForm form, std::string_view key, std::string_view title, std::string_view meaning) {
    FieldRow made = row<Access>(form, key, title, meaning);
    made.get = [](const void* owner) -> FieldValue { return static_cast<Kept>(memberOf<Access>(owner)); };
    made.set = [](void* owner, const FieldValue& value) {
        memberOf<Access>(owner) = static_cast<MemberOf<Access>>(std::get<Kept>(value));
    };
    return made;
}

template <auto Access>
constexpr FieldRow number(std::string_view key, std::string_view title, std::string_view meaning) {
    return scalar<Access, double>(FieldForm::Number, key, title, meaning);
}
template <auto Access>
constexpr FieldRow seconds(std::string_view key, std::string_view title, std::string_view meaning) {
    return number<Access>(key, title, meaning).unit(Dimension::Time);
}
template <auto Access>
constexpr FieldRow share(std::string_view key, std::string_view title, std::string_view meaning) {
    return number<Access>(key, title, meaning).unit(Dimension::Fraction);
}
template <auto Access>
constexpr FieldRow whole(std::string_view key, std::string_view title, std::string_view meaning) {
    FieldRow made = scalar<Access, std::int64_t>(FieldForm::Whole, key, title, meaning).unit(Dimension::Count);
    using Kept = MemberOf<Access>;
    made.largest =
        sizeof(Kept) == 4 ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
    made.least = std::is_unsigned_v<Kept> ? 0 : -made.largest;
    made.range.low = 0;
    made.range.high = sizeof(Kept) == 4 ? 2147483647.0 : 9007199254740992.0;  // the last whole double, 2^53
    return made;
}
template <auto Access>
constexpr FieldRow flag(std::string_view key, std::string_view title, std::string_view meaning) {
    return scalar<Access, bool>(FieldForm::Flag, key, title, meaning);
}
/// `titles`: one for each value of the enumeration, in its order; toText() gives the words in files.
template <auto Access>
constexpr FieldRow choice(std::string_view key, std::string_view title, std::string_view meaning,
                          std::span<const std::string_view> titles) {
    FieldRow made = scalar<Access, std::int64_t>(FieldForm::Choice, key, title, meaning);
    made.titles = titles;
    made.word = [](int index) -> std::string_view { return toText(static_cast<MemberOf<Access>>(index)); };
    return made;
}
template <auto Access>
constexpr FieldRow type(std::string_view key, std::string_view title, std::string_view meaning) {
    FieldRow made = scalar<Access, std::int64_t>(FieldForm::Type, key, title, meaning);
    made.word = [](int index) -> std::string_view { return toText(static_cast<DType>(index)); };
    return made;
}
template <auto Access>
constexpr FieldRow text(std::string_view key, std::string_view title, std::string_view meaning) {
    return scalar<Access, std::string>(FieldForm::Text, key, title, meaning);
}
template <auto Access>
constexpr FieldRow part(std::string_view key, std::string_view title, std::string_view meaning = {}) {
    FieldRow made = row<Access>(FieldForm::Part, key, title, meaning);
    made.inner = &fieldTable<MemberOf<Access>>;
    return made;
}
template <auto Access>
constexpr FieldRow optional(std::string_view key, std::string_view title, std::string_view meaning = {}) {
    using Inner = typename MemberOf<Access>::value_type;
    FieldRow made = row<Access>(FieldForm::Optional, key, title, meaning);
    made.inner = &fieldTable<Inner>;
    made.member = [](void* owner) -> void* {
        auto& kept = memberOf<Access>(owner);
        return kept ? &*kept : nullptr;
    };
    made.count = [](const void* owner) -> std::size_t { return memberOf<Access>(owner) ? 1 : 0; };
    made.resize = [](void* owner, std::size_t count) {
        auto& kept = memberOf<Access>(owner);
        if (count == 0) kept.reset();
        if (count > 0 && !kept) kept.emplace();
    };
    return made;
}
template <auto Access>
constexpr FieldRow list(std::string_view key, std::string_view title, std::string_view meaning = {}) {
    using Inner = typename MemberOf<Access>::value_type;
    FieldRow made = row<Access>(FieldForm::List, key, title, meaning);
    made.inner = &fieldTable<Inner>;
    made.count = [](const void* owner) { return memberOf<Access>(owner).size(); };
    made.item = [](void* owner, std::size_t index) -> void* { return &memberOf<Access>(owner)[index]; };
    made.resize = [](void* owner, std::size_t count) { memberOf<Access>(owner).resize(count); };
    return made;
}

template <class Struct>
const void* usual() {
    static const Struct made{};
    return &made;
}

}  // namespace orrery::fields
