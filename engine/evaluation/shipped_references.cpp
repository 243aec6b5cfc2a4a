#include "evaluation/shipped_references.h"

#include "base/hash.h"
#include "base/text/nearest.h"
#include "base/text/read_file.h"
#include "base/unit.h"
#include "workload/kernel_fields.h"
#include "evaluation/reference_checks.h"
#include "hardware/files/catalogue.h"
#include "methods/provenance.h"
#include "serving/serving_study.h"
#include "workload/yaml/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace orrery {

namespace {

constexpr std::array kinds{ReferenceKind::Measured, ReferenceKind::Summed, ReferenceKind::Simulated};

DType typeOf(YamlFields& fields, std::string_view key, DType fallback) {
    const YamlNode* node = fields.find(key);
    if (!node) return fallback;
    const auto type = dtype(node->scalar);
    if (!type) fields.refuse(*node, fmt::format("'{}' is no data type", node->scalar), "fp16, bf16, fp8, …", {});
    return type.value_or(fallback);
}

NumberFormat formatOf(YamlFields& fields, std::string_view key, NumberFormat fallback) {
    const YamlNode* node = fields.find(key);
    if (!node) return fallback;
    const auto format = numberFormat(node->scalar);
    if (!format) fields.refuse(*node, fmt::format("'{}' is no number format", node->scalar), "fp16, fp8-block, …", {});
    return format.value_or(fallback);
}

WorkloadOptions readOptionsOf(YamlFields& fields, WorkloadOptions options) {
    options.batch = fields.whole("batch", 1, 100000, options.batch);
    options.sequence = fields.whole("sequence", 1, 10'000'000, options.sequence);
    options.image = fields.whole("image", 1, 16384, options.image);
    options.setWeights(formatOf(fields, "weights", options.weightFormat()));
    options.setActivations(formatOf(fields, "activations", options.activationFormat()));
    options.kv = typeOf(fields, "kv", options.kv);
    options.flashAttention = fields.flag("flash", options.flashAttention);
    if (const YamlNode* node = fields.find("phase")) {
        const auto read = phase(node->scalar);
        if (!read) fields.refuse(*node, fmt::format("'{}' is no phase", node->scalar), "forward, prefill, decode", {});
        options.phase = read.value_or(options.phase);
    }
    fields.refuseOthers();
    return options;
}

Diagnostic withCode(Diagnostic diagnostic) {
    diagnostic.code = "reference.description";
    return diagnostic;
}

/// Requests that all wait from the start, each with as many tokens: what offline benchmarks measure.
Task readServingRun(YamlFields& fields, const ModelReference& model) {
    auto study = std::make_shared<ServingStudy>();
    const auto requests = fields.whole("requests", 1, 1'000'000, 1);
    const auto prompt = static_cast<std::int32_t>(fields.whole("prompt", 1, 1'000'000, 128));
    const auto output = static_cast<std::int32_t>(fields.whole("output", 1, 1'000'000, 128));
    const std::string batching = fields.text("batching", "continuous");
    if (batching != "static" && batching != "continuous") {
        fields.refuse(*fields.find("batching"), fmt::format("'{}' is no batching", batching), "static or continuous",
                      {});
    }
    SchedulerSpec scheduler;
    scheduler.id = batching == "static" ? "static" : "vllm-v1";
    scheduler.maxSequences = static_cast<std::int32_t>(fields.whole("sequences", 1, 1'000'000, requests));
    scheduler.tokenBudget = static_cast<std::int32_t>(fields.whole("token_budget", 1, 10'000'000, 8192));
    fields.refuseOthers();
    study->name = fmt::format("{} requests of {} and {} tokens", requests, prompt, output);
    study->scenario.model = {model.recipe.source, model.recipe.options.weights, model.recipe.options.activations,
                             model.recipe.options.kv};
    PoolSpec& pool = study->scenario.pools.front();
    pool.scheduler = scheduler;
    pool.plan = model.plan;
    study->traffic.requests = requests;
    study->traffic.arrivals.kind = ArrivalKind::AllAtOnce;
    study->traffic.prompt = {.kind = LengthKind::Fixed, .mean = static_cast<double>(prompt)};
    study->traffic.output = {.kind = LengthKind::Fixed, .mean = static_cast<double>(output)};
    return ServingRun{std::move(study)};
}

/// Tokens that a run puts out.
double outputTokens(const Task& task) {
    const auto* run = std::get_if<ServingRun>(&task);
    return run ? static_cast<double>(run->study->traffic.requests) * run->study->traffic.output.mean : 0;
}

Expected<ModelReference> readItem(const YamlNode& item, const std::string& file) {
    const Place place{file, item.line, item.column, {}};
    const auto wrong = [&](std::string message, std::string expected) {
        return fail("reference.description", std::move(message), std::move(expected),
                    "each reference has workload, options, device, time and source", place);
    };
    if (!item.isMap()) return wrong("a reference is a map", "{workload: …, device: …, time: …}");
    YamlFields fields(item, file, "references");
    ModelReference model;
    model.recipe.source = fields.text("workload", {});
    const WorkloadInfo* info = builtinWorkload(model.recipe.source);
    if (!info) return wrong(fmt::format("there is no built-in model '{}'", model.recipe.source), "a built-in model");
    model.recipe.options = info->usual;
    if (const YamlNode* options = fields.find("options")) {
        if (!options->isMap()) return wrong("the options are no map", "options: {batch: 1, …}");
        YamlFields inside(*options, file, "references/options");
        model.recipe.options = readOptionsOf(inside, info->usual);
        if (inside.problem()) return tl::unexpected(withCode(*inside.problem()));
    }
    Reference& reference = model.reference;
    reference.device = fields.text("device", {});
    if (catalogueId(reference.device) != reference.device) {
        return wrong(fmt::format("the hardware catalogue has no '{}'", reference.device), "an id of the catalogue");
    }
    const auto plan = parsePlan(fields.text("plan", {}));
    if (!plan) return wrong(plan.error().message, "a plan such as tp=4,pp=4,dp=4");
    model.plan = *plan;
    const YamlNode* serving = fields.find("serving");
    const std::string word = fields.text("task", serving ? "serving-run" : "pass");
    if ((word == toText(TaskKind::ServingRun)) != (serving != nullptr))
        return wrong("only a serving run has requests", "serving: {requests: …, prompt: …}");
    if (serving) {
        if (!serving->isMap()) return wrong("the requests are no map", "serving: {requests: …, prompt: …}");
        YamlFields inside(*serving, file, "references/serving");
        model.task = readServingRun(inside, model);
        if (inside.problem()) return tl::unexpected(withCode(*inside.problem()));
    } else {
        const auto task = parseTask(word);
        if (!task || kindOf(*task) == TaskKind::OneOperator)
            return wrong(task ? "an operator is no task of a whole model" : task.error().message,
                         "pass, training-step or serving-run");
        model.task = *task;
    }
    model.publication = fields.text("publication", {});
    if (const double rate = serving ? fields.number("output_tokens_per_s", 0, 1e12, 0) : 0; rate > 0) {
        reference.value = Seconds(outputTokens(model.task) / rate);
    } else {
        const auto time = parseMeasure(fields.text("time", {}), Dimension::Time);
        if (!time || time->perCycle || !(time->si > 0)) return wrong("the time is none", "a time such as 3.2 ms");
        reference.value = Seconds(time->si);
    }
    reference.software = fields.text("software", {});
    reference.source = fields.text("source", {});
    if (reference.source.empty()) return wrong("the source is missing", "who measured it and where it is published");
    reference.noise = fields.number("noise", 0, 10, 0);
    const auto kind = fields.text("kind", "measured");
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](ReferenceKind k) { return toText(k) == kind; });
    if (found == kinds.end()) return wrong(fmt::format("'{}' is no kind", kind), "measured, summed or simulated");
    reference.kind = *found;
    model.line = static_cast<std::int32_t>(item.line);
    const auto option = [&](const char* key, std::vector<std::string> words) {
        std::string said = fields.text(key, {});
        if (!said.empty() && std::find(words.begin(), words.end(), said) == words.end())
            fields.refuse(*fields.find(key), fmt::format("'{}' is no {}", said, key), quotedList(words, "or"), {});
        return said;
    };
    model.launch = option("launch", {"graph", "eager"});
    model.fusion = option("fusion", {"none", "epilogue", "compile"});
    const bool training = kindOf(model.task) == TaskKind::TrainingStep;
    reference.what = serving ? fmt::format("{} of {}", std::get<ServingRun>(model.task).study->name, info->name)
                             : fmt::format("{}{}, batch {}", training ? "training step of " : "", info->name,
                                           model.recipe.options.batch);
    fields.refuseOthers();
    if (fields.problem()) return tl::unexpected(withCode(*fields.problem()));
    return model;
}

