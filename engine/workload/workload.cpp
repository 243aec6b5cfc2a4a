#include "workload/workload.h"

#include "base/text/nearest.h"
#include "base/text/words.h"
#include "workload/importers.h"
#include "workload/kernel_source.h"
#include "workload/models/catalogue.h"
#include "workload/one_type.h"
#include "workload/options.h"
#include "workload/spaces/spaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace orrery {
namespace {

constexpr std::array<std::string_view, 4> phaseNames{"forward", "prefill", "decode", "training-forward"};

Unexpected unknownSource(const std::string& source) {
    std::vector<std::string> ids;
    for (const WorkloadInfo& info : builtinWorkloads()) ids.push_back(info.id);
    const std::string near = didYouMean(source, ids);
    const std::string hint = near.empty() ? "list the built-in models with: orrery-cli workloads" : near;
    return fail("workload.unknown", fmt::format("there is no built-in model and no file “{}”", source.substr(0, 200)),
                "the id of a built-in model, a network of a search space (`fbnet:7 8 1 …`), one kernel "
                "(`kernel:gemm m=4096 n=4096 k=4096 dtype=bf16`), or the path of an .onnx, "
                "config.json, workload .yaml or ncnn .param file",
                hint, Place{.path = "source"});
}

std::string fileId(const std::string& path) {
    const std::filesystem::path file(path);
    // Every Hugging Face model is called config.json: its folder has the name.
    const std::string folder = file.parent_path().filename().string();
    return file.filename() == "config.json" && !folder.empty() ? folder : file.stem().string();
}

void warnOfUnpriced(const Graph& graph, Diagnostics& warnings) {
    std::set<std::string> types;
    std::size_t count = 0;
    for (const Operator& op : graph.operators) {
        if (op.kind != OperatorKind::Other) continue;
        ++count;
        types.insert(op.type);
    }
    if (count > 0) {
        const std::string names = fmt::format("{}", fmt::join(types, ", "));
        warnings.push_back(
            warning("workload.unpriced-operators",
                    fmt::format("{} operator(s) without a rule: their time is that of their bytes: {}", count, names),
                    "their arithmetic is missing from all totals"));
    }
    const auto open = graph.unresolved();
    if (!open.empty()) {
        warnings.push_back(
            warning("workload.unresolved-shapes",
                    fmt::format("{} operator(s) have unknown extents and count as no time; the first is {}",
                                open.size(), graph.operators[open.front()].name),
                    "set the graph's sizes among its options, or with --bind batch=1 on the command line",
                    Place{.path = graph.operators[open.front()].name}));
    }
}

}  // namespace

std::string_view toText(Phase phase) {
    return phaseNames[static_cast<std::size_t>(phase)];
}

std::optional<Phase> phase(std::string_view text) {
    const std::string key = lower(text);
    for (std::size_t i = 0; i < phaseNames.size(); ++i) {
        if (phaseNames[i] == key) return static_cast<Phase>(i);
    }
    return std::nullopt;
}

