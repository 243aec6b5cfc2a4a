#include "app/cli/compare_text.h"

#include "app/cli/output.h"
#include "base/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery::cli {

namespace {

constexpr int barCells = 28;

std::string signedTime(double seconds) {
    return (seconds > 0 ? "+" : seconds < 0 ? "−" : "") + format(Seconds(std::abs(seconds)));
}

std::string saysText(Against::Says says) {
    switch (says) {
        case Against::Says::Better:
            return "better, sure";
        case Against::Says::Worse:
            return "worse, sure";
        case Against::Says::Overlap:
            return "not sure";
        case Against::Says::NoInterval:
            return "no interval";
        case Against::Says::Same:
            break;
    }
    return "same";
}

std::string rangedText(std::size_t column, const Ranged& value, const AnsweredCase& answered) {
    std::string text = caseValueText(column, value.value, answered);
    if (value.low < value.high)
        text += fmt::format(" [{} … {}]", caseValueText(column, value.low, answered),
                            std::isfinite(value.high) ? caseValueText(column, value.high, answered) : "∞");
    return text;
}

// From `from` to `to` on a line that spans `low` to `high`.
std::string bar(double from, double to, double low, double high, bool total) {
    const auto cell = [&](double at) {
        return high > low ? static_cast<int>(std::lround((at - low) / (high - low) * barCells)) : 0;
    };
    const int left = std::min(cell(from), cell(to)), right = std::max({cell(from), cell(to), left + 1});
    std::string text(static_cast<std::size_t>(left), ' ');
    for (int i = left; i < right; ++i) text += total ? "█" : to >= from ? "▒" : "░";
    return text;
}

}  // namespace

std::string comparisonText(const CaseComparison& comparison) {
    std::string text;
    Table names({"", "case", "by", "against the baseline"}, {false, false, false, false});
    for (std::size_t i = 0; i < comparison.cases.size(); ++i) {
        const AnsweredCase& each = comparison.cases[i];
        const bool base = i == comparison.baseline;
        names.add({fmt::format("{}", i + 1), each.asked.name,
                   each.estimate  ? methodTitle(each.method)
                   : each.failure ? "no answer: " + each.failure->message
                                  : std::string("no answer"),
                   base ? "baseline" : verdictText(comparison.base(), each)});
    }
    text += names.text() + "\n";
    std::vector<std::string> heads{"case"};
    std::vector<bool> right{false};
    std::vector<std::size_t> shown;
    const auto columns = caseQuantities();
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const bool any = std::any_of(comparison.cases.begin(), comparison.cases.end(),
                                     [&](const AnsweredCase& each) { return each.values[c].has_value(); });
        if (!any) continue;
        shown.push_back(c);
    }
    // Quantities down, cases across: intervals are long.
    Table table({"", "case", "value", "× baseline", ""}, {false, false, false, true, false});
    for (const std::size_t c : shown) {
        for (std::size_t i = 0; i < comparison.cases.size(); ++i) {
            const AnsweredCase& each = comparison.cases[i];
            const std::string title(i == 0 ? columns[c].title : std::string_view());
            if (!each.values[c]) {
                table.add({title, fmt::format("{}", i + 1), "–", "", ""});
                continue;
            }
            const auto found = i == comparison.baseline ? std::nullopt : againstBaseline(comparison.base(), each, c);
            table.add({title, fmt::format("{}", i + 1), rangedText(c, *each.values[c], each),
                       found ? fmt::format("{:.3g}", found->ratio) : "", found ? saysText(found->says) : ""});
        }
    }
    text += table.text();
    if (!comparison.oneMethod) text += "\nNo method answers all cases: part of a difference may be one of methods.\n";
    return text;
}

std::string waterfallText(const AnsweredCase& before, const AnsweredCase& after, const TimeDifference& difference) {
    double low = std::min(difference.before, difference.after), high = std::max(difference.before, difference.after);
    double sum = difference.before;
    for (const DifferenceTerm& term : difference.terms) {
        sum += term.delta();
        low = std::min(low, sum);
        high = std::max(high, sum);
    }
    low = std::max(0.0, low - 0.25 * (high - low));
    Table table({"", before.asked.name, after.asked.name, "difference", ""}, {false, true, true, true, false});
    const auto time = [](double seconds) {
        return seconds < 0 ? "−" + format(Seconds(-seconds)) : format(Seconds(seconds));
    };
    table.add({"from", time(difference.before), "", "", bar(low, difference.before, low, high, true)});
    sum = difference.before;
    for (DifferenceTerm term : difference.terms) {
        // What is left of rounding is nothing to look at.
        if (term.of == DifferenceTerm::Of::Overlap && std::abs(term.before) + std::abs(term.after) < 1e-11 * high)
            term.before = term.after = 0;
        const double next = sum + term.delta();
        table.add({term.label, term.inBefore ? time(term.before) : "–", term.inAfter ? time(term.after) : "–",
                   signedTime(term.delta()), term.delta() == 0 ? "" : bar(sum, next, low, high, false)});
        sum = next;
    }
    table.add({"to", "", time(difference.after), signedTime(difference.after - difference.before),
               bar(low, difference.after, low, high, true)});
    std::string text = fmt::format("\nWhere the time goes, by {}: {} → {}\n\n{}", toText(difference.by),
                                   before.asked.name, after.asked.name, table.text());
    for (const std::string& note : difference.notes) text += note + "\n";
    return text;
}

std::string changesText(const AnsweredCase& before, const AnsweredCase& after, const ChangeEffects& effects) {
    if (effects.changes.empty()) return "\nThe two designs are the same.\n";
    Table table({"change", "of", "time with it alone", "difference"}, {false, false, true, true});
    for (const ChangeEffect& each : effects.changes) {
        table.add({each.text, each.path, each.alone ? format(Seconds(each.alone->value)) : "–",
                   each.alone ? signedTime(each.alone->value - effects.before.value) : each.why});
    }
    table.add({"all together", "", format(Seconds(effects.after.value)),
               signedTime(effects.after.value - effects.before.value)});
    return fmt::format("\nWhat changes, {} → {} (from {}):\n\n{}", before.asked.name, after.asked.name,
                       format(Seconds(effects.before.value)), table.text());
}

std::string breakEvenText(const std::string& mover, const std::string& still, const BreakEven& found) {
    return fmt::format("\n{} reaches the {} of {}: {}\n", mover, found.quantity, still, toText(found));
}

}  // namespace orrery::cli
