#pragma once

// What agents expect of points that nobody has answered: a Gaussian process per objective and one of the constraints.
// For bayesian.cpp and multi_fidelity.cpp.

#include "base/random.h"
#include "learning/matern_process.h"
#include "study/exploration/search.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace orrery {

/// Knobs as inputs of a process: numbers from 0 to 1 over their values, in ln where these are ratios; words by their
/// place.
class PointCoordinates {
public:
    explicit PointCoordinates(const SearchSpace& space);
    const std::vector<bool>& words() const { return words_; }
    void append(std::uint64_t point, std::vector<double>& out) const;
    std::vector<double> of(std::uint64_t point) const;

private:
    const SearchSpace& space_;
    std::vector<bool> words_;
    std::vector<std::vector<double>> values_;
};

/// Objectives as costs that spread alike: in ln where all that was seen has one sign.
struct LearnedScale {
    std::vector<bool> maximise, logarithmic;
    LearnedScale(const SearchProblem& problem, const PointAnswers& seen);
    double of(std::size_t objective, double value) const;
};

/// One process that is fitted anew when it has a third more rows, and told its rows in between.
class KeptProcess {
public:
    /// Null where there are no rows.
    const MaternProcess* told(ProcessRows rows, std::uint64_t seed);

private:
    std::optional<MaternProcess> process_;
    std::size_t fittedRows_ = 0;
};

/// Rows of the evaluations to learn from: all of them, or of many the best ones and some of the others.
std::vector<std::size_t> rowsToLearn(const SearchProblem& problem, const PointAnswers& seen, const LearnedScale& scale,
                                     std::size_t most);

/// Points worth a thought that were not asked for: in a small space all of them, else neighbours of `around` and draws
/// that are even over every knob. In rising order, each once.
std::vector<std::uint64_t> candidatesOf(const Search& search, std::span<const std::uint64_t> around,
                                        RandomStream& random);
inline constexpr std::size_t mostCandidates = 1500;

/// `count` points spread evenly over the values of each knob (McKay, Beckman, Conover 1979).
std::vector<std::uint64_t> latinPoints(const SearchSpace& space, std::size_t count, RandomStream& random);

}  // namespace orrery
