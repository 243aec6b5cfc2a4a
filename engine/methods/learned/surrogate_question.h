#pragma once

// The question that a surrogate was learned from: what of it turns, and what must stand as it stood.

#include "learning/surrogate.h"
#include "methods/method.h"

namespace orrery {

/// The value of an input in a question, as text; empty where it has none.
std::string textOf(const SurrogateInput& input, const Scenario& scenario);
/// The same as rows of surrogates have it: a number in SI units, a word by its place (−1: one that was not seen). Fails
/// with `surrogate.input` where the question has no such value.
Expected<double> valueOf(const SurrogateInput& input, const Scenario& scenario);

/// All of a question but the inputs: every attribute that is drawn, with counts; the model, its options, what-ifs and
/// graph; the plan; the task; the software. Names of designs, comments and sources do not count.
QuestionFacts questionFacts(const Scenario& scenario, std::span<const SurrogateInput> inputs);
std::string questionHash(const QuestionFacts& facts);
/// What differs, in words, at most three: ``h100/sm.clock` is 2 GHz and was 1.755 GHz`. Empty: nothing does.
std::string differenceOf(const QuestionFacts& learned, const QuestionFacts& asked);

/// Numbers are outside when they lie further beyond what was seen than a tenth of its range, as it is learned: in ln
/// where it is even in ln; words, when none was seen. At the edge: beyond by less.
struct InputVerdict {
    std::size_t outside = 0;  ///< inputs
    std::size_t edge = 0;
    std::string what;  ///< ``hbm3.bandwidth` 9 TB/s, seen 1 TB/s to 8 TB/s`
};
InputVerdict verdictOf(const Surrogate& surrogate, const Scenario& scenario, std::span<const double> row);

}  // namespace orrery
