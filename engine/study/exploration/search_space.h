#pragma once

// A question and the knobs that a search may turn. Every combination is a point with a number, the last knob fastest.

#include "study/exploration/knob.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace orrery {

class SearchSpace {
public:
    /// Numbers of points stay below it, so that they are exact in JSON.
    static constexpr std::uint64_t mostPoints = std::uint64_t{1} << 53;

    /// Fails with `search.empty` without knobs, `search.twice` where two knobs turn the same, `search.too-large`.
    static Expected<SearchSpace> make(Scenario base, std::vector<Knob> knobs);

    std::uint64_t points() const { return points_; }
    const Scenario& base() const { return base_; }
    std::span<const Knob> knobs() const { return knobs_; }
    /// Index of the value of each knob.
    std::vector<std::uint32_t> levelsAt(std::uint64_t point) const;
    std::uint64_t pointAt(std::span<const std::uint32_t> levels) const;
    /// The point nearest to the base question: of each knob the value that is its own, or the nearest number.
    std::uint64_t basePoint() const;
    /// `hbm3.bandwidth 4 TB/s, tp 2`.
    std::string labelAt(std::uint64_t point) const;

    /// Designs and workloads that several points share are made once and kept for a while. Safe to use from several
    /// threads. Fails where the values together make no design, workload or plan.
    Expected<Scenario> scenarioAt(std::uint64_t point) const;
    bool turnsMethod() const;
    /// Who answers a point, where `asked` answers the base question.
    Expected<MethodChoice> methodAt(std::uint64_t point, MethodChoice asked) const;

private:
    struct Shared;
    SearchSpace() = default;

    Scenario base_;
    std::vector<Knob> knobs_;
    std::uint64_t points_ = 1;
    std::shared_ptr<Shared> shared_;
};

}  // namespace orrery
