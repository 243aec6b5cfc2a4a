#pragma once

// `run --ladder`, `run --within 10s`, `run --to 5%`: how much fidelity a question gets.

#include "app/cli/command.h"
#include "learning/calibration.h"
#include "methods/method.h"

#include <string>
#include <vector>

namespace orrery::cli {

/// Any of `--ladder`, `--within`, `--to`, `--full` is there.
bool asksForFidelity(const Arguments& arguments);
std::vector<Option> fidelityOptions();
/// `methods`: those that were named; empty: all.
int runFidelity(const Arguments& arguments, const Scenario& scenario, const std::vector<std::string>& methods,
                const CalibrationSet& calibrations, Watch& watch);
/// `10s`, `2 min`, `500 ms`; of a share `5%`, `±5 %`, `0.05`. Fail with `usage.bad-value`.
Expected<double> readSeconds(std::string_view text, std::string_view option);
Expected<double> readShare(std::string_view text, std::string_view option);
/// The operators that an answer's interval is made of, a few lines; empty where it does not say.
std::string widthText(const Scenario& scenario, const Estimate& estimate, std::size_t most = 5);

}  // namespace orrery::cli
