#pragma once

// Surrogates from rows: which kind of model says best what rows left out say, and how far off it then is.

#include "base/executor.h"
#include "base/progress.h"
#include "learning/surrogate.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Rows of inputs side by side, words by their place in the input's values, and a column per target.
struct SurrogateRows {
    std::vector<SurrogateInput> inputs;  ///< ranges are those of all rows, see rangesOf()
    std::vector<double> numbers;
    std::vector<std::string> targets;
    std::vector<std::vector<double>> values;  ///< [target][row]
    std::size_t rows() const { return inputs.empty() ? 0 : numbers.size() / inputs.size(); }
    std::span<const double> row(std::size_t r) const {
        return std::span(numbers).subspan(r * inputs.size(), inputs.size());
    }
};
/// Low and high of numbers, and whether they are even in ln: where all are above 0 and span a factor of 8.
void takeRanges(SurrogateRows& rows);
SurrogateRows rowsOf(const SurrogateRows& rows, std::span<const std::size_t> which);

/// `ridge` (on the logarithms), `trees`, `process`, `trees + process`.
std::span<const std::string_view> surrogateKinds();

struct SurrogateFitOptions {
    std::string kind;     ///< empty: the one that misses rows left out least
    int folds = 5;        ///< in which rows are left out
    double judged = 0.2;  ///< of the rows, kept from a first fit that is judged by them; 0: none are
    std::uint64_t seed = 1;
    Executor* executor = nullptr;
    std::stop_token stop;
    Progress* progress = nullptr;
};

inline constexpr std::size_t fewestSurrogateRows = 10;

/// Fitted to all rows, with errors stated as a fit to the others judged by a fifth of them. A target that is another
/// one and a constant is learned once. Fails with `surrogate.rows`, `surrogate.option`, `surrogate.cancelled`.
Expected<Surrogate> fitSurrogate(const SurrogateRows& rows, const SurrogateFitOptions& options);

/// Of each target that the rows have, in the surrogate's order.
struct SurrogateJudgement {
    std::string target;
    SurrogateTarget::Stated stated;
    double width = 0;  ///< median of the interval's width over its value
};
std::vector<SurrogateJudgement> judge(const Surrogate& surrogate, const SurrogateRows& rows);

}  // namespace orrery
