#include "app/cli/compare_cases.h"

#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "store/project/scenario_baseline.h"
#include "store/project/study_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace orrery::cli {

namespace {

constexpr std::size_t mostCases = 256;

struct NamedDesign {
    HardwarePtr hardware;
    std::string name;
};

// The design with `path=value, path=value` set.
Expected<NamedDesign> variantOf(const NamedDesign& design, const std::string& text) {
    Hardware changed = *design.hardware;
    std::string said;
    for (const std::string& item : splitMethods(text)) {
        const auto equals = item.find('=');
        if (equals == std::string::npos || equals == 0) {
            return fail("usage.variant", fmt::format("`--variant {}` changes nothing", text), "path=value, path=value",
                        "for instance `--variant 'hbm3.bandwidth=6.7 TB/s'`");
        }
        const std::string path(trimmed(std::string_view(item).substr(0, equals)));
        const std::string value(trimmed(std::string_view(item).substr(equals + 1)));
        auto made = withAttribute(std::move(changed), path, value);
        if (!made) return Unexpected(made.error());
        changed = std::move(*made);
        said += fmt::format("{}{} {}", said.empty() ? "" : ", ", path, value);
    }
    const bool several = !design.name.empty();
    changed.name += " (" + said + ")";
    return NamedDesign{std::make_shared<const Hardware>(std::move(changed)),
                       several ? design.name + ", " + said : said};
}

Expected<std::vector<NamedDesign>> designsAsked(const Arguments& arguments) {
    const auto given = arguments.values("hardware");
    if (given.empty()) return fail("usage.missing", "`--hardware` is missing", "one design or several to compare");
    std::vector<NamedDesign> designs;
    for (const std::string& text : given) {
        auto hardware = readHardwareQuestion(arguments, text);
        if (!hardware) return Unexpected(hardware.error());
        const std::string name = (*hardware)->name;
        designs.push_back({std::move(*hardware), name});
        const std::size_t drawn = designs.size() - 1;
        for (const std::string& variant : arguments.values("variant")) {
            NamedDesign from = designs[drawn];
            if (given.size() == 1) from.name.clear();
            auto made = variantOf(from, variant);
            if (!made) return Unexpected(made.error());
            designs.push_back(std::move(*made));
        }
    }
    return designs;
}

Expected<std::vector<WorkloadPtr>> workloadsAsked(const Arguments& arguments) {
    std::vector<WorkloadPtr> workloads;
    for (const std::string& source : arguments.values("workload")) {
        auto recipe = readRecipe(arguments, source);
        if (!recipe) return Unexpected(std::move(recipe.error()));
        auto workload = loadWorkload(*recipe);
        if (!workload) return Unexpected(std::move(workload.error()));
        report((*workload)->warnings);
        workloads.push_back(std::move(*workload));
    }
    if (workloads.empty()) return fail("usage.missing", "`--workload` is missing", "one model or several to compare");
    return workloads;
}

Expected<std::vector<Plan>> plansAsked(const Arguments& arguments) {
    std::vector<Plan> plans;
    for (const std::string& text : arguments.values("plan")) {
        auto plan = parsePlan(text);
        if (!plan) {
            plan.error().code = "usage.plan";
            return Unexpected(std::move(plan.error()));
        }
        plans.push_back(std::move(*plan));
    }
    if (plans.empty()) plans.emplace_back();
    return plans;
}

// `2.5`, or `h100=2.5,a100=1.2`.
Expected<std::map<std::string, double, std::less<>>> deviceHours(const Arguments& arguments) {
    std::map<std::string, double, std::less<>> prices;
    for (const std::string& text : arguments.values("device-hour")) {
        for (const std::string& item : splitMethods(text)) {
            const std::size_t equals = item.find('=');
            const std::string_view value =
                equals == std::string::npos ? std::string_view(item) : std::string_view(item).substr(equals + 1);
            double dollars = 0;
            const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), dollars);
            if (error != std::errc{} || end != value.data() + value.size() || !(dollars >= 0 && dollars < 1e6)) {
                return fail("usage.value", fmt::format("`--device-hour {}` is no price", text),
                            "dollars per hour of a device: 2.5, or h100=2.5,a100=1.2");
            }
            prices[equals == std::string::npos ? std::string() : item.substr(0, equals)] = dollars;
        }
    }
    return prices;
}

// A number from 1, a name, or the only name with these words in it.
Expected<std::size_t> baselineAsked(const Arguments& arguments, const std::vector<ComparedCase>& cases) {
    const auto text = arguments.value("baseline");
    if (!text) return std::size_t{0};
    if (const auto number = wholeIn(*text);
        number && *number >= 1 && *number <= static_cast<std::int64_t>(cases.size()))
        return static_cast<std::size_t>(*number - 1);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (cases[i].name == *text) return i;
        if (cases[i].name.find(*text) != std::string::npos) found.push_back(i);
    }
    if (found.size() == 1) return found.front();
    return fail("usage.baseline",
                found.empty() ? fmt::format("no case is called `{}`", *text)
                              : fmt::format("{} cases are called something with `{}`", found.size(), *text),
                fmt::format("a number from 1 to {}, or words of one name", cases.size()));
}

