#pragma once

// What an agent expects of points: for each objective a process of the search's own method, or of what it adds to a
// multiple of a cheaper method's answers, whichever says better what rows left out say; the same again for that method
// (recursive co-kriging: Kennedy and O'Hagan 2000; Le Gratiet and Garnier 2014). The multiple is that of generalised
// least squares, drawn towards 1; what is unsure of it counts. And a process of whether constraints are kept.

#include "study/exploration/bayesian_acquisition.h"
#include "study/exploration/bayesian_models.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace orrery {

struct Expectation {
    std::vector<Normal> costs;  ///< of each objective, scaled as LearnedScale, by the search's own method
    double kept = 1;            ///< probability that all constraints are kept
    /// [rung][objective]: how much of what is unsure its answer would tell, as a correlation, 0 to 1.
    std::vector<std::vector<double>> tells;
};

class Belief {
public:
    explicit Belief(const Search& search);
    /// From all answers so far. False where nothing can be learned: no point has an answer by the search's method.
    bool learn();
    std::vector<Expectation> of(std::span<const std::uint64_t> points) const;
    /// Expected volume that a point adds to the front, as a share of all that is known, if it is feasible; of what is
    /// equal, the less sure.
    double worth(const Expectation& expectation) const;
    /// What asking a rung at a point is expected to add to the worth of the best point that can be asked next, where
    /// `other` is the worth of the best one beside it (the knowledge gradient: Frazier, Powell, Dayanik 2009; over
    /// methods, Poloczek, Wang, Frazier 2017).
    double insight(const Expectation& expectation, std::size_t rung, double other) const;
    /// Takes the expectation of a point for its answer.
    void believe(std::uint64_t point);
    /// Whether a rung's answers tell anything of the search's own method.
    bool uses(std::size_t rung) const;
    /// Points around which others may be better: of the front, and of the fronts of cheaper methods.
    std::vector<std::uint64_t> around() const;

private:
    struct Level {
        std::vector<KeptProcess> kept;  ///< alone, and over each level below
        std::optional<MaternProcess> process;
        std::optional<std::size_t> below;  ///< the level of whose answers this one is a multiple and a rest
        double factor = 0, factorDeviation = 0;
        double middle = 0;               ///< of the lower answers, from where the factor turns
        double mean = 0, deviation = 0;  ///< without a process
    };
    /// Levels from one that stands alone to the search's own method.
    std::vector<std::size_t> chainOf(std::size_t objective) const;
    void learnLevel(std::size_t objective, std::size_t level);
    std::size_t levels() const { return search_.ladder().size() + 1; }
    const PointAnswers& answersOf(std::size_t level) const;
    std::optional<std::size_t> rowOf(std::size_t level, std::uint64_t point) const;
    std::optional<double> costAt(std::size_t level, std::uint64_t point, std::size_t objective) const;
    void learnConstraints();
    void learnFront();
    double statedDeviation(std::size_t a, std::size_t b, std::size_t objective) const;

    const Search& search_;
    PointCoordinates coordinates_;
    std::optional<LearnedScale> scale_;
    std::vector<std::vector<Level>> models_;  ///< [objective][level]
    KeptProcess keptConstraint_;
    std::optional<MaternProcess> constraint_;
    std::optional<ExpectedHypervolume> gain_;
    double box_ = 1;  ///< volume from the best of each cost to the reference
    bool feasible_ = false;
};

}  // namespace orrery
