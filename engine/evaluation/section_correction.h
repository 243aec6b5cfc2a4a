#pragma once

// What own rows add to a section that was learned before: parameters that move, a linear part, then trees on it, as
// strong as rows left out of the fit bear out.

#include "evaluation/own_rows.h"
#include "learning/fit_section.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// What a correction stands on: the section as it is, or with parameters that moved.
enum class CorrectionBase : std::uint8_t { AsItIs, Moved };

struct SectionCorrection {
    std::string what;  ///< `a factor`, `linear`, `parameters and linear and trees`
    std::map<std::string, double, std::less<>> parameters;
    std::vector<RegressorPtr> parts;  ///< to be added to the section's model
    SectionFit fit;
    std::vector<double> errors;  ///< of rows left out
};

/// Features and baseline of all own rows by such a section; parameters move for the rows in `fitTo`.
using AskSection = std::function<SectionRows(std::span<const std::size_t> fitTo, CorrectionBase base,
                                             std::map<std::string, double, std::less<>>& parameters)>;

/// The correction with the least error on rows left out, of those that the rows allow; `movable` says whether the
/// section has parameters. Cancelled: the best so far.
Expected<std::optional<SectionCorrection>> correctionOf(const AskSection& ask, const RowFamily& family,
                                                        const FitOptions& options, bool movable);

}  // namespace orrery
