#include "app/cli/question.h"

#include "app/cli/output.h"
#include "base/text/nearest.h"
#include "base/text/words.h"
#include "hardware/check/validate.h"
#include "hardware/files/catalogue.h"
#include "methods/among_all.h"
#include "serving/serving_study.h"
#include "store/project/project.h"
#include "store/project/serving_file.h"
#include "store/project/what_ifs.h"
#include "study/serving/sweep.h"
#include "workload/one_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace orrery::cli {

namespace {

Expected<void> readNumber(const Arguments& arguments, std::string_view option, std::int64_t& out) {
    const auto text = arguments.value(option);
    if (!text) return {};
    const auto value = wholeIn(*text);
    constexpr std::int64_t largest = 1'000'000'000;
    if (!value || *value < 1 || *value > largest) {
        return fail("usage.number", fmt::format("`--{} {}` is not a size", option, *text),
                    fmt::format("a whole number from 1 to {}", largest));
    }
    out = *value;
    return {};
}

Expected<void> readType(const Arguments& arguments, std::string_view option, DType& out) {
    const auto text = arguments.value(option);
    if (!text) return {};
    const auto type = dtype(*text);
    if (!type || *type == DType::String) {
        return fail("usage.dtype", fmt::format("`--{} {}` is not a number format", option, *text),
                    "one of fp32, tf32, bf16, fp16, fp8, fp6, fp4, int32, int16, int8, int4",
                    didYouMean(*text, {"fp32", "bf16", "fp16", "fp8", "fp4", "int8", "int4"}));
    }
    out = *type;
    return {};
}

Expected<std::optional<NumberFormat>> readFormat(const Arguments& arguments, std::string_view option) {
    const auto text = arguments.value(option);
    if (!text) return std::nullopt;
    const auto format = numberFormat(*text);
    if (!format) {
        std::vector<std::string> known{"fp32", "bf16", "fp16", "fp8", "fp4", "int8", "int4"};
        const auto scaled = scaledFormatNames();
        known.insert(known.end(), scaled.begin(), scaled.end());
        return fail("usage.dtype", fmt::format("`--{} {}` is not a number format", option, *text),
                    fmt::format("one of fp32, tf32, bf16, fp16, fp8, fp6, fp4, int32, int16, int8, int4, {}",
                                fmt::join(scaled, ", ")),
                    didYouMean(*text, known));
    }
    return format;
}

}  // namespace

const std::vector<Option>& workloadOptions() {
    static const std::vector<Option> options{
        {"batch", "N", "requests or images at once"},
        {"seq", "N", "tokens of context; in decode the length of the KV cache"},
        {"image", "N", "height and width of images"},
        {"phase", "PHASE", "forward, prefill, decode or training-forward"},
        {"weights", "TYPE",
         "number format of weights: fp16, bf16, fp8, int8, int4, …, or with scales: fp8-row, fp8-block, mxfp8, "
         "mxfp4, nvfp4, …"},
        {"activations", "TYPE",
         "number format of activations: a type in which they are stored, or one with scales (fp8-tensor, fp8-block, "
         "nvfp4, …) to which products narrow them"},
        {"kv", "TYPE", "number format of the KV cache"},
        {"no-flash", "", "write the score matrix of attention to memory and read it back"},
        {"bind", "NAME=N,…", "values for symbolic dimensions of an imported graph", true},
        {"what-if", "CHANGE",
         "ask with the model changed: {retype: MatMul, type: int8}, {fuse: [a, b]}, or {reshape: op, "
         "input: 0, extents: [8, 8]}",
         true},
    };
    return options;
}

