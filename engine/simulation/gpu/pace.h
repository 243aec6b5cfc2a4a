#pragma once

// Whether steps are shared among threads or taken by one: whichever was quicker, tried again from time to time. On a
// computer that is busy with other things a barrier may wait for a thread that has no processor, and one thread alone
// is then many times as quick. What a step computes does not depend on it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace orrery::gpusim {

class Pace {
public:
    bool shares() const { return shares_; }
    /// A step of so much work took so long.
    void took(std::size_t work, double nanoseconds) {
        work_ += static_cast<double>(work), time_ += nanoseconds;
        // A barrier that waits for the processor is not waited for again and again.
        const bool lost = shares_ && time_ > 1e5 && time_ > 2 * rate_[0] * work_;
        if (++steps_ < window && !lost) return;
        rate_[shares_] = time_ / work_;
        if (lost) {
            shares_ = trying_ = false;
            left_ = pause_ = std::min(longest, pause_ * 2);
        } else if (trying_) {
            trying_ = false;
            const bool better = rate_[shares_] < rate_[!shares_];
            pause_ = better ? shortest : std::min(longest, pause_ * 2);
            if (!better) shares_ = !shares_;
            left_ = pause_;
        } else if (--left_ <= 0) {
            trying_ = true;
            shares_ = !shares_;
        }
        steps_ = 0;
        work_ = time_ = 0;
    }

private:
    static constexpr int window = 128, shortest = 16, longest = 1024;  ///< steps; windows
    bool shares_ = false, trying_ = false;
    int steps_ = 0, left_ = 1, pause_ = shortest;
    double work_ = 0, time_ = 0;
    std::array<double, 2> rate_{};  ///< nanoseconds per unit of work: alone, shared
};

}  // namespace orrery::gpusim
