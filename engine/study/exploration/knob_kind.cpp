#include "study/exploration/knob_kind.h"

#include "base/text/words.h"
#include "hardware/attribute_at.h"
#include "methods/question_value.h"
#include "serving/fields/field_path.h"
#include "study/serving/sweep.h"
#include "workload/one_type.h"
#include "workload/option_text.h"

#include <algorithm>
#include <array>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 11> planKeys{"tp",   "pp",    "dp", "ep", "cp",   "vp",
                                                    "zero", "shard", "sp", "mb", "sched"};
constexpr std::string_view ofMethod = "method.", ofServing = "serving.";

bool among(std::span<const std::string_view> keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Unexpected noKnob(Diagnostic error) {
    error.code = "search.knob";
    if (error.expected.empty()) {
        error.expected =
            "an attribute of the drawing, an option of the workload (`batch`), of the plan (`tp`) or of the method "
            "(`method.launch`), or a key of a serving run (`serving.rate`)";
    }
    return Unexpected(std::move(error));
}

const ServingStudy* servingOf(const Scenario& base) {
    const auto* run = std::get_if<ServingRun>(&base.task);
    return run ? run->study.get() : nullptr;
}

Expected<KnobKind> servingKind(const Scenario& base, std::string_view key) {
    const ServingStudy* study = servingOf(base);
    if (!study) {
        return fail("search.knob", fmt::format("`serving.{}` turns a serving run, and none is asked", key),
                    "`task:` with a serving file");
    }
    const auto keys = sweepKeys();
    const FieldSpec* field = sweepField(key);
    const bool listed = std::any_of(keys.begin(), keys.end(), [&](const SweepKey& each) { return each.key == key; });
    if (!field && !listed) {
        // A number of a policy, by its name.
        ServingStudy probe = *study;
        if (auto set = setSweepValue(probe, key, "1"); !set && set.error().code == "sweep.key") {
            return noKnob(set.error());
        }
    }
    if (!field) return KnobKind{KnobOf::Serving, Dimension::Number, false, true, true};
    return KnobKind{KnobOf::Serving, field->dimension, field->form == FieldForm::Whole, !field->isNumber()};
}

Expected<KnobKind> drawnKind(const Scenario& base, std::string_view path) {
    const auto at = attributeAt(base.hardware->root, path);
    if (!at) return noKnob(at.error());
    if (const ServingStudy* study = servingOf(base)) {
        const auto& pools = study->scenario.pools;
        if (!pools.empty() &&
            std::all_of(pools.begin(), pools.end(), [](const PoolSpec& pool) { return !pool.hardware.empty(); })) {
            return fail("search.knob",
                        fmt::format("`{}` is drawn, but every pool of the serving run names a device of its own", path),
                        "a key of the run, such as `serving.hardware`");
        }
    }
    if (!at->spec) return KnobKind{KnobOf::Hardware, Dimension::Count, true, at->attribute != "count"};
    const bool number = at->spec->form == AttributeForm::Measure || at->attribute.find('.') != std::string::npos;
    return KnobKind{KnobOf::Hardware, at->spec->dimension, at->spec->dimension == Dimension::Count, !number};
}

// A dimension that needs another one is settable where that one can be turned too: `ep=2` beside `dp=2`.
Expected<Plan> planOf(const Plan& plan, std::string_view key, std::string_view value) {
    const std::string text(value);
    const auto alone = withPlanValues(plan, std::array{key}, std::array{text});
    if (alone) return alone;
    for (const std::string_view other : {"dp", "pp"}) {
        if (other == key) continue;
        if (auto both = withPlanValues(plan, std::array{key, other}, std::array{text, text})) return both;
    }
    return alone;
}

}  // namespace

Expected<OptionAt> optionAt(std::string_view method, std::string_view key) {
    const auto choice = methodChoice(method, builtinMethods());
    if (!choice) return Unexpected(choice.error());
    const MethodCard& card = findMethod(choice->id)->card;
    const auto dot = key.find('.');
    const std::string_view head = key.substr(0, dot);
    const auto option = std::find_if(card.options.begin(), card.options.end(),
                                     [&](const MethodOption& each) { return each.key == head; });
    if (option == card.options.end()) {
        std::string list;
        for (const MethodOption& each : card.options) list += fmt::format("{}`{}`", list.empty() ? "" : ", ", each.key);
        return fail("search.knob", fmt::format("{} has no option `{}`", card.title, head),
                    list.empty() ? "a method with options" : "one of " + list);
    }
    const auto found = choice->options.find(head);
    std::string value(found == choice->options.end() ? option->fallback : std::string_view(found->second));
    if (dot == std::string_view::npos) return OptionAt{&*option, std::move(value)};
    if (!option->slot) {
        return fail("search.knob", fmt::format("`{}` of {} holds no method with options of its own", head, card.title),
                    fmt::format("`method.{}`", head));
    }
    return optionAt(value, key.substr(dot + 1));
}

