#pragma once

// What an answer costs, by the clock of processors.

#include <functional>

namespace orrery {

/// Seconds of processors that `work` takes: of this thread, and of other programs that it runs and that end. Never 0,
/// which would say that nothing was timed.
double clocked(const std::function<void()>& work);

/// Of a question that binds the method anew each time it is asked, so that only what all answers share is warm. What
/// takes less than 5 ms is the median of three more, for it is mostly the filling of caches at the first time.
double clockedAnew(const std::function<void()>& work);

}  // namespace orrery