/// `Llama-2 7B decode, batch 1, 105 tokens, bf16`, `training Llama-3 8B, …, cp=2, dp=4`; at most 64 letters, so that it
/// can be kept.
std::string modelName(const ModelReference& model) {
    const WorkloadRecipe& recipe = model.recipe;
    const WorkloadInfo* info = builtinWorkload(recipe.source);
    const WorkloadOptions& o = recipe.options;
    const bool training = kindOf(model.task) == TaskKind::TrainingStep;
    std::string name = (training ? "training " : "") + (info ? info->name : recipe.source);
    if (const auto* run = std::get_if<ServingRun>(&model.task)) {
        const TrafficSpec& traffic = run->study->traffic;
        name = fmt::format("serving {}, {} x {} + {} tokens, {}", name, traffic.requests, traffic.prompt.mean,
                           traffic.output.mean, toText(o.weightFormat()));
        if (model.plan.devices() > 1) name += fmt::format(", {}", toText(model.plan));
        return name.substr(0, 64);
    }
    if (info && info->hasPhases && !training) name += fmt::format(" {}", toText(o.phase));
    name += fmt::format(", batch {}", o.batch);
    if (info && info->hasSequence) name += fmt::format(", {} tokens", o.sequence);
    name += fmt::format(", {}", toText(o.weightFormat()));
    if (model.plan.devices() > 1) name += fmt::format(", {}", toText(model.plan));
    return name.substr(0, 64);
}

