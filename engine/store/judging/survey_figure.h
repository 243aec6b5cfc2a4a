#pragma once

// The survey's tables as SVG, as judging_figures.h draws the rest: methodologies down, platforms (classes, levels)
// across, in bands where they are many. A cell is a scale of mean error from 1 to 300 % with one dot per method that
// rows judge there, hollow where its truth is simulated; an empty cell tells what is missing to who points at it.

#include "evaluation/survey/survey.h"

#include <span>
#include <string>

namespace orrery {

/// `entries` as the survey was made of; `width` as columnWidth or pageWidth.
std::string surveySvg(const SurveyTable& table, std::span<const MatrixEntry> entries, double width);

}  // namespace orrery
