#include "simulation/npu/memory_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

// A burst lasts a fraction of a cycle more than a whole number of them: the pipe counts in 2^-16 cycles.
constexpr int fraction = 16;

class PipeMemory final : public MemoryModel {
public:
    PipeMemory(double bytesPerCycle, std::int64_t latency)
        : ticksPerByte_(std::ldexp(1.0, fraction) / bytesPerCycle), bytesPerCycle_(bytesPerCycle), latency_(latency) {}

    void reset() override {
        first_ = 0;
        pending_.clear();
        free_ = 0;
    }
    void submit(const MemoryBurst& burst) override {
        const std::int64_t start = std::max(free_, burst.arrival << fraction);
        free_ = start + static_cast<std::int64_t>(std::ceil(static_cast<double>(burst.bytes) * ticksPerByte_));
        const std::int64_t wholeCycle = (std::int64_t{1} << fraction) - 1;
        pending_.push_back({burst.tag, ((free_ + wholeCycle) >> fraction) + latency_});
    }
    bool busy() const override { return first_ < pending_.size(); }
    bool advance(SimTime limit, std::vector<MemoryCompletion>& completions) override {
        if (!busy() || pending_[first_].time > limit) return false;
        const SimTime time = pending_[first_].time;
        while (busy() && pending_[first_].time == time) completions.push_back(pending_[first_++]);
        if (!busy()) {
            pending_.clear();
            first_ = 0;
        } else if (first_ > 4096) {
            pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
        return true;
    }
    std::string description() const override {
        return fmt::format("a pipe of {:.4g} bytes per cycle and {} cycles of latency", bytesPerCycle_, latency_);
    }

private:
    double ticksPerByte_, bytesPerCycle_;
    std::int64_t latency_;
    std::vector<MemoryCompletion> pending_;  // in order of time: service is in order of arrival
    std::size_t first_ = 0;
    std::int64_t free_ = 0;
};

}  // namespace

std::unique_ptr<MemoryModel> pipeMemory(double bytesPerCycle, std::int64_t latency) {
    return std::make_unique<PipeMemory>(bytesPerCycle, latency);
}

}  // namespace orrery