Expected<void> checkOptions(const WorkloadOptions& options) {
    const auto check = [](std::string_view name, std::int64_t value, std::int64_t low,
                          std::int64_t high) -> std::optional<Diagnostic> {
        if (value >= low && value <= high) return std::nullopt;
        return fail("workload.option-out-of-range", fmt::format("{} is {}", name, value),
                    fmt::format("a whole number from {} to {}", low, high), fmt::format("change the {}", name),
                    Place{.path = fmt::format("options/{}", name)})
            .value();
    };
    for (const auto& problem :
         {check("batch", options.batch, 1, 100'000), check("sequence", options.sequence, 0, 10'000'000),
          check("image", options.image, 0, 16'384)}) {
        if (problem) return Unexpected(*problem);
    }
    for (const auto& [name, type] : {std::pair{"weights", options.weights},
                                     std::pair{"activations", options.activations}, std::pair{"kv", options.kv}}) {
        if (bits(type) == 0) {
            return fail("workload.option-type", fmt::format("{} cannot be stored as {}", name, toText(type)),
                        "a number type such as fp16, bf16, fp8, int8 or int4", "choose another type",
                        Place{.path = fmt::format("options/{}", name)});
        }
    }
    if (options.activationScaling != Scaling::Usual && bits(options.weights) > bits(options.activations)) {
        return fail("workload.option-scaling",
                    fmt::format("activations are narrowed to {} for products whose weights stay {}",
                                toText(options.activationFormat()), toText(options.weightFormat())),
                    "weights of as few bits as the activations, or fewer",
                    "narrow the weights too, or leave activations at 16 bits", Place{.path = "options/activations"});
    }
    return {};
}

const WorkloadInfo* builtinWorkload(std::string_view idOrName) {
    const std::string key = lower(idOrName);
    for (const WorkloadInfo& info : builtinWorkloads()) {
        if (info.id == key || lower(info.name) == key) return &info;
    }
    return nullptr;
}

Expected<WorkloadPtr> loadWorkload(const WorkloadRecipe& recipe) try {
    if (auto good = checkOptions(recipe.options); !good) return Unexpected(good.error());
    Expected<ImportedGraph> imported = Unexpected(Diagnostic{});
    const WorkloadInfo* builtin = builtinWorkload(recipe.source);
    const bool kernel = isKernelSource(recipe.source);
    const bool ofSpace = !builtin && !kernel && searchSpaceOf(recipe.source) != nullptr;
    const bool spelled = kernel || ofSpace;  // its source says it whole
    std::string id = builtin ? builtin->id : spelled ? recipe.source : fileId(recipe.source);
    if (kernel) {
        imported = buildFromKernel(recipe.source);
    } else if (ofSpace) {
        imported = buildFromSpace(recipe.source, recipe.options);
    } else if (builtin) {
        imported = buildModel(builtin->id, recipe.options);
    } else {
        std::error_code error;
        if (recipe.source.empty() || !std::filesystem::exists(recipe.source, error))
            return unknownSource(recipe.source);
        if (!std::filesystem::is_regular_file(recipe.source, error)) {
            return fail("workload.not-a-file", "this is not a regular file",
                        "an .onnx, config.json or workload .yaml file", "name the file inside the folder",
                        Place{.file = recipe.source});
        }
        const Importer* reader = nullptr;
        for (const Importer& importer : importers()) {
            if (!reader && importer.accepts(recipe.source)) reader = &importer;
        }
        if (!reader) {
            std::string names;
            for (const Importer& importer : importers()) {
                names += fmt::format("{}{} (.{})", names.empty() ? "" : ", ", importer.name, importer.extensions);
            }
            return fail("workload.unknown-format", "no importer knows this kind of file", names,
                        "rename the file so that its ending says its format", Place{.file = recipe.source});
        }
        imported = reader->read(recipe.source, recipe.options);
    }
    if (!imported) return Unexpected(std::move(imported.error()));
    if (!builtin && !spelled) {
        if (auto sorted = sortTopologically(imported->graph); !sorted) {
            sorted.error().place.file = recipe.source;
            return Unexpected(std::move(sorted.error()));
        }
        // Builders and recipes repeat their layers themselves.
        const auto& operators = imported->graph.operators;
        if (std::all_of(operators.begin(), operators.end(), [](const Operator& op) { return op.repeat == 1; })) {
            foldRepeats(imported->graph);
        }
    }
    const NumberFormat weights = recipe.options.weightFormat();
    if (!builtin && !spelled && hasOwnTypes(recipe.source) && weights != WorkloadOptions{}.weightFormat()) {
        if (storeProductWeights(imported->graph, recipe.whatIfs, weights, imported->warnings) == 0)
            imported->warnings.push_back(warning(
                "workload.no-weights", fmt::format("no product has weights of its own to store in {}", toText(weights)),
                "leave the weights as the rest", Place{.file = recipe.source}));
    } else {
        for (Diagnostic& each : applyWhatIfs(imported->graph, recipe.whatIfs))
            imported->warnings.push_back(std::move(each));
    }
    std::string name = imported->name.empty() ? id : imported->name;
    return finishWorkload(std::move(id), std::move(name), recipe, std::move(imported->graph),
                          std::move(imported->warnings), std::move(imported->transformer));
} catch (const std::exception& error) {
    return fail("workload.failed", fmt::format("the workload could not be made: {}", error.what()), {},
                "try a smaller model or smaller options", Place{.file = recipe.source});
}

WorkloadPtr finishWorkload(std::string id, std::string name, WorkloadRecipe recipe, Graph graph, Diagnostics warnings,
                           std::optional<TransformerFacts> transformer) {
    auto workload = std::make_shared<Workload>();
    workload->id = std::move(id);
    workload->name = std::move(name);
    workload->recipe = std::move(recipe);
    workload->graph = std::move(graph);
    workload->warnings = std::move(warnings);
    workload->transformer = std::move(transformer);
    if (workload->graph.operators.empty()) {
        workload->warnings.push_back(warning("workload.no-operators", "the workload has no operators",
                                             "is it the file that was meant?", Place{.file = workload->recipe.source}));
    }
    warnOfUnpriced(workload->graph, workload->warnings);
    workload->costs = costTable(workload->graph);
    workload->totals = costTotals(workload->graph, workload->costs);
    return workload;
}

}  // namespace orrery
