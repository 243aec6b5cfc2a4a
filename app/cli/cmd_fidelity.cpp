#include "app/cli/command.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/run_fidelity.h"
#include "base/unit.h"
#include "evaluation/best_answer.h"
#include "evaluation/error_growth.h"
#include "evaluation/row_pricing.h"
#include "evaluation/shipped_references.h"
#include "hardware/files/catalogue.h"
#include "methods/among_all.h"
#include "study/fidelity/ladder_answer.h"
#include "study/fidelity/savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace orrery::cli {

namespace {

std::string percent(double share, int digits = 1) {
    return fmt::format("{:.{}f} %", 100 * share, digits);
}

int savings(const Arguments& arguments, Watch& watch) {
    const auto executor = makeSerialExecutor();
    if (const auto full = arguments.value("full")) {
        if (const auto known = methodChoice(*full, builtinMethods()); !known) return failed(known.error());
    }
    const auto questions = savingsQuestions(arguments.value("hardware").value_or("gemmini-like"));
    if (!questions) return failed(questions.error());
    SavingsOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    options.full = std::string(arguments.value("full").value_or(""));
    watch.begin("pricing every kernel");
    const auto cases = budgetSavings(*questions, options);
    watch.end();
    if (!cases) return failed(cases.error());
    Table table({"question", "full fidelity", "to", "asked", "of", "error", "±", "inside", "took", "full", "cheaper",
                 "per launch"},
                {false, false, true, true, true, true, true, false, true, true, true, true});
    for (const SavingsCase& each : *cases) {
        table.add({each.question, each.full, percent(each.to, 0), std::to_string(each.asked),
                   std::to_string(each.kernels), fmt::format("{:+.1f} %", 100 * each.error), percent(each.halfWidth),
                   each.inside ? "yes" : "no", format(Seconds(each.seconds), 2), format(Seconds(each.fullSeconds), 2),
                   fmt::format("{:.1f}×", each.fullSeconds / std::max(each.seconds, 1e-9)),
                   fmt::format("{:.0f}×", each.eachSeconds / std::max(each.seconds, 1e-9))});
    }
    const SavingsCount count = differentAnswers(*cases);
    return print(
               fmt::format("{}\nfull fidelity's answer lies inside the 90 % interval of {} of {} different answers\n"
                           "seconds are of one thread; `cheaper` is against every different kernel once, `per launch` "
                           "against every launch by itself\n",
                           table.text(), count.inside, count.answers))
               ? Answered
               : Unanswered;
}

// Kernels, their sums, and what was measured whole.
int growth(const Arguments& arguments, std::string_view name, Watch& watch) {
    const auto choice = methodChoice(name, builtinMethods());
    if (!choice) return failed(choice.error());
    const Method& method = *findMethod(choice->id);
    std::vector<ReferenceTable> tables = shippedReferences();
    if (const auto files = arguments.values("references"); !files.empty()) {
        auto read = readReferences(files);
        if (!read) return failed(read.error());
        tables = std::move(*read);
    } else {
        auto serving = readReferences(std::vector{presetsFolder() + "/serving/published-offline.yaml"});
        if (!serving) return failed(serving.error());
        std::move(serving->begin(), serving->end(), std::back_inserter(tables));
    }
    ReferenceFilter filter;
    if (const auto where = arguments.value("where")) {
        auto parsed = parseFilter(*where);
        if (!parsed) return failed(parsed.error());
        filter = std::move(*parsed);
    }
    const auto executor = makeDefaultExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    options.options = choice->options;
    watch.begin("pricing rows");
    const auto rows = selectRows(tables, filter);
    const auto judged = evaluate(method, tables, rows, options);
    watch.end();
    if (!judged) return failed(judged.error());
    const ErrorGrowth found = errorGrowth(*judged, tables, 0.5);
    std::string text =
        fmt::format("{}: {} measured kernels of {} devices\n\n", toText(*choice), found.rows, found.devices);
    Table table({"kernels", "error of the sum", "if by themselves (√N)", "if all alike (N)", "inside"},
                {true, true, true, true, true});
    for (const GrowthPoint& point : found.points)
        table.add({std::to_string(point.kernels), percent(point.measured), percent(point.independent),
                   percent(point.common), percent(point.coverage, 0)});
    text += table.text();
    text += fmt::format(
        "\nroot mean squares, relative to the measured sum; the measured growth is that of errors which are "
        "common by {:.2f} (0: √N, 1: N); `inside` adds sides with 0.50\n",
        found.correlation);
    if (found.levels.empty()) {
        text += "nothing that was measured whole is answered\n";
    } else {
        Table levels({"measured whole", "rows", "error", "median", "inside"}, {false, true, true, true, true});
        for (const LevelPoint& level : found.levels)
            levels.add({std::string(levelName(level.task)), std::to_string(level.rows), percent(level.measured),
                        percent(level.median), percent(level.coverage, 0)});
        text += "\n" + levels.text() + "\nroot mean squares, medians, and shares inside the answers' intervals\n";
    }
    return print(text) ? Answered : Unanswered;
}

// As the source says that the model was launched and fused, where a method has the option.
std::vector<std::string> askedAsMeasured(const ModelReference& reference) {
    ModelRow row;
    row.launch = reference.launch;
    row.fusion = reference.fusion;
    std::vector<std::string> methods;
    for (const Method& method : builtinMethods())
        if (method.card.answers(TaskKind::Pass) && standsAmongAll(method.card))
            methods.push_back(toText(method.card, settingsOf(method.card, row)));
    return methods;
}

// Whole models that were measured: one method, the ladder, a budget without end. The question is the one that was
// measured: the software and its ways belong to it.
int models(Watch& watch) {
    const auto executor = makeDefaultExecutor();
    Table table({"question", "measured", "best one", "", "ladder", "", "budget", ""},
                {false, true, true, false, true, false, true, false});
    struct Sum {
        double squares = 0;
        std::size_t inside = 0;
    };
    std::array<Sum, 3> sums;
    std::size_t count = 0;
    const auto& all = shippedModelReferences().all;
    watch.begin("asking about measured models");
    for (const ModelReference& each : all) {
        if (kindOf(each.task) != TaskKind::Pass) continue;
        auto hardware = loadHardware(each.reference.device);
        auto workload = loadWorkload(each.recipe);
        if (!hardware || !workload || watch.interrupted()) continue;
        Scenario scenario{std::make_shared<const Hardware>(std::move(hardware->hardware)), *workload};
        scenario.software.engine = each.reference.software;
        const double measured = each.reference.value.value;
        LadderOptions climbing;
        climbing.executor = executor.get();
        climbing.stop = watch.token();
        climbing.methods = askedAsMeasured(each);
        const LadderAnswer ladder = climbLadder(scenario, climbing);
        std::vector<AskedAnswer> asked;
        for (const LadderStep& step : ladder.steps) asked.push_back({step.method, step.estimate.get()});
        const auto ranking = rankAnswers(asked);
        BudgetOptions spending;
        spending.executor = executor.get();
        spending.stop = watch.token();
        spending.methods = climbing.methods;
        const auto budget = answerWithin(scenario, spending);
        if (!ladder.last() || !ladder.last()->soFar || !ranking.best || !budget) continue;
        const Estimate& best = *asked[*ranking.best].estimate;
        const CombinedAnswer& far = *ladder.last()->soFar;
        const Estimate& spent = budget->estimate;
        std::vector<std::string> cells{scenario.name(), format(each.reference.value)};
        const std::array<std::array<double, 3>, 3> answers{
            {{best.latency.value, best.interval.low.value, best.interval.high.value},
             {far.latency, far.low, far.high},
             {spent.latency.value, spent.interval.low.value, spent.interval.high.value}}};
        for (std::size_t i = 0; i < answers.size(); ++i) {
            const double error = answers[i][0] / measured - 1;
            const bool inside = answers[i][1] <= measured && measured <= answers[i][2];
            sums[i].squares += error * error;
            sums[i].inside += inside ? 1 : 0;
            cells.push_back(fmt::format("{:+.0f} %", 100 * error));
            cells.push_back(inside ? "inside" : "");
        }
        table.add(std::move(cells));
        ++count;
    }
    watch.end();
    std::string text = table.text() + "\n";
    for (std::size_t i = 0; i < sums.size(); ++i) {
        text += fmt::format("{}: {} off (root mean square), {} of {} inside the interval\n",
                            std::array{"best one", "ladder", "budget"}[i],
                            percent(std::sqrt(sums[i].squares / static_cast<double>(std::max<std::size_t>(1, count)))),
                            sums[i].inside, count);
    }
    return print(text) && !watch.interrupted() ? Answered : Unanswered;
}

int fidelity(const Arguments& arguments, Watch& watch) {
    if (arguments.has("models")) return models(watch);
    if (const auto method = arguments.value("growth")) return growth(arguments, *method, watch);
    return savings(arguments, watch);
}

}  // namespace

const Command fidelityCommand{
    .name = "fidelity",
    .summary = "what budgets save and miss, and how errors grow from kernels to models",
    .details = "Without --growth: five models on one design, each priced in full and by budgets of several widths.",
    .options = {{"hardware", "H", "the design of the five models; `gemmini-like` unless told"},
                {"full", "ID", "the method that counts as full fidelity; without it, what evidence speaks for"},
                {"growth", "ID",
                 "instead: errors of sums of measured kernels by this method, between √N and N, of passes, training "
                 "steps and serving runs"},
                {"models", "", "instead: ladders and budgets against whole models that were measured"},
                {"references", "FILE", "with --growth: measured kernels instead of those that ship", true},
                {"where", "TERMS", "with --growth: rows that hold, as `device=h100-sxm,kind=gemm`"}},
    .required = {},
    .examples = {{"orrery-cli fidelity", "the table of the handbook"},
                 {"orrery-cli fidelity --models", "are ladders and budgets right about what was measured?"},
                 {"orrery-cli fidelity --growth roofline", "do errors of kernels cancel?"}},
    .run = fidelity,
};

}  // namespace orrery::cli
