#include "base/dtype.h"
#include "base/text/nearest.h"
#include "base/text/words.h"
#include "hardware/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace orrery {
namespace {

std::vector<std::string_view> pieces(std::string_view text, char open, char close) {
    text = trimmed(text);
    if (text.size() >= 2 && text.front() == open && text.back() == close) text = text.substr(1, text.size() - 2);
    std::vector<std::string_view> out;
    while (!trimmed(text).empty()) {
        const auto comma = text.find(',');
        if (const auto piece = trimmed(text.substr(0, comma)); !piece.empty()) out.push_back(piece);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return out;
}

std::vector<std::string> strings(std::span<const std::string_view> views) {
    return {views.begin(), views.end()};
}

Expected<std::string> parseChoice(const AttributeSpec& spec, std::string_view value) {
    if (spec.choices.empty() || std::find(spec.choices.begin(), spec.choices.end(), value) != spec.choices.end()) {
        return std::string(value);
    }
    const auto known = strings(spec.choices);
    return fail("hardware.choice", fmt::format("`{}` is not a choice of `{}`", value, spec.name),
                quotedList(known, "or"), didYouMean(value, known));
}

Expected<Attribute::Value> parseTable(const AttributeSpec& spec, std::string_view value) {
    std::vector<TableRow> rows;
    for (const std::string_view piece : pieces(value, '{', '}')) {
        const auto colon = piece.find(':');
        if (colon == std::string_view::npos) {
            return fail("hardware.type", fmt::format("`{}` is not a row of `{}`", piece, spec.name),
                        "rows such as `bf16: 512/cycle`");
        }
        auto measure = parseAttributeMeasure(spec, piece.substr(colon + 1));
        if (!measure) return Unexpected(std::move(measure.error()));
        rows.push_back({std::string(trimmed(piece.substr(0, colon))), std::move(*measure)});
    }
    if (auto wrong = checkRows(spec, rows); !wrong) return Unexpected(std::move(wrong.error()));
    return Attribute::Value(std::move(rows));
}

}  // namespace

Expected<void> checkRows(const AttributeSpec& spec, const std::vector<TableRow>& rows) {
    std::vector<DType> seen;
    for (const TableRow& row : rows) {
        const auto type = dtype(row.key);
        if (!type) {
            std::vector<std::string> known;
            for (int i = 0; i < dtypeCount; ++i) known.emplace_back(toText(static_cast<DType>(i)));
            return fail("hardware.unknown-type", fmt::format("`{}` in `{}` is not a number type", row.key, spec.name),
                        "a type such as `bf16`, `fp32` or `int8`", didYouMean(row.key, known));
        }
        if (std::find(seen.begin(), seen.end(), *type) != seen.end()) {
            return fail("hardware.duplicate-type",
                        fmt::format("`{}` gives {} more than once", spec.name, toText(*type)), "one row for each type",
                        "remove one of the rows");
        }
        seen.push_back(*type);
    }
    return {};
}

Expected<Measure> parseAttributeMeasure(const AttributeSpec& spec, std::string_view value) {
    auto measure = parseMeasure(value, spec.dimension);
    if (!measure) {
        Diagnostic wrong = std::move(measure.error());
        wrong.message = fmt::format("`{}`: {}", spec.name, wrong.message);
        if (wrong.code == "unit.unknown" && wrong.hint.empty()) {
            const auto unit = trimmed(value).find_first_not_of("0123456789.eE+- ");
            if (unit != std::string_view::npos) {
                wrong.hint = didYouMean(trimmed(value).substr(unit), unitSymbols(spec.dimension));
            }
        }
        if (wrong.expected.empty()) wrong.expected = std::string(spec.meaning);
        return Unexpected(std::move(wrong));
    }
    if (measure->si < 0) {
        return fail("hardware.negative", fmt::format("`{}` may not be negative, it is `{}`", spec.name, value),
                    "zero or more");
    }
    if (spec.dimension == Dimension::Count && measure->si > 9007199254740992.0) {
        return fail("unit.range", fmt::format("`{}` is too large: `{}`", spec.name, value), "at most 2^53");
    }
    return measure;
}

Expected<Attribute::Value> parseAttribute(const AttributeSpec& spec, std::string_view value) {
    switch (spec.form) {
        case AttributeForm::Measure: {
            auto measure = parseAttributeMeasure(spec, value);
            if (!measure) return Unexpected(std::move(measure.error()));
            return Attribute::Value(std::move(*measure));
        }
        case AttributeForm::Text:
            return Attribute::Value(std::string(value));
        case AttributeForm::Choice: {
            auto chosen = parseChoice(spec, trimmed(value));
            if (!chosen) return Unexpected(std::move(chosen.error()));
            return Attribute::Value(std::move(*chosen));
        }
        case AttributeForm::List: {
            std::vector<std::string> all;
            for (const std::string_view piece : pieces(value, '[', ']')) {
                auto one = parseChoice(spec, piece);
                if (!one) return Unexpected(std::move(one.error()));
                all.push_back(std::move(*one));
            }
            return Attribute::Value(std::move(all));
        }
        case AttributeForm::Table:
            return parseTable(spec, value);
    }
    return Attribute::Value(std::string(value));
}

bool isUsual(const AttributeSpec& spec, const Measure& measure) {
    double value = measure.si;
    if (measure.perCycle) value = spec.dimension == Dimension::Time ? value * 1e-9 : value * 1e9;
    // Rates of compute units are declared per cycle and may be written per second: judge them at 1 GHz as well.
    if (spec.form == AttributeForm::Table) value = measure.perCycle ? measure.si : measure.si * 1e-9;
    return value >= spec.lowest && value <= spec.highest;
}

std::string toText(const Attribute::Value& value) {
    struct Visitor {
        std::string operator()(const Measure& measure) const { return measure.spelling; }
        std::string operator()(const std::string& plain) const { return plain; }
        std::string operator()(const std::vector<std::string>& items) const {
            return fmt::format("{}", fmt::join(items, ", "));
        }
        std::string operator()(const std::vector<TableRow>& rows) const {
            std::string out;
            for (const TableRow& row : rows) {
                out += (out.empty() ? "" : ", ") + row.key + ": " + row.value.spelling;
            }
            return out;
        }
    };
    return std::visit(Visitor{}, value);
}

}  // namespace orrery
