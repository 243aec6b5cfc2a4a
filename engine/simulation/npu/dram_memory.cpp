#include "simulation/npu/dram_memory.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>
#include <mutex>

namespace orrery {

namespace {

class BankMemory final : public MemoryModel {
public:
    BankMemory(DramMemory memory, double hertz, std::int64_t latency)
        : memory_(std::move(memory)), latency_(latency), perCycle_(1 / hertz / memory_.secondsPerCycle()) {}

    void reset() override {
        // A run that ended early may have left requests behind. Time goes on: the next run begins now.
        completed_.clear();
        memory_.drain(completed_);
        begin_ = memory_.now();
    }
    void submit(const MemoryBurst& burst) override {
        const auto arrival =
            begin_ + static_cast<DramCycle>(std::floor(static_cast<double>(burst.arrival) * perCycle_));
        memory_.submit({burst.address, burst.bytes, arrival, burst.tag, burst.port, burst.write});
    }
    bool busy() const override { return !memory_.idle(); }
    bool advance(SimTime limit, std::vector<MemoryCompletion>& completions) override {
        DramCycle until = std::numeric_limits<DramCycle>::max() / 4;
        if (limit < std::numeric_limits<SimTime>::max() / 4) {
            until = begin_ + static_cast<DramCycle>(std::floor(static_cast<double>(limit - latency_) * perCycle_));
        }
        if (until < memory_.now()) return false;
        completed_.clear();
        if (!memory_.runToCompletion(until, completed_)) return false;
        for (const DramCompletion& done : completed_) {
            const double cycles = static_cast<double>(done.cycle - begin_) / perCycle_;
            completions.push_back(
                {static_cast<std::uint32_t>(done.tag), static_cast<SimTime>(std::ceil(cycles)) + latency_});
        }
        return true;
    }
    std::string description() const override {
        const auto& config = memory_.config();
        return fmt::format("{} channels of {}, bank by bank", config.channels, config.standard.id);
    }

private:
    DramMemory memory_;
    std::int64_t latency_;
    double perCycle_;  // DRAM cycles per core cycle
    DramCycle begin_ = 0;
    std::vector<DramCompletion> completed_;
};

}  // namespace

Expected<std::unique_ptr<MemoryModel>> bankMemory(const DramConfig& config, double hertz, std::int64_t latency) {
    auto memory = DramMemory::make(config);
    if (!memory) return Unexpected(std::move(memory.error()));
    return std::make_unique<BankMemory>(std::move(*memory), hertz, latency);
}

Expected<double> sustainedShare(const DramConfig& config) {
    constexpr std::int64_t piece = 32 * 1024;
    constexpr std::int64_t pieces = 8;
    constexpr std::uint64_t writesAt = std::uint64_t{1} << 28;
    auto memory = DramMemory::make(config);
    if (!memory) return Unexpected(std::move(memory.error()));
    for (std::int64_t i = 0; i < pieces; ++i) {
        const auto at = static_cast<std::uint64_t>(i * piece);
        memory->submit({at, piece, 0, 0, 0, false});
        memory->submit({writesAt + at, piece, 0, 0, 1, true});
    }
    std::vector<DramCompletion> completions;
    const DramCycle end = memory->drain(completions);
    return static_cast<double>(2 * pieces * piece) / (static_cast<double>(end) * memory->peakBytesPerCycle());
}

namespace {

constexpr int shareChannels = 1;  // of one channel as of many: each has its own stream

std::optional<SustainedShare> simulateShare(const std::string& timing) {
    for (const DramStandard& standard : dramStandards()) {
        if (lower(standard.family) != timing && standard.id.rfind(timing, 0) != 0) continue;
        DramConfig config;
        config.standard = standard;
        config.channels = shareChannels;
        config.mapping = "RoBaRaCoBgPcCh";
        const auto share = sustainedShare(config);
        if (!share) return std::nullopt;
        return SustainedShare{*share, standard.id};
    }
    return std::nullopt;
}

}  // namespace

std::optional<SustainedShare> sustainedShareOf(std::string_view timing) {
    static std::mutex mutex;
    static std::map<std::string, std::optional<SustainedShare>> known;
    const std::string name = lower(timing);
    if (name.empty()) return std::nullopt;
    const std::scoped_lock lock(mutex);
    const auto found = known.find(name);
    if (found != known.end()) return found->second;
    return known.emplace(name, simulateShare(name)).first->second;
}

}  // namespace orrery
