#pragma once

// Judging files on the command line: `evaluate`, `study` and `benchmark` answer them alike.

#include "app/cli/command.h"
#include "store/judging/judging_export.h"

#include <optional>
#include <string>

namespace orrery::cli {

/// The file, where exactly one stands alone or as `--references` and is a judging file or a benchmark; its kind.
struct JudgingArgument {
    std::string file, kind;
};
std::optional<JudgingArgument> judgingArgument(const std::vector<std::string>& files);

/// The page as a suite of one part, or the suite, of it only the parts that `only` names where it names some.
Expected<Benchmark> readSuite(const JudgingArgument& asked, const std::vector<std::string>& only);

/// Answers the parts, one after the other; reports warnings as they come.
Expected<BenchmarkRun> runJudging(const JudgingArgument& asked, const std::vector<std::string>& results, Watch& watch,
                                  const std::vector<std::string>& only);

/// Figures of a part, best first, with what each method takes and how well it can be had again.
std::string judgedText(const Judged& judged);
/// Methods × parts: mean error on the rows that each part's methods have in common.
std::string benchmarkText(const BenchmarkRun& run);

/// `study FILE --out DIR`: every file of judgingFiles(), and the pictures and the report as PDF where the studio stands
/// beside this program.
int writeJudged(const JudgingArgument& asked, const Arguments& arguments, Watch& watch);

/// `evaluate FILE` and `benchmark`: prints, and writes what `--json`, `--rows`, `--questions`, `--table` ask for.
/// `--questions` by itself asks no method.
int answerJudging(const JudgingArgument& asked, const Arguments& arguments, Watch& watch);

}  // namespace orrery::cli
