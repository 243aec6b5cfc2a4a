#include "store/export/search_exports.h"

#include "store/export/csv_row.h"
#include "store/export/json_parts.h"

#include <cmath>

namespace orrery {

namespace {

using store::Json;

Json evaluationJson(const SearchProblem& problem, const PointAnswer& evaluation) {
    Json values = Json::object();
    if (evaluation.refusal.empty()) {
        for (std::size_t k = 0; k < problem.objectives.size(); ++k) {
            Json value = Json::object();
            store::put(value, "value", evaluation.values[k].value);
            store::put(value, "low", evaluation.values[k].low);
            store::put(value, "high", evaluation.values[k].high);
            values[problem.objectives[k].quantity] = std::move(value);
        }
    }
    Json json{{"values", std::move(values)}, {"violation", store::number(evaluation.violation)}};
    if (!evaluation.refusal.empty()) json["refusal"] = evaluation.refusal;
    return json;
}

Json pointJson(const SearchProblem& problem, const PointAnswer& evaluation) {
    const auto levels = problem.space.levelsAt(evaluation.point);
    Json knobs = Json::object();
    for (std::size_t k = 0; k < levels.size(); ++k) {
        const Knob& knob = problem.space.knobs()[k];
        knobs[knob.path] = knob.values[levels[k]];
    }
    Json json{{"point", evaluation.point}, {"knobs", std::move(knobs)}};
    json.update(evaluationJson(problem, evaluation));
    return json;
}

Json historyJson(const SearchProblem& problem, const PointAnswers& seen) {
    Json points = Json::array(), violation = Json::array(), values = Json::object(), refused = Json::object();
    for (std::size_t i = 0; i < seen.size(); ++i) {
        points.push_back(seen.points[i]);
        violation.push_back(store::number(seen.violation[i]));
        if (!seen.answered(i)) refused[std::to_string(seen.points[i])] = seen.refusals[seen.refusal[i] - 1];
    }
    for (std::size_t k = 0; k < problem.objectives.size(); ++k) {
        Json column = Json::array();
        for (std::size_t i = 0; i < seen.size(); ++i) {
            const double value = seen.value[i * seen.objectives + k];
            column.push_back(std::isfinite(value) ? store::number(value) : Json());
        }
        values[problem.objectives[k].quantity] = std::move(column);
    }
    return {{"points", std::move(points)},
            {"values", std::move(values)},
            {"violation", std::move(violation)},
            {"refusals", std::move(refused)}};
}

/// SI unit of an objective's numbers; empty where it has none or a table answers.
std::string unitOf(const SearchOutcome& outcome, std::size_t objective) {
    const BaseAnswer& base = outcome.base;
    if (objective < base.units.size() && !base.units[objective].empty()) return base.units[objective];
    return objective < base.dimensions.size() ? std::string(baseUnit(base.dimensions[objective])) : std::string();
}

}  // namespace

std::string searchJson(const SearchOutcome& outcome) {
    const SearchProblem& problem = *outcome.problem;
    const PointAnswers& seen = outcome.evaluations;
    Json json{{"format", "orrery-search"},
              {"version", 1},
              {"name", outcome.name},
              {"agent", outcome.agent->id},
              {"seed", problem.seed},
              {"method", problem.method},
              {"question", problem.source ? problem.source->title() : problem.space.base().name()},
              {"points", problem.space.points()},
              {"evaluated", seen.size()},
              {"finished", outcome.finished},
              {"seconds", outcome.seconds}};
    Json knobs = Json::array(), objectives = Json::array(), constraints = Json::array();
    for (const Knob& knob : problem.space.knobs()) {
        Json one{{"path", knob.path}, {"values", knob.values}};
        if (!knob.own.empty()) one["drawn"] = knob.own;
        knobs.push_back(std::move(one));
    }
    for (std::size_t k = 0; k < problem.objectives.size(); ++k) {
        const Objective& objective = problem.objectives[k];
        Json one{{"quantity", objective.quantity}, {"maximise", objective.maximise}};
        if (std::string unit = unitOf(outcome, k); !unit.empty()) one["unit"] = std::move(unit);
        objectives.push_back(std::move(one));
    }
    for (const Constraint& constraint : problem.constraints) constraints.push_back(constraint.text);
    json["knobs"] = std::move(knobs);
    json["objectives"] = std::move(objectives);
    json["constraints"] = std::move(constraints);
    if (!problem.source) json["drawn"] = evaluationJson(problem, outcome.base.evaluation);
    if (!outcome.cheap.empty()) {
        Json cheaper = Json::array();
        for (const RungAnswers& rung : outcome.cheap) {
            cheaper.push_back({{"method", rung.rung.method},
                               {"evaluated", rung.answers.size()},
                               {"cost", store::number(rung.rung.cost)}});
        }
        json["cheaper"] = std::move(cheaper);
    }
    Json best = Json::object();
    const auto rows = bestOf(problem, seen);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        if (rows[k]) best[problem.objectives[k].quantity] = pointJson(problem, seen.at(*rows[k]));
    }
    json["best"] = std::move(best);
    const Front front = frontOf(problem, seen);
    Json points = Json::array(), possible = Json::array();
    for (const std::size_t i : front.points) points.push_back(pointJson(problem, seen.at(i)));
    for (const std::size_t i : front.possible) possible.push_back(seen.points[i]);
    json["front"] = std::move(points);
    json["possible"] = std::move(possible);
    json["history"] = historyJson(problem, seen);
    return store::dumped(json) + "\n";
}

