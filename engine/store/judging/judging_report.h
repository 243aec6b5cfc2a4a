#pragma once

// What a judged file, or a benchmark, leaves for people: a page that stands alone, its figures at the widths of a
// column and of a page, its tables, the papers, the rows, and the file that repeats it.

#include "store/judging/judging_export.h"

#include <string>
#include <vector>

namespace orrery {

/// One page without script and without anything beside it: question, answer, error against cost, matrix, errors of
/// rows, figures, growth of errors, survey, truth, assumptions, set-up and reproducibility, why methods do not apply,
/// provenance.
std::string judgingReportHtml(const BenchmarkRun& run);

struct NamedFile {
    std::string name;  ///< without folders
    std::string content;
};
/// report.html; of each part `PART-plane.svg`, `-setup.svg`, `-matrix.svg`, `-errors.svg`, `-survey-platform.svg`,
/// `-survey-class.svg`, `-survey-level.svg`, `-growth.svg` (and `-column.svg` of each), figures.csv, growth.csv and
/// table.tex; rows.csv, questions.csv, lineage.bib, figures.json; of a page judging.yaml, which asks
/// the same again.
std::vector<NamedFile> judgingFiles(const BenchmarkRun& run);

}  // namespace orrery
