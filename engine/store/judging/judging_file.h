#pragma once

// A comparison of methods with what was measured, as a file: which rows, which methods, on what terms. What the page
// Evidence ▸ Accuracy and cost saves and opens, and `orrery-cli evaluate` and `study` answer:
//
//     orrery: judging/1
//     name: Products on H100
//     references: [shipped, mine.csv.gz]     # tables or folders; `shipped`: presets/references
//     imports: {mine.csv.gz: "orrery: import/1…"}   # descriptions of columns that stand in no file of their own
//     where: device=h100-sxm, kind=gemm      # absent: all rows
//     without: {platform: [TPU]}             # words of row_facets.h that do not count
//     most: 2000                             # rows, evenly spread
//     seen: true                             # rows that calibrations were fitted to count as well
//     leave_device_out: true                 # each device as if nobody had measured it
//     methods: [roofline, "tile-hybrid(launch=graph)"]   # absent: all that need no file
//     compare: {booster: false}              # put in or taken out; others by how much they price
//     common: true                           # figures of rows that all compared methods price
//     equal: true                            # whole models as they were measured
//     by: platform                           # columns of the matrix
//     published: true                        # claims of others stand on the plane
//     results: [theirs.csv]                  # of other tools (imported_results.h)
//     saved: {version: 0.9.0, rows: 159, hash: 0123456789abcdef, calibrations: …, results: …}
//
// A benchmark (`orrery: benchmark/1`) is a name and `parts`, each such a map with an `id`. Relative paths are taken
// from the file's folder; `presets/…` of the presets that ship.

#include "evaluation/row_facets.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// What a file says of the answer that it was saved with, by which it is known later whether it is the same.
struct SavedRows {
    std::string version;  ///< of Orrery
    std::size_t rows = 0;
    std::string hash;          ///< rowsHash()
    std::string calibrations;  ///< calibrationsHash() of those that methods were asked with
    std::string results;       ///< resultsHash(); empty: not known
};

struct JudgingQuestion {
    std::string id;  ///< of a part of a benchmark
    std::string name, meaning;
    std::vector<std::string> references{"shipped"};
    std::map<std::string, std::string> imports;  ///< by reference: text of its import description
    std::string where;
    FacetsOff without;
    std::size_t most = 2000;
    bool seen = false, leaveDeviceOut = false;
    std::vector<std::string> methods;  ///< empty: all that need no file
    std::map<std::string, bool> compare;
    bool common = true, equal = true, published = false;
    Facet by = Facet::Platform;
    std::vector<std::string> results;
    SavedRows saved;
};

struct Benchmark {
    std::string name, meaning;
    std::vector<JudgingQuestion> parts;
    std::string hash;  ///< of the file's text
};

/// Whether a text is one of these files: `judging` or `benchmark`; empty where it is neither.
std::string judgingKind(std::string_view text);

/// Fails with `judging.…`, file and line, on the first thing that cannot be read; keys that nothing reads are refused.
Expected<JudgingQuestion> readJudging(std::string_view yaml, const std::string& file);
Expected<JudgingQuestion> readJudgingFile(const std::string& path);
Expected<Benchmark> readBenchmarkFile(const std::string& path);
/// presets/benchmarks/default.yaml
std::string shippedBenchmark();

/// The file again; read(write(q)) says the same. Paths near `folder` become relative to it.
std::string writeJudging(const JudgingQuestion& question, const std::string& folder = {});

/// The command that answers the file: `orrery-cli evaluate page.yaml`.
std::string judgingCommand(const std::string& file);

}  // namespace orrery