bool isModelFile(const std::string& text) {
    return text.find("model-references/") != std::string::npos;
}

std::string textOf(const std::string& file) {
    return readFile(file).value_or(std::string());
}

ShippedModelReferences readShipped() {
    ShippedModelReferences shipped;
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(presetsFolder() + "/references", error)) {
        if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        if (!isModelFile(textOf(file))) continue;
        auto read = readModelReferences(file);
        if (!read) {
            shipped.warnings.push_back(std::move(read.error()));
            continue;
        }
        for (auto& each : *read) shipped.all.push_back(std::move(each));
    }
    return shipped;
}

}  // namespace

Expected<std::vector<ModelReference>> readModelReferences(const std::string& file) {
    const auto text = textOf(file);
    auto root = parseYaml(text, file);
    if (!root) return tl::unexpected(std::move(root.error()));
    const YamlNode* format = root->find("orrery");
    if (!format || format->scalar != "model-references/1") {
        const bool newer = format && format->scalar.starts_with("model-references/");
        return fail(newer ? "reference.version" : "reference.format",
                    "this is no table of models that this version reads", "orrery: model-references/1",
                    newer ? "it is from a newer Orrery" : "a table begins with this line",
                    Place{file, format ? format->line : 1, 0, {}});
    }
    const YamlNode* list = root->find("references");
    if (!list || !list->isSequence()) {
        return fail("reference.description", "the table has no list of references", "references: [...]", {},
                    Place{file, list ? list->line : 1, 0, {}});
    }
    std::vector<ModelReference> all;
    for (const YamlNode& item : list->items) {
        auto read = readItem(item, file);
        if (!read) return tl::unexpected(std::move(read.error()));
        all.push_back(std::move(*read));
    }
    return all;
}

