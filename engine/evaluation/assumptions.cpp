#include "evaluation/assumptions.h"

#include "learning/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace orrery {

namespace {

const ReferenceTable& tableOf(std::span<const ReferenceTable> tables, RowRef ref) {
    return tables[static_cast<std::size_t>(ref.table)];
}

struct RowsAsked {
    std::set<KernelKind> kinds;
    std::set<std::string> launches, fusions;  // that whole models were measured with
    bool models = false, kernels = false;
};
RowsAsked lookAt(std::span<const ReferenceTable> tables, std::span<const RowRef> rows) {
    RowsAsked asked;
    for (const RowRef ref : rows) {
        const ReferenceTable& table = tableOf(tables, ref);
        if (table.models.empty()) {
            asked.kernels = true;
            asked.kinds.insert(table.rows[static_cast<std::size_t>(ref.row)].kernel.kind);
            continue;
        }
        asked.models = true;
        const ModelRow& model = table.models[static_cast<std::size_t>(ref.row)];
        if (!model.launch.empty()) asked.launches.insert(model.launch);
        if (!model.fusion.empty()) asked.fusions.insert(model.fusion);
    }
    return asked;
}

const MethodOption* optionNamed(const MethodCard& card, std::string_view key) {
    const auto found = std::find_if(card.options.begin(), card.options.end(),
                                    [&](const MethodOption& option) { return option.key == key; });
    return found == card.options.end() ? nullptr : &*found;
}

Assumption ofOption(const MethodCard& card, std::string_view key, const std::set<std::string>& measured, bool models,
                    const EvaluateOptions& options) {
    if (!models) return {"single kernels", fmt::format("Rows are kernels by themselves, so {} does not enter", key)};
    const MethodOption* option = optionNamed(card, key);
    if (!option) return {"not modelled", fmt::format("The method has no option '{}' and takes every row alike", key)};
    if (const auto chosen = options.options.find(key); chosen != options.options.end())
        return {chosen->second, fmt::format("{}, for all rows, as it was asked for", option->title)};
    if (options.asMeasured && !measured.empty()) {
        const auto has = [&](const std::string& word) {
            return std::find(option->choices.begin(), option->choices.end(), word) != option->choices.end();
        };
        if (std::all_of(measured.begin(), measured.end(), has))
            return {"as measured", fmt::format("{} as each row's software ran; {} where its source does not say",
                                               option->title, option->fallback)};
    }
    return {std::string(option->fallback),
            fmt::format("{}, for all rows, as the method has it by itself", option->title)};
}

/// Sections of the method that speak of these kinds; a composition's are those of its kernels.
std::vector<const CalibrationSection*> sectionsOf(std::string_view method, const RowsAsked& asked,
                                                  const CalibrationSet& calibrations) {
    std::vector<const CalibrationSection*> found;
    for (const auto& calibration : calibrations.all()) {
        if (calibration->method != method) continue;
        for (const CalibrationSection& section : calibration->sections) {
            if (asked.models || asked.kinds.contains(section.kind)) found.push_back(&section);
        }
    }
    return found;
}

Assumption stackOf(const std::vector<const CalibrationSection*>& sections) {
    if (sections.empty()) return {"none", "Knows no software: the same answer for every row's"};
    std::set<std::string> names;
    for (const CalibrationSection* section : sections) {
        for (const CalibrationSource& source : section->sources) {
            if (!source.software.empty()) names.insert(source.software);
        }
    }
    std::string list;
    for (const std::string& name : names) list.append(list.empty() ? "" : "; ").append(name);
    const std::string first = names.empty() ? std::string("fitted") : *names.begin();
    return {names.size() > 1 ? fmt::format("{} stacks", names.size()) : first,
            "Fitted to kernels of: " + (list.empty() ? std::string("not said") : list)};
}

}  // namespace

std::string_view toText(Aspect aspect) {
    switch (aspect) {
        case Aspect::Fusion:
            return "fusion";
        case Aspect::Launch:
            return "launch";
        case Aspect::Clock:
            return "clock";
        case Aspect::Stack:
            return "stack";
    }
    return {};
}

Assumptions assumptionsOf(const MethodCard& card, std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                          const EvaluateOptions& options) {
    const RowsAsked asked = lookAt(tables, rows);
    const CalibrationSet& calibrations = options.calibrations ? *options.calibrations : shippedCalibrations().set;
    const auto sections = sectionsOf(card.id, asked, calibrations);
    const Assumption design{"the design's", "The clock that the device's drawing states, for every row"};
    const Assumption fitted{"as fitted", "Rates were fitted to kernels at the clock at which these were measured"};
    return {ofOption(card, "fusion", asked.fusions, asked.models, options),
            ofOption(card, "launch", asked.launches, asked.models, options), sections.empty() ? design : fitted,
            stackOf(sections)};
}

std::vector<Aspect> differing(std::span<const Assumptions> all) {
    std::vector<Aspect> found;
    for (std::size_t i = 0; i < aspects.size(); ++i) {
        const bool differs = std::any_of(
            all.begin(), all.end(), [&](const Assumptions& each) { return each[i].value != all.front()[i].value; });
        if (differs) found.push_back(aspects[i]);
    }
    return found;
}

std::int64_t samplesBehind(std::string_view method, std::span<const ReferenceTable> tables,
                           std::span<const RowRef> rows, const CalibrationSet& calibrations) {
    std::set<std::string> counted;
    std::int64_t samples = 0;
    for (const CalibrationSection* section : sectionsOf(method, lookAt(tables, rows), calibrations)) {
        for (const CalibrationSource& source : section->sources) {
            if (source.hash.empty() || counted.insert(source.hash).second) samples += source.rows;
        }
    }
    return samples;
}

std::vector<std::string> standsOn(const MethodCard& card, std::string_view asked) {
    std::vector<std::string> all{std::string(card.id)};
    const auto choice = methodChoice(asked, builtinMethods());
    for (const MethodOption& option : card.options) {
        if (!option.slot) continue;
        const auto chosen = choice ? choice->options.find(option.key) : OptionValues::const_iterator();
        const bool said = choice && chosen != choice->options.end();
        const auto inside = methodChoice(said ? std::string_view(chosen->second) : option.fallback, builtinMethods());
        if (inside && std::find(all.begin(), all.end(), inside->id) == all.end()) all.push_back(inside->id);
    }
    return all;
}

std::int64_t samplesBehindAll(const MethodCard& card, std::string_view asked, std::span<const ReferenceTable> tables,
                              std::span<const RowRef> rows, const CalibrationSet& calibrations) {
    std::int64_t samples = 0;
    for (const std::string& part : standsOn(card, asked)) samples += samplesBehind(part, tables, rows, calibrations);
    return samples;
}

}  // namespace orrery
