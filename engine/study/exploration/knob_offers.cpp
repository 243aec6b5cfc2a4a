#include "hardware/attribute_at.h"
#include "hardware/copies.h"
#include "serving/fields/field_path.h"
#include "study/exploration/knob_kind.h"
#include "study/exploration/search_settings.h"
#include "study/serving/sweep.h"
#include "workload/option_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// Half to twice what is drawn, by ratios; whole numbers from 1, and no share above all.
KnobSetting around(std::string path, double si, Dimension dimension, bool whole = false) {
    KnobSetting setting{std::move(path), {}, {}};
    const bool counted = whole || dimension == Dimension::Count;
    if (counted && std::llround(si) <= 1) {
        setting.values = {"1", "2", "4"};
        return setting;
    }
    const auto text = [&](double value) {
        return counted ? fmt::format("{}", std::max(1LL, std::llround(value))) : formatMeasure(value, dimension, 4);
    };
    const double most = dimension == Dimension::Fraction ? std::max(1.0, si) : 2 * si;
    setting.range = {text(si / 2), text(std::min(2 * si, most)), 5, true};
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

KnobSetting listed(std::string_view path, std::vector<std::string> values) {
    return {std::string(path), std::move(values), {}};
}

KnobSetting ofWorkload(std::string_view path) {
    if (path == "batch") return listed(path, {"1", "8", "64"});
    if (path == "sequence") return listed(path, {"1024", "4096", "16384"});
    if (path == "image") return listed(path, {"224", "384"});
    if (path == "phase") return listed(path, {"prefill", "decode"});
    if (path == "flash_attention") return listed(path, {"false", "true"});
    return listed(path, {"bf16", "fp8"});
}

KnobSetting ofPlan(std::string_view path) {
    if (path == "sched") return listed(path, {"1f1b", "gpipe", "zero-bubble"});
    if (path == "zero") return listed(path, {"0", "1", "2", "3"});
    if (path == "sp") return listed(path, {"0", "1"});
    return listed(path, {"1", "2", "4", "8"});
}

Expected<KnobSetting> ofMethod(std::string_view path, std::string_view method, std::string_view key) {
    const auto at = optionAt(method, key);
    if (!at) return Unexpected(at.error());
    std::vector<std::string> values(at->option->choices.begin(), at->option->choices.end());
    // What stands there first; examples of a slot may not hold it.
    if (std::find(values.begin(), values.end(), at->value) == values.end()) values.insert(values.begin(), at->value);
    return listed(path, std::move(values));
}

KnobSetting ofServing(const ServingStudy& study, std::string_view path, std::string_view key) {
    const FieldSpec* field = sweepField(key);
    if (!field) return listed(path, {"1", "2", "4"});
    const FieldValue value = fieldValue(study, sweepPath(key));
    std::vector<std::string> words;
    switch (field->form) {
        case FieldForm::Flag:
            words = {"false", "true"};
            break;
        case FieldForm::Type:
            words = {fieldText(*field, value)};
            for (const char* other : {"bf16", "fp8"})
                if (words.front() != other) words.emplace_back(other);
            break;
        case FieldForm::Choice:
            for (int i = 0; field->word && !field->word(i).empty(); ++i) words.emplace_back(field->word(i));
            break;
        case FieldForm::Text:
            words = {fieldText(*field, value)};
            if (field->offers) {
                for (const FieldOffer& offer : field->offers())
                    if (offer.id != words.front()) words.push_back(offer.id);
            }
            break;
        default: {
            const auto* real = std::get_if<double>(&value);
            const auto* whole = std::get_if<std::int64_t>(&value);
            const double number = real ? *real : whole ? static_cast<double>(*whole) : 0;
            if (number > 0) return around(std::string(path), number, field->dimension, whole != nullptr);
            return listed(path, {"1", "2", "4"});
        }
    }
    return listed(path, std::move(words));
}

}  // namespace