std::vector<ReferenceTable> modelTables(std::span<const ModelReference> models, const std::string& file) {
    std::vector<ReferenceTable> tables;
    for (const ModelReference& model : models) {
        const Reference& truth = model.reference;
        auto table = std::find_if(tables.begin(), tables.end(), [&](const ReferenceTable& each) {
            return each.software == truth.software && each.kind == truth.kind;
        });
        if (table == tables.end()) {
            ReferenceTable made;
            made.name = truth.software.empty() ? std::string("Whole models") : "Whole models: " + truth.software;
            made.file = file;
            made.software = truth.software;
            made.source = truth.source;
            made.licence = "facts cited";
            made.kind = truth.kind;
            table = tables.insert(tables.end(), std::move(made));
        }
        if (table->source.find(truth.source) == std::string::npos) table->source += "; " + truth.source;
        ReferenceRow row;
        const auto same = [&](const ReferenceDevice& device) { return device.catalogue == truth.device; };
        auto device = std::find_if(table->devices.begin(), table->devices.end(), same);
        if (device == table->devices.end())
            device = table->devices.insert(device, ReferenceDevice{truth.device, truth.device});
        row.device = static_cast<std::int32_t>(device - table->devices.begin());
        row.kernel.kind = KernelKind::Other;
        row.kernel.type = model.recipe.options.activations;
        row.kernel.function = keptWord(modelName(model));
        row.seconds = truth.value.value;
        row.noise = truth.noise;
        row.line = model.line;
        table->rows.push_back(row);
        table->models.push_back({model.recipe, model.launch, model.fusion, model.task, model.plan, model.publication});
    }
    for (ReferenceTable& table : tables) {
        Hash hash;
        for (const ReferenceRow& row : table.rows)
            hash.add(row.kernel.function)
                .add(table.devices[static_cast<std::size_t>(row.device)].catalogue)
                .add(row.seconds);
        table.hash = hash.hex();
    }
    return tables;
}

const ShippedModelReferences& shippedModelReferences() {
    static const ShippedModelReferences shipped = readShipped();
    return shipped;
}

std::optional<Reference> referenceFor(const Scenario& scenario) {
    if (!scenario.hardware || !scenario.workload || !scenario.workload->recipe.whatIfs.empty()) return std::nullopt;
    const WorkloadRecipe& asked = scenario.workload->recipe;
    const WorkloadInfo* info = builtinWorkload(asked.source);
    if (!info) return std::nullopt;
    WorkloadOptions options = asked.options;
    if (options.sequence == 0) options.sequence = info->usual.sequence;
    if (options.image == 0) options.image = info->usual.image;
    for (const ModelReference& each : shippedModelReferences().all) {
        if (each.recipe.source != info->id || each.task != scenario.task || each.plan != scenario.plan) continue;
        WorkloadOptions measured = each.recipe.options;
        // What the model does not have cannot differ.
        if (!info->hasSequence) measured.sequence = options.sequence;
        if (!info->hasImage) measured.image = options.image;
        if (!info->hasPhases) measured.phase = options.phase;
        if (options.phase != Phase::Decode) measured.kv = options.kv;
        if (measured != options) continue;
        const auto device = catalogueHardware(each.reference.device);
        if (device && device->name == scenario.hardware->name &&
            hardwareHash(*device) == hardwareHash(*scenario.hardware)) {
            return each.reference;
        }
    }
    return std::nullopt;
}

}  // namespace orrery
