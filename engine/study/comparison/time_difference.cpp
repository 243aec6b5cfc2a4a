#include "study/comparison/time_difference.h"

#include "base/text/nearest.h"
#include "methods/system/sharded_workload.h"
#include "workload/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>

namespace orrery {

namespace {

constexpr std::array<std::string_view, 4> words{"operators", "kinds", "blocks", "causes"};

// Neumaier's sum: as if added in twice the width.
class ExactSum {
public:
    void add(double value) {
        const double next = sum_ + value;
        lost_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
        sum_ = next;
    }
    double value() const { return sum_ + lost_; }

private:
    double sum_ = 0, lost_ = 0;
};

// The graph whose operators are the rows of an answer: the workload's own, or that of one device's share of a plan.
struct Rows {
    WorkloadPtr workload;  // null: not known
    const std::vector<double>* seconds = nullptr;
    std::size_t size() const { return seconds->size(); }
    const Operator& at(std::size_t i) const { return workload->graph.operators[i]; }
};

Rows rowsOf(const AnsweredCase& answered) {
    Rows rows{answered.asked.scenario.workload, &answered.estimate->operators.seconds};
    if (rows.workload && rows.workload->graph.operators.size() == rows.size()) return rows;
    const Scenario& scenario = answered.asked.scenario;
    const auto sharded = shardedWorkload(scenario.workload, scenario.plan, scenario.task);
    const bool fits = sharded && sharded->shard->graph.operators.size() == rows.size();
    rows.workload = fits ? sharded->shard : nullptr;
    return rows;
}

std::string outermost(const Graph& graph, const Blocks& blocks, std::size_t i) {
    if (i < blocks.ofOp.size() && !blocks.ofOp[i].empty()) {
        const BlockRun& run = blocks.runs[static_cast<std::size_t>(blocks.ofOp[i].front())];
        return run.count > 1 ? fmt::format("{} ×{}", run.label, run.count) : run.label;
    }
    const auto scopes = scopesOf(graph.operators[i].name);
    return std::string(scopes.empty() ? std::string_view(graph.operators[i].name) : scopes.front());
}

std::vector<std::string> labelsOf(const Rows& rows, DifferenceBy by) {
    std::vector<std::string> labels(rows.size());
    if (!rows.workload) {
        std::fill(labels.begin(), labels.end(), "operators");
        return labels;
    }
    const Graph& graph = rows.workload->graph;
    const Blocks blocks = by == DifferenceBy::Blocks ? blocksOf(graph) : Blocks{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Operator& op = rows.at(i);
        labels[i] = by == DifferenceBy::Operators ? op.name
                    : by == DifferenceBy::Kinds   ? (op.type.empty() ? std::string("other") : op.type)
                                                  : outermost(graph, blocks, i);
    }
    return labels;
}

// Terms by label, in the order in which labels are first met.
class Terms {
public:
    void add(const std::vector<std::string>& labels, const Rows& rows, bool after) {
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const auto [at, fresh] = index_.try_emplace(labels[i], terms_.size());
            if (fresh) terms_.push_back({.label = labels[i], .inBefore = false, .inAfter = false});
            DifferenceTerm& term = terms_[at->second];
            (after ? term.after : term.before) += (*rows.seconds)[i];
            (after ? term.inAfter : term.inBefore) = true;
            (after ? term.operatorsAfter : term.operatorsBefore).push_back(static_cast<std::int32_t>(i));
        }
    }
    std::vector<DifferenceTerm> take() { return std::move(terms_); }
    const std::vector<DifferenceTerm>& terms() const { return terms_; }

private:
    std::unordered_map<std::string, std::size_t> index_;
    std::vector<DifferenceTerm> terms_;
};

// Shares of both times that stand in terms of both.
bool mostlyMatched(const std::vector<DifferenceTerm>& terms) {
    double before = 0, after = 0, bothBefore = 0, bothAfter = 0;
    for (const DifferenceTerm& term : terms) {
        before += term.before;
        after += term.after;
        if (!term.inBefore || !term.inAfter) continue;
        bothBefore += term.before;
        bothAfter += term.after;
    }
    return bothBefore >= 0.5 * before && bothAfter >= 0.5 * after;
}

std::optional<double> figureOf(const Estimate& estimate, std::string_view label) {
    for (const Figure& figure : estimate.figures)
        if (figure.label == label) return figure.value;
    return std::nullopt;
}

// What the answers' figures say of time that is no computing; what only one of them tells apart stays in its kernels.
std::vector<DifferenceTerm> causes(const AnsweredCase& before, const AnsweredCase& after) {
    const std::array<const AnsweredCase*, 2> both{&before, &after};
    std::vector<DifferenceTerm> terms;
    std::array<double, 2> told{};
    const auto add = [&](std::string label, const auto& of, bool noneIsZero) {
        std::array<std::optional<double>, 2> seconds;
        for (std::size_t side = 0; side < 2; ++side) seconds[side] = of(*both[side]);
        if (!seconds[0] && !seconds[1]) return;
        if (!noneIsZero && (!seconds[0] || !seconds[1])) return;
        DifferenceTerm term{.label = std::move(label)};
        term.inBefore = seconds[0].has_value();
        term.inAfter = seconds[1].has_value();
        for (std::size_t side = 0; side < 2; ++side) {
            const double left = both[side]->estimate->latency.value - told[side];
            const double its = std::clamp(seconds[side].value_or(0), 0.0, std::max(0.0, left));
            (side == 0 ? term.before : term.after) = its;
            told[side] += its;
        }
        if (term.before > 0 || term.after > 0) terms.push_back(std::move(term));
    };
    add(
        "communication",
        [](const AnsweredCase& each) {
            const auto exposed = figureOf(*each.estimate, "Exposed communication");
            return exposed ? exposed : figureOf(*each.estimate, "Communication");
        },
        true);
    add(
        "waiting for other stages",
        [](const AnsweredCase& each) { return figureOf(*each.estimate, "Waiting for other stages"); }, true);
    add(
        "gaps of launches",
        [](const AnsweredCase& each) -> std::optional<double> {
            const auto share = figureOf(*each.estimate, "Launch-bound share");
            if (!share) return std::nullopt;
            return *share * each.estimate->latency.value;
        },
        false);
    DifferenceTerm kernels{.label = "kernels"};
    kernels.before = std::max(0.0, before.estimate->latency.value - told[0]);
    kernels.after = std::max(0.0, after.estimate->latency.value - told[1]);
    for (const AnsweredCase* each : both) {
        auto& list = each == &before ? kernels.operatorsBefore : kernels.operatorsAfter;
        list.resize(each->estimate->operators.size());
        std::iota(list.begin(), list.end(), 0);
    }
    terms.insert(terms.begin(), std::move(kernels));
    return terms;
}

void keepMost(std::vector<DifferenceTerm>& terms, std::size_t most) {
    std::stable_sort(terms.begin(), terms.end(), [](const DifferenceTerm& a, const DifferenceTerm& b) {
        return std::abs(a.delta()) > std::abs(b.delta());
    });
    if (most == 0 || terms.size() <= most + 1) return;
    DifferenceTerm rest{.label = fmt::format("{} others", terms.size() - most), .of = DifferenceTerm::Of::Rest};
    ExactSum before, after;
    for (std::size_t i = most; i < terms.size(); ++i) {
        before.add(terms[i].before);
        after.add(terms[i].after);
        for (const auto list : {&DifferenceTerm::operatorsBefore, &DifferenceTerm::operatorsAfter})
            (rest.*list).insert((rest.*list).end(), (terms[i].*list).begin(), (terms[i].*list).end());
    }
    rest.before = before.value();
    rest.after = after.value();
    terms.resize(most);
    terms.push_back(std::move(rest));
}

void addOverlap(TimeDifference& difference) {
    ExactSum before, after;
    for (const DifferenceTerm& term : difference.terms) {
        before.add(term.before);
        after.add(term.after);
    }
    DifferenceTerm overlap{.label = "overlap and outside operators", .of = DifferenceTerm::Of::Overlap};
    overlap.before = difference.before - before.value();
    overlap.after = difference.after - after.value();
    difference.terms.push_back(std::move(overlap));
}

}  // namespace

