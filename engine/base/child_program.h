#pragma once

// A program of someone else's, run once: no shell, a process group of its own, its output in files. Time and peak
// memory are measured; a stop request, a time limit or too much output ends the whole group.

#include "base/diagnostic.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ProgramCall {
    std::vector<std::string> command;  ///< the program's path, then its arguments, each as it stands
    std::string folder;                ///< in which it works; it must be there
    std::string output, errors;        ///< files that take standard output and standard error
    double mostSeconds = 600;
    std::uint64_t mostOutput = std::uint64_t{64} << 20;  ///< bytes of each of the two
};

struct ProgramRun {
    int exit = 0;    ///< its exit status; -1 where a signal ended it
    int signal = 0;  ///< that ended it; 0: none
    double seconds = 0;
    double peakBytes = 0;  ///< of the largest of its processes; 0 where it ended before anybody looked
};

/// Waits for the end. Fails with `program.not-started`, `program.too-long`, `program.too-much-output`, and with
/// `study.cancelled` within 50 ms of a stop request. What it left running in its group is ended with it.
Expected<ProgramRun> runProgram(const ProgramCall& call, const std::stop_token& stop);

/// The absolute path of a program: as it stands if it has a `/`, else by the search path. Empty if there is none that
/// can be run.
std::string findProgram(std::string_view name);

}  // namespace orrery
