#include "evaluation/schedules/judge_schedules.h"

#include "base/maths.h"
#include "base/random.h"
#include "evaluation/error_metrics.h"
#include "evaluation/schedules/drawn_devices.h"
#include "evaluation/schedules/stated_shares.h"
#include "learning/schedules/tuned_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace orrery {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

ScheduleJudgement emptyOf(std::size_t rows) {
    ScheduleJudgement judgement;
    for (std::vector<double>* each : {&judgement.said, &judgement.low, &judgement.high, &judgement.analytic})
        each->assign(rows, none);
    return judgement;
}

// The best of ten that are drawn without a model: Σ share × chance that it is the best of them.
double bestOfDrawn(std::vector<double> shares, std::size_t drawn) {
    std::sort(shares.rbegin(), shares.rend());
    double sum = 0, none = 1;  // `none`: that no better one was drawn
    const auto n = static_cast<double>(shares.size());
    for (std::size_t i = 0; i < shares.size() && none > 1e-12; ++i) {
        const double left = n - static_cast<double>(i);
        const double hit = std::min(1.0, static_cast<double>(drawn) / left);
        sum += none * hit * shares[i];
        none *= 1 - hit;
    }
    return sum;
}

// `said`: of each row, higher is better.
RankFigures figuresOf(std::span<const TunedRow> rows, std::span<const std::size_t> places,
                      std::span<const double> shares, std::span<const double> said) {
    RankFigures figures;
    std::vector<double> runs, saidOfRuns;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (rows[places[i]].seconds > 0) runs.push_back(shares[i]), saidOfRuns.push_back(said[places[i]]);
    figures.spearman = runs.size() > 1 ? spearmanRho(saidOfRuns, runs) : 0;
    std::vector<std::size_t> order(places.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return said[places[a]] > said[places[b]]; });
    figures.top1 = shares[order[0]];
    for (std::size_t i = 0; i < std::min<std::size_t>(10, order.size()); ++i)
        figures.top10 = std::max(figures.top10, shares[order[i]]);
    return figures;
}

// And how well the drawn device itself does.
RankedOperator besideDrawn(std::span<const TunedRow> rows, std::span<const std::size_t> places,
                           const ScheduleJudgement& judged, const DrawnDevices& drawn) {
    RankedOperator one = rankedOf(rows, places, judged.said);
    if (std::any_of(places.begin(), places.end(), [&](std::size_t i) { return std::isnan(judged.analytic[i]); }))
        return one;
    std::vector<double> rates(rows.size());
    for (const std::size_t i : places) rates[i] = judged.analytic[i] > 0 ? 1 / judged.analytic[i] : 0;
    one.drawn = drawn.nameOf(one.device);
    one.analytic = figuresOf(rows, places, sharesOf(rows, places), rates);
    return one;
}

JudgedTimes judgedOf(std::string device, std::span<const TunedRow> rows, std::span<const std::size_t> places,
                     const ScheduleJudgement& all) {
    JudgedTimes judged{std::move(device), 0, 0, 0, 0, 0, 0};
    std::vector<double> errors, said, measured;
    double inside = 0;
    for (const std::size_t i : places) {
        if (std::isnan(all.said[i])) continue;
        errors.push_back(std::abs(all.said[i] / rows[i].seconds - 1));
        said.push_back(all.said[i]), measured.push_back(rows[i].seconds);
        inside += rows[i].seconds >= all.low[i] && rows[i].seconds <= all.high[i];
    }
    judged.rows = errors.size();
    if (errors.empty()) return judged;
    const auto n = static_cast<double>(errors.size());
    judged.mape = std::accumulate(errors.begin(), errors.end(), 0.0) / n;
    judged.median = quantileType7(errors, 0.5);
    judged.spearman = spearmanRho(said, measured);
    judged.coverage = inside / n;
    return judged;
}

void sumUp(ScheduleJudgement& judgement, std::span<const TunedRow> rows) {
    std::map<std::string, std::vector<std::size_t>> devices;
    std::vector<std::size_t> everywhere;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!std::isnan(judgement.said[i])) devices[rows[i].device].push_back(i), everywhere.push_back(i);
    for (const auto& [device, places] : devices) judgement.devices.push_back(judgedOf(device, rows, places, judgement));
    judgement.all = judgedOf("all", rows, everywhere, judgement);
}

std::vector<TunedRow> without(std::span<const TunedRow> rows, const std::vector<bool>& left) {
    std::vector<TunedRow> kept;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (!left[i]) kept.push_back(rows[i]);
    return kept;
}

void answer(ScheduleJudgement& judgement, const TunedTimes& model, std::span<const TunedRow> rows,
            std::span<const std::size_t> places) {
    std::vector<const TunedRow*> asked;
    std::vector<std::size_t> at;
    for (const std::size_t i : places)
        if (rows[i].seconds > 0 && model.knows(rows[i].device)) asked.push_back(&rows[i]), at.push_back(i);
    const auto times = model.times(asked);
    for (std::size_t i = 0; times && i < at.size(); ++i) {
        const TunedTime& time = (*times)[i];
        judgement.said[at[i]] = time.seconds, judgement.low[at[i]] = time.low, judgement.high[at[i]] = time.high;
    }
}

