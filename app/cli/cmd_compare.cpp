#include "app/cli/answers.h"
#include "app/cli/compare_cases.h"
#include "app/cli/compare_text.h"
#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/text/words.h"
#include "study/exploration/knob.h"

#include <fmt/format.h>

namespace orrery::cli {

namespace {

struct Details {
    std::optional<DifferenceBy> waterfall;
    std::size_t top = 8;
    bool changes = false;
    std::optional<std::string> breakEven;
    std::string quantity = "time";
    bool moveBaseline = false;
    std::optional<double> from, to;
};

Expected<Details> detailsOf(const Arguments& arguments) {
    Details details;
    if (const auto by = arguments.value("waterfall")) {
        auto read = differenceBy(*by);
        if (!read) {
            read.error().code = "usage.waterfall";
            return Unexpected(read.error());
        }
        details.waterfall = *read;
    }
    if (const auto text = arguments.value("top")) {
        const auto number = wholeIn(*text);
        if (!number || *number < 1 || *number > 100'000)
            return fail("usage.value", fmt::format("`--top {}`", *text), "a whole number from 1");
        details.top = static_cast<std::size_t>(*number);
    }
    details.changes = arguments.has("changes");
    details.breakEven = arguments.value("break-even");
    details.quantity = arguments.value("quantity").value_or("time");
    if (auto column = caseQuantity(details.quantity); !column) {
        column.error().code = "usage.quantity";
        return Unexpected(column.error());
    }
    if (const auto who = arguments.value("move")) {
        if (*who != "baseline" && *who != "other")
            return fail("usage.value", fmt::format("`--move {}`", *who), "`baseline` or `other`");
        details.moveBaseline = *who == "baseline";
    }
    for (const auto& [option, of] :
         {std::pair{"quantity", "break-even"}, {"move", "break-even"}, {"range", "break-even"}, {"top", "waterfall"}}) {
        if (!arguments.has(option) || arguments.has(of)) continue;
        return fail("usage.missing", fmt::format("`--{}` says how `--{}` is asked", option, of),
                    fmt::format("`--{}` beside it", of));
    }
    return details;
}

// What is asked of two cases is answered of no single one.
Expected<void> enoughCases(const Arguments& arguments, std::size_t cases) {
    if (cases > 1) return {};
    for (const char* option : {"waterfall", "changes", "break-even"}) {
        if (!arguments.has(option)) continue;
        return fail("usage.cases", fmt::format("`--{}` compares two cases, and one was named", option),
                    "two cases or more",
                    "name another design with `--hardware`, or a change with `--variant 'hbm3.bandwidth=6.7 TB/s'`");
    }
    return {};
}

// `2 TB/s..8 TB/s`, in the attribute's own unit.
Expected<void> readRange(const Arguments& arguments, const Scenario& scenario, Details& details) {
    const auto text = arguments.value("range");
    if (!text || !details.breakEven) return {};
    const auto dots = text->find("..");
    const auto wrong = [&] {
        return fail("usage.range", fmt::format("`--range {}`", *text), "two values of the attribute: 2 TB/s..8 TB/s");
    };
    if (dots == std::string::npos) return wrong();
    const std::string from(trimmed(std::string_view(*text).substr(0, dots)));
    const std::string to(trimmed(std::string_view(*text).substr(dots + 2)));
    const auto knob = makeKnob(scenario, *details.breakEven, std::vector<std::string>{from, to});
    if (!knob) return Unexpected(knob.error());
    if (knob->words || !(knob->numbers[0] < knob->numbers[1])) return wrong();
    details.from = knob->numbers[0];
    details.to = knob->numbers[1];
    return {};
}

Expected<CaseFindings> findingsOf(const CaseComparison& comparison, std::size_t other, const Details& details,
                                  const CompareOptions& options) {
    CaseFindings found{.other = other};
    const AnsweredCase &base = comparison.base(), &its = comparison.cases[other];
    if (details.waterfall) {
        auto difference = timeDifference(base, its, *details.waterfall, details.top);
        if (!difference) return Unexpected(difference.error());
        found.difference = std::move(*difference);
    }
    if (details.changes) {
        auto changes = changeEffects(base, its, options);
        if (!changes) return Unexpected(changes.error());
        found.changes = std::move(*changes);
    }
    if (details.breakEven) {
        const AnsweredCase &mover = details.moveBaseline ? base : its, &still = details.moveBaseline ? its : base;
        const auto goal = still.values[*caseQuantity(details.quantity)];
        if (!goal) {
            return fail("compare.no-answer", fmt::format("`{}` has no {} to reach", still.asked.name, details.quantity),
                        "a column that the comparison shows");
        }
        auto even = breakEven({.subject = mover.asked.scenario,
                               .deviceHour = mover.asked.deviceHour,
                               .path = *details.breakEven,
                               .quantity = details.quantity,
                               .method = mover.method,
                               .goal = *goal,
                               .drawn = base.asked.scenario.hardware,
                               .from = details.from,
                               .to = details.to},
                              options);
        // Of several designs not all have the part.
        if (!even && comparison.cases.size() > 2 && even.error().code == "search.knob") {
            even = BreakEven{.path = *details.breakEven, .quantity = details.quantity, .none = even.error().message};
        }
        if (!even) return Unexpected(even.error());
        found.breakEven = std::move(*even);
        found.breakEvenOf = mover.asked.name;
    }
    return found;
}

int runCompare(const Arguments& arguments, Watch& watch) {
    auto details = detailsOf(arguments);
    if (!details) return failed(details.error());
    auto asked = casesAsked(arguments);
    if (!asked) return failed(asked.error());
    if (auto enough = enoughCases(arguments, asked->cases.size()); !enough) return failed(enough.error());
    const std::size_t firstOther = asked->baseline == 0 && asked->cases.size() > 1 ? 1 : 0;
    const std::size_t mover = details->moveBaseline ? asked->baseline : firstOther;
    if (auto range = readRange(arguments, asked->cases[mover].scenario, *details); !range) return failed(range.error());
    const auto executor = makeDefaultExecutor();
    const CompareOptions options{.executor = executor.get(), .stop = watch.token(), .progress = &watch.progress()};
    watch.begin("comparing");
    auto comparison = compareCases(std::move(asked->cases), asked->baseline, asked->methods, options);
    if (!comparison) {
        watch.end();
        return failed(comparison.error());
    }
    std::vector<CaseFindings> findings;
    std::optional<Diagnostic> problem;
    for (std::size_t i = 0; i < comparison->cases.size() && !watch.interrupted(); ++i) {
        const bool answered = comparison->cases[i].estimate && comparison->base().estimate;
        if (i == comparison->baseline || !answered) continue;
        auto found = findingsOf(*comparison, i, *details, options);
        if (!found) {
            problem = found.error();
            break;
        }
        findings.push_back(std::move(*found));
    }
    watch.end();
    if (problem) return failed(*problem);
    if (watch.interrupted()) return failed(fail("compare.interrupted", "interrupted").value());

    bool written = true, all = true;
    const auto json = arguments.value("json"), csv = arguments.value("csv");
    if ((!json || *json != "-") && (!csv || *csv != "-")) {
        std::string text = comparisonText(*comparison);
        for (const CaseFindings& each : findings) {
            const AnsweredCase &base = comparison->base(), &its = comparison->cases[each.other];
            if (each.difference) text += waterfallText(base, its, *each.difference);
            if (each.changes) text += changesText(base, its, *each.changes);
            if (each.breakEven) {
                text += breakEvenText(each.breakEvenOf, details->moveBaseline ? its.asked.name : base.asked.name,
                                      *each.breakEven);
            }
        }
        written = print(text);
    }
    for (const AnsweredCase& each : comparison->cases) {
        all = all && each.estimate;
        if (!each.estimate && each.failure) report(*each.failure);
    }
    if (json) written = writeTo(*json, comparisonJson(*comparison, findings)) && written;
    if (csv) written = writeTo(*csv, comparisonCsv(*comparison)) && written;
    return written && all ? Answered : Unanswered;
}

std::vector<Option> options() {
    std::vector<Option> all{
        {"hardware", "H", "a design: a device of the catalogue or a hardware file; again for each one more", true},
        {"workload", "W", "a model; again for each one more", true},
        {"plan", "PLAN", "tp=8,pp=2,…; again for each one more; without it one device", true},
        {"variant", "CHANGE", "every design also with this change: 'hbm3.bandwidth=6.7 TB/s, sm.count=264'", true},
        {"set", "PATH=VALUE", "change an attribute of all designs", true},
        {"baseline", "CASE",
         "number or words of the name of the case that the others are held against; without it the first"},
        {"method", "ID,…", "who answers; without it all, and the one with the least error over all cases leads", true},
        {"task", "TASK", "pass (default), training-step, operator(NAME)"},
        {"software", "NAME", "whose kernels run: 'vLLM 0.24.0(graphs=off)'"},
        {"device-hour", "DOLLARS", "price of a device's hour: 2.5, or h100=2.5,a100=1.2; for cost and per dollar",
         true},
        {"waterfall", "BY", "where the time goes: operators, kinds, blocks or causes; adds up to the difference"},
        {"top", "N", "terms of their own in a waterfall; 8 without it"},
        {"changes", "", "what differs between the designs, old → new, and what each change alone does to the time"},
        {"break-even", "PATH", "the value of one attribute (hbm3.bandwidth, sm.count, batch) at which both are alike"},
        {"quantity", "COLUMN", "of the break-even: time (default), energy, cost, area, throughput, …"},
        {"move", "WHO", "whose attribute moves: other (default) or baseline"},
        {"range", "FROM..TO", "where the break-even is looked for, instead of the attribute's usual range"},
    };
    all.insert(all.end(), workloadOptions().begin(), workloadOptions().end());
    all.push_back({"csv", "FILE", "the table as CSV; - is standard output"});
    all.push_back({"json", "[FILE]",
                   "everything as JSON (resources/schema/comparison.schema.json); standard output if left out"});
    return all;
}

}  // namespace

const Command compareCommand{
    .name = "compare",
    .positional = "PROJECT",
    .summary = "results of A against B: designs × workloads × plans in one table",
    .details =
        "Every combination of designs (each also with every --variant), workloads and plans is a case. Each has its "
        "time with interval, energy, memory, silicon and cost, and what follows from them, held against the baseline. "
        "A difference is `sure` where the intervals do not overlap. A PROJECT brings its own cases: its scenarios, "
        "against the one that says `baseline: true`.",
    .options = options(),
    .required = {},
    .examples =
        {{"orrery-cli compare presets/examples/a100-h100-or-h200.yaml --waterfall operators", "the cases of a project"},
         {"orrery-cli compare --hardware h100-sxm --hardware a100-80-sxm --workload llama-3-8b --phase decode",
          "how much faster, and how sure?"},
         {"orrery-cli compare --hardware h100-sxm --workload llama-3-8b --phase decode --variant "
          "'hbm3.bandwidth=6.7 TB/s' --variant sm.count=264 --waterfall operators",
          "HBM ×2 or cores ×2, and which operators gain"},
         {"orrery-cli compare --hardware a100-80-sxm --hardware h100-sxm --workload llama-2-7b --baseline h100 "
          "--break-even hbm2e.bandwidth",
          "what bandwidth would the A100 need to win?"},
         {"orrery-cli compare --hardware dgx-h100 --workload llama-3-70b --phase decode --plan tp=4 --plan tp=8 "
          "--waterfall causes --json -",
          "two plans, and what communication costs"}},
    .run = runCompare,
};

}  // namespace orrery::cli