std::string searchCsv(const SearchOutcome& outcome) {
    const SearchProblem& problem = *outcome.problem;
    const PointAnswers& seen = outcome.evaluations;
    std::vector<std::string_view> place(seen.size());
    const Front front = frontOf(problem, seen);
    for (const std::size_t i : front.points) place[i] = "front";
    for (const std::size_t i : front.possible) place[i] = "possible";
    store::CsvRow head;
    head.add(std::string_view("point"));
    for (const Knob& knob : problem.space.knobs()) head.add(std::string_view(knob.path));
    for (const Objective& objective : problem.objectives) {
        for (const char* part : {"", "_low", "_high"}) head.add(std::string_view(objective.quantity + part));
    }
    for (const char* name : {"violation", "front", "refusal"}) head.add(std::string_view(name));
    std::string out = head.line();
    for (std::size_t i = 0; i < seen.size(); ++i) {
        store::CsvRow row;
        row.add(std::string_view(fmt::format("{}", seen.points[i])));
        const auto levels = problem.space.levelsAt(seen.points[i]);
        for (std::size_t k = 0; k < levels.size(); ++k) {
            row.add(std::string_view(problem.space.knobs()[k].values[levels[k]]));
        }
        for (std::size_t k = i * seen.objectives; k < (i + 1) * seen.objectives; ++k) {
            row.add(seen.value[k]).add(seen.low[k]).add(seen.high[k]);
        }
        row.add(seen.violation[i]).add(place[i]);
        row.add(seen.answered(i) ? std::string_view() : std::string_view(seen.refusals[seen.refusal[i] - 1]));
        out += row.line();
    }
    return out;
}

std::string benchmarkCsv(std::span<const BenchmarkSpace> spaces, std::span<const BenchmarkScore> scores) {
    store::CsvRow head;
    for (const char* name : {"space", "points", "evaluations", "agent", "seed", "volume", "low", "median", "high",
                             "answers", "cost", "chance", "worse"})
        head.add(std::string_view(name));
    std::string out = head.line();
    for (const BenchmarkScore& score : scores) {
        const BenchmarkSpace& space = spaces[score.space];
        for (std::size_t run = 0; run < score.volumes.size(); ++run) {
            store::CsvRow row;
            row.add(std::string_view(space.name)).add(static_cast<double>(space.problem.space.points()));
            row.add(static_cast<double>(score.agent.evaluations(space))).add(std::string_view(score.agent.name()));
            row.add(static_cast<double>(space.problem.seed + run)).add(score.volumes[run]);
            row.add(score.low).add(score.median).add(score.high).add(score.answers).add(score.cost).add(score.chance);
            row.add(std::string_view(score.worse ? "yes" : "no"));
            out += row.line();
        }
    }
    return out;
}

}  // namespace orrery
