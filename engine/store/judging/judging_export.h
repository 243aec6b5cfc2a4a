#pragma once

// A judged file, and a benchmark of several, as JSON, CSV and LaTeX.

#include "store/judging/judging.h"

#include <span>
#include <string>
#include <vector>

namespace orrery {

/// A benchmark answered: each part by itself.
struct BenchmarkRun {
    std::string name, meaning, hash;  ///< of the suite
    std::vector<Judged> parts;
    double seconds = 0;  ///< of all
};

/// `orrery-judging` version 1 (resources/schema/judging.schema.json). Without timings the same bytes come from the same
/// numbers, whatever machine and threads.
std::string judgedJson(const Judged& judged, bool timings = true);
/// `orrery-benchmark` version 1 (resources/schema/benchmark.schema.json).
std::string benchmarkJson(const BenchmarkRun& run, bool timings = true);

/// One line per method: figures, facts, versions. With a head.
std::string judgedCsv(const Judged& judged);
/// One line per row and method: `part` where it is one, row's name, device, kernel, measured, predicted, interval,
/// error.
std::string judgedRowsCsv(std::span<const Judged> parts);
/// One line per row: its name, device, kind, kernel, sizes and measured time: what other tools answer.
std::string questionsCsv(std::span<const Judged> parts);
/// The figures as a table of LaTeX (booktabs), best first, then the matrix.
std::string judgedTex(const Judged& judged);
/// The papers that the methods follow, as BibTeX entries of type misc, each once; after them the sources of the rows.
std::string lineageBib(std::span<const Judged> parts);

}  // namespace orrery