Expected<KnobSetting> usualKnob(const Hardware& hardware, std::string_view path) {
    const auto wanted = attributeAt(hardware.root, path);
    if (!wanted) return Unexpected(wanted.error());
    for (const TurnableNumber& number : turnableNumbers(hardware.root)) {
        const auto at = attributeAt(hardware.root, number.path);
        if (!at || at->component != wanted->component || at->attribute != wanted->attribute) continue;
        return settingOf(number);
    }
    const Component& component = *componentAt(hardware.root, wanted->component);
    if (wanted->attribute == "count")
        return around(std::string(path),
                      static_cast<double>(isGridOfCopies(component) ? component.instances() : component.count),
                      Dimension::Count);
    if (wanted->spec && wanted->spec->form == AttributeForm::Choice) {
        return listed(path, {wanted->spec->choices.begin(), wanted->spec->choices.end()});
    }
    const Attribute* attribute = component.find(wanted->attribute);
    const auto* measure = attribute ? std::get_if<Measure>(&attribute->value) : nullptr;
    if (!measure || !(measure->si > 0)) {
        return fail("search.knob", fmt::format("`{}` has no number to turn", path), "a number that is drawn",
                    "give it a value first");
    }
    return settingOf({std::string(path), wanted->spec, *measure});
}

Expected<KnobSetting> usualKnob(const Scenario& base, std::string_view path, std::string_view method) {
    const auto kind = knobKind(base, path, method);
    if (!kind) return Unexpected(kind.error());
    const std::string_view key = keyOf(kind->of, path);
    switch (kind->of) {
        case KnobOf::Workload:
            return ofWorkload(path);
        case KnobOf::Plan:
            return ofPlan(path);
        case KnobOf::Method:
            return ofMethod(path, method, key);
        case KnobOf::Serving:
            return ofServing(*std::get<ServingRun>(base.task).study, path, key);
        case KnobOf::Software:
            // The same software with and without graphs of a whole pass.
            return listed(path, {base.software.engine + "(graphs=off)", base.software.engine + "(graphs=on)"});
        case KnobOf::Hardware:
        case KnobOf::Column:  // of a table, never of a question
            break;
    }
    return usualKnob(*base.hardware, path);
}

std::vector<KnobOffer> knobOffers(const Scenario& base, std::string_view method) {
    std::vector<KnobOffer> offers;
    const auto drawn = turnableNumbers(base.hardware->root);
    // One stands for all: where nobody reads the drawing, nobody reads any of it.
    if (!drawn.empty() && knobKind(base, drawn.front().path, method)) {
        for (const TurnableNumber& number : drawn)
            offers.push_back({number.path, "Drawing", number.value.spelling, settingOf(number)});
    }
    const auto offer = [&](const std::string& path, const char* group) {
        const auto kind = knobKind(base, path, method);
        auto usual = usualKnob(base, path, method);
        // Replicas of pools that there are not, and the like.
        if (!kind || !usual || !knobOf(*usual, base, method)) return;
        offers.push_back({path, group, ownValue(base, *kind, path, method), std::move(*usual)});
    };
    if (const auto* run = std::get_if<ServingRun>(&base.task)) {
        for (const SweepKey& each : sweepKeys()) {
            if (each.key.find('/') != std::string::npos || each.key == "model" || each.key == "hardware") continue;
            if (sweepReads(*run->study, each.key)) offer("serving." + each.key, "Serving");
        }
    } else {
        const WorkloadInfo* info = builtinWorkload(base.workload->recipe.source);
        for (const std::string_view key : workloadOptionKeys()) {
            if (info && ((key == "sequence" && !info->hasSequence) || (key == "image" && !info->hasImage))) continue;
            if (info && !info->hasPhases && (key == "kv" || key == "phase" || key == "flash_attention")) continue;
            offer(std::string(key), "Workload");
        }
    }
    for (const char* key : {"tp", "pp", "dp", "ep", "cp"}) offer(key, "Plan");
    if (kindOf(base.task) == TaskKind::TrainingStep) {
        for (const char* key : {"vp", "zero", "mb", "sched"}) offer(key, "Plan");
    }
    if (const auto choice = methodChoice(method, builtinMethods())) {
        for (const MethodOption& option : findMethod(choice->id)->card.options) {
            if (option.older || option.choices.size() < 2) continue;
            offer(fmt::format("method.{}", option.key), "Method");
        }
    }
    return offers;
}

}  // namespace orrery