Expected<KnobKind> knobKind(const Scenario& base, std::string_view path, std::string_view method) {
    if (among(planKeys, path)) return KnobKind{KnobOf::Plan, Dimension::Count, true, path == "sched"};
    if (path == "software") return KnobKind{KnobOf::Software, Dimension::Number, false, true};
    if (path.starts_with(ofMethod)) {
        const auto at = optionAt(method, path.substr(ofMethod.size()));
        if (!at) return noKnob(at.error());
        return KnobKind{KnobOf::Method, Dimension::Number, false, true, true};
    }
    if (path.starts_with(ofServing)) return servingKind(base, path.substr(ofServing.size()));
    if (among(workloadOptionKeys(), path)) {
        if (servingOf(base)) {
            return fail("search.knob", fmt::format("`{}` is of a pass: a serving run says it by itself", path),
                        "a key of the run, such as `serving.rate` or `serving.weights`");
        }
        return KnobKind{KnobOf::Workload, Dimension::Count, true, !isSize(path)};
    }
    return drawnKind(base, path);
}

Expected<void> settable(const Scenario& base, const KnobKind& kind, std::string_view path, std::string_view value,
                        std::string_view method) {
    std::optional<Diagnostic> error;
    const auto look = [&](const auto& done) {
        if (!done) error = done.error();
    };
    switch (kind.of) {
        case KnobOf::Hardware:
            look(withAttribute(*base.hardware, path, value));
            break;
        case KnobOf::Workload:
            look(withOption(base.workload->recipe.options, path, value));
            if (path == "weights" && !error) look(checkWeights(*base.workload, *numberFormat(value)));
            break;
        case KnobOf::Plan:
            look(planOf(base.plan, path, value));
            break;
        case KnobOf::Software:
            look(parseSoftware(value));
            break;
        case KnobOf::Method:
            if (const auto choice = methodChoice(method, builtinMethods())) {
                look(withMethodValue(*choice, path.substr(ofMethod.size()), value));
            } else {
                error = choice.error();
            }
            break;
        case KnobOf::Serving: {
            ServingStudy study = *servingOf(base);
            look(setSweepValue(study, path.substr(ofServing.size()), value));
            break;
        }
        case KnobOf::Column:
            break;
    }
    if (!error) return {};
    error->code = "search.value";
    if (error->place.path.empty()) error->place.path = std::string(path);
    return Unexpected(std::move(*error));
}

std::string ownValue(const Scenario& base, const KnobKind& kind, std::string_view path, std::string_view method) {
    switch (kind.of) {
        case KnobOf::Hardware:
            return drawnValue(*base.hardware, path);
        case KnobOf::Workload:
            return optionText(base.workload->recipe.options, path);
        case KnobOf::Plan:
            return planValue(base.plan, path);
        case KnobOf::Software:
            return toText(base.software);
        case KnobOf::Method: {
            const auto at = optionAt(method, path.substr(ofMethod.size()));
            return at ? at->value : std::string();
        }
        case KnobOf::Serving: {
            const std::string_view key = path.substr(ofServing.size());
            const FieldSpec* field = sweepField(key);
            return field ? fieldText(*field, fieldValue(*servingOf(base), sweepPath(key))) : std::string();
        }
        case KnobOf::Column:
            break;
    }
    return {};
}

std::string_view keyOf(KnobOf of, std::string_view path) {
    if (of == KnobOf::Method) return path.substr(ofMethod.size());
    return of == KnobOf::Serving ? path.substr(ofServing.size()) : path;
}

Expected<Plan> withPlanValues(const Plan& plan, std::span<const std::string_view> keys,
                              std::span<const std::string> values) {
    std::string text;
    const std::string all = toText(plan);
    for (std::string_view rest = all; !rest.empty();) {
        const auto comma = rest.find(',');
        const std::string_view part = trimmed(rest.substr(0, comma));
        if (!among(keys, part.substr(0, part.find('=')))) text += fmt::format("{}{}", text.empty() ? "" : ",", part);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    for (std::size_t i = 0; i < keys.size(); ++i)
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", keys[i], values[i]);
    return parsePlan(text);
}

Expected<MethodChoice> withMethodValue(const MethodChoice& choice, std::string_view key, std::string_view value) {
    const auto dot = key.find('.');
    const std::string head(key.substr(0, dot));
    MethodChoice next = choice;
    if (dot == std::string_view::npos) {
        next.options[head] = std::string(value);
    } else {
        const auto at = optionAt(toText(choice), head);
        if (!at) return Unexpected(at.error());
        const auto inner = methodChoice(at->value, builtinMethods());
        if (!inner) return Unexpected(inner.error());
        auto turned = withMethodValue(*inner, key.substr(dot + 1), value);
        if (!turned) return Unexpected(turned.error());
        next.options[head] = toText(*turned);
    }
    auto read = methodChoice(toText(next), builtinMethods());
    // A text with commas could name other options beside it.
    if (read && std::any_of(read->options.begin(), read->options.end(),
                            [&](const auto& each) { return !next.options.contains(each.first); })) {
        return fail("method.bad-option", fmt::format("`{}` cannot be `{}`", key, value), "one value");
    }
    return read;
}

Expected<Task> withServingValues(const Task& task, std::span<const Knob* const> knobs,
                                 std::span<const std::string> values) {
    const auto* run = std::get_if<ServingRun>(&task);
    if (!run) return fail("search.knob", "no serving run is asked", "a serving run");
    auto study = std::make_shared<ServingStudy>(*run->study);
    std::vector<SweepAxis> axes;
    for (const Knob* knob : knobs) axes.push_back({std::string(keyOf(*knob)), {}});
    if (auto set = setSweepValues(*study, axes, values); !set) return Unexpected(set.error());
    return Task(ServingRun{std::move(study)});
}

}  // namespace orrery
