#pragma once

#include <ctime>

namespace orrery {

/// Seconds of a processor that the calling thread has had. What it waits for, a disk or a processor that others use, is
/// no work of its own.
inline double threadSeconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace orrery
