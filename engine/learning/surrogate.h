#pragma once

// What a table of designs, or a search that has been made, says of designs that are not in it: for each target a
// learned function of named inputs, with an interval that rows left out have borne out (conformal prediction: Vovk,
// Gammerman, Shafer 2005; with folds, Vovk 2015). Kept in a file of its own: `*.json`, format "orrery-surrogate",
// version 1.

#include "learning/regressor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

/// One input: a column of a table, or a knob of a question.
struct SurrogateInput {
    std::string name;  ///< of the column, or the path of the knob
    std::string part;  ///< `hardware`, `workload`, `plan`, `software` of a question; empty: a column
    bool words = false;
    bool perCycle = false;            ///< of a question: numbers are per clock cycle
    bool logarithmic = false;         ///< of numbers: even in ln
    double low = 0, high = 0;         ///< of numbers that were seen
    std::vector<std::string> values;  ///< words that were seen, in order; a row holds their place
    std::string own;                  ///< where the question stood, as it was set: `3.35 TB/s`
};

/// One number as it is answered, and what is known of its error.
struct SurrogateTarget {
    std::string name;
    std::string unit;          ///< of a question's quantity: `s`, `J`, `token/s`; empty: as the table has it
    bool logarithmic = false;  ///< ln(value − offset) is learned
    double offset = 0;
    std::string kind;                  ///< `ridge`, `trees`, `process`, `trees + process`
    std::vector<RegressorPtr> models;  ///< whose mean is taken; equal inputs
    bool byDeviation = false;          ///< the interval goes with the deviation of the process among them
    double reach = 0;                  ///< half of the interval, as learned, over that deviation or plain
    double least = 0, most = 0;        ///< of the value, as seen
    std::string dimension;             ///< of a question's figure, as toText(Dimension); empty: a plain number
    /// On rows that were left out of a fit of the same kind; rows = 0: not judged.
    struct Stated {
        std::size_t rows = 0;
        double mape = 0, median = 0;  ///< of |predicted ÷ value − 1|
        double spearman = 0, coverage = 0;
    } stated;
};

/// All of a question that was not turned, by name and value, in an order of its own: `h100/sm.clock`, `1.755 GHz`;
/// `sequence`, `2048`; `task`, `pass`.
using QuestionFacts = std::vector<std::pair<std::string, std::string>>;

struct Surrogate {
    std::string name, source, date;
    std::string rowsHash;
    std::size_t rows = 0;
    std::uint64_t seed = 0;
    std::string question;  ///< hash of `facts`; empty: of a table
    std::string method;    ///< who had answered the question
    QuestionFacts facts;   ///< of the question
    std::vector<SurrogateInput> inputs;
    std::vector<SurrogateTarget> targets;
};

/// Numbers of a row as the models take them: numbers from 0 to 1, words one by one.
std::vector<std::string> surrogateFeatureNames(std::span<const SurrogateInput> inputs);
void appendSurrogateFeatures(std::span<const SurrogateInput> inputs, std::span<const double> row,
                             std::vector<double>& features);
/// The place of a word, or −1: one that was not seen.
double placeOfWord(const SurrogateInput& input, std::string_view word);

/// Name of the target that says how far the interval of who answered reached below or above: a logarithm, at least
/// `leastReach`. Missing where that is not known.
std::string reachName(std::string_view target, bool above);
bool isReach(std::string_view target);
inline constexpr double leastReach = 1e-6;

struct SurrogateAnswer {
    double value = 0, low = 0, high = 0;  ///< 90 %
};
/// How far outside of what was seen: intervals are so many times as wide. 1: inside; each number beyond its range adds
/// four times the share of the range by which it is, each word that was not seen adds 1.
double surrogateWidening(const Surrogate& surrogate, std::span<const double> row);
SurrogateAnswer answerOf(const Surrogate& surrogate, const SurrogateTarget& target, std::span<const double> row);

std::string writeSurrogate(const Surrogate& surrogate);
/// Strict. Codes `surrogate.…`, with file and line.
Expected<Surrogate> readSurrogate(const std::string& path);
Expected<Surrogate> parseSurrogate(std::string_view text, std::string_view file);

}  // namespace orrery