Expected<WorkloadOptions> readWorkloadOptions(const Arguments& arguments, WorkloadOptions options) {
    const auto done = readNumber(arguments, "batch", options.batch)
                          .and_then([&] { return readNumber(arguments, "seq", options.sequence); })
                          .and_then([&] { return readNumber(arguments, "image", options.image); })
                          .and_then([&] { return readType(arguments, "kv", options.kv); });
    if (!done) return tl::unexpected(done.error());
    auto weights = readFormat(arguments, "weights"), activations = readFormat(arguments, "activations");
    if (!weights) return tl::unexpected(std::move(weights.error()));
    if (!activations) return tl::unexpected(std::move(activations.error()));
    if (*weights) options.setWeights(**weights);
    if (*activations) options.setActivations(**activations);
    if (const auto text = arguments.value("phase")) {
        const auto found = phase(*text);
        if (!found) {
            return fail("usage.phase", fmt::format("`{}` is not a phase", *text),
                        "one of forward, prefill, decode, training-forward",
                        didYouMean(*text, {"forward", "prefill", "decode", "training-forward"}));
        }
        options.phase = *found;
    }
    if (arguments.has("no-flash")) options.flashAttention = false;
    for (const std::string& text : arguments.values("bind")) {
        auto bindings = parseBindings(text);
        if (!bindings) {
            Diagnostic error = bindings.error();
            error.code = "usage.bind";
            return tl::unexpected(error);
        }
        for (const auto& [symbol, value] : *bindings) options.bindings[symbol] = value;
    }
    return options;
}

namespace {

// `--activations T` of a file that says its own types: changes that put all of its graph into T, and the usual option
// in `recipe`. Weights of another format than T stay an option, weights of T are part of the graph.
Expected<std::vector<WhatIf>> graphInOneType(WorkloadRecipe& recipe) {
    const WorkloadOptions usual;
    const NumberFormat weights = recipe.options.weightFormat(), activations = recipe.options.activationFormat();
    if (activations.scaling != Scaling::Usual) {
        return fail("usage.types", "an ONNX file says which tensors pass between its operators, and in which type",
                    "activations in a type without a scaling of its own",
                    fmt::format("`--activations {}`", toText(activations.type)));
    }
    recipe.options.setActivations(usual.activationFormat());
    if (weights == activations) recipe.options.setWeights(usual.weightFormat());
    const auto loaded = loadWorkload({recipe.source, recipe.options, {}});
    if (!loaded) return tl::unexpected(loaded.error());
    return inOneType((*loaded)->graph, {}, activations.type);
}

// Weights as usual are those of the graph: of fp16 they cannot be asked for beside other activations.
Expected<void> checkOwnTypes(const Arguments& arguments, const WorkloadOptions& asked) {
    const WorkloadOptions usual;
    if (!arguments.has("weights") || asked.weightFormat() != usual.weightFormat() ||
        (arguments.has("activations") && asked.activationFormat() == asked.weightFormat()))
        return {};
    return fail("usage.types", "the weights of an ONNX file are stored in fp16 together with its activations alone",
                "another type for the weights, or `--weights fp16 --activations fp16`",
                "`--weights bf16` has as many bits");
}

}  // namespace

Expected<WorkloadRecipe> readRecipe(const Arguments& arguments, const std::string& source) {
    WorkloadRecipe recipe{source, {}};
    if (const WorkloadInfo* info = builtinWorkload(source)) recipe.options = info->usual;
    auto options = readWorkloadOptions(arguments, recipe.options);
    if (!options) return tl::unexpected(options.error());
    recipe.options = std::move(*options);
    if (hasOwnTypes(source)) {
        if (auto good = checkOwnTypes(arguments, recipe.options); !good) return tl::unexpected(std::move(good.error()));
        if (arguments.has("activations")) {
            auto changes = graphInOneType(recipe);
            if (!changes) return tl::unexpected(std::move(changes.error()));
            recipe.whatIfs = std::move(*changes);
        }
    }
    for (const std::string& text : arguments.values("what-if")) {
        auto changes = parseWhatIfs(text);
        if (!changes) {
            Diagnostic error = changes.error();
            error.code = "usage.what-if";
            error.place = {};
            if (error.expected.empty()) error.expected = "such as `--what-if '{retype: MatMul, type: int8}'`";
            return tl::unexpected(std::move(error));
        }
        std::move(changes->begin(), changes->end(), std::back_inserter(recipe.whatIfs));
    }
    return recipe;
}

