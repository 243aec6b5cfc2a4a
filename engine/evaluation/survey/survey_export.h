#pragma once

// A survey as files.

#include "evaluation/survey/survey.h"

#include <span>
#include <string>

namespace orrery {

/// `3.1 %`
std::string surveyPercent(double share);
/// `12 methods, 3.1 … 45 %`; of one `roofline 3.1 %`; empty without marks.
std::string surveyCellText(const SurveyCell& cell, std::span<const MatrixEntry> entries);

/// `orrery-survey` version 1 (resources/schema/survey.schema.json).
std::string surveyJson(const Survey& survey, std::span<const MatrixEntry> entries);
/// One line per mark, and one per cell without: by, methodology, place, method, rows, errors, tables, missing.
std::string surveyCsv(const Survey& survey, std::span<const MatrixEntry> entries);
/// One line per method: speed, data needed, reading, failure mode, where it is furthest off.
std::string surveyMethodsCsv(const Survey& survey, std::span<const MatrixEntry> entries);
/// The tables of methodologies, what is missing, and the table of methods.
std::string surveyMarkdown(const Survey& survey, std::span<const MatrixEntry> entries);

}  // namespace orrery
