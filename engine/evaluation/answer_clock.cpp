#include "evaluation/answer_clock.h"

#include "base/thread_clock.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>

namespace orrery {

namespace {

constexpr double worthRepeating = 5e-3;  // seconds
constexpr int repeats = 3;

// Of processors: by this thread, and by other programs that a method had run and that have ended.
double workedSeconds() {
    rusage others{};
    getrusage(RUSAGE_CHILDREN, &others);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return threadSeconds() + seconds(others.ru_utime) + seconds(others.ru_stime);
}

// What workedSeconds() takes itself.
double clockSeconds() {
    static const double each = [] {
        constexpr int reads = 200;
        const double begun = workedSeconds();
        for (int i = 1; i < reads; ++i) (void)workedSeconds();
        return (workedSeconds() - begun) / reads;
    }();
    return each;
}

}  // namespace

double clocked(const std::function<void()>& work) {
    const double begun = workedSeconds();
    work();
    return std::max(workedSeconds() - begun - clockSeconds(), 1e-9);
}

double clockedAnew(const std::function<void()>& work) {
    const double first = clocked(work);
    if (first >= worthRepeating) return first;
    std::array<double, repeats> all{};
    for (double& each : all) each = clocked(work);
    std::sort(all.begin(), all.end());
    return all[repeats / 2];
}

}  // namespace orrery
