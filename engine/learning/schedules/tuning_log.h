#pragma once

// Schedules that were tried and how long each took: logs of AutoTVM and Ansor as they write them (a JSON record per
// line), or a table.

#include "learning/schedules/tensor_work.h"

#include <string>
#include <vector>

namespace orrery {

struct ScheduleKnob {
    std::string name;
    std::vector<double> parts;  ///< of a split, outermost first, −1: what remains; one number of other knobs
    std::string word;           ///< of a knob that is no number
};

/// A step of an Ansor program as its record writes it: `["SP", 2, 0, 1024, [2, 1, 4], 1]`. The words: `SP` (split),
/// `RE` (reorder), `AN` (annotate), …
struct TuningStep {
    std::string kind;
    std::vector<double> numbers;  ///< those that stand alone, in order
    std::vector<double> list;     ///< of the one list
    std::string word;
    std::vector<double> all;  ///< of the step in order, lists unrolled; behind a `$` too
};

struct TunedRow {
    std::string device;  ///< with its platform where a table has one: `cuda v100`
    std::string task, workload;
    TensorWork work;
    std::vector<ScheduleKnob> knobs;
    std::vector<TuningStep> steps;  ///< of Ansor's records; empty: a template made the program
    double seconds = 0;             ///< 0: the schedule failed
    double cores = 0;               ///< of the device (multiprocessors of a GPU); 0: not known
    double warps = 0;               ///< that a multiprocessor holds at most; 0: not known, or no GPU
    int line = 0;
};

struct TuningLog {
    std::vector<TunedRow> rows;
    Diagnostics skipped;  ///< rows whose operator is not known here: each kind once
};

/// A CSV with columns `device`, `task`, `workload`, `config` (`tile_x=-1,4;unroll=0`), `time_us` (empty: failed), and
/// maybe `platform`, `err`; or lines of JSON (`.json`, `.log`), of AutoTVM or of Ansor (`ansor_record.h`). Fails with
/// `schedules.…`, file and line.
Expected<TuningLog> readTuningLog(const std::string& path);
/// Does readTuningLog() read it: by the columns of a CSV, by the first record of a `.json` or `.log`?
bool isTuningLog(const std::string& path);
/// Of TVM's target: `cuda -keys=cuda,gpu -model=t4` is `cuda t4`.
std::string deviceOfTarget(std::string_view target);
std::vector<ScheduleKnob> readKnobs(std::string_view config);

}  // namespace orrery
