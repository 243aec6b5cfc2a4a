#include "app/cli/command.h"
#include "app/cli/output.h"
#include "workload/workload.h"

#include <nlohmann/json.hpp>

namespace orrery::cli {

namespace {

std::string understood(const WorkloadInfo& info) {
    std::string text = "batch";
    if (info.hasSequence) text += ", seq";
    if (info.hasImage) text += ", image";
    if (info.hasPhases) text += ", phase";
    return text;
}

nlohmann::ordered_json infoJson(const WorkloadInfo& info) {
    nlohmann::ordered_json json{{"id", info.id},
                                {"name", info.name},
                                {"group", info.group},
                                {"description", info.description},
                                {"source", info.source}};
    nlohmann::ordered_json usual{{"batch", info.usual.batch}};
    if (info.hasSequence) usual["sequence"] = info.usual.sequence;
    if (info.hasImage) usual["image"] = info.usual.image;
    if (info.hasPhases) usual["phase"] = toText(info.usual.phase);
    usual["weights"] = toText(info.usual.weights);
    usual["activations"] = toText(info.usual.activations);
    json["usual"] = std::move(usual);
    return json;
}

int runWorkloads(const Arguments& arguments, Watch&) {
    if (arguments.has("json")) {
        nlohmann::ordered_json json{{"format", "orrery-workloads"}, {"version", 1}};
        json["workloads"] = nlohmann::ordered_json::array();
        for (const WorkloadInfo& info : builtinWorkloads()) json["workloads"].push_back(infoJson(info));
        return print(json.dump(2) + "\n") ? Answered : Unanswered;
    }
    Table table({"id", "name", "group", "options", "description"});
    for (const WorkloadInfo& info : builtinWorkloads()) {
        table.add({info.id, info.name, info.group, understood(info), info.description});
    }
    return print(table.text()) ? Answered : Unanswered;
}

}  // namespace

const Command workloadsCommand{
    .name = "workloads",
    .summary = "list the built-in models and the options that each understands",
    .details =
        "Beside these, --workload takes the path of an ONNX file, a Hugging Face config.json, a workload YAML or an "
        "ncnn .param file, one kernel by its fields: `kernel:gemm m=4096 n=4096 k=4096 dtype=bf16`, and a network of a "
        "search space by its code: `nasbench201:|op~0|+…`, `fbnet:7 8 1 …`, "
        "`ofa:r=204|d=…|ks=…|e=…`, `hat:decoder|embed=512|…`; `nasbench201@1x52x16:…` for another input.",
    .options = {{"json", "", "as JSON, with the usual options and sources"}},
    .examples = {{"orrery-cli workloads", "a table of ids, names and options"},
                 {"orrery-cli workloads --json", "the same for a script"}},
    .run = runWorkloads,
};

}  // namespace orrery::cli