Expected<HardwarePtr> readHardwareQuestion(const Arguments& arguments, const std::string& idOrFile) {
    std::vector<std::pair<std::string, std::string>> settings;
    for (const std::string& setting : arguments.values("set")) {
        const auto equals = setting.find('=');
        if (equals == std::string::npos || equals == 0) {
            return fail("usage.set", fmt::format("`--set {}` sets nothing", setting), "--set path=value",
                        "for instance `--set hbm3.bandwidth='4 TB/s'`");
        }
        settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    auto loaded = loadHardware(idOrFile);
    if (!loaded) return tl::unexpected(loaded.error());
    report(loaded->warnings);
    Hardware hardware = std::move(loaded->hardware);
    std::string changes;
    for (const auto& [path, value] : settings) {
        auto changed = withAttribute(std::move(hardware), path, value);
        if (!changed) return tl::unexpected(changed.error());
        hardware = std::move(*changed);
        changes += fmt::format("{}{} {}", changes.empty() ? "" : ", ", path, value);
    }
    if (!changes.empty()) hardware.name += " (" + changes + ")";
    for (Diagnostic& finding : validate(hardware)) {
        if (finding.severity == Severity::Error) return Unexpected(std::move(finding));
        report(finding);
    }
    return std::make_shared<const Hardware>(std::move(hardware));
}

Expected<std::vector<std::string>> readMethods(const Arguments& arguments) {
    std::vector<std::string> wanted;
    for (const std::string& list : arguments.values("method")) {
        for (const std::string& text : splitMethods(list)) {
            const auto choice = methodChoice(text, builtinMethods());
            if (!choice) return tl::unexpected(choice.error());
            std::string name = toText(*choice);
            if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) wanted.push_back(std::move(name));
        }
    }
    if (wanted.empty()) {
        for (const Method& method : builtinMethods())
            if (standsAmongAll(method.card)) wanted.emplace_back(method.card.id);
    }
    return wanted;
}

const std::vector<Option>& scenarioOptions() {
    static const std::vector<Option> options{
        {"plan", "PLAN", "spread the model over drawn devices: tp=8,pp=2,dp=1,ep=1,mb=4,at=node/h100"},
        {"task", "TASK",
         "pass (default), training-step, training-step(optimizer=sgd), operator(NAME), or a file of serving"},
        {"software", "NAME",
         "whose kernels run, and what its host does: 'vLLM 0.24.0(graphs=off, host=12 us)'; answers that were learned "
         "from other software are doubted"},
    };
    return options;
}

namespace {

bool isFile(const std::string& text) {
    return text.ends_with(".yaml") || text.ends_with(".yml") || text.find('/') != std::string::npos;
}

// A file of serving, or the section of a project.
Expected<ServingStudy> readServingQuestion(const std::string& path) {
    auto text = readFile(path);
    if (!text) return tl::unexpected(std::move(text.error()));
    if (text->find("orrery: project/") == std::string::npos) {
        auto loaded = readServingFile(path);
        if (!loaded) return tl::unexpected(std::move(loaded.error()));
        report(loaded->warnings);
        return std::move(loaded->study);
    }
    auto project = readProjectFile(path);
    if (!project) return tl::unexpected(std::move(project.error()));
    if (!project->project.serving) {
        return fail("serving.none", "the project asks nothing about serving", "a section `serving:`",
                    "name a file of serving", Place{path, 0, 0, "serving"});
    }
    return std::move(*project->project.serving);
}

Expected<Task> readTask(const Arguments& arguments) {
    const auto text = arguments.value("task");
    if (!text) return Pass{};
    if (!isFile(*text)) {
        auto task = parseTask(*text);
        if (!task) task.error().code = "usage.task";
        return task;
    }
    auto study = readServingQuestion(*text);
    if (!study) return tl::unexpected(std::move(study.error()));
    // The model that is named is the one that is served.
    if (const auto model = arguments.value("workload")) study->scenario.model.source = *model;
    return ServingRun{std::make_shared<const ServingStudy>(std::move(*study))};
}

// The served model as a workload: one decode step, in the types that the study says.
WorkloadRecipe servedRecipe(const ServedModel& model) {
    WorkloadRecipe recipe{model.source, {}, {}};
    if (const WorkloadInfo* info = builtinWorkload(model.source)) recipe.options = info->usual;
    recipe.options.phase = Phase::Decode;
    recipe.options.weights = model.weights;
    recipe.options.activations = model.activations;
    recipe.options.kv = model.kv;
    return recipe;
}

Unexpected missing(std::string_view option) {
    return fail("usage.missing", fmt::format("`--{}` is missing", option), "a device and a model to ask about",
                "a file of serving as `--task` may bring both");
}

}  // namespace

