#include "evaluation/assumptions.h"

#include "evaluation/left_out.h"
#include "learning/calibration.h"
#include "learning/section_price.h"
#include "serving/serving_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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
        return {chosen->second, fmt::format("{}, for all rows, as requested", option->title)};
    if (options.asMeasured && !measured.empty()) {
        const auto has = [&](const std::string& word) {
            return std::find(option->choices.begin(), option->choices.end(), word) != option->choices.end();
        };
        if (std::all_of(measured.begin(), measured.end(), has))
            return {"as measured", fmt::format("{} as each row's software ran; {} where its source does not say",
                                               option->title, option->fallback)};
    }
    return {std::string(option->fallback), fmt::format("{}, for all rows, the default of the method", option->title)};
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

/// The method, and those that fill its slots; a slot that no method is chosen for is filled by the pools of the rows'
/// serving runs.
std::vector<std::string> filledBy(const MethodCard& card, const OptionValues& options,
                                  std::span<const ReferenceTable> tables, std::span<const RowRef> rows) {
    std::vector<std::string> all{std::string(card.id)};
    const auto add = [&](std::string_view asked) {
        const auto inside = methodChoice(asked, builtinMethods());
        if (inside && std::find(all.begin(), all.end(), inside->id) == all.end()) all.push_back(inside->id);
        return inside.has_value();
    };
    for (const MethodOption& option : card.options) {
        if (!option.slot) continue;
        const auto chosen = options.find(option.key);
        if (add(chosen != options.end() ? std::string_view(chosen->second) : option.fallback)) continue;
        for (const RowRef ref : rows) {
            const ReferenceTable& table = tableOf(tables, ref);
            if (table.models.empty()) continue;
            const auto* run = std::get_if<ServingRun>(&table.models[static_cast<std::size_t>(ref.row)].task);
            if (!run) continue;
            for (const PoolSpec& pool : run->study->scenario.pools)
                if (pool.time.kind == SlotKind::Kernels) add(pool.time.method);
        }
    }
    return all;
}

/// How many rows stand how to what the method was fitted to.
struct RowsKnown {
    std::size_t design = 0, fitted = 0;                // clock
    std::size_t nothing = 0, theirs = 0, another = 0;  // stack
    std::set<std::string> software;                    // that sections speaking for these rows were learned from
    std::set<std::string> ran;                         // that the rows of `another` ran on
    std::vector<AssumedOf> clock, stack;               // by rows that are alike
};

/// What all rows of a key have in common.
struct RowKey {
    std::string device, software;
    int kind = -1;               // -1: a whole model
    std::string variant;         // of a kernel
    std::string fusion, launch;  // of a whole model, as its software ran
    auto operator<=>(const RowKey&) const = default;
    bool isModel() const { return kind < 0; }
};
using AlikeRows = std::map<RowKey, std::size_t>;

AlikeRows alikeRows(std::span<const ReferenceTable> tables, std::span<const RowRef> rows) {
    AlikeRows alike;
    for (const RowRef ref : rows) {
        const ReferenceTable& table = tableOf(tables, ref);
        const ReferenceRow& row = table.rows[static_cast<std::size_t>(ref.row)];
        RowKey key{table.devices[static_cast<std::size_t>(row.device)].catalogue, table.software};
        if (table.models.empty()) {
            key.kind = static_cast<int>(row.kernel.kind);
            key.variant = kernelVariant(row.kernel);
            // What NCCL does is NCCL's, whoever calls it.
            if (row.kernel.kind == KernelKind::Collective && row.kernel.library == CollectiveLibrary::Nccl)
                key.variant = "nccl " + key.variant;
        } else {
            const ModelRow& model = table.models[static_cast<std::size_t>(ref.row)];
            key.fusion = model.fusion, key.launch = model.launch;
        }
        ++alike[std::move(key)];
    }
    return alike;
}

