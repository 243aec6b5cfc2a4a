#include "study/exploration/knob.h"

#include "base/text/words.h"
#include "study/exploration/knob_kind.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// A number per cycle stays one: `128 B/cycle`.
Expected<Measure> numberOf(const KnobKind& kind, std::string_view text) {
    auto read = parseMeasure(text, kind.dimension);
    if (!read) {
        Diagnostic error = read.error();
        error.code = "search.value";
        return Unexpected(std::move(error));
    }
    return read;
}

std::string printed(const KnobKind& kind, double si, bool perCycle) {
    if (kind.whole) return fmt::format("{}", std::llround(si));
    std::string text = formatMeasure(si, kind.dimension, 5);
    if (perCycle && text.ends_with("/s")) text.replace(text.size() - 1, 1, "cycle");
    return text;
}

}  // namespace

Expected<Knob> makeKnob(const Scenario& base, std::string_view path, std::vector<std::string> values,
                        std::string_view method) {
    auto kind = knobKind(base, path, method);
    if (!kind) return Unexpected(kind.error());
    if (values.empty() || values.size() > mostKnobValues) {
        return fail("search.value", fmt::format("`{}` has {} values", path, values.size()),
                    fmt::format("1 to {}", mostKnobValues));
    }
    if (kind->either)
        kind->words = !std::all_of(values.begin(), values.end(), [](const auto& v) { return numberIn(v); });
    Knob knob{kind->of, std::string(path), std::move(values), {}, kind->dimension, false, kind->words};
    knob.own = ownValue(base, *kind, path, method);
    for (const std::string& value : knob.values) {
        if (auto done = settable(base, *kind, path, value, method); !done) return Unexpected(done.error());
        if (kind->words) {
            knob.numbers.push_back(static_cast<double>(knob.numbers.size()));
            continue;
        }
        const auto number = numberOf(*kind, value);
        if (!number) return Unexpected(number.error());
        knob.numbers.push_back(number->si);
    }
    // The same design twice would count twice, in a front as in a budget.
    for (std::size_t i = 0; i < knob.values.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (knob.words ? knob.values[i] != knob.values[j] : knob.numbers[i] != knob.numbers[j]) continue;
            return fail("search.value",
                        knob.values[i] == knob.values[j]
                            ? fmt::format("`{}` is `{}` twice", path, knob.values[i])
                            : fmt::format("`{}` and `{}` of `{}` are one value", knob.values[j], knob.values[i], path),
                        "every value once");
        }
    }
    // Ratios where each value is about the one before times a constant: 1, 8, 64.
    const auto& n = knob.numbers;
    if (!knob.words && n.size() > 2 && std::is_sorted(n.begin(), n.end()) && n.front() > 0) {
        knob.logarithmic = n[n.size() - 1] / n[n.size() - 2] > 0.5 * n[1] / n[0] && n.back() / n.front() >= 8;
    }
    return knob;
}

Expected<Knob> makeKnob(const Scenario& base, std::string_view path, const KnobRange& range, std::string_view method) {
    auto kind = knobKind(base, path, method);
    if (!kind) return Unexpected(kind.error());
    if (kind->either) kind->words = !numberIn(range.from) || !numberIn(range.to);
    const auto wrong = [&](std::string what, std::string expected) {
        return fail("search.range", fmt::format("`{}`: {}", path, what), std::move(expected));
    };
    if (kind->words) return wrong("its values are words, which no range has", "a list: `[bf16, fp8]`");
    if (range.steps < 2 || range.steps > mostKnobValues) {
        return wrong(fmt::format("{} steps", range.steps), fmt::format("2 to {}", mostKnobValues));
    }
    const auto from = numberOf(*kind, range.from);
    if (!from) return Unexpected(from.error());
    const auto to = numberOf(*kind, range.to);
    if (!to) return Unexpected(to.error());
    if (from->si == to->si || from->perCycle != to->perCycle) {
        return wrong("no range lies between its ends", "two different numbers of one unit");
    }
    if (range.logarithmic && (from->si <= 0 || to->si <= 0)) {
        return wrong("ratios lead neither from nor to 0", "both ends above 0, or even differences");
    }
    std::vector<std::string> values;
    const int count = range.count();
    for (int i = 0; i < count; ++i) {
        const double share = static_cast<double>(i) / (count - 1);
        const double si =
            range.logarithmic ? from->si * std::pow(to->si / from->si, share) : from->si + share * (to->si - from->si);
        const bool end = i == 0 || i == count - 1;
        std::string text = end ? (i == 0 ? range.from : range.to) : printed(*kind, si, from->perCycle);
        if (values.empty() || values.back() != text) values.push_back(std::move(text));
    }
    auto knob = makeKnob(base, path, std::move(values), method);
    if (knob) {
        knob->logarithmic = range.logarithmic;
        knob->free = range.free;
    }
    return knob;
}

double placeOf(const Knob& knob, std::size_t level) {
    const auto of = [&](double number) { return knob.logarithmic ? std::log(number) : number; };
    const auto [least, most] = std::minmax_element(knob.numbers.begin(), knob.numbers.end());
    const double span = of(*most) - of(*least);
    return span > 0 ? (of(knob.numbers[level]) - of(*least)) / span : 0;
}

}  // namespace orrery
