#include "methods/learned/surrogate_question.h"

#include "base/hash.h"
#include "base/text/read_file.h"
#include "hardware/attribute_at.h"
#include "hardware/design_facts.h"
#include "methods/provenance.h"
#include "methods/question_value.h"
#include "serving/fields/study_hash.h"
#include "workload/option_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>

namespace orrery {

namespace {

constexpr double edgeShare = 0.1;  // of the range

Dimension dimensionOf(const SurrogateInput& input, const Scenario& scenario) {
    if (input.part != "hardware") return Dimension::Count;
    const auto at = attributeAt(scenario.hardware->root, input.name);
    return at && at->spec ? at->spec->dimension : Dimension::Count;
}

bool turns(std::span<const SurrogateInput> inputs, std::string_view part, std::string_view name) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const SurrogateInput& input) { return input.part == part && input.name == name; });
}

void addDrawn(QuestionFacts& facts, const Hardware& design, std::span<const SurrogateInput> inputs) {
    std::vector<std::string> turned;
    for (const SurrogateInput& input : inputs)
        if (input.part == "hardware") turned.push_back(input.name);
    for (auto& fact : designFacts(design, turned).values) facts.push_back(std::move(fact));
}

// A model's file by its content, read once while it stays as it is.
std::string sourceHash(const std::string& source) {
    static std::mutex mutex;
    static std::map<std::string, std::pair<std::filesystem::file_time_type, std::string>> known;
    std::error_code problem;
    if (builtinWorkload(source) || !std::filesystem::is_regular_file(source, problem)) return source;
    const auto written = std::filesystem::last_write_time(source, problem);
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(source); found != known.end() && found->second.first == written)
        return found->second.second;
    const auto text = readFile(source, std::size_t{1} << 30);
    std::string hash = text ? Hash().add(std::string_view(*text)).hex() : source;
    known[source] = {written, hash};
    return hash;
}

void addModel(QuestionFacts& facts, const Workload& workload, std::span<const SurrogateInput> inputs) {
    const WorkloadRecipe& recipe = workload.recipe;
    facts.emplace_back("workload", workload.id.empty() ? recipe.source : workload.id);
    bool turned = false;
    for (const std::string_view key : workloadOptionKeys()) {
        if (turns(inputs, "workload", key)) {
            turned = true;
        } else {
            facts.emplace_back(key, optionText(recipe.options, key));
        }
    }
    for (const auto& [symbol, value] : recipe.options.bindings) facts.emplace_back(symbol, fmt::format("{}", value));
    for (const WhatIf& change : recipe.whatIfs) facts.emplace_back("what if", toText(change));
    // With other options the graph is another one; then what it is made from must be the same.
    facts.emplace_back("the model's graph", turned ? sourceHash(recipe.source) : workloadHash(workload));
}

std::string withoutTurned(const Plan& plan, std::span<const SurrogateInput> inputs) {
    std::string out;
    const std::string all = toText(plan);
    for (std::string_view rest = all; !rest.empty();) {
        const auto comma = rest.find(',');
        std::string_view part = rest.substr(0, comma);
        while (part.starts_with(' ')) part.remove_prefix(1);
        const auto equals = part.find('=');
        const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
        // One of each is what a plan has that does not say it.
        if (!turns(inputs, "plan", part.substr(0, equals)) && value != "1")
            out += fmt::format("{}{}", out.empty() ? "" : ",", part);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return out;
}

std::string rangeText(const SurrogateInput& input, Dimension dimension) {
    if (!input.words)
        return fmt::format("{} to {}", formatMeasure(input.low, dimension, 4), formatMeasure(input.high, dimension, 4));
    std::string list;
    for (const std::string& value : input.values) list += (list.empty() ? "" : ", ") + value;
    return list;
}

}  // namespace

std::string textOf(const SurrogateInput& input, const Scenario& scenario) {
    if (input.part == "hardware") return drawnValue(*scenario.hardware, input.name);
    if (input.part == "workload") return optionText(scenario.workload->recipe.options, input.name);
    if (input.part == "plan") return planValue(scenario.plan, input.name);
    return input.part == "software" ? toText(scenario.software) : std::string();
}