/// Sections that may price rows of the key: those of its device where there are some, else all of the kind and variant.
std::vector<const CalibrationSection*> speakingFor(const RowKey& key, const std::vector<std::string>& methods,
                                                   const CalibrationSet& calibrations, bool leaveDeviceOut) {
    const std::string_view name = key.variant;
    const std::string_view variant = name.starts_with("nccl ") ? name.substr(5) : name;
    std::vector<const CalibrationSection*> own, any;
    for (const auto& calibration : calibrations.all()) {
        if (std::find(methods.begin(), methods.end(), calibration->method) == methods.end()) continue;
        for (const CalibrationSection& section : calibration->sections) {
            if (!key.isModel() && (static_cast<int>(section.kind) != key.kind || section.variant != variant)) continue;
            if (leaveDeviceOut && learnedFrom(section, key.device)) continue;
            any.push_back(&section);
            if (section.device && section.device->id == key.device) own.push_back(&section);
        }
    }
    return own.empty() ? any : own;
}

RowsKnown knownOf(const std::vector<std::string>& methods, const AlikeRows& alike, const CalibrationSet& calibrations,
                  const EvaluateOptions& options) {
    RowsKnown known;
    for (const auto& [key, count] : alike) {
        const auto sections = speakingFor(key, methods, calibrations, options.leaveDeviceOut);
        (sections.empty() ? known.design : known.fitted) += count;
        known.clock.push_back({sections.empty() ? "the design's" : "as fitted", count});
        if (sections.empty()) {
            known.nothing += count;
            known.stack.push_back({"none", count});
            continue;
        }
        for (const CalibrationSection* section : sections)
            for (const CalibrationSource& source : section->sources)
                if (!source.software.empty()) known.software.insert(source.software);
        const bool same = key.variant.starts_with("nccl ") ||
                          std::any_of(sections.begin(), sections.end(), [&](const CalibrationSection* section) {
                              return sameStack(*section, key.software);
                          });
        (same ? known.theirs : known.another) += count;
        known.stack.push_back({same ? "the rows'" : "another", count});
        if (!same) known.ran.insert(key.software);
    }
    return known;
}

/// One word where all rows stand alike, else each with its rows.
std::string wordsOf(std::initializer_list<std::pair<const char*, std::size_t>> parts) {
    std::string words;
    std::size_t kinds = 0;
    const char* only = "none";
    for (const auto& [word, rows] : parts) {
        if (rows == 0) continue;
        ++kinds;
        only = word;
        words += fmt::format("{}{} of {}", words.empty() ? "" : ", ", word, rows);
    }
    return kinds > 1 ? words : std::string(only);
}

std::string listed(const std::set<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list.append(list.empty() ? "" : "; ").append(name);
    return list.empty() ? std::string("not said") : list;
}

Assumption clockOf(const RowsKnown& known) {
    return {wordsOf({{"the design's", known.design}, {"as fitted", known.fitted}}),
            known.fitted > 0 ? "Rates were fitted to kernels at the clock at which these were measured"
                             : "The clock that the device's drawing states, for every row",
            known.clock};
}

Assumption stackOf(const RowsKnown& known) {
    if (known.theirs + known.another == 0)
        return {"none", "Knows no software: the same answer for every row's", known.stack};
    std::string meaning = "Fitted to kernels of: " + listed(known.software);
    if (known.another > 0) meaning += fmt::format(". {} rows ran on another: {}", known.another, listed(known.ran));
    return {wordsOf({{"the rows'", known.theirs}, {"another", known.another}, {"none", known.nothing}}),
            std::move(meaning), known.stack};
}

