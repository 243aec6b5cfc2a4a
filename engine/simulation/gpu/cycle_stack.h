#pragma once

// Cycles of a kernel by cause, as interval models count them: from templates of kernels (methods/interval) and from
// traces (interval/).

#include <array>
#include <string_view>
#include <utility>

namespace orrery {

/// Parts sum to `total()` by construction.
struct CycleStack {
    double base = 0, mathPipe = 0, memoryPipe = 0, dependency = 0, memoryData = 0, memoryQueue = 0, idle = 0,
           launch = 0;
    double total() const {
        return base + mathPipe + memoryPipe + dependency + memoryData + memoryQueue + idle + launch;
    }
    CycleStack& operator+=(const CycleStack& other) {
        base += other.base, mathPipe += other.mathPipe, memoryPipe += other.memoryPipe, dependency += other.dependency;
        memoryData += other.memoryData, memoryQueue += other.memoryQueue, idle += other.idle, launch += other.launch;
        return *this;
    }
    CycleStack scaled(double factor) const {
        return {base * factor,       mathPipe * factor,    memoryPipe * factor, dependency * factor,
                memoryData * factor, memoryQueue * factor, idle * factor,       launch * factor};
    }
    /// Every part with its name, in the order in which they are shown.
    std::array<std::pair<std::string_view, double>, 8> parts() const {
        return {{{"base", base},
                 {"math pipe", mathPipe},
                 {"load and store pipe", memoryPipe},
                 {"dependency", dependency},
                 {"memory data", memoryData},
                 {"memory queue", memoryQueue},
                 {"idle", idle},
                 {"block launch", launch}}};
    }
};

}  // namespace orrery
