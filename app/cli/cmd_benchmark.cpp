#include "app/cli/judging_cli.h"

namespace orrery::cli {

namespace {

int runBenchmark(const Arguments& arguments, Watch& watch) {
    const std::string file = arguments.positionals().empty() ? shippedBenchmark() : arguments.positionals().front();
    return answerJudging({file, "benchmark"}, arguments, watch);
}

}  // namespace

const Command benchmarkCommand{
    .name = "benchmark",
    .positional = "FILE",
    .summary = "every method on a fixed suite of measurements, kernels to systems",
    .details =
        "Answers presets/benchmarks/default.yaml, or a suite of one's own, from what ships alone: kernels on devices "
        "that calibrations have seen, the same as if nobody had measured the device, kernels of other devices, whole "
        "models, training steps. Every part has figures on the rows that its methods have in common, what each method "
        "takes to set up, and ten points of reproducibility. The numbers are the same on any number of threads; "
        "`results` is a hash of them.",
    .options = {{"results", "FILE",
                 "results of other tools as CSV: method, row, predicted_s; they stand in the same table", true},
                {"part", "ID", "only this part of the suite, as `kernels-new`; several may be named", true},
                {"questions", "FILE",
                 "write the rows with their names, for other tools to answer; by itself it asks no method"},
                {"rows", "FILE", "write every row of every method as CSV, - for standard output"},
                {"table", "FILE", "the figures as LaTeX, or as CSV by its ending"},
                {"no-timings", "", "leave what answers took out of the JSON: the same bytes from the same numbers"},
                {"json", "", "as JSON (resources/schema/benchmark.schema.json)"}},
    .examples = {{"orrery-cli benchmark", "which method is how good at what?"},
                 {"orrery-cli benchmark --questions rows.csv", "which rows must a tool of mine answer?"},
                 {"orrery-cli benchmark --results mine.csv", "where does it stand?"},
                 {"orrery-cli benchmark --part models --json --no-timings",
                  "are the numbers of this machine those of another?"}},
    .run = runBenchmark,
};

}  // namespace orrery::cli