// Those that ran, `count` of them by seed.
std::vector<std::size_t> drawn(std::span<const TunedRow> rows, std::vector<std::size_t> places, std::size_t count,
                               std::uint64_t seed) {
    std::erase_if(places, [&](std::size_t i) { return !(rows[i].seconds > 0); });
    RandomStream random(seed);
    for (std::size_t i = 0; i + 1 < places.size() && i < count; ++i) {
        const std::size_t other = i + static_cast<std::size_t>(random.below(places.size() - i));
        std::swap(places[i], places[other]);
    }
    places.resize(std::min(count, places.size()));
    return places;
}

// Of those that ran: what fails says nothing of the others.
std::vector<std::size_t> chosen(const TunedTimes& others, std::span<const TunedRow> rows,
                                std::vector<std::size_t> places, std::size_t count) {
    std::erase_if(places, [&](std::size_t i) { return !(rows[i].seconds > 0); });
    std::vector<const TunedRow*> of;
    for (const std::size_t i : places) of.push_back(&rows[i]);
    std::vector<std::size_t> out;
    for (const std::size_t each : others.anchorsOf(of, count)) out.push_back(places[each]);
    return out;
}

// A device by what others say and a few rows of its own, which are not judged.
Expected<std::size_t> judgeNew(ScheduleJudgement& judgement, const TunedTimes& others, std::span<const TunedRow> rows,
                               const std::vector<std::size_t>& places, const JudgeScheduleOptions& options) {
    const auto given = options.choose ? chosen(others, rows, places, options.anchors)
                                      : drawn(rows, places, options.anchors, options.training.seed);
    std::vector<TunedRow> anchors;
    for (const std::size_t i : given) anchors.push_back(rows[i]);
    const auto model = others.adapted(anchors);
    if (!model) return Unexpected(model.error());
    std::vector<std::size_t> asked;
    for (const std::size_t i : places)
        if (std::find(given.begin(), given.end(), i) == given.end()) asked.push_back(i);
    answer(judgement, *model, rows, asked);
    return given.size();
}

Unexpected nothingToJudge(const char* why) {
    return fail("schedules.few", why, "ten schedules of an operator, or three rows of a device and others to judge");
}

void noteAnchors(ScheduleJudgement& judgement, const std::map<std::string, std::size_t>& anchors) {
    for (JudgedTimes& judged : judgement.devices)
        if (const auto found = anchors.find(judged.device); found != anchors.end()) judged.anchors = found->second;
}

constexpr std::size_t fewestSchedules = 10, fewestJudged = 10;

}  // namespace

RankedOperator rankedOf(std::span<const TunedRow> rows, std::span<const std::size_t> places,
                        std::span<const double> said) {
    RankedOperator one;
    const TunedRow& first = rows[places[0]];
    one.device = first.device, one.task = first.task, one.workload = first.workload;
    one.schedules = places.size();
    one.failed = static_cast<std::size_t>(
        std::count_if(places.begin(), places.end(), [&](std::size_t i) { return !(rows[i].seconds > 0); }));
    std::vector<double> shares = sharesOf(rows, places);
    static_cast<RankFigures&>(one) = figuresOf(rows, places, shares, said);
    one.chance10 = bestOfDrawn(std::move(shares), 10);
    return one;
}

bool isOfTrials(std::span<const TunedRow> rows) {
    std::size_t many = 0;
    for (const auto& one : operatorsOf(rows)) many += one.size() >= fewestSchedules ? one.size() : 0;
    return 2 * many > rows.size();
}

Expected<ScheduleJudgement> judgeLeftOut(std::span<const TunedRow> rows, const JudgeScheduleOptions& options) {
    ScheduleJudgement judgement = emptyOf(rows.size());
    const auto operators = operatorsOf(rows);
    if (isOfTrials(rows)) {
        const auto drawn = DrawnDevices::find(rows, options.drawn);
        if (!drawn) return Unexpected(drawn.error());
        judgement.analytic = drawn->prices(rows);
        std::optional<Diagnostic> alone;
        for (const auto& one : operators) {
            if (one.size() < fewestSchedules) continue;
            std::vector<bool> left(rows.size());
            for (const std::size_t i : one) left[i] = true;
            ScheduleTraining training = options.training;
            training.device = rows[one.front()].device;
            const auto model = ScheduleRanks::fit(without(rows, left), training);
            if (!model && model.error().code != "schedules.few") return Unexpected(model.error());
            if (!model) {  // all others failed, or are too few
                judgement.notes.push_back(
                    warning("schedules.few",
                            fmt::format("{}: no other operator for a fit; not used", rows[one.front()].workload),
                            "ten schedules of another operator, one of them with a time"));
                alone = model.error();
                continue;
            }
            for (const std::size_t i : one) judgement.said[i] = model->share(rows[i]);
            judgement.operators.push_back(besideDrawn(rows, one, judgement, *drawn));
        }
        if (judgement.operators.empty() && alone) return Unexpected(*alone);
        if (options.intervals)
            if (auto stated = stateLeftOut(judgement, rows, options.training); !stated)
                return Unexpected(stated.error());
        return judgement;  // isOfTrials(): one at least has so many
    }
    // An operator is left out on every device at once.
    std::map<std::string, std::size_t> numbers;
    std::vector<std::size_t> number(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        number[i] = numbers.try_emplace(rows[i].task + '\n' + rows[i].workload, numbers.size()).first->second;
    std::vector<std::size_t> order(numbers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomStream random(options.training.seed);
    for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(i))]);
    for (int fold = 0; fold < options.folds; ++fold) {
        std::vector<bool> left(rows.size());
        std::vector<std::size_t> asked;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            left[i] = static_cast<int>(order[number[i]] % static_cast<std::size_t>(options.folds)) == fold;
            if (left[i]) asked.push_back(i);
        }
        const auto model = TunedTimes::fit(without(rows, left), options.training);
        if (!model) return Unexpected(model.error());
        answer(judgement, *model, rows, asked);
    }
    sumUp(judgement, rows);
    return judgement;
}