/// How rows are really asked, whatever words say so.
std::vector<AssumedOf> factsOf(const MethodCard& card, std::string_view name, const AlikeRows& alike,
                               const EvaluateOptions& options) {
    const MethodOption* option = optionNamed(card, name);
    const auto chosen = options.options.find(name);
    std::vector<AssumedOf> facts;
    for (const auto& [key, count] : alike) {
        const std::string& ran = name == "fusion" ? key.fusion : key.launch;
        std::string fact = "single kernels";
        if (key.isModel()) {
            const bool has = option && options.asMeasured && !ran.empty() &&
                             std::find(option->choices.begin(), option->choices.end(), ran) != option->choices.end();
            fact = !option                           ? "not modelled"
                   : chosen != options.options.end() ? chosen->second
                   : has                             ? ran
                                                     : std::string(option->fallback);
        }
        facts.push_back({std::move(fact), count});
    }
    return facts;
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
    const AlikeRows alike = alikeRows(tables, rows);
    const CalibrationSet& calibrations = options.calibrations ? *options.calibrations : shippedCalibrations().set;
    const RowsKnown known = knownOf(filledBy(card, options.options, tables, rows), alike, calibrations, options);
    Assumptions all{ofOption(card, "fusion", asked.fusions, asked.models, options),
                    ofOption(card, "launch", asked.launches, asked.models, options), clockOf(known), stackOf(known)};
    all[static_cast<std::size_t>(Aspect::Fusion)].facts = factsOf(card, "fusion", alike, options);
    all[static_cast<std::size_t>(Aspect::Launch)].facts = factsOf(card, "launch", alike, options);
    return all;
}

double agreement(const Assumptions& a, const Assumptions& b) {
    const std::size_t alike = a.front().facts.size();
    std::size_t same = 0, rows = 0;
    for (std::size_t i = 0; i < alike; ++i) {
        bool all = true;
        for (std::size_t aspect = 0; aspect < aspects.size(); ++aspect)
            all = all && i < b[aspect].facts.size() && a[aspect].facts[i] == b[aspect].facts[i];
        rows += a.front().facts[i].rows;
        same += all ? a.front().facts[i].rows : 0;
    }
    if (rows > 0) return static_cast<double>(same) / static_cast<double>(rows);
    const bool both = std::equal(a.begin(), a.end(), b.begin(), [](const Assumption& x, const Assumption& y) {
        return y.facts.empty() && x.value == y.value;
    });
    return both ? 1 : 0;
}

std::vector<std::size_t> equalsOf(std::span<const Assumptions> all) {
    std::vector<std::size_t> groups, first;
    for (std::size_t i = 0; i < all.size(); ++i) {
        std::size_t group = first.size();
        double most = equalTerms;
        for (std::size_t g = 0; g < first.size(); ++g) {
            const double agrees = agreement(all[first[g]], all[i]);
            if (agrees < most || (group < first.size() && agrees == most)) continue;
            group = g, most = agrees;
        }
        if (group == first.size()) first.push_back(i);
        groups.push_back(group);
    }
    return groups;
}

std::vector<Aspect> differing(std::span<const Assumptions> all) {
    std::vector<Aspect> found;
    for (std::size_t i = 0; i < aspects.size(); ++i) {
        const Assumption& first = all.front()[i];
        const bool differs = std::any_of(all.begin(), all.end(), [&](const Assumptions& each) {
            return each[i].facts != first.facts || (first.facts.empty() && each[i].value != first.value);
        });
        if (differs) found.push_back(aspects[i]);
    }
    return found;
}

std::vector<const CalibrationSection*> sectionsBehind(std::string_view method, std::span<const ReferenceTable> tables,
                                                      std::span<const RowRef> rows,
                                                      const CalibrationSet& calibrations) {
    return sectionsOf(method, lookAt(tables, rows), calibrations);
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

std::vector<std::string> standsOn(const MethodCard& card, std::string_view asked,
                                  std::span<const ReferenceTable> tables, std::span<const RowRef> rows) {
    const auto choice = methodChoice(asked, builtinMethods());
    return filledBy(card, choice ? choice->options : OptionValues(), tables, rows);
}

std::int64_t samplesBehindAll(const MethodCard& card, std::string_view asked, std::span<const ReferenceTable> tables,
                              std::span<const RowRef> rows, const CalibrationSet& calibrations) {
    std::int64_t samples = 0;
    for (const std::string& part : standsOn(card, asked, tables, rows))
        samples += samplesBehind(part, tables, rows, calibrations);
    return samples;
}

}  // namespace orrery