Expected<Scenario> readScenario(const Arguments& arguments) {
    Scenario scenario;
    auto task = readTask(arguments);
    if (!task) return tl::unexpected(std::move(task.error()));
    scenario.task = std::move(*task);
    const auto* serving = std::get_if<ServingRun>(&scenario.task);
    if (const auto text = arguments.value("plan")) {
        auto plan = parsePlan(*text);
        if (!plan) {
            plan.error().code = "usage.plan";
            return tl::unexpected(std::move(plan.error()));
        }
        scenario.plan = std::move(*plan);
    }
    if (const auto text = arguments.value("software")) {
        auto software = parseSoftware(*text);
        if (!software) {
            software.error().code = "usage.software";
            return tl::unexpected(std::move(software.error()));
        }
        scenario.software = std::move(*software);
    }
    const auto device = arguments.value("hardware");
    if (!device && !serving) return missing("hardware");
    if (device) {
        auto hardware = readHardwareQuestion(arguments, *device);
        if (!hardware) return tl::unexpected(std::move(hardware.error()));
        scenario.hardware = std::move(*hardware);
    } else {
        auto hardware = hardwareOf(*serving->study);
        if (!hardware) return tl::unexpected(std::move(hardware.error()));
        if (!*hardware) return missing("hardware");
        scenario.hardware = std::move(*hardware);
    }
    const auto model = arguments.value("workload");
    if (!model && !serving) return missing("workload");
    auto recipe = serving ? Expected<WorkloadRecipe>(servedRecipe(serving->study->scenario.model))
                          : readRecipe(arguments, *model);
    if (!recipe) return tl::unexpected(std::move(recipe.error()));
    auto workload = loadWorkload(*recipe);
    if (!workload) return tl::unexpected(std::move(workload.error()));
    report((*workload)->warnings);
    scenario.workload = std::move(*workload);
    return scenario;
}

Expected<std::vector<std::string>> readMethodsFor(const Arguments& arguments, const Task& task) {
    auto wanted = readMethods(arguments);
    if (!wanted || arguments.has("method")) return wanted;
    std::erase_if(*wanted, [&](const std::string& id) { return !findMethod(id)->card.answers(kindOf(task)); });
    return wanted;
}

int failed(const Diagnostic& diagnostic) {
    report(diagnostic);
    return diagnostic.code.compare(0, 6, "usage.") == 0 ? Usage : Unanswered;
}

std::optional<Diagnostic> meaningless(const Arguments& arguments, std::string_view form,
                                      const std::vector<std::string_view>& others) {
    for (const std::string_view other : others) {
        if (!arguments.has(other)) continue;
        return fail("usage.together", fmt::format("`--{}` means nothing with {}", other, form),
                    fmt::format("`--{}` without it, or {} without `--{}`", other, form, other), "leave one of them out")
            .value();
    }
    return std::nullopt;
}

}  // namespace orrery::cli
