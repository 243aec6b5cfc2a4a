#pragma once

// A parameter of a serving question, declared once. Files, checks, sweeps, forms, tooltips, the undo list, the command
// line's list of keys and the handbook read these rows; the tables stand in *_fields.cpp, one per header of structs.

#include "base/unit.h"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace orrery {

struct AdapterChoice;
struct AdmissionSpec;
struct AgentSpec;
struct ArrivalSpec;
struct AutoscaleSpec;
struct CapacitySpec;
struct ExpertChoice;
struct IterationLaw;
struct LengthSpec;
struct Plan;
struct PoolSpec;
struct ReplicaFailure;
struct RouterSpec;
struct SchedulerSpec;
struct ServedModel;
struct ServiceLevel;
struct ServingStudy;
struct SessionSpec;
struct SpeculationChoice;
struct StageSpec;
struct TenantSpec;
struct TimeSlot;
struct TraceSpec;
struct TrafficEdit;
struct TrafficSpec;
struct TransferSpec;

enum class FieldForm : std::uint8_t {
    Number,    ///< double, in the base unit of its dimension
    Whole,     ///< an integer
    Flag,      ///< bool
    Choice,    ///< an enumeration, by its words
    Type,      ///< a DType
    Text,      ///< std::string; of a list of ids, where it has offers
    Texts,     ///< std::vector<std::string>
    Numbers,   ///< std::map<std::string, double, std::less<>>
    Axes,      ///< std::vector<SweepAxis>
    Part,      ///< a struct with fields of its own
    Optional,  ///< the same, or nothing
    List       ///< any number of such
};

/// Of a Number: double. Of a Whole, the index of a Choice, a DType: std::int64_t.
using FieldValue = std::variant<double, std::int64_t, bool, std::string>;

struct FieldRange {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
    bool aboveLow = false, belowHigh = false;  ///< the end itself is refused
    /// False for what is no number.
    bool holds(double value) const {
        return (aboveLow ? value > low : value >= low) && (belowHigh ? value < high : value <= high);
    }
};

/// One of the ids that a Text may name.
struct FieldOffer {
    std::string id, title, meaning;
};

struct FieldTable;

struct FieldSpec {
    std::string_view key;      ///< in files: `max_sequences`
    std::string_view title;    ///< stands alone, for the undo list and screen readers: `Tensor parallel`
    std::string_view meaning;  ///< a sentence or two, for tooltip and handbook
    FieldForm form = FieldForm::Number;
    Dimension dimension = Dimension::Number;
    FieldRange range = {};
    std::int64_t least = 0, largest = 0;  ///< that a Whole can hold
    std::string_view label = {};          ///< short, beside a control of its section; empty: the title
    std::string_view none = {};           ///< what 0, or no text, stands for: `no limit`; empty: a value like any other
    std::string_view section = {};        ///< of the form, see FieldTable::section
    std::string_view code = {};           ///< of the diagnostic, in place of the table's
    bool inForm = true;                   ///< false: set in files alone
    bool mayVary = true;                  ///< false: nothing that a sweep should change
    bool strict = false;                  ///< out of range it is refused even where it does not matter
    bool ordinal = false;                 ///< an index: people count from 1 on
    std::span<const std::string_view> titles = {};  ///< of a Choice, in the order of its values
    std::vector<FieldOffer> (*offers)() = nullptr;  ///< of a Text that names one of a list
    bool named = false;                             ///< the same of a list that stands above this layer

    // Given the struct that the field is a member of.
    bool (*reads)(const void* owner) = nullptr;  ///< whether it matters, by its neighbours; null: always
    FieldValue (*get)(const void* owner) = nullptr;
    void (*set)(void* owner, const FieldValue& value) = nullptr;
    std::string_view (*word)(int index) = nullptr;      ///< of a Choice or a Type, in files
    void* (*member)(void* owner) = nullptr;             ///< the field itself; of an Optional what is in it, or null
    std::size_t (*count)(const void* owner) = nullptr;  ///< of a List or an Optional
    void* (*item)(void* owner, std::size_t index) = nullptr;   ///< of a List
    void (*resize)(void* owner, std::size_t count) = nullptr;  ///< of a List or an Optional (0 or 1)
    const FieldTable& (*inner)() = nullptr;                    ///< of a Part, an Optional or a List

