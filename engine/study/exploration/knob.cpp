#include "study/exploration/knob.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "hardware/attribute_at.h"
#include "workload/option_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 11> planKeys{"tp",   "pp",    "dp", "ep", "cp",   "vp",
                                                    "zero", "shard", "sp", "mb", "sched"};

bool among(std::span<const std::string_view> keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// What a knob's values are, before they are there.
struct KnobKind {
    KnobOf of = KnobOf::Hardware;
    Dimension dimension = Dimension::Number;
    bool whole = false, words = false;
};

Expected<KnobKind> kindOf(const Scenario& base, std::string_view path) {
    if (among(planKeys, path)) return KnobKind{KnobOf::Plan, Dimension::Count, true, path == "sched"};
    if (among(workloadOptionKeys(), path)) return KnobKind{KnobOf::Workload, Dimension::Count, true, !isSize(path)};
    const auto at = attributeAt(base.hardware->root, path);
    if (!at) {
        Diagnostic error = at.error();
        error.code = "search.knob";
        if (error.expected.empty()) {
            error.expected =
                "an attribute of the drawing, an option of the workload (`batch`), or one of the plan (`tp`)";
        }
        return Unexpected(std::move(error));
    }
    if (!at->spec) return KnobKind{KnobOf::Hardware, Dimension::Count, true, at->attribute != "count"};
    const bool number = at->spec->form == AttributeForm::Measure || at->attribute.find('.') != std::string::npos;
    return KnobKind{KnobOf::Hardware, at->spec->dimension, at->spec->dimension == Dimension::Count, !number};
}

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

Expected<void> settable(const Scenario& base, const KnobKind& kind, std::string_view path, std::string_view value) {
    std::optional<Diagnostic> error;
    if (kind.of == KnobOf::Plan) {
        if (auto plan = withPlanValue(base.plan, path, value); !plan) error = plan.error();
    } else if (kind.of == KnobOf::Workload) {
        if (auto options = withOption(base.workload->recipe.options, path, value); !options) error = options.error();
    } else if (auto hardware = withAttribute(*base.hardware, path, value); !hardware) {
        error = hardware.error();
    }
    if (!error) return {};
    error->code = "search.value";
    if (error->place.path.empty()) error->place.path = std::string(path);
    return Unexpected(std::move(*error));
}

std::string printed(const KnobKind& kind, double si, bool perCycle) {
    if (kind.whole) return fmt::format("{}", std::llround(si));
    std::string text = formatMeasure(si, kind.dimension, 5);
    if (perCycle && text.ends_with("/s")) text.replace(text.size() - 1, 1, "cycle");
    return text;
}

}  // namespace

Expected<Knob> makeKnob(const Scenario& base, std::string_view path, std::vector<std::string> values) {
    const auto kind = kindOf(base, path);
    if (!kind) return Unexpected(kind.error());
    if (values.empty() || values.size() > mostKnobValues) {
        return fail("search.value", fmt::format("`{}` has {} values", path, values.size()),
                    fmt::format("1 to {}", mostKnobValues));
    }
    Knob knob{kind->of, std::string(path), std::move(values), {}, kind->dimension, false, kind->words};
    for (const std::string& value : knob.values) {
        if (auto done = settable(base, *kind, path, value); !done) return Unexpected(done.error());
        if (kind->words) {
            knob.numbers.push_back(static_cast<double>(knob.numbers.size()));
            continue;
        }
        const auto number = numberOf(*kind, value);
        if (!number) return Unexpected(number.error());
        knob.numbers.push_back(number->si);
    }
    // Ratios where each value is about the one before times a constant: 1, 8, 64.
    const auto& n = knob.numbers;
    if (!knob.words && n.size() > 2 && std::is_sorted(n.begin(), n.end()) && n.front() > 0) {
        knob.logarithmic = n[n.size() - 1] / n[n.size() - 2] > 0.5 * n[1] / n[0] && n.back() / n.front() >= 8;
    }
    return knob;
}

Expected<Knob> makeKnob(const Scenario& base, std::string_view path, const KnobRange& range) {
    const auto kind = kindOf(base, path);
    if (!kind) return Unexpected(kind.error());
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
    for (int i = 0; i < range.steps; ++i) {
        const double share = static_cast<double>(i) / (range.steps - 1);
        const double si =
            range.logarithmic ? from->si * std::pow(to->si / from->si, share) : from->si + share * (to->si - from->si);
        const bool end = i == 0 || i == range.steps - 1;
        std::string text = end ? (i == 0 ? range.from : range.to) : printed(*kind, si, from->perCycle);
        if (values.empty() || values.back() != text) values.push_back(std::move(text));
    }
    auto knob = makeKnob(base, path, std::move(values));
    if (knob) knob->logarithmic = range.logarithmic;
    return knob;
}

Expected<Plan> withPlanValue(const Plan& plan, std::string_view key, std::string_view value) {
    std::string text;
    const std::string all = toText(plan);
    for (std::string_view rest = all; !rest.empty();) {
        const auto comma = rest.find(',');
        const std::string_view part = trimmed(rest.substr(0, comma));
        if (part.substr(0, part.find('=')) != key) text += fmt::format("{}{}", text.empty() ? "" : ",", part);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return parsePlan(fmt::format("{}{}{}={}", text, text.empty() ? "" : ",", key, value));
}

std::string valueAt(const Scenario& base, const Knob& knob) {
    if (knob.of == KnobOf::Workload) return optionText(base.workload->recipe.options, knob.path);
    if (knob.of == KnobOf::Plan) {
        const std::string all = toText(base.plan);
        for (std::string_view rest = all; !rest.empty();) {
            const auto comma = rest.find(',');
            const std::string_view part = trimmed(rest.substr(0, comma));
            if (part.starts_with(knob.path + "=")) return std::string(part.substr(knob.path.size() + 1));
            rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        }
        return knob.path == "zero" || knob.path == "shard" || knob.path == "sp" || knob.path == "mb" ? "0"
               : knob.path == "sched"                                                                ? "1f1b"
                                                                                                     : "1";
    }
    const auto at = attributeAt(base.hardware->root, knob.path);
    if (!at) return {};
    const Component& component = *componentAt(base.hardware->root, at->component);
    if (at->attribute == "count") return fmt::format("{}", component.count);
    const auto dot = at->attribute.find('.');
    const Attribute* attribute = component.find(std::string_view(at->attribute).substr(0, dot));
    if (!attribute) return {};
    if (dot == std::string::npos) return toText(attribute->value);
    if (const auto* rows = std::get_if<std::vector<TableRow>>(&attribute->value)) {
        for (const TableRow& row : *rows)
            if (row.key == at->attribute.substr(dot + 1)) return row.value.spelling;
    }
    return {};
}

}  // namespace orrery
