#pragma once

// The numbers of training stacks (methods/system/training/training_stack.h), fitted to a table of published steps, all
// by one rule:
//
//   rows      those of the half `fitted`; one set of numbers per stack and generation of GPUs, none per row
//   model     the closed form of the step, whose kernels and exchanges alone are priced once
//   loss      Huber's of ln(measured ÷ answer); rows of a source with many weigh less each
//   prior     every number is drawn to what all stacks have in common, the less the more steps decide it; what they
//             have in common is found in the first round (empirical Bayes: Efron and Morris, JASA 68, 1973)
//   solved    by Levenberg and Marquardt's method; numbers are rounded to thousandths
//   interval  split-conformal: each size of ln(measured ÷ answer) over 1 − the row's leverage, as if it had been left
//             out; of n the ⌈0.9·(n + 1)⌉-th. Fewer than nine have those of all stacks of the generation; models with
//             experts have an interval of their own
//   no stack  what software adds to kernels alone, whichever trains: the shortest stretch of ln(measured ÷ answer of
//             `kernels`) that holds 90 % of further steps of the generation, of all where it has fewer than nine;
//             models with experts apart

#include "evaluation/published_steps.h"

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace orrery {

/// What the fitted numbers say of a row.
struct StackStep {
    std::string source, stack;
    bool judged = false;  ///< nothing was fitted to it
    double measured = 0, seconds = 0, low = 0, high = 0;
    double alone = 0, aloneLow = 0, aloneHigh = 0;  ///< s with no stack named, within what any software adds
};
struct StackFit {
    Calibration calibration;       ///< of `training-stacks`
    std::vector<StackStep> steps;  ///< in the order of the table
};

/// Rows need `source`, `stack` and `half`. Fails with `steps.stack` for a stack that is not known or a table without
/// them, and as closed-form-step does, with the row's line. Deterministic.
Expected<StackFit> fitStacks(const PublishedSteps& steps, const std::string& date, const std::stop_token& stop = {});

/// Errors by source as a table in Markdown: rows, mean absolute error of all and of the judged half, share inside the
/// interval.
std::string stackErrorTable(const StackFit& fit);
/// A page with that table in place of the one of the same header that it has; the table alone where it has none.
std::string withErrorTable(std::string page, const std::string& table);

}  // namespace orrery
