#pragma once

// Which question a stored answer is to: studies and searches go on only where all that decides their numbers is equal.

#include "study/study.h"

#include <string>
#include <vector>

namespace orrery {

/// Hashes of hardware and workload, plan, task with the serving study's hash, software: one `key value` a line.
std::string questionText(const Scenario& scenario);

/// Hash of the files that options of a method name (a profile, what was learned); empty where none does.
std::string methodFilesHash(const std::string& method);

/// Hash of all that methods were calibrated with; null: the shipped calibrations.
std::string calibrationsHash(const CalibrationSet* set = nullptr);

/// Of every pair of a study, scenario-major as runStudy() has them: 16 hexadecimal digits of its question, its method
/// with options and version and the files that those name, the calibrations, the seed, whether timelines are kept, and
/// Orrery's version; pairs that are equal are numbered. Null calibrations: the shipped ones.
std::vector<std::string> pairKeys(const Study& study, bool timelines, const CalibrationSet* calibrations = nullptr);

}  // namespace orrery
