#pragma once

// What `run`, `study` and `export` do with answers: show them, and write the files of a report folder.

#include "study/study.h"

#include <string>
#include <vector>

namespace orrery::cli {

/// One table per scenario, or one of all for a study; best first and marked, with what speaks for the best.
std::string answersText(const Study& study, const std::vector<StudyResult>& results);

/// Makes the folder if it is not there. Reports what goes wrong.
bool makeFolder(const std::string& folder);
/// report.html, estimates.csv, run.json, and per method operators-<method>.csv and trace-<method>.json (with the
/// scenario's number where there are several; of the first `most` scenarios). Reports what goes wrong.
bool writeReportFolder(const std::string& folder, const Study& study, const std::vector<StudyResult>& results,
                       std::size_t most = 8);
/// Warnings of the answers on standard error, each once with the methods that give it; not those in `shown`.
void reportWarnings(const std::vector<StudyResult>& results, const Diagnostics& shown);
bool anyAnswer(const std::vector<StudyResult>& results);
/// Failures on standard error, each once, with how many scenarios it befell. `asked`: the methods were named, so that
/// one which does not apply is an error; else all that do not apply share a line.
void reportFailures(const std::vector<StudyResult>& results, bool asked);

}  // namespace orrery::cli
