#pragma once

// A question and the knobs that a search may turn. Every combination is a point with a number, the last knob fastest.
// Or the rows of a table (table_space.h): of columns with hundreds of values the combinations cannot even be numbered,
// and nearly none has an answer, so that points are the rows and nothing else.

#include "study/exploration/knob.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace orrery {

class SearchSpace {
public:
    /// Numbers of points stay below it, so that they are exact in JSON.
    static constexpr std::uint64_t mostPoints = std::uint64_t{1} << 53;

    /// Fails with `search.empty` without knobs, `search.twice` where two knobs turn the same, `search.too-large`.
    static Expected<SearchSpace> make(Scenario base, std::vector<Knob> knobs);

    /// Points are these rows alone: of each the level of every knob, row by row. There is no question. Fails with
    /// `search.empty` without knobs or rows, `search.twice` where two rows are equal.
    static Expected<SearchSpace> ofRows(std::vector<Knob> knobs, std::vector<std::uint32_t> levels);

    /// All combinations of columns' values, for whoever answers without a question. Fails as make().
    static Expected<SearchSpace> ofColumns(std::vector<Knob> knobs);

    std::uint64_t points() const { return points_; }
    bool isOfRows() const { return rows_ != nullptr; }
    /// Of rows it has neither design nor workload.
    const Scenario& base() const { return base_; }
    std::span<const Knob> knobs() const { return knobs_; }
    /// Index of the value of each knob.
    std::vector<std::uint32_t> levelsAt(std::uint64_t point) const;
    /// The point with these levels; of rows the nearest one.
    std::uint64_t pointAt(std::span<const std::uint32_t> levels) const;
    /// The same, and nothing where no row has just these.
    std::optional<std::uint64_t> exactly(std::span<const std::uint32_t> levels) const;
    /// Of rows, the nearest `most` that are not skipped, in order. As far as two rows differ over the knobs in the mean
    /// (Gower 1971): words by 1, numbers by their share of the range, in ln where they span two decades. Equals by
    /// their number. O(rows × knobs).
    std::vector<std::uint64_t> nearest(std::span<const std::uint32_t> levels, std::size_t most,
                                       const std::function<bool(std::uint64_t)>& skip = {}) const;
    /// The point nearest to the base question: of each knob the value that is its own, or the nearest number. Of rows
    /// the first.
    std::uint64_t basePoint() const;
    /// `hbm3.bandwidth 4 TB/s, tp 2`.
    std::string labelAt(std::uint64_t point) const;

    /// Designs and workloads that several points share are made once and kept for a while. Safe to use from several
    /// threads. Fails where the values together make no design, workload or plan.
    Expected<Scenario> scenarioAt(std::uint64_t point) const;
    /// Whether a question is the base but for what the knobs turn: all points are the same, whichever of both they are
    /// made of.
    bool differsByKnobs(const Scenario& question) const;
    bool turnsMethod() const;
    /// Who answers a point, where `asked` answers the base question.
    Expected<MethodChoice> methodAt(std::uint64_t point, MethodChoice asked) const;

private:
    struct Shared;
    struct Rows;
    SearchSpace() = default;

    Scenario base_;
    std::vector<Knob> knobs_;
    std::uint64_t points_ = 1;
    std::shared_ptr<Shared> shared_;
    std::shared_ptr<const Rows> rows_;  ///< null: all combinations
};

}  // namespace orrery
