#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/unit.h"
#include "store/export/exports.h"

#include <fmt/format.h>

namespace orrery::cli {

namespace {

std::string text(const Workload& workload) {
    const CostTotals& totals = workload.totals;
    std::string out = fmt::format("{}\n\n", workload.name);
    Table table({"quantity", "value", ""}, {false, true, false});
    table.add({"operators", count(totals.operators)});
    table.add({"MACs", count(totals.macs), formatMeasure(totals.macs, Dimension::Number) + "MAC"});
    table.add({"FLOPs", count(totals.flops), format(Flops(totals.flops))});
    table.add({"parameters", count(totals.parameters), formatMeasure(totals.parameters, Dimension::Number)});
    table.add({"weights", count(totals.weightBytes), format(Bytes(totals.weightBytes))});
    table.add({"activations", count(totals.activationBytes), format(Bytes(totals.activationBytes))});
    if (totals.kvBytes > 0) table.add({"KV cache", count(totals.kvBytes), format(Bytes(totals.kvBytes))});
    table.add({"unresolved", count(totals.unresolved), totals.unresolved > 0 ? "operators with unknown shapes" : ""});
    out += table.text() + "\n";
    Table kinds({"kind", "operators", "MACs", "FLOPs"}, {false, true, true, true});
    for (int kind = 0; kind < operatorKindCount; ++kind) {
        double executed = 0, macs = 0, flops = 0;
        for (std::size_t i = 0; i < workload.costs.size(); ++i) {
            if (workload.costs.kind[i] != static_cast<OperatorKind>(kind)) continue;
            executed += workload.costs.repeat[i];
            macs += workload.costs.macs[i] * workload.costs.repeat[i];
            flops += workload.costs.flops[i] * workload.costs.repeat[i];
        }
        if (executed == 0) continue;
        kinds.add({std::string(toText(static_cast<OperatorKind>(kind))), count(executed), count(macs), count(flops)});
    }
    return out + kinds.text();
}

int runImport(const Arguments& arguments, Watch&) {
    const auto recipe = readRecipe(arguments, arguments.positionals().front());
    if (!recipe) return failed(recipe.error());
    const auto workload = loadWorkload(*recipe);
    if (!workload) return failed(workload.error());
    if (arguments.has("json")) return print(importJson(**workload)) ? Answered : Unanswered;
    report((*workload)->warnings);
    return print(text(**workload)) ? Answered : Unanswered;
}

std::vector<Option> options() {
    std::vector<Option> all{{"json", "", "as JSON (resources/schema/import.schema.json), warnings included"}};
    all.insert(all.end(), workloadOptions().begin(), workloadOptions().end());
    return all;
}

}  // namespace

const Command importCommand{
    .name = "import",
    .positional = "FILE",
    .positionalRequired = true,
    .summary = "read a model and count its operators, MACs, parameters and bytes",
    .details = "FILE is an ONNX file, a Hugging Face config.json, a workload YAML, or a built-in model's id.",
    .options = options(),
    .examples = {{"orrery-cli import resnet50.onnx", "what does this model compute and move?"},
                 {"orrery-cli import model.onnx --bind batch=8,seq=128 --json",
                  "the same for a script, with its symbolic dimensions bound"},
                 {"orrery-cli import config.json --phase decode --batch 16 --seq 4096",
                  "one decode step of a language model, from its configuration alone"}},
    .run = runImport,
};

}  // namespace orrery::cli
