#include "study/exploration/search_settings.h"

#include "base/text/words.h"

#include <fmt/format.h>

namespace orrery {

namespace {

Unexpected placed(std::string part, Diagnostic error) {
    std::string& path = error.place.path;
    if (part.ends_with(path))  // also where it says nothing
        path = std::move(part);
    else if (!path.starts_with(part))
        path = part + ": " + path;
    return Unexpected(std::move(error));
}

}  // namespace

std::string toText(const KnobSetting& setting) {
    if (!setting.values.empty()) {
        std::string list;
        // A value that holds commas is kept together by brackets: `[inputs, outputs]`.
        for (const std::string& value : setting.values) {
            const bool apart = splitMethods(value).size() > 1 && !value.starts_with("[");
            list += fmt::format("{}{}", list.empty() ? "" : ", ", apart ? "[" + value + "]" : value);
        }
        return list;
    }
    const KnobRange& range = setting.range;
    return fmt::format("{} .. {}, {}{}", range.from, range.to,
                       range.free ? std::string("free") : fmt::format("{} steps", range.steps),
                       range.logarithmic ? ", log" : "");
}

Expected<KnobSetting> parseKnobSetting(std::string path, std::string_view text) {
    KnobSetting setting{std::move(path), {}, {}};
    const auto parts = [](std::string_view list) {
        // Commas between parentheses are of one value: `tile-hybrid(launch=graph, fusion=off)`.
        std::vector<std::string> out;
        std::size_t begin = 0;
        int depth = 0;
        for (std::size_t at = 0; at <= list.size(); ++at) {
            const char c = at < list.size() ? list[at] : ',';
            depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
            if (at < list.size() && (c != ',' || depth > 0)) continue;
            out.emplace_back(trimmed(list.substr(begin, at - begin)));
            begin = at + 1;
        }
        return out;
    };
    std::vector<std::string> all = parts(text);
    const auto dots = all.front().find("..");
    const auto wrong = [&](std::string what) {
        return fail(
            "search.value", std::move(what),
            "values such as `1, 8, 64`, or a range such as `2 TB/s .. 6 TB/s, 9 steps, log`, or `free` instead of "
            "steps");
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
        if (word == "free") {
            setting.range.free = true;
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

Expected<Knob> knobOf(const KnobSetting& setting, const Scenario& base, std::string_view method) {
    return setting.values.empty() ? makeKnob(base, setting.path, setting.range, method)
                                  : makeKnob(base, setting.path, setting.values, method);
}

Expected<SearchProblem> searchProblem(const SearchSettings& settings, Scenario base) {
    std::vector<Knob> knobs;
    for (const KnobSetting& setting : settings.knobs) {
        auto knob = knobOf(setting, base, settings.method);
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

}  // namespace orrery