    bool matters(const void* owner) const { return !reads || reads(owner); }
    bool isScalar() const { return form <= FieldForm::Text; }
    bool isNumber() const { return form == FieldForm::Number || form == FieldForm::Whole; }
    /// Whether a sweep can set it by its path.
    bool isSwept() const { return mayVary && isScalar() && (form != FieldForm::Text || isId()); }
    /// A Text that names one of a list.
    bool isId() const { return form == FieldForm::Text && (offers || named); }
    std::string_view shortTitle() const { return label.empty() ? title : label; }
};

/// The fields of one struct.
struct FieldTable {
    std::string_view title;    ///< `Waiting line`
    std::string_view section;  ///< of the form, for fields that name no other; empty: they have none
    std::string_view code;     ///< of a diagnostic about a value out of range
    std::span<const FieldSpec> fields;
    const void* (*usual)() = nullptr;  ///< the struct with every field at its default
    bool together = false;             ///< edits of its fields in one gesture are one step of the undo list
};

/// Of SchedulerSpec, PoolSpec, TrafficSpec …: every struct of ServingStudy has one.
template <class Struct>
const FieldTable& fieldTable();
template <>
const FieldTable& fieldTable<AdapterChoice>();
template <>
const FieldTable& fieldTable<AdmissionSpec>();
template <>
const FieldTable& fieldTable<AgentSpec>();
template <>
const FieldTable& fieldTable<ArrivalSpec>();
template <>
const FieldTable& fieldTable<AutoscaleSpec>();
template <>
const FieldTable& fieldTable<CapacitySpec>();
template <>
const FieldTable& fieldTable<ExpertChoice>();
template <>
const FieldTable& fieldTable<IterationLaw>();
template <>
const FieldTable& fieldTable<LengthSpec>();
template <>
const FieldTable& fieldTable<Plan>();
template <>
const FieldTable& fieldTable<PoolSpec>();
template <>
const FieldTable& fieldTable<ReplicaFailure>();
template <>
const FieldTable& fieldTable<RouterSpec>();
template <>
const FieldTable& fieldTable<SchedulerSpec>();
template <>
const FieldTable& fieldTable<ServedModel>();
template <>
const FieldTable& fieldTable<ServiceLevel>();
template <>
const FieldTable& fieldTable<ServingStudy>();
template <>
const FieldTable& fieldTable<SessionSpec>();
template <>
const FieldTable& fieldTable<SpeculationChoice>();
template <>
const FieldTable& fieldTable<StageSpec>();
template <>
const FieldTable& fieldTable<TenantSpec>();
template <>
const FieldTable& fieldTable<TimeSlot>();
template <>
const FieldTable& fieldTable<TraceSpec>();
template <>
const FieldTable& fieldTable<TrafficEdit>();
template <>
const FieldTable& fieldTable<TrafficSpec>();
template <>
const FieldTable& fieldTable<TransferSpec>();

/// The first number that is out of its range, or is none: `<path>/<key>`, with the field's or its table's code. Fields
/// that do not matter are let be. `whose` is said in the message: `pool 'a'`.
Expected<void> checkFields(const FieldTable& table, const void* owner, const std::string& path,
                           std::string_view whose = {});
template <class Struct>
Expected<void> checkFields(const Struct& owner, const std::string& path, std::string_view whose = {}) {
    return checkFields(fieldTable<Struct>(), &owner, path, whose);
}

/// A value from text, as files have it: `250 ms`, `log-normal`, `fp8`, `true`. Fails with `serving.word`,
/// `serving.type`, `serving.flag` or as parseMeasure() does; ranges are not looked at.
Expected<FieldValue> parseField(const FieldSpec& spec, std::string_view text);
/// The same back; numbers with units so that they read as the same number.
std::string fieldText(const FieldSpec& spec, const FieldValue& value);
/// For a person: three digits, the title of a choice, what 0 stands for.
std::string fieldWords(const FieldSpec& spec, const FieldValue& value);
/// Nothing, or what is wrong with the value: the message and what is expected, no place.
Expected<void> checkField(const FieldSpec& spec, const FieldValue& value, std::string_view named,
                          std::string_view code);
/// `more than 0, at most 1,000,000 s`; empty where anything goes.
std::string rangeText(const FieldSpec& spec, bool withUnit = true);
/// `poisson, gamma, constant …` of a Choice, else nothing.
std::string choiceWords(const FieldSpec& spec);
/// The base unit of its dimension, or what kind of value it is: `s`, `data type`.
std::string_view unitText(const FieldSpec& spec);

}  // namespace orrery
