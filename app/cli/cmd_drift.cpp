#include "app/cli/command.h"
#include "app/cli/evaluation_question.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "evaluation/drift/drift.h"
#include "evaluation/drift/drift_export.h"

#include <fmt/format.h>

namespace orrery::cli {

namespace {

std::string percent(double share) {
    return share < 0 ? "–" : fmt::format("{:.1f} %", 100 * share);
}

std::string textOf(const Drift& drift) {
    Table kinds({"kind", "families", "moved", "noticed", "false alarms", "untouched", "one factor", "repaired",
                 "inside", "stale inside"},
                {false, true, true, true, true, true, true, true, true, true});
    for (const DriftSummary& s : summariesOf(drift)) {
        kinds.add({s.kind, std::to_string(s.families), std::to_string(s.moved),
                   s.moved > 0 ? fmt::format("{} of {}", s.noticed, s.moved) : "–",
                   s.still > 0 ? percent(s.falseAlarms) : "–", percent(s.untouched), percent(s.factor),
                   percent(s.repaired), percent(s.repairedInside), percent(s.staleInside)});
    }
    Table families({"device", "software", "kind", "variant", "from", "to", "kernels", "ratio", "moved", "seen after",
                    "untouched", "one factor", "repaired", "inside"},
                   {false, false, false, false, false, false, true, true, true, true, true, true, true, true});
    for (const FamilyDrift& f : drift.families) {
        families.add({f.family.device, f.family.software, f.family.kind + (f.family.hostTimed ? ", host" : ""),
                      f.family.variant, f.from, f.to, count(static_cast<double>(f.kernels)),
                      fmt::format("{:.3f}", f.ratioMedian), percent(f.movedShare),
                      f.noticedAfter > 0 ? fmt::format("{:.0f} rows", f.noticedAfter) : "–",
                      percent(f.figures.untouched), percent(f.figures.factor), percent(f.figures.repaired),
                      percent(f.figures.repairedInside)});
    }
    return fmt::format(
        "believed: {}; repaired with {} rows of the later version\n\n{}\n"
        "Errors are of the median family, with no new row, after one factor, and repaired; `inside` is the mean share\n"
        "of kernels within the repaired 90 % intervals, `stale inside` with no new row, as wide as other families "
        "moved.\n\n{}",
        drift.believed, drift.repairRows, kinds.text(), families.text());
}

int runDrift(const Arguments& arguments, Watch& watch) {
    const auto files = referenceFiles(arguments);
    if (files.empty()) {
        return failed(fail("usage.missing", "no table is named", "tables of two versions of one software",
                           "orrery-cli references lists what ships")
                          .value());
    }
    DriftOptions options;
    auto seed = readSeed(arguments, 1);
    if (!seed) return failed(seed.error());
    options.seed = *seed;
    if (const auto text = arguments.value("rows")) {
        const auto rows = wholeIn(*text);
        if (!rows || *rows < 1 || *rows > static_cast<std::int64_t>(mostRepairRows)) {
            return failed(fail("usage.number", fmt::format("`--rows {}`", *text),
                               fmt::format("a whole number from 1 to {}", mostRepairRows))
                              .value());
        }
        options.repairRows = static_cast<std::size_t>(*rows);
    }
    auto question = readReferenceQuestion(arguments);
    if (!question) return failed(question.error());
    auto contestants = readContestants(arguments);
    if (!contestants) return failed(contestants.error());
    auto families = laterRows(question->tables, {arguments.value("from").value_or(""),
                                                 arguments.value("to").value_or(""), arguments.has("steps")});
    const auto executor = makeDefaultExecutor();
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    Diagnostics warnings;
    if (!contestants->empty() && !families.empty()) {
        if (contestants->size() > 1) {
            return failed(fail("usage.twice", "more than one `--method`", "one method, or none").value());
        }
        EvaluateOptions asking;
        asking.executor = executor.get();
        asking.stop = watch.token();
        asking.progress = &watch.progress();
        watch.begin("asking the method");
        auto believed = believedBy(contestants->front(), std::move(families), asking, warnings);
        watch.end();
        report(warnings);
        if (!believed) return failed(believed.error());
        families = std::move(*believed);
    }
    watch.begin("families");
    auto drift = measureDrift(families, options);
    watch.end();
    if (!drift) return failed(drift.error());
    if (!contestants->empty()) drift->believed = contestants->front().asked;
    bool written = true;
    if (const auto csv = arguments.value("csv")) written = writeTo(*csv, driftCsv(*drift)) && written;
    const auto json = arguments.value("json");
    if (json) written = writeTo(*json, driftJson(*drift)) && written;
    const bool toScreen = json == "-" || arguments.value("csv") == "-";
    if (!toScreen) written = print(textOf(*drift)) && written;
    return written ? Answered : Unanswered;
}

std::vector<Option> optionsOfDrift() {
    std::vector<Option> all = referenceOptions();
    all.push_back({"method", "ID", "what is believed is what this method says, instead of the older measurements"});
    all.push_back({"from", "VERSION", "the older version; the oldest that shares kernels if left out"});
    all.push_back({"to", "VERSION", "the later version; the newest if left out"});
    all.push_back({"steps", "", "every version against the next, instead of the oldest against the newest"});
    all.push_back({"rows", "N", "of the later version, to repair with; 16 if left out"});
    all.push_back({"seed", "N", "of the draws; 1 if left out"});
    all.push_back({"csv", "FILE", "the families as CSV; - is standard output"});
    all.push_back({"json", "[FILE]", "the families as JSON; standard output if left out"});
    return all;
}

}  // namespace

const Command driftCommand{
    .name = "drift",
    .positional = "[FILE...]",
    .positionalRequired = false,
    .summary = "how stale prices become when the software moves, and what few new rows repair",
    .details =
        "FILES are tables of measured kernels of two versions of one software on one device, or a folder of such "
        "tables. Per family of kernels: how far the later version lies from what was believed, from how many new rows "
        "on that is certain (false alarms at most 5 %), how wide an interval must be with no new row, and the error "
        "after one factor and after a repair, fitted to some rows and judged on others.",
    .options = optionsOfDrift(),
    .required = {},
    .examples = {{"orrery-cli drift old.csv new.csv --json -", "two versions of one table"},
                 {"orrery-cli drift old.csv new.csv --where kind=gemm --method roofline --rows 8",
                  "how a method holds up, and what eight rows repair"}},
    .run = runDrift,
};

}  // namespace orrery::cli