Expected<CasesAsked> casesOfProject(const Arguments& arguments) {
    auto loaded = readProjectFile(arguments.positionals().front());
    if (!loaded) return Unexpected(loaded.error());
    report(loaded->warnings);
    const Project& project = loaded->project;
    auto study = studyOfProject(project);
    if (!study) return Unexpected(study.error());
    auto prices = deviceHours(arguments);
    if (!prices) return Unexpected(prices.error());
    prices->insert(project.prices.begin(), project.prices.end());
    CasesAsked asked;
    for (std::size_t i = 0; i < study->study.scenarios.size(); ++i) {
        Scenario& scenario = study->study.scenarios[i];
        const ScenarioRef& named = project.scenarios[i];
        std::string name = named.hardware + " · " + named.workload;
        if (scenario.plan.split()) name += " · " + toText(scenario.plan);
        const auto hour = deviceHourOf(*prices, scenario);
        asked.cases.push_back({std::move(name), std::move(scenario), hour});
    }
    // The first is the question that the window shows; without a mark it is held against the next one.
    asked.baseline = baselineOf(project.scenarios).value_or(asked.cases.size() > 1 ? 1 : 0);
    asked.methods = study->study.methods;
    if (arguments.has("method")) {
        auto methods = readMethods(arguments);
        if (!methods) return Unexpected(methods.error());
        asked.methods = std::move(*methods);
    }
    if (arguments.has("baseline")) {
        auto baseline = baselineAsked(arguments, asked.cases);
        if (!baseline) return Unexpected(baseline.error());
        asked.baseline = *baseline;
    }
    return asked;
}

}  // namespace

Expected<CasesAsked> casesAsked(const Arguments& arguments) {
    if (!arguments.positionals().empty()) {
        for (const char* option : {"hardware", "workload", "plan", "variant", "task"}) {
            if (arguments.has(option))
                return fail("usage.both", fmt::format("`--{}` beside a project", option),
                            "the cases of a project, or lists of designs, models and plans");
        }
        return casesOfProject(arguments);
    }
    const auto designs = designsAsked(arguments);
    if (!designs) return Unexpected(designs.error());
    const auto plans = plansAsked(arguments);
    if (!plans) return Unexpected(plans.error());
    const auto prices = deviceHours(arguments);
    if (!prices) return Unexpected(prices.error());
    Task task = Pass{};
    if (const auto text = arguments.value("task")) {
        auto read = parseTask(*text);
        if (!read) {
            read.error().code = "usage.task";
            return Unexpected(std::move(read.error()));
        }
        task = std::move(*read);
    }
    Software software;
    if (const auto text = arguments.value("software")) {
        auto read = parseSoftware(*text);
        if (!read) {
            read.error().code = "usage.software";
            return Unexpected(std::move(read.error()));
        }
        software = std::move(*read);
    }
    const auto workloads = workloadsAsked(arguments);
    if (!workloads) return Unexpected(workloads.error());
    CasesAsked asked;
    if (designs->size() * workloads->size() * plans->size() > mostCases) {
        return fail("usage.cases", fmt::format("{} cases", designs->size() * workloads->size() * plans->size()),
                    fmt::format("at most {}; `orrery-cli search` looks at more", mostCases));
    }
    for (const NamedDesign& design : *designs) {
        for (const WorkloadPtr& workload : *workloads) {
            for (const Plan& plan : *plans) {
                // What is the same in all of them is no part of a name.
                std::string name =
                    designs->size() > 1 ? (design.name.empty() ? design.hardware->name : design.name) : "";
                const auto add = [&](const std::string& part) { name += (name.empty() ? "" : " · ") + part; };
                if (workloads->size() > 1) add(workload->name);
                if (plans->size() > 1) add(plan.split() ? toText(plan) : std::string("one device"));
                if (name.empty()) name = design.hardware->name;
                Scenario scenario{design.hardware, workload, plan, task, software};
                const auto hour = deviceHourOf(*prices, scenario);
                asked.cases.push_back({std::move(name), std::move(scenario), hour});
            }
        }
    }
    auto methods = readMethodsFor(arguments, task);
    if (!methods) return Unexpected(methods.error());
    asked.methods = std::move(*methods);
    auto baseline = baselineAsked(arguments, asked.cases);
    if (!baseline) return Unexpected(baseline.error());
    asked.baseline = *baseline;
    return asked;
}

}  // namespace orrery::cli
