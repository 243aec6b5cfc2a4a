#pragma once

// A search: points of a space are answered by one method or source, batch by batch on all cores, and kept in the order
// in which they were asked for. Which points are asked for is an agent's business (agents.h). Same problem, agent and
// seed: the same points with the same numbers, whatever the thread count, and whether or not some were known from
// before.

#include "base/executor.h"
#include "base/progress.h"
#include "study/exploration/front.h"
#include "study/exploration/quantity.h"
#include "study/exploration/search_space.h"

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace orrery {

class PointSource;

struct SearchProblem {
    SearchSpace space;
    std::string method;                 ///< id or choice; of a source its own name (`table`)
    std::vector<Objective> objectives;  ///< at least one
    std::vector<Constraint> constraints;
    double deviceHour = 0;  ///< dollars; for `cost`
    std::uint64_t seed = 0;
    std::optional<AreaReport> drawn = {};  ///< silicon of the base design: see readied()
    std::shared_ptr<const PointSource> source =
        {};                                ///< who answers points; null: the question of the space, by `method`
    std::vector<std::string> ladder = {};  ///< cheaper methods, for agents that ask several (ladder.h)

    Circumstances circumstances() const { return {deviceHour, drawn ? &*drawn : nullptr}; }
};
/// Checks it and reads what its objectives need of the base design. Fails with `search.objective` and `search.method`
/// on what the method cannot be asked, and as areaOf() does where silicon is asked for.
Expected<SearchProblem> readied(SearchProblem problem);

/// One point as it was answered.
struct PointAnswer {
    std::uint64_t point = 0;
    std::vector<Ranged> values;  ///< of each objective; numbers that are none where the answer was refused
    double violation = 0;        ///< of all constraints together, as shares of their limits; 0: all are kept
    std::string refusal;         ///< why there is no answer; empty: there is one
};

struct SearchOptions;

/// Who answers points in place of a method and a question: a table (table_space.h), or what was learned from one.
class PointSource {
public:
    virtual ~PointSource() = default;
    /// The same at every call, from several threads at once. `point` of the answer is set by the caller.
    virtual PointAnswer answerAt(const SearchProblem& problem, std::uint64_t point,
                                 const SearchOptions& options) const = 0;
    virtual std::string title() const = 0;     ///< `the table dramsys_points.csv`
    virtual std::string identity() const = 0;  ///< of all that decides its numbers: a stored search is told by it
};
/// An answer that is none.
PointAnswer refusedPoint(const SearchProblem& problem, std::string why);

/// Many of them, as columns.
struct PointAnswers {
    std::size_t objectives = 0;
    std::vector<std::uint64_t> points;
    std::vector<double> value, low, high;  ///< [i × objectives + k], as asked, not negated
    std::vector<double> violation;
    std::vector<std::uint32_t> refusal;  ///< 0: answered; else 1 + its place in `refusals`
    std::vector<std::string> refusals;   ///< texts, each once

    std::size_t size() const { return points.size(); }
    bool answered(std::size_t i) const { return refusal[i] == 0; }
    bool feasible(std::size_t i) const { return answered(i) && violation[i] <= 0; }
    void add(const PointAnswer& evaluation);
    PointAnswer at(std::size_t i) const;
};

/// The objectives as costs, larger ones negated; what is refused or breaks a constraint is no number.
Costs costsOf(const SearchProblem& problem, const PointAnswers& evaluations);
/// Indices into the evaluations, by the objectives of the problem.
Front frontOf(const SearchProblem& problem, const PointAnswers& evaluations);
/// Of each objective the best feasible evaluation; nothing where none is.
std::vector<std::optional<std::size_t>> bestOf(const SearchProblem& problem, const PointAnswers& evaluations);

/// What a method's answer takes, over that of the problem's own method: by the cost models of their cards on the base
/// question, never by the clock, so that a search is the same on any machine.
struct Rung {
    std::string method;  ///< id or choice
    double cost = 0;     ///< above 0, below 1
};

/// Points that a cheaper method has answered.
struct RungAnswers {
    Rung rung;
    PointAnswers answers;
};

struct SearchOptions {
    Executor* executor = nullptr;  ///< null: one thread
    std::stop_token stop;
    Progress* progress = nullptr;         ///< one step per point
    std::uint64_t evaluations = 0;        ///< at most; 0: as many as the agent asks for
    const PointAnswers* known = nullptr;  ///< from an earlier run of the same problem: not answered again
    /// What has been added: rows from `first`. Between two batches, on the thread of the search. False ends the search.
    std::function<bool(const PointAnswers&, std::size_t first)> onBatch;
    const CalibrationSet* calibrations = nullptr;  ///< null: the shipped ones
    std::size_t batch = 512;                       ///< most points between two calls of onBatch
    /// Answers points on other machines; empty: the executor does. False where it was stopped.
    std::function<bool(std::span<const std::uint64_t> points, std::span<PointAnswer> answers)> elsewhere = {};
    /// What cheaper methods answered, filled by runSearch(). These are in no front.
    std::vector<RungAnswers>* cheap = nullptr;
    /// Of a cheaper method (`asked`: this problem by it) what an earlier run of the same problem had answered.
    std::function<PointAnswers(const SearchProblem& asked)> knownCheap = {};
    /// What a cheaper method has answered now, in no earlier call and not known. As onBatch: false ends the search.
    std::function<bool(const SearchProblem& asked, const PointAnswers& fresh)> onCheap = {};
};

/// What an agent sees.
class Search {
public:
    Search(const SearchProblem& problem, const SearchOptions& options);
    const SearchProblem& problem() const { return problem_; }
    const SearchSpace& space() const { return problem_.space; }
    /// Answers those points that are new, in this order. False once nothing more may be asked: the budget is spent or
    /// the search is stopped; then not all of them may be there.
    bool evaluate(std::span<const std::uint64_t> points);
    /// The same by a cheaper method of the ladder, whose answers stand apart and cost their share of the budget.
    bool evaluateCheaply(std::size_t rung, std::span<const std::uint64_t> points);
    void useLadder(const std::vector<RungAnswers>& rungs);
    std::span<const RungAnswers> ladder() const { return ladder_; }
    std::optional<std::size_t> findCheap(std::size_t rung, std::uint64_t point) const;
    /// In answers of the problem's method: how many are left, infinitely many without a budget.
    double left() const;
    const PointAnswers& seen() const { return seen_; }
    PointAnswers take() { return std::move(seen_); }
    std::vector<RungAnswers> takeLadder();
    std::optional<std::size_t> find(std::uint64_t point) const;
    /// The point that an agent means by these levels. In a space of rows the nearest one that was not asked for and is
    /// not among `besides`; the nearest where none is left.
    std::uint64_t pointNear(std::span<const std::uint32_t> levels, std::span<const std::uint64_t> besides = {}) const;
    /// What the answers took, in answers of the problem's method: one each, and what cheaper ones took besides.
    double cost() const { return static_cast<double>(seen_.size()) + besides_; }
    /// Of an agent that asks another, cheaper method too.
    void spend(double answers) { besides_ += answers; }
    bool ended() const { return ended_; }
    bool stopped() const { return stopped_; }  ///< by its token or its listener, before its agent was done

private:
    bool answerElsewhere(std::span<const std::uint64_t> points, std::span<PointAnswer> answers) const;

    const SearchProblem& problem_;
    const SearchOptions& options_;
    PointAnswers seen_;
    std::unordered_map<std::uint64_t, std::size_t> index_, known_;
    using Index = std::unordered_map<std::uint64_t, std::size_t>;
    struct KnownRung {
        SearchProblem asked;  ///< the problem by the rung's method
        PointAnswers answers;
        Index index;
    };
    std::vector<RungAnswers> ladder_;
    std::vector<Index> cheapIndex_;
    bool ended_ = false, stopped_ = false;
    double besides_ = 0;
    std::vector<KnownRung> knownRungs_;  ///< parallel to the ladder
};

/// One point of the problem.
PointAnswer evaluatePoint(const SearchProblem& problem, std::uint64_t point, const SearchOptions& options);
/// The question as it stands, which need not be a point of the space, and in which dimensions and units its objectives
/// are.
/// Refused where a source answers: it knows points alone.
struct BaseAnswer {
    PointAnswer evaluation;
    std::vector<Dimension> dimensions;
    std::vector<std::string> units;  ///< of figures that are plain numbers: `token/s`
};
BaseAnswer evaluateBase(const SearchProblem& problem, const SearchOptions& options);

}  // namespace orrery
