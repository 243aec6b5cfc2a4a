#include "study/exploration/search_settings.h"

#include "base/text/words.h"
#include "hardware/attribute_at.h"
#include "workload/option_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

Unexpected placed(std::string part, Diagnostic error) {
    error.place.path = error.place.path.empty() ? std::move(part) : part + ": " + error.place.path;
    return Unexpected(std::move(error));
}

// Half to twice what is drawn, by ratios; whole numbers from 1.
KnobSetting around(std::string path, double si, Dimension dimension) {
    KnobSetting setting{std::move(path), {}, {}};
    const auto text = [&](double value) {
        return dimension == Dimension::Count ? fmt::format("{}", std::max(1LL, std::llround(value)))
                                             : formatMeasure(value, dimension, 4);
    };
    setting.range = {text(si / 2), text(si * 2), 5, true};
    return setting;
}

KnobSetting settingOf(const TurnableNumber& number) {
    KnobSetting setting = around(number.path, number.value.si, number.spec ? number.spec->dimension : Dimension::Count);
    if (number.value.perCycle) {
        for (std::string* end : {&setting.range.from, &setting.range.to})
            if (end->ends_with("/s")) end->replace(end->size() - 1, 1, "cycle");
    }
    return setting;
}

}  // namespace

std::string toText(const KnobSetting& setting) {
    if (!setting.values.empty()) return fmt::format("{}", fmt::join(setting.values, ", "));
    const KnobRange& range = setting.range;
    return fmt::format("{} .. {}, {} steps{}", range.from, range.to, range.steps, range.logarithmic ? ", log" : "");
}

Expected<KnobSetting> parseKnobSetting(std::string path, std::string_view text) {
    KnobSetting setting{std::move(path), {}, {}};
    const auto parts = [](std::string_view list) {
        std::vector<std::string> out;
        for (;;) {
            const auto comma = list.find(',');
            out.emplace_back(trimmed(list.substr(0, comma)));
            if (comma == std::string_view::npos) return out;
            list.remove_prefix(comma + 1);
        }
    };
    std::vector<std::string> all = parts(text);
    const auto dots = all.front().find("..");
    const auto wrong = [&](std::string what) {
        return fail("search.value", std::move(what),
                    "values such as `1, 8, 64`, or a range such as `2 TB/s .. 6 TB/s, 9 steps, log`");
    };
    if (dots == std::string::npos) {
        for (const std::string& each : all)
            if (each.empty()) return wrong(fmt::format("a value of `{}` is empty", setting.path));
        setting.values = std::move(all);
        return setting;
    }
    setting.range.from = trimmed(std::string_view(all.front()).substr(0, dots));
    setting.range.to = trimmed(std::string_view(all.front()).substr(dots + 2));
    for (std::size_t i = 1; i < all.size(); ++i) {
        std::string_view word = all[i];
        if (word == "log" || word == "linear") {
            setting.range.logarithmic = word == "log";
            continue;
        }
        if (word.ends_with("steps")) word = trimmed(word.substr(0, word.size() - 5));
        const auto steps = wholeIn(word);
        if (!steps || *steps < 2 || *steps > mostKnobValues)
            return wrong(fmt::format("`{}` is no number of steps", all[i]));
        setting.range.steps = static_cast<int>(*steps);
    }
    return setting;
}

Expected<Knob> knobOf(const KnobSetting& setting, const Scenario& base) {
    return setting.values.empty() ? makeKnob(base, setting.path, setting.range)
                                  : makeKnob(base, setting.path, setting.values);
}

Expected<SearchProblem> searchProblem(const SearchSettings& settings, Scenario base) {
    std::vector<Knob> knobs;
    for (const KnobSetting& setting : settings.knobs) {
        auto knob = knobOf(setting, base);
        if (!knob) return placed("knobs." + setting.path, knob.error());
        knobs.push_back(std::move(*knob));
    }
    auto space = SearchSpace::make(std::move(base), std::move(knobs));
    if (!space) return placed("knobs", space.error());
    SearchProblem problem{std::move(*space), settings.method, {}, {}, settings.deviceHour, settings.seed};
    for (const std::string& text : settings.objectives) {
        auto objective = readObjective(text);
        if (!objective) return placed("objectives", objective.error());
        problem.objectives.push_back(std::move(*objective));
    }
    for (const std::string& text : settings.constraints) {
        auto constraint = readConstraint(text);
        if (!constraint) return placed("constraints", constraint.error());
        problem.constraints.push_back(std::move(*constraint));
    }
    return readied(std::move(problem));
}

Expected<KnobSetting> usualKnob(const Hardware& hardware, std::string_view path) {
    const auto wanted = attributeAt(hardware.root, path);
    if (!wanted) return Unexpected(wanted.error());
    for (const TurnableNumber& number : turnableNumbers(hardware.root)) {
        const auto at = attributeAt(hardware.root, number.path);
        if (!at || at->component != wanted->component || at->attribute != wanted->attribute) continue;
        return settingOf(number);
    }
    const Component& component = *componentAt(hardware.root, wanted->component);
    const Attribute* attribute = component.find(wanted->attribute);
    const auto* measure = attribute ? std::get_if<Measure>(&attribute->value) : nullptr;
    if (!measure || !(measure->si > 0)) {
        return fail("search.knob", fmt::format("`{}` has no number to turn", path), "a number that is drawn",
                    "give it a value first");
    }
    return settingOf({std::string(path), wanted->spec, *measure});
}

std::vector<KnobOffer> knobOffers(const Scenario& base) {
    std::vector<KnobOffer> offers;
    for (const TurnableNumber& number : turnableNumbers(base.hardware->root)) {
        offers.push_back({number.path, "Drawing", number.value.spelling, settingOf(number)});
    }
    const WorkloadOptions& options = base.workload->recipe.options;
    const WorkloadInfo* info = builtinWorkload(base.workload->recipe.source);
    offers.push_back({"batch", "Workload", fmt::format("{}", options.batch), {"batch", {"1", "8", "64"}, {}}});
    if (!info || info->hasSequence) {
        offers.push_back(
            {"sequence", "Workload", fmt::format("{}", options.sequence), {"sequence", {"1024", "4096", "16384"}, {}}});
    }
    if (!info || info->hasImage) {
        offers.push_back({"image", "Workload", fmt::format("{}", options.image), {"image", {"224", "384"}, {}}});
    }
    offers.push_back({"weights", "Workload", optionText(options, "weights"), {"weights", {"bf16", "fp8"}, {}}});
    for (const char* key : {"tp", "pp", "dp", "ep", "cp"}) {
        Knob own{.of = KnobOf::Plan, .path = key};
        offers.push_back({key, "Plan", valueAt(base, own), {key, {"1", "2", "4", "8"}, {}}});
    }
    return offers;
}

}  // namespace orrery
