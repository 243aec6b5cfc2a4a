#include "serving/fields/field.h"

#include "base/dtype.h"
#include "base/text/nearest.h"

#include <fmt/format.h>

#include <cmath>

namespace orrery {

namespace {

int choicesOf(const FieldSpec& spec) {
    return spec.form == FieldForm::Type ? dtypeCount : static_cast<int>(spec.titles.size());
}

double numericValue(const FieldValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
    return std::get<double>(value);
}

// 1,000,000 and 0.001, not 1e+06.
std::string plainNumber(double value) {
    if (value != std::floor(value) || std::fabs(value) >= 1e15) return fmt::format("{:g}", value);
    std::string digits = fmt::format("{:.0f}", value);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (value < 0 ? 1 : 0); at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

bool isPlain(Dimension dimension) {
    return dimension == Dimension::Number || dimension == Dimension::Count || dimension == Dimension::Fraction;
}

Expected<FieldValue> parseWord(const FieldSpec& spec, std::string_view text) {
    if (spec.form == FieldForm::Type) {
        if (const auto found = dtype(text)) return FieldValue(static_cast<std::int64_t>(*found));
        return fail("serving.type", fmt::format("`{}` is no data type", text), "bf16, fp16, fp8, int8 …");
    }
    std::vector<std::string> all;
    std::string list;
    for (int i = 0; i < choicesOf(spec); ++i) {
        if (spec.word(i) == text) return FieldValue(std::int64_t{i});
        all.emplace_back(spec.word(i));
        list += (i ? ", " : "") + all.back();
    }
    return fail("serving.word", fmt::format("`{}` is no {}", text, spec.key), list, didYouMean(std::string(text), all));
}

}  // namespace

Expected<FieldValue> parseField(const FieldSpec& spec, std::string_view text) {
    switch (spec.form) {
        case FieldForm::Number:
        case FieldForm::Whole: {
            const auto read = parseMeasure(text, spec.dimension);
            if (!read) return Unexpected(read.error());
            if (read->perCycle)
                return fail("unit.per-cycle", fmt::format("`{}` is per clock cycle", text), "a value per second");
            if (spec.form == FieldForm::Number) return FieldValue(read->si);
            if (std::fabs(read->si) > 9e15)
                return fail("unit.range", fmt::format("`{}` is too large", text), rangeText(spec));
            return FieldValue(static_cast<std::int64_t>(read->si));
        }
        case FieldForm::Flag:
            if (text == "true" || text == "false") return FieldValue(text == "true");
            return fail("serving.flag", fmt::format("`{}` is neither true nor false", text), "true or false");
        case FieldForm::Choice:
        case FieldForm::Type:
            return parseWord(spec, text);
        default:
            return FieldValue(std::string(text));
    }
}

std::string fieldText(const FieldSpec& spec, const FieldValue& value) {
    switch (spec.form) {
        case FieldForm::Number: {
            const double number = std::get<double>(value);
            if (isPlain(spec.dimension)) return fmt::format("{}", number);
            // With a prefix where that reads back as the same number, else in the base unit.
            std::string text = formatMeasure(number, spec.dimension, 0);
            const auto back = parseMeasure(text, spec.dimension);
            if (!back || back->si != number) text = fmt::format("{} {}", number, baseUnit(spec.dimension));
            return text;
        }
        case FieldForm::Whole:
            return fmt::format("{}", std::get<std::int64_t>(value));
        case FieldForm::Flag:
            return std::get<bool>(value) ? "true" : "false";
        case FieldForm::Choice:
        case FieldForm::Type:
            return std::string(spec.word(static_cast<int>(std::get<std::int64_t>(value))));
        default:
            return std::get<std::string>(value);
    }
}

std::string fieldWords(const FieldSpec& spec, const FieldValue& value) {
    if (spec.isNumber()) {
        const double number = numericValue(value);
        if (number == 0 && !spec.none.empty()) return std::string(spec.none);
        if (spec.form == FieldForm::Whole) return plainNumber(number + (spec.ordinal ? 1 : 0));
        return formatMeasure(number, spec.dimension, 4);
    }
    if (spec.form == FieldForm::Flag) return std::get<bool>(value) ? "on" : "off";
    if (spec.form == FieldForm::Choice)
        return std::string(spec.titles[static_cast<std::size_t>(std::get<std::int64_t>(value))]);
    std::string text = fieldText(spec, value);
    return text.empty() ? std::string(spec.none.empty() ? "none" : spec.none) : text;
}

std::string rangeText(const FieldSpec& spec, bool withUnit) {
    const FieldRange& range = spec.range;
    const std::string_view unit = withUnit && !isPlain(spec.dimension) ? baseUnit(spec.dimension) : std::string_view();
    const bool low = std::isfinite(range.low);
    // The ends of an integer type are nobody's choice.
    const bool high = std::isfinite(range.high) && !(spec.form == FieldForm::Whole && range.high >= 2147483647.0);
    std::string text;
    if (low && high && !range.aboveLow && !range.belowHigh)
        text = fmt::format("{} to {}", plainNumber(range.low), plainNumber(range.high));
    else if (low && high)
        text = fmt::format("{} {}, {} {}", range.aboveLow ? "more than" : "from", plainNumber(range.low),
                           range.belowHigh ? "below" : "at most", plainNumber(range.high));
    else if (low)
        text = range.aboveLow ? fmt::format("more than {}", plainNumber(range.low))
                              : fmt::format("{} or more", plainNumber(range.low));
    else if (high)
        text = fmt::format("{} {}", range.belowHigh ? "below" : "at most", plainNumber(range.high));
    if (!text.empty() && !unit.empty()) text += fmt::format(" {}", unit);
    return text;
}

std::string choiceWords(const FieldSpec& spec) {
    std::string all;
    for (std::size_t i = 0; i < spec.titles.size(); ++i)
        all += fmt::format("{}{}", i ? ", " : "", spec.word(static_cast<int>(i)));
    return all;
}

std::string_view unitText(const FieldSpec& spec) {
    switch (spec.form) {
        case FieldForm::Number:
            return spec.dimension == Dimension::Fraction ? std::string_view() : baseUnit(spec.dimension);
        case FieldForm::Flag:
            return "true, false";
        case FieldForm::Type:
            return "data type";
        case FieldForm::Text:
            return spec.isId() ? "id" : "text";
        case FieldForm::Texts:
            return "list";
        case FieldForm::Numbers:
        case FieldForm::Axes:
            return "map";
        default:
            return {};
    }
}

Expected<void> checkField(const FieldSpec& spec, const FieldValue& value, std::string_view named,
                          std::string_view code) {
    if (!spec.isNumber()) return {};
    const double number = numericValue(value);
    if (spec.range.holds(number)) return {};
    std::string expected = rangeText(spec);
    if (!spec.none.empty() && spec.range.low == 0 && !spec.range.aboveLow)
        expected += fmt::format("; 0: {}", spec.none);
    return fail(std::string(spec.code.empty() ? code : spec.code), fmt::format("{} is {}", named, plainNumber(number)),
                std::move(expected), std::string(spec.meaning));
}

Expected<void> checkFields(const FieldTable& table, const void* owner, const std::string& path,
                           std::string_view whose) {
    const auto within = [&](const FieldTable& inner, const void* of, std::string key) -> Expected<void> {
        auto checked = checkFields(inner, of, path.empty() ? key : path + "/" + key, whose);
        return checked;
    };
    void* mutableOwner = const_cast<void*>(owner);  // members are only read
    for (const FieldSpec& spec : table.fields) {
        if (!spec.strict && !spec.matters(owner)) continue;
        if (spec.isNumber()) {
            const std::string at = path.empty() ? std::string(spec.key) : fmt::format("{}/{}", path, spec.key);
            const std::string named = whose.empty() ? at : fmt::format("{} of {}", at.substr(at.rfind('/') + 1), whose);
            auto good = checkField(spec, spec.get(owner), named, table.code);
            if (!good) {
                good.error().place.path = at;
                return good;
            }
        } else if (spec.form == FieldForm::Part || (spec.form == FieldForm::Optional && spec.count(owner) > 0)) {
            if (auto good = within(spec.inner(), spec.member(mutableOwner), std::string(spec.key)); !good) return good;
        } else if (spec.form == FieldForm::List) {
            for (std::size_t i = 0; i < spec.count(owner); ++i) {
                auto good = within(spec.inner(), spec.item(mutableOwner, i), fmt::format("{}[{}]", spec.key, i + 1));
                if (!good) return good;
            }
        }
    }
    return {};
}

}  // namespace orrery
