#pragma once

// Schedules that were tried and how long each took: AutoTVM's logs as it writes them (a JSON record per line), or a
// table.

#include "learning/schedules/tensor_work.h"

#include <string>
#include <vector>

namespace orrery {

struct ScheduleKnob {
    std::string name;
    std::vector<double> parts;  ///< of a split, outermost first, −1: what remains; one number of other knobs
    std::string word;           ///< of a knob that is no number
};

struct TunedRow {
    std::string device;  ///< with its platform where a table has one: `cuda v100`
    std::string task, workload;
    TensorWork work;
    std::vector<ScheduleKnob> knobs;
    double seconds = 0;  ///< 0: the schedule failed
    int line = 0;
};

struct TuningLog {
    std::vector<TunedRow> rows;
    Diagnostics skipped;  ///< rows whose operator is not known here: each kind once
};

/// A CSV with columns `device`, `task`, `workload`, `config` (`tile_x=-1,4;unroll=0`), `time_us` (empty: failed), and
/// maybe `platform`, `err`; or AutoTVM's own lines of JSON (`.json`, `.log`). Fails with `schedules.…`, file and line.
Expected<TuningLog> readTuningLog(const std::string& path);
std::vector<ScheduleKnob> readKnobs(std::string_view config);

}  // namespace orrery
