#include "app/cli/command.h"
#include "app/cli/drawn_search.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "app/cli/schedule_question.h"
#include "app/cli/schedule_shown.h"
#include "base/text/csv_cell.h"
#include "base/text/words.h"
#include "evaluation/schedules/judge_schedules.h"
#include "evaluation/schedules/search_curves.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

namespace orrery::cli {

namespace {

std::string percentOf(double share) {
    return fmt::format("{:.1f} %", 100 * share);
}

std::string textOf(const SearchJudgement& judged) {
    Table table({"device", "task", "operator", "schedules", "near best", "guided", "in its order", "by chance",
                 "best after 8", "by chance"},
                {false, false, false, true, true, true, true, true, true, true});
    for (const SearchCurve& one : judged.operators) {
        const std::size_t eight = std::min<std::size_t>(8, one.best.size()) - 1;
        table.add({one.device, one.task, one.workload, std::to_string(one.schedules), std::to_string(one.good),
                   fmt::format("{:.0f}", one.guided), fmt::format("{:.0f}", one.ranked),
                   fmt::format("{:.1f}", one.chance), percentOf(one.best[eight]), percentOf(one.bestByChance[eight])});
    }
    return table.text() + fmt::format(
                              "\nTrials until 95 % of the best, geometric mean: {:.1f} guided, {:.1f} in the "
                              "model's order, {:.1f} by chance: {:.1f}× fewer.\nAll of operators that the "
                              "model had not seen.\n",
                              judged.guided, judged.ranked, judged.chance, judged.fewer);
}

nlohmann::ordered_json jsonOf(const SearchJudgement& judged) {
    nlohmann::ordered_json out{{"format", "orrery-schedules"},
                               {"version", 1},
                               {"split", "search"},
                               {"trials_guided", judged.guided},
                               {"trials_ranked", judged.ranked},
                               {"trials_chance", judged.chance},
                               {"times_fewer", judged.fewer}};
    out["searches"] = nlohmann::ordered_json::array();
    for (const SearchCurve& one : judged.operators) {
        out["searches"].push_back({{"device", one.device},
                                   {"task", one.task},
                                   {"workload", one.workload},
                                   {"schedules", one.schedules},
                                   {"near_best", one.good},
                                   {"trials_guided", one.guided},
                                   {"trials_ranked", one.ranked},
                                   {"trials_chance", one.chance},
                                   {"best_after", one.best},
                                   {"best_after_chance", one.bestByChance}});
    }
    return out;
}

std::string csvOf(const SearchJudgement& judged) {
    std::string text = "device,task,workload,trial,share_of_best,share_of_best_by_chance\n";
    for (const SearchCurve& one : judged.operators) {
        for (std::size_t t = 0; t < one.best.size(); ++t) {
            text += fmt::format("{},{},{},{},{:.6g},{:.6g}\n", csvCell(one.device), csvCell(one.task),
                                csvCell(one.workload), t + 1, one.best[t], one.bestByChance[t]);
        }
    }
    return text;
}

int runSearch(const Arguments& arguments, std::span<const TunedRow> known, std::span<const TunedRow> asked,
              const ScheduleTraining& options, Watch& watch) {
    std::size_t trials = 200;
    if (const auto text = arguments.value("trials")) {
        const auto number = wholeIn(*text);
        if (!number || *number < 1 || *number > 2000) {
            report(fail("usage.number", fmt::format("`--trials {}`", *text), "a whole number from 1 to 2,000").value());
            return Usage;
        }
        trials = static_cast<std::size_t>(*number);
    }
    watch.begin("searching recorded schedules");
    const auto judged =
        asked.empty() ? judgeSearch(known, options, trials) : judgeSearchOther(known, asked, options, trials);
    watch.end();
    if (!judged) return report(judged.error()), Unanswered;
    bool written = true;
    if (const auto csv = arguments.value("csv")) written = writeTo(*csv, csvOf(*judged));
    const std::string text = arguments.has("json") ? jsonOf(*judged).dump(2) + "\n" : textOf(*judged);
    return (arguments.value("csv") == "-" || print(text)) && written ? Answered : Unanswered;
}

int runShow(const Arguments& arguments, std::span<const TunedRow> rows, const ScheduleTraining& options, Watch& watch) {
    const auto line = wholeIn(*arguments.value("show"));
    if (!line || *line < 1 || *line > 100'000'000 || arguments.positionals().size() != 1) {
        report(fail("usage.number", fmt::format("`--show {}`", *arguments.value("show")),
                    "the number of a line, and one FILE")
                   .value());
        return Usage;
    }
    watch.begin("learning from schedules");
    const auto shown = showSchedule(rows, static_cast<int>(*line), options);
    watch.end();
    if (!shown) return report(shown.error()), Unanswered;
    if (shown->why) report(*shown->why);
    return print(arguments.has("json") ? jsonOf(*shown).dump(2) + "\n" : textOf(*shown)) ? Answered : Unanswered;
}

// Options that another one, or the kind of the log, would pass over.
std::optional<Diagnostic> passedOver(const Arguments& arguments) {
    const std::vector<std::pair<std::string_view, std::vector<std::string_view>>> forms{
        {"show", {"search", "new-devices", "test", "samples", "choose", "trials", "hardware", "csv"}},
        {"search", {"new-devices", "samples", "choose", "hardware"}},
        {"new-devices", {"test", "trials", "hardware", "model"}}};
    for (const auto& [form, others] : forms) {
        if (!arguments.has(form)) continue;
        if (auto problem = meaningless(arguments, fmt::format("`--{}`", form), others)) return problem;
    }
    if (arguments.has("new-devices") || arguments.has("test")) return std::nullopt;
    return meaningless(arguments, "a log without `--new-devices` and `--test`", {"samples", "choose"});
}

int runSchedules(const Arguments& arguments, Watch& watch) {
    if (arguments.value("csv") == "-") {
        if (const auto problem = meaningless(arguments, "`--csv -`", {"json"})) return failed(*problem);
    }
    if (asksDrawnSearch(arguments)) return runDrawnSearch(arguments, watch);
    if (arguments.positionals().empty()) {
        return failed(
            fail("usage.missing", "`schedules` needs a log", "FILE", "orrery-cli schedules trials.csv").value());
    }
    if (const auto problem = meaningless(arguments, "a log", {"guide", "target", "seeds", "blind"}))
        return failed(*problem);
    if (const auto problem = passedOver(arguments)) return failed(*problem);
    JudgeScheduleOptions options;
    auto seed = readSeed(arguments, 1);
    if (!seed) return report(seed.error()), Usage;
    options.training.seed = *seed;
    options.choose = arguments.has("choose");
    options.training.stop = watch.token();
    if (const auto model = arguments.value("model")) {
        constexpr std::array<std::string_view, 3> models{"trees", "sequence", "both"};
        const auto found = std::find(models.begin(), models.end(), *model);
        if (found == models.end()) {
            report(fail("usage.value", fmt::format("`--model {}`", *model), "trees, sequence or both").value());
            return Usage;
        }
        options.training.ranks = static_cast<RankModel>(found - models.begin());
        if (arguments.has("show") && options.training.ranks != RankModel::Trees) {
            return failed(fail("usage.together", fmt::format("`--show` with `--model {}`", *model), "`--model trees`",
                               "only of trees is it known what each feature adds")
                              .value());
        }
    }
    for (const std::string& text : arguments.values("hardware")) {
        const auto equals = text.find('=');
        if (equals == 0 || equals == text.npos || equals + 1 == text.size()) {
            report(fail("usage.value", fmt::format("`--hardware {}`", text), "DEVICE=ID",
                        "--hardware platinum-8124m=core-i9-10940x")
                       .value());
            return Usage;
        }
        options.drawn[text.substr(0, equals)] = text.substr(equals + 1);
    }
    if (const auto text = arguments.value("samples")) {
        const auto number = wholeIn(*text);
        if (!number || *number < 3 || *number > 10'000) {
            report(
                fail("usage.number", fmt::format("`--samples {}`", *text), "a whole number from 3 to 10,000").value());
            return Usage;
        }
        options.anchors = static_cast<std::size_t>(*number);
    }
    const auto known = readLogs(arguments.positionals());
    if (!known) return report(known.error()), Unanswered;
    if (!isOfTrials(*known) && !arguments.has("search") && !arguments.has("show")) {
        if (const auto problem = meaningless(arguments, "a log of best schedules", {"hardware", "model"}))
            return failed(*problem);
    }
    if (arguments.has("show")) return runShow(arguments, *known, options.training, watch);
    const auto test = arguments.values("test");
    std::vector<TunedRow> asked;
    if (!test.empty()) {
        auto read = readLogs(test);
        if (!read) return report(read.error()), Unanswered;
        asked = std::move(*read);
    }
    if (arguments.has("search")) return runSearch(arguments, *known, asked, options.training, watch);
    watch.begin("learning from schedules");
    const bool devices = arguments.has("new-devices");
    const auto judged = !test.empty() ? judgeOther(*known, asked, options)
                        : devices     ? judgeNewDevices(*known, options)
                                      : judgeLeftOut(*known, options);
    watch.end();
    if (!judged) return report(judged.error()), Unanswered;
    report(judged->notes);
    const std::string_view split = !test.empty() ? "other-log" : devices ? "new-devices" : "operators";
    bool written = true;
    const std::span<const TunedRow> rows = test.empty() ? std::span<const TunedRow>(*known) : asked;
    if (const auto csv = arguments.value("csv")) written = writeTo(*csv, schedulesCsv(*judged, rows));
    const std::string text = arguments.has("json") ? schedulesJson(*judged, rows, split) : schedulesText(*judged);
    return (arguments.value("csv") == "-" || print(text)) && written ? Answered : Unanswered;
}

}  // namespace

const Command schedulesCommand{
    .name = "schedules",
    .positional = "[FILE...]",
    .positionalRequired = false,
    .summary = "learn from a compiler's tuning logs, and judge what was learned",
    .details =
        "Where a log holds many schedules of each operator, a model ranks them: each operator by a model that has not "
        "seen it. Where it holds the best schedule of many operators, a model says their times: a fifth of the "
        "operators "
        "at a time by a model of the others. Logs are those of AutoTVM and Ansor (.json, .log) or tables with the "
        "columns device, "
        "task, workload, config, time_us. Without a FILE, `--search --hardware ID --workload KERNEL` searches the "
        "schedules that a matrix product may have on a drawn device. Handbook: schedules.",
    .options =
        {{"test", "FILE", "judge on this log, with a model of all of FILE; may be repeated", true},
         {"new-devices", "", "each device by a model of all others, and a few rows of its own"},
         {"samples", "N", "rows that are given of a device that is new (10)"},
         {"choose", "", "these rows are those that say most of the others, instead of drawn by seed"},
         {"search", "",
          "search each operator's recorded schedules (of --test, where given), guided by a model of all others; "
          "with --workload and no FILE, the schedules of a drawn device"},
         {"trials", "N", "of a search, after which one of recorded schedules goes on blindly (200)"},
         {"workload", "KERNEL", "a matrix product (of a GPU also a convolution): gemm:m=128,n=768,k=768"},
         {"guide", "NAME",
          "trees (learned from what was asked), analytic (from the loops alone), both (the default), random or all; "
          "may be repeated",
          true},
         {"target", "METHOD",
          "prices each schedule: core-windows (of a CPU) or core-cycle, gpu-interval (of a GPU) or gpu-cycle"},
         {"seeds", "N", "searches of each guide, from as many seeds (1)"},
         {"blind", "N", "trials of the random guide, which needs more (as --trials)"},
         {"show", "LINE",
          "the schedule on that line of FILE: its loops as code, its features, and what each adds to the "
          "prediction of a model that has not seen the operator"},
         {"model", "NAME",
          "ranks schedules: trees (the default), sequence (a network over the steps as they are), or both"},
         {"hardware", "DEVICE=ID",
          "the drawn device that stands for DEVICE of the log, may be repeated; with --workload only ID", true},
         {"seed", "N", "of folds, training and given rows; 1 if left out"},
         {"csv", "FILE", "every judged row with what the model said; - is standard output"},
         {"json", "", "as JSON (resources/schema/schedules.schema.json)"}},
    .examples =
        {{"orrery-cli schedules trials.csv", "how well are schedules ranked of operators that were not seen?"},
         {"orrery-cli schedules tuned.csv --new-devices --samples 10 --json",
          "what are ten measured operators of a new device worth?"},
         {"orrery-cli schedules trials.csv --search --csv curves.csv",
          "how many trials does a search save, and how good is the best after each?"},
         {"orrery-cli schedules --search --hardware core-i9-10940x --workload gemm:m=128,n=768,k=768 --guide all",
          "which schedule is the fastest on a drawn device, and how soon does each guide find it?"},
         {"orrery-cli schedules trials.csv --show 30", "which loops does a schedule make, and what speaks for it?"},
         {"orrery-cli schedules trials.csv --hardware platinum-8124m=core-i9-10940x",
          "how well does the drawn device itself put the schedules in order?"},
         {"orrery-cli schedules known.csv --test other.csv --csv -", "what it says of another log, row by row"}},
    .run = runSchedules,
};

}  // namespace orrery::cli