std::string_view toText(DifferenceBy by) {
    return words[static_cast<std::size_t>(by)];
}

Expected<DifferenceBy> differenceBy(std::string_view text) {
    const auto found = std::find(words.begin(), words.end(), text);
    if (found != words.end()) return static_cast<DifferenceBy>(found - words.begin());
    return fail("compare.by", fmt::format("a difference is not told by `{}`", text),
                "operators, kinds, blocks or causes",
                didYouMean(text, std::vector<std::string>(words.begin(), words.end())));
}

Expected<TimeDifference> timeDifference(const AnsweredCase& before, const AnsweredCase& after, DifferenceBy by,
                                        std::size_t most) {
    for (const AnsweredCase* each : {&before, &after}) {
        if (each->estimate) continue;
        return fail("compare.no-answer", fmt::format("`{}` has no answer", each->asked.name),
                    "two cases that are answered", each->failure ? each->failure->message : std::string());
    }
    for (const AnsweredCase* each : {&before, &after}) {
        if (kindOf(each->asked.scenario.task) != TaskKind::ServingRun && sameQuestion(before, after)) continue;
        return fail("compare.question",
                    sameQuestion(before, after) ? "the time of a serving run is of requests, not of operators"
                                                : "one case is a serving run or a step, the other is not",
                    "two passes or two steps", "the table holds the figures of runs against each other");
    }
    TimeDifference difference{
        .by = by, .before = before.estimate->latency.value, .after = after.estimate->latency.value};
    if (before.method != after.method) {
        difference.notes.push_back(
            fmt::format("`{}` is answered by {} and `{}` by {}: some of the difference is theirs", before.asked.name,
                        methodTitle(before.method), after.asked.name, methodTitle(after.method)));
    }
    if (by == DifferenceBy::Causes) {
        difference.terms = causes(before, after);
    } else {
        const Rows was = rowsOf(before), is = rowsOf(after);
        if (!was.workload || !is.workload)
            difference.notes.emplace_back("the rows of an answer are of no graph that is known: they stand as one");
        const auto termsBy = [&](DifferenceBy how) {
            Terms terms;
            terms.add(labelsOf(was, how), was, false);
            terms.add(labelsOf(is, how), is, true);
            return terms.take();
        };
        difference.terms = termsBy(by);
        if (by == DifferenceBy::Operators && !mostlyMatched(difference.terms)) {
            difference.by = DifferenceBy::Kinds;
            difference.terms = termsBy(DifferenceBy::Kinds);
            difference.notes.emplace_back("the graphs share few names: their operators are matched by kind");
        }
    }
    keepMost(difference.terms, most);
    addOverlap(difference);
    return difference;
}

OperatorPairs operatorPairs(const AnsweredCase& before, const AnsweredCase& after) {
    if (!before.estimate || !after.estimate) return {};
    const Rows was = rowsOf(before), is = rowsOf(after);
    if (!was.workload || !is.workload) return {};
    std::unordered_map<std::string_view, double> seconds;
    for (std::size_t i = 0; i < was.size(); ++i) seconds[was.at(i).name] += (*was.seconds)[i];
    OperatorPairs pairs;
    for (std::size_t i = 0; i < is.size(); ++i) {
        const auto found = seconds.find(is.at(i).name);
        pairs.after.push_back((*is.seconds)[i]);
        pairs.before.push_back(found == seconds.end() ? std::numeric_limits<double>::quiet_NaN() : found->second);
    }
    return pairs;
}

}  // namespace orrery