Expected<double> valueOf(const SurrogateInput& input, const Scenario& scenario) {
    const std::string text = textOf(input, scenario);
    if (input.words) return placeOfWord(input, text);
    const auto measure = parseMeasure(text, dimensionOf(input, scenario));
    if (text.empty() || !measure || measure->perCycle != input.perCycle) {
        return fail("surrogate.input",
                    text.empty() ? fmt::format("the question has no `{}`", input.name)
                                 : fmt::format("`{}` of `{}` is not what was learned", text, input.name),
                    fmt::format("a number{}", input.perCycle ? " per clock cycle" : ""),
                    "ask about the design that was learned, with other values of its knobs");
    }
    return measure->si;
}

QuestionFacts questionFacts(const Scenario& scenario, std::span<const SurrogateInput> inputs) {
    QuestionFacts facts;
    addDrawn(facts, *scenario.hardware, inputs);
    addModel(facts, *scenario.workload, inputs);
    facts.emplace_back("plan", withoutTurned(scenario.plan, inputs));
    facts.emplace_back("task", toText(scenario.task));
    if (const auto* run = std::get_if<ServingRun>(&scenario.task); run && run->study)
        facts.emplace_back("serving", servingHash(*run->study));
    if (!turns(inputs, "software", "software")) facts.emplace_back("software", toText(scenario.software));
    return facts;
}

std::string questionHash(const QuestionFacts& facts) {
    Hash hash;
    for (const auto& [name, value] : facts) hash.add(std::string_view(name)).add(std::string_view(value));
    return hash.hex();
}

std::string differenceOf(const QuestionFacts& learned, const QuestionFacts& asked) {
    if (learned == asked) return {};
    std::multimap<std::string_view, std::string_view> now;
    for (const auto& [name, value] : asked) now.emplace(name, value);
    std::vector<std::string> found;
    const auto shown = [](std::string_view value) { return value.empty() ? std::string("none") : std::string(value); };
    for (const auto& [name, value] : learned) {
        const auto [from, to] = now.equal_range(name);
        if (from == to) {
            found.push_back(fmt::format("`{}` is missing", name));
            continue;
        }
        auto same = std::find_if(from, to, [&](const auto& each) { return each.second == value; });
        if (same == to) {
            found.push_back(fmt::format("`{}` is {} and was {}", name, shown(from->second), shown(value)));
            same = from;
        }
        now.erase(same);
    }
    for (const auto& [name, value] : asked) {
        const auto extra = now.find(name);
        if (extra == now.end()) continue;
        found.push_back(fmt::format("`{}` is new", name));
        now.erase(extra);
    }
    // Other options make another graph: they say it better.
    if (found.size() > 1)
        std::erase_if(found, [](const std::string& each) { return each.starts_with("`the model's"); });
    if (found.empty()) return "its parts stand in another order";
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 3); ++i)
        text += (text.empty() ? "" : ", ") + found[i];
    return found.size() > 3 ? fmt::format("{} and {} more", text, found.size() - 3) : text;
}

InputVerdict verdictOf(const Surrogate& surrogate, const Scenario& scenario, std::span<const double> row) {
    InputVerdict verdict;
    for (std::size_t i = 0; i < surrogate.inputs.size(); ++i) {
        const SurrogateInput& input = surrogate.inputs[i];
        double beyond = 0;
        if (input.words) {
            beyond = row[i] < 0 ? 1 : 0;
        } else {
            const auto at = [&](double x) { return input.logarithmic ? std::log(std::max(x, 1e-300)) : x; };
            const double low = at(input.low), high = at(input.high), size = std::abs(high) * 1e-9;
            const double off = std::max({low - at(row[i]), at(row[i]) - high, 0.0});
            // What never changed says nothing of other values.
            beyond = off <= size ? 0 : high - low > size ? off / (high - low) : 1;
        }
        if (beyond == 0) continue;
        (beyond > edgeShare ? verdict.outside : verdict.edge) += 1;
        verdict.what += fmt::format("{}`{}` {}, seen {}", verdict.what.empty() ? "" : "; ", input.name,
                                    textOf(input, scenario), rangeText(input, dimensionOf(input, scenario)));
    }
    return verdict;
}

}  // namespace orrery