Expected<ScheduleJudgement> judgeNewDevices(std::span<const TunedRow> rows, const JudgeScheduleOptions& options) {
    ScheduleJudgement judgement = emptyOf(rows.size());
    std::map<std::string, std::vector<std::size_t>> devices;
    std::map<std::string, std::size_t> anchors;
    for (std::size_t i = 0; i < rows.size(); ++i) devices[rows[i].device].push_back(i);
    for (const auto& [device, places] : devices) {
        if (places.size() < options.anchors + fewestJudged) {
            judgement.notes.push_back(
                warning("schedules.few", fmt::format("{}: {} rows, left out", device, places.size()),
                        fmt::format("{} given and {} to judge are the least", options.anchors, fewestJudged)));
            continue;
        }
        std::vector<bool> left(rows.size());
        for (const std::size_t i : places) left[i] = true;
        const auto others = TunedTimes::fit(without(rows, left), options.training);
        if (!others) return Unexpected(others.error());
        const auto given = judgeNew(judgement, *others, rows, places, options);
        if (!given && given.error().code == "schedules.few") {
            judgement.notes.push_back(
                warning("schedules.few", fmt::format("{}: {}", device, given.error().message), given.error().hint));
            continue;
        }
        if (!given) return Unexpected(given.error());
        anchors[device] = *given;
    }
    if (anchors.empty()) {
        return fail("schedules.few", "no device has rows enough to be given some and judged by others",
                    fmt::format("{} rows of a device", options.anchors + fewestJudged), "give fewer with --samples");
    }
    sumUp(judgement, rows);
    noteAnchors(judgement, anchors);
    return judgement;
}

Expected<ScheduleJudgement> judgeOther(std::span<const TunedRow> known, std::span<const TunedRow> asked,
                                       const JudgeScheduleOptions& options) {
    ScheduleJudgement judgement = emptyOf(asked.size());
    if (isOfTrials(known)) {
        const auto drawn = DrawnDevices::find(asked, options.drawn);
        if (!drawn) return Unexpected(drawn.error());
        judgement.analytic = drawn->prices(asked);
        const auto model = ScheduleRanks::fit(known, options.training);
        if (!model) return Unexpected(model.error());
        for (std::size_t i = 0; i < asked.size(); ++i) judgement.said[i] = model->share(asked[i]);
        for (const auto& one : operatorsOf(asked))
            if (one.size() >= fewestSchedules)
                judgement.operators.push_back(besideDrawn(asked, one, judgement, *drawn));
        if (judgement.operators.empty()) return nothingToJudge("no operator has ten schedules");
        if (options.intervals)
            if (auto stated = stateOther(judgement, known, asked, options.training); !stated)
                return Unexpected(stated.error());
        return judgement;
    }
    const auto model = TunedTimes::fit(known, options.training);
    if (!model) return Unexpected(model.error());
    std::map<std::string, std::vector<std::size_t>> devices;
    std::map<std::string, std::size_t> anchors;
    for (std::size_t i = 0; i < asked.size(); ++i) devices[asked[i].device].push_back(i);
    for (const auto& [device, places] : devices) {
        if (model->knows(device)) {
            answer(judgement, *model, asked, places);
            continue;
        }
        const auto given = judgeNew(judgement, *model, asked, places, options);
        if (!given && given.error().code == "schedules.few") {
            judgement.notes.push_back(
                warning("schedules.few", fmt::format("{}: {}", device, given.error().message), given.error().hint));
            continue;
        }
        if (!given) return Unexpected(given.error());
        anchors[device] = *given;
    }
    sumUp(judgement, asked);
    if (judgement.all.rows == 0) return nothingToJudge("no device of the other log has rows enough");
    noteAnchors(judgement, anchors);
    return judgement;
}

}  // namespace orrery
