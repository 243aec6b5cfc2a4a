#include "app/cli/run_fidelity.h"

#include "app/cli/interrupt.h"
#include "app/cli/output.h"
#include "app/cli/question.h"
#include "base/unit.h"
#include "evaluation/width_shares.h"
#include "store/export/fidelity_exports.h"
#include "study/fidelity/budget.h"
#include "study/fidelity/ladder_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::cli {

namespace {

std::string sides(double low, double high) {
    return fmt::format("[{} … {}]", format(Seconds(low)), format(Seconds(high)));
}
std::string plusMinus(double half) {
    return fmt::format("±{:.2g} %", 100 * half);
}

int climb(const Arguments& arguments, const Scenario& scenario, const std::vector<std::string>& methods,
          const CalibrationSet& calibrations, std::optional<double> within, Watch& watch) {
    const auto executor = makeDefaultExecutor();
    LadderOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    options.calibrations = &calibrations;
    options.methods = methods;
    options.within = within;
    watch.begin("climbing the ladder");
    const LadderAnswer ladder = climbLadder(scenario, options);
    watch.end();
    for (const LadderStep& step : ladder.steps) {
        if (!step.failure || step.failure->code == "method.not-applicable") continue;
        Diagnostic failure = *step.failure;
        failure.message = step.method + ": " + failure.message;
        report(failure);
    }
    const auto json = arguments.value("json");
    bool written = true;
    const LadderStep* last = ladder.last();
    if (last && json != "-") {
        Table table({"step", "method", "stated", "took", "answer", "interval", "so far", "interval", "", "weight"},
                    {false, false, true, true, true, true, true, true, true, true});
        int number = 0;
        for (const LadderStep& step : ladder.steps) {
            if (!step.estimate) continue;
            const auto at = static_cast<std::size_t>(&step - ladder.steps.data());
            const auto& far = step.soFar;
            const bool bound = step.estimate->interval.kind == IntervalKind::Bound;
            const double weight = last->soFar && at < last->soFar->weights.size() ? last->soFar->weights[at] : 0;
            table.add({std::to_string(++number), step.method, step.stated ? format(Seconds(*step.stated), 2) : "–",
                       format(step.estimate->cost, 2), format(step.estimate->latency),
                       bound ? "bound" : intervalText(*step.estimate), far ? format(Seconds(far->latency)) : "–",
                       far ? sides(far->low, far->high) : "–",
                       far ? plusMinus((far->high - far->low) / 2 / far->latency) : "",
                       bound ? "bound" : fmt::format("{:.0f} %", 100 * weight)});
        }
        std::string text = fmt::format("{}\n\n{}", scenario.name(), table.text());
        if (const auto& far = last->soFar) {
            std::vector<std::string> from;
            for (std::size_t i = 0; i < far->weights.size() && i < ladder.steps.size(); ++i)
                if (far->weights[i] >= 0.01)
                    from.push_back(fmt::format("{} {:.0f} %", ladder.steps[i].method, 100 * far->weights[i]));
            text += fmt::format("\ncombined: {} {}, from {}\n", format(Seconds(far->latency)),
                                sides(far->low, far->high), fmt::join(from, ", "));
            if (far->spread > 0.01)
                text += fmt::format("the answers lie ±{:.2g} % around it, weighted: that stands in the interval\n",
                                    100 * std::expm1(far->spread));
        }
        if (!ladder.notAsked.empty())
            text += fmt::format("not asked, for want of time: {}\n", fmt::join(ladder.notAsked, ", "));
        text += fmt::format("took {}\n", format(Seconds(ladder.seconds), 2));
        const LadderStep* narrow = nullptr;
        for (const LadderStep& step : ladder.steps) {
            if (!step.estimate || widthShares(*step.estimate).operators.empty()) continue;
            const auto half = [](const LadderStep& s) {
                return s.estimate->interval.high.value - s.estimate->interval.low.value;
            };
            if (!narrow || half(step) <= half(*narrow)) narrow = &step;
        }
        if (narrow) text += "\n" + narrow->method + ": " + widthText(scenario, *narrow->estimate);
        written = print(text);
    }
    if (json) written = writeTo(*json, ladderJson(scenario, ladder)) && written;
    if (watch.interrupted()) report(fail("run.interrupted", "interrupted; what was finished is above").value());
    return written && last && !watch.interrupted() ? Answered : Unanswered;
}

std::string budgetText(const Scenario& scenario, const BudgetAnswer& answer) {
    const Estimate& e = answer.estimate;
    const double half = (e.interval.high.value - e.interval.low.value) / 2 / std::max(e.latency.value, 1e-300);
    std::string text =
        fmt::format("{}\n\n{} {}  {}\n", scenario.name(), format(e.latency), intervalText(e), plusMinus(half));
    if (!answer.complete)
        text += fmt::format("full fidelity is expected to say {}\n", sides(answer.fullLow, answer.fullHigh));
    text += fmt::format("ended: {}\n\n", answer.ended);
    Table asked({"asked", "kernels", "of", "launches", "took", "stated", "full fidelity for"},
                {false, true, true, true, true, true, false});
    for (const BudgetAsked& each : answer.asked) {
        asked.add({each.method, std::to_string(each.kernels), std::to_string(answer.kernels), count(each.launches),
                   format(Seconds(each.seconds), 2), format(Seconds(each.stated), 2),
                   each.full ? fmt::format("{}", fmt::join(each.kinds, ", ")) : "–"});
    }
    text += asked.text();
    text += fmt::format(
        "\n{} by the clock, of which {} on choosing whom to believe; {} as stated; full fidelity is stated to take {} "
        "for every kernel once, {} "
        "for every launch\n",
        format(Seconds(answer.seconds), 2), format(Seconds(answer.choosing), 2), format(Seconds(answer.stated), 2),
        format(Seconds(answer.statedOnce), 2), format(Seconds(answer.statedEach), 2));
    if (!answer.complete) {
        Table families({"family", "asked", "of", "time not asked", "corrected from", "full ÷ cheap", "90 %"},
                       {false, true, true, true, false, true, true});
        for (const BudgetFamily& each : answer.families) {
            families.add({each.name, std::to_string(each.asked), std::to_string(each.kernels),
                          fmt::format("{:.1f} %", 100 * each.share), each.asked < each.kernels ? each.control : "–",
                          each.asked < each.kernels ? fmt::format("{:.3g}", each.ratio) : "–",
                          each.asked < each.kernels ? fmt::format("[{:.3g} … {:.3g}]", each.low, each.high) : "–"});
        }
        text += "\n" + families.text();
    }
    return text + "\n" + widthText(scenario, e);
}

int budget(const Arguments& arguments, const Scenario& scenario, const std::vector<std::string>& methods,
           const CalibrationSet& calibrations, std::optional<double> within, std::optional<double> to, Watch& watch) {
    const auto executor = makeSerialExecutor();
    BudgetOptions options;
    options.executor = executor.get();
    options.stop = watch.token();
    options.progress = &watch.progress();
    options.calibrations = &calibrations;
    options.methods = methods;
    options.within = within;
    options.to = to;
    if (const auto full = arguments.value("full")) {
        const auto choice = methodChoice(*full, builtinMethods());
        if (!choice) return failed(choice.error());
        options.full = toText(*choice);
    }
    watch.begin("spending the budget");
    const auto answer = answerWithin(scenario, options);
    watch.end();
    if (!answer) return failed(answer.error());
    for (const Diagnostic& note : answer->notes) report(note);
    for (const Diagnostic& each : answer->estimate.warnings) report(each);
    const auto json = arguments.value("json");
    bool written = true;
    if (json != "-") written = print(budgetText(scenario, *answer));
    if (json) written = writeTo(*json, budgetJson(scenario, *answer)) && written;
    if (watch.interrupted())
        report(fail("run.interrupted", "interrupted; the answer is what was known by then").value());
    return written && !watch.interrupted() ? Answered : Unanswered;
}

}  // namespace

