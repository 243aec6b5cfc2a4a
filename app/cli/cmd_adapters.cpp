#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "methods/adapter/adapter_method.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace orrery::cli {

namespace {

std::string asksText(const Adapter& adapter) {
    std::vector<std::string_view> words;
    if (adapter.level == MethodLevel::Kernel) {
        for (const KernelKind kind : adapter.takes) words.push_back(toText(kind));
        return fmt::format(
            "{}{}", fmt::join(words.begin(), words.begin() + std::min<std::ptrdiff_t>(3, std::ssize(words)), ", "),
            words.size() > 3 ? ", …" : "");
    }
    for (const TaskKind task : adapter.tasks) words.push_back(toText(task));
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string stateText(const Adapter& adapter, const AdapterFound& found) {
    if (adapter.program.recordedOnly) return "recorded only";
    if (!found.found()) return "not found";
    return found.version.empty() ? "found" : "found, " + found.version;
}

nlohmann::ordered_json json(const Adapter& adapter) {
    const AdapterFound found = lookFor(adapter);
    nlohmann::ordered_json made;
    made["id"] = adapter.id;
    made["title"] = adapter.title;
    made["summary"] = adapter.summary;
    made["methodology"] = toText(adapter.methodology);
    made["level"] = toText(adapter.level);
    made["file"] = adapter.file;
    made["version"] = adapter.version;
    made["found"] = found.found();
    made["program"] = found.program;
    made["program_version"] = found.version;
    made["why_not"] = found.why;
    made["variable"] = adapter.program.variable;
    made["install"] = adapter.program.install;
    made["recorded_only"] = adapter.program.recordedOnly;
    made["needs"] = adapter.needs;
    made["fails"] = adapter.fails;
    made["tried"] = adapter.tried;
    made["lineage"] = adapter.lineage;
    made["platforms"] = adapter.platforms;
    made["kernels"] = nlohmann::ordered_json::array();
    for (const KernelKind kind : adapter.takes) made["kernels"].push_back(toText(kind));
    made["tasks"] = nlohmann::ordered_json::array();
    const Method* method = findMethod(adapter.id);
    if (method)
        for (const TaskKind task : method->card.tasks) made["tasks"].push_back(toText(task));
    return made;
}

std::string text(const Adapter& adapter) {
    const AdapterFound found = lookFor(adapter);
    std::string out = fmt::format("{}: {}\n\n{}\n\n", adapter.id, adapter.title, adapter.summary);
    out += fmt::format("state: {}\n", stateText(adapter, found));
    if (found.found()) out += fmt::format("program: {}\n", found.program);
    if (!found.why.empty()) out += fmt::format("why: {}\n", found.why);
    if (!adapter.program.variable.empty()) out += fmt::format("its path may stand in: {}\n", adapter.program.variable);
    if (!adapter.program.install.empty()) out += fmt::format("where it comes from: {}\n", adapter.program.install);
    out += fmt::format("needs: {}\nanswers: {}\nlimits: {}\ntried: {}\nlineage: {}\nfile: {}\n",
                       fmt::join(adapter.needs, "; "), asksText(adapter), adapter.fails, adapter.tried,
                       fmt::join(adapter.lineage, "; "), adapter.file);
    out += fmt::format("\nas in --method {}, or --method '{}(recorded=FOLDER)'\n", adapter.id, adapter.id);
    return out;
}

int writeInputsOf(const Adapter& adapter, const Arguments& arguments) {
    const auto scenario = readScenario(arguments);
    if (!scenario) return failed(scenario.error());
    const std::string folder(*arguments.value("inputs"));
    const auto names = writeAdapterInputs(adapter, *scenario, folder);
    if (!names) return failed(names.error());
    if (names->empty())
        return failed(fail("adapter.nothing", fmt::format("{} prices none of these kernels", adapter.title),
                           "a workload with " + asksText(adapter))
                          .value());
    return print(fmt::format("{} runs in {}: run the command of each (command.txt) in its folder, with its output as "
                             "stdout.txt, and ask `--method '{}(recorded={})'`\n",
                             names->size(), folder, adapter.id, folder))
               ? Answered
               : Unanswered;
}

int runAdapters(const Arguments& arguments, Watch&) {
    report(shippedAdapters().warnings);
    AdapterPtr only;
    if (!arguments.positionals().empty()) {
        auto found = findAdapter(arguments.positionals().front());
        if (!found) return failed(found.error());
        only = std::move(*found);
    }
    if (arguments.has("inputs")) {
        if (only) return writeInputsOf(*only, arguments);
        return failed(
            fail("usage.missing", "`--inputs` needs to know of which adapter", "orrery-cli adapters ID --inputs DIR")
                .value());
    }
    if (arguments.has("json")) {
        nlohmann::ordered_json all{{"format", "orrery-adapters"}, {"version", 1}};
        all["adapters"] = nlohmann::ordered_json::array();
        if (only) {
            all["adapters"].push_back(json(*only));
        } else {
            for (const AdapterPtr& each : shippedAdapters().all) all["adapters"].push_back(json(*each));
        }
        return print(all.dump(2) + "\n") ? Answered : Unanswered;
    }
    if (only) return print(text(*only)) ? Answered : Unanswered;
    Table table({"id", "program", "state", "level", "answers", "methodology"});
    for (const AdapterPtr& each : shippedAdapters().all)
        table.add({each->id, each->title, stateText(*each, lookFor(*each)), std::string(toText(each->level)),
                   asksText(*each), std::string(toText(each->methodology))});
    return print(table.text()) ? Answered : Unanswered;
}

std::vector<Option> adaptersOptions() {
    std::vector<Option> all{
        {"json", "", "everything as JSON (resources/schema/adapters.schema.json)"},
        {"inputs", "DIR", "instead: write the inputs for a question, to be run on another machine"},
        {"hardware", "H", "of that question"},
        {"workload", "W", "of that question"},
        {"set", "PATH=VALUE", "change an attribute of the hardware", true},
    };
    all.insert(all.end(), scenarioOptions().begin(), scenarioOptions().end());
    all.insert(all.end(), workloadOptions().begin(), workloadOptions().end());
    return all;
}

}  // namespace

const Command adaptersCommand{
    .name = "adapters",
    .positional = "ID",
    .summary = "list other programs that can be asked: found or not, what they need, what they answer",
    .details = "With an ID, or an adapter's file, what that program needs and where it was looked for.",
    .options = adaptersOptions(),
    .examples = {{"orrery-cli adapters", "which other tools are here?"},
                 {"orrery-cli adapters cachegrind", "what one of them needs, and whether it was found"},
                 {"orrery-cli adapters timeloop --inputs runs --hardware eyeriss-like --workload resnet-50",
                  "inputs for a machine that has the tool"}},
    .run = runAdapters,
};

}  // namespace orrery::cli
