#pragma once

// A search as a file: `orrery: search/1`. One question, the knobs that may turn, and what is wanted:
//
//     orrery: search/1
//     name: HBM or cores?
//     hardware: h100-sxm                             # or {file: my-chip.yaml, set: {hbm.bandwidth: 4 TB/s}}
//     workload: {source: llama-3-8b, phase: decode, batch: 8}
//     plan: tp=1                                     # absent: one device
//     task: pass                                     # absent: a pass
//     software: TensorRT-LLM 1.3                     # absent: none in particular
//     method: tile-hybrid                            # absent: tile-hybrid
//     knobs:
//       hbm3.bandwidth: {from: 2 TB/s, to: 6 TB/s, steps: 9}   # scale: log for even ratios
//       sm.count: [66, 132, 264]
//       batch: [1, 8, 64]
//       tp: [1, 2]
//     objectives: [time, energy]                     # `max Throughput` for what should be large; absent: time
//     constraints: [fits, power <= 700 W]
//     agent: nsga2                                   # absent: grid
//     ladder: [roofline, tile-hybrid]                # of multi-fidelity: cheaper methods; absent: of its own choice
//     evaluations: 2000                              # absent: as many as the agent asks for
//     device_hour: 2.5                               # dollars, for `cost`
//     seed: 7
//
// Or, in place of hardware, workload, plan, task, software and method, a table that knows the answers: knobs and
// objectives are its columns, points its rows (table_space.h):
//
//     table: dramsys_points.csv
//     knobs: [Arbiter, MaxActiveTransactions]        # all their values; or {Arbiter: [Fifo, Simple]}: rows with these
//     objectives: [Latency, Power]
//
// Relative paths are taken from the file's folder.

#include "study/exploration/search_settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

inline constexpr int searchVersion = 1;

struct LoadedSearch {
    std::string name;
    SearchSettings settings;
    SearchProblem problem;
    Diagnostics warnings;
};

/// Fails on the first thing that cannot be read, found or set, with its place. Never throws.
Expected<LoadedSearch> readSearch(std::string_view yaml, std::string_view file = {}, const std::string& tables = {});
/// `tables`: the folder of relative paths of tables in place of the file's.
Expected<LoadedSearch> readSearchFile(const std::string& path, const std::string& tables = {});

/// A file of a search, by its name in the folder of all of them.
struct SearchPart {
    std::string name, text;
};
/// A drawn question and its search as files that read back as the same: `search.yaml` first, then the design and, of a
/// serving run, its study. Models that are files are named where they stand.
std::vector<SearchPart> writeSearch(const std::string& name, const Scenario& base, const SearchSettings& settings);

}  // namespace orrery