bool asksForFidelity(const Arguments& arguments) {
    return arguments.has("ladder") || arguments.has("within") || arguments.has("to") || arguments.has("full");
}

std::vector<Option> fidelityOptions() {
    return {
        {"ladder", "", "instead: ask methods from fast to slow, and combine their answers after each"},
        {"within", "TIME",
         "instead: the best answer in that time, as `10s`; each kernel gets the method that is worth its time"},
        {"to", "SHARE", "the same until the interval is that narrow, as `5%` either way"},
        {"full", "ID", "with either: the method that counts as full fidelity; without it, what evidence speaks for"},
    };
}

Expected<double> readSeconds(std::string_view text, std::string_view option) {
    const auto value = parseMeasure(text, Dimension::Time);
    if (!value || !(value->si > 0)) {
        return fail("usage.bad-value", fmt::format("--{} takes a time above 0, not '{}'", option, text),
                    "a time with its unit: `10s`, `2 min`", "write `--" + std::string(option) + " 10s`");
    }
    return value->si;
}

Expected<double> readShare(std::string_view text, std::string_view option) {
    const std::string_view plain = text.starts_with("±") ? text.substr(std::string_view("±").size()) : text;
    const auto value = parseMeasure(plain, Dimension::Fraction);
    if (!value || !(value->si > 0)) {
        return fail("usage.bad-value", fmt::format("--{} takes a share above 0, not '{}'", option, text),
                    "`5%` or `0.05`", "write `--" + std::string(option) + " 5%`");
    }
    return value->si;
}

std::string widthText(const Scenario& scenario, const Estimate& estimate, std::size_t most) {
    const WidthShares shares = widthShares(estimate);
    if (shares.operators.empty()) return {};
    const bool within = shares.half <= 1.01 * std::max(shares.common, shares.independent);
    std::string text = fmt::format(
        "{} {} (operators err by themselves, √N) {} {} (all alike, N); to narrow it, price in more detail:\n",
        within ? fmt::format("the interval of {} lies between", plusMinus(shares.half))
               : fmt::format("of the interval of {} operators make", plusMinus(shares.half)),
        plusMinus(shares.independent), within ? "and" : "to", plusMinus(shares.common));
    Table table({"  operator", "time", "of variance", "left without"}, {false, true, true, true});
    for (std::size_t i = 0; i < std::min(most, shares.operators.size()); ++i) {
        const WidthShare& each = shares.operators[i];
        table.add({"  " + scenario.workload->graph.operators[static_cast<std::size_t>(each.op)].name,
                   fmt::format("{:.0f} %", 100 * each.seconds / estimate.latency.value),
                   fmt::format("{:.0f} %", 100 * each.share), plusMinus(each.half)});
    }
    return text + table.text();
}

int runFidelity(const Arguments& arguments, const Scenario& scenario, const std::vector<std::string>& methods,
                const CalibrationSet& calibrations, Watch& watch) {
    std::optional<double> within, to;
    if (const auto text = arguments.value("within")) {
        const auto value = readSeconds(*text, "within");
        if (!value) return failed(value.error());
        within = *value;
    }
    if (const auto text = arguments.value("to")) {
        const auto value = readShare(*text, "to");
        if (!value) return failed(value.error());
        to = *value;
    }
    if (arguments.has("ladder")) return climb(arguments, scenario, methods, calibrations, within, watch);
    return budget(arguments, scenario, methods, calibrations, within, to, watch);
}

}  // namespace orrery::cli
