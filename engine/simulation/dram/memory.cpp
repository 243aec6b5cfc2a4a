#include "simulation/dram/memory.h"

#include "simulation/dram/channel.h"

#include <queue>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace orrery {

namespace {

struct Pending {
    std::uint64_t tag = 0;
    std::uint64_t order = 0;
    std::int64_t remaining = 0;  ///< bursts
    DramCycle lastData = 0;
};

struct Due {
    DramCycle cycle;
    std::uint64_t order, tag;
    bool operator>(const Due& other) const { return std::tie(cycle, order) > std::tie(other.cycle, other.order); }
};

}  // namespace

struct DramMemory::State {
    DramConfig config;
    DramAddressMap map;
    std::vector<DramChannel> channels;
    std::vector<Pending> pending;
    std::vector<std::int32_t> freeSlots;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
    std::unordered_map<std::uint16_t, std::size_t> ports;
    std::uint64_t submitted = 0;
    std::int64_t outstanding = 0;
    DramCycle now = 0;
    DramCycle leastLatency = 1;  ///< a burst whose command is not yet issued completes no sooner than this

    void burstDone(std::int32_t slot, DramCycle lastData) {
        auto& p = pending[std::size_t(slot)];
        p.lastData = std::max(p.lastData, lastData);
        if (--p.remaining > 0) return;
        due.push({p.lastData, p.order, p.tag});
        freeSlots.push_back(slot);
    }

    void advance(DramCycle until, bool stopWhenIdle = false) {
        for (auto& channel : channels)
            channel.advance(until, stopWhenIdle,
                            [this](std::int32_t slot, DramCycle lastData) { burstDone(slot, lastData); });
    }

    void collect(std::vector<DramCompletion>& completions) {
        for (; !due.empty() && due.top().cycle <= now; due.pop()) {
            completions.push_back({due.top().tag, due.top().cycle});
            --outstanding;
        }
    }

    std::int32_t newSlot() {
        if (freeSlots.empty()) {
            pending.emplace_back();
            return std::int32_t(pending.size()) - 1;
        }
        const auto slot = freeSlots.back();
        freeSlots.pop_back();
        return slot;
    }
};

Expected<DramMemory> DramMemory::make(DramConfig config) {
    if (auto found = check(config.standard); !found.empty()) return tl::unexpected(found.front());
    const auto within = [](const char* name, int value) -> Expected<int> {
        if (value >= 1 && value <= 4096) return value;
        return fail("dram.bad-memory", fmt::format("{} is {}", name, value), "between 1 and 4096", "", {.path = name});
    };
    for (const auto& [name, value] :
         {std::pair{"channels", config.channels}, {"read queue", config.readQueue}, {"write queue", config.writeQueue}})
        if (auto ok = within(name, value); !ok) return tl::unexpected(ok.error());
    if (!(config.drainBelow >= 0 && config.drainBelow <= config.drainAbove && config.drainAbove <= 1))
        return fail("dram.bad-memory",
                    fmt::format("writes drain from {} to {} of their queue", config.drainAbove, config.drainBelow),
                    "0 ≤ end ≤ start ≤ 1", "the usual values are 0.8 and 0.2");
    for (const auto& [name, value] :
         {std::pair{"slots for opened rows", config.openedSlots}, {"cap of row hits", config.rowHitCap}})
        if (value < 0 || value > 4096)
            return fail("dram.bad-memory", fmt::format("{} is {}", name, value), "between 0 and 4096", "0 means none",
                        {.path = name});
    auto map =
        DramAddressMap::parse(config.mapping, config.standard.organisation, config.channels, config.permuteBanks);
    if (!map) return tl::unexpected(map.error());
    auto state = std::make_unique<State>();
    state->config = std::move(config);
    state->map = std::move(*map);
    const auto& t = state->config.standard.timing;
    state->leastLatency = std::min(t.cl, t.cwl) + t.burst;
    state->channels.reserve(std::size_t(state->config.channels));
    for (int i = 0; i < state->config.channels; ++i) state->channels.emplace_back(state->config, state->map, i);
    return DramMemory(std::move(state));
}

DramMemory::DramMemory(std::unique_ptr<State> state) : state_(std::move(state)) {}
DramMemory::~DramMemory() = default;
DramMemory::DramMemory(DramMemory&&) noexcept = default;
DramMemory& DramMemory::operator=(DramMemory&&) noexcept = default;

void DramMemory::submit(const DramRequest& request) {
    auto& s = *state_;
    const DramCycle arrival = std::max(request.arrival, s.now);
    ++s.submitted;
    ++s.outstanding;
    if (request.bytes <= 0) {
        s.due.push({arrival, s.submitted, request.tag});
        return;
    }
    const auto burstBytes = std::uint64_t(s.config.standard.organisation.burstBytes());
    const auto first = std::int64_t(request.address / burstBytes % std::uint64_t(s.map.bursts()));
    const auto count = std::int64_t((request.address % burstBytes + std::uint64_t(request.bytes) - 1) / burstBytes) + 1;
    const auto slot = s.newSlot();
    s.pending[std::size_t(slot)] = {request.tag, s.submitted, count, arrival};
    const std::size_t port = s.ports.try_emplace(request.port, s.ports.size()).first->second;
    const auto give = [&](int channel, std::int64_t next, std::int64_t end) {
        if (next < end) s.channels[std::size_t(channel)].submit(port, {slot, request.write, arrival, next, end});
    };
    if (count == 1) {
        const int channel = s.map.channelOf(first);
        const std::int64_t ordinal = s.map.ordinalsBefore(channel, first);
        give(channel, ordinal, ordinal + 1);
        return;
    }
    for (int channel = 0; channel < s.config.channels; ++channel)
        give(channel, s.map.ordinalsBefore(channel, first), s.map.ordinalsBefore(channel, first + count));
}

void DramMemory::runTo(DramCycle cycle, std::vector<DramCompletion>& completions) {
    if (cycle < state_->now) return;
    state_->advance(cycle);
    state_->now = cycle;
    state_->collect(completions);
}

bool DramMemory::runToCompletion(DramCycle limit, std::vector<DramCompletion>& completions) {
    auto& s = *state_;
    while (s.outstanding > 0 && s.now < limit) {
        // Nothing that is still to be issued can complete before the next command plus the least latency, so that far
        // every completion is known without running past one.
        DramCycle next = dramNever;
        for (auto& channel : s.channels) next = std::min(next, channel.next());
        DramCycle target = std::min(limit, next >= dramNever ? limit : std::max(next, s.now) + s.leastLatency);
        if (!s.due.empty()) target = std::min(target, std::max(s.due.top().cycle, s.now));
        s.advance(target);
        s.now = target;
        if (!s.due.empty() && s.due.top().cycle <= target) {
            s.collect(completions);
            return true;
        }
    }
    if (s.now < limit) runTo(limit, completions);
    return false;
}

DramCycle DramMemory::drain(std::vector<DramCompletion>& completions) {
    auto& s = *state_;
    s.advance(dramNever, true);
    DramCycle last = s.now;
    auto all = s.due;
    for (; !all.empty(); all.pop()) last = std::max(last, all.top().cycle);
    runTo(last, completions);
    return last;
}

DramCycle DramMemory::now() const {
    return state_->now;
}
bool DramMemory::idle() const {
    return state_->outstanding == 0;
}
std::int64_t DramMemory::outstanding() const {
    return state_->outstanding;
}
std::int64_t DramMemory::waitingUpstream(int channel, bool write) const {
    return state_->channels[std::size_t(channel)].waitingUpstream(write);
}
const DramConfig& DramMemory::config() const {
    return state_->config;
}
const DramAddressMap& DramMemory::map() const {
    return state_->map;
}

DramStatistics DramMemory::statistics() const {
    DramStatistics sum;
    for (const auto& channel : state_->channels) {
        const auto& c = channel.statistics;
        for (auto field : {&DramStatistics::reads, &DramStatistics::writes, &DramStatistics::forwarded,
                           &DramStatistics::rowHits, &DramStatistics::rowMisses, &DramStatistics::rowConflicts,
                           &DramStatistics::activates, &DramStatistics::precharges, &DramStatistics::refreshes,
                           &DramStatistics::bankRefreshes, &DramStatistics::busyCycles, &DramStatistics::latencyCycles})
            sum.*field += c.*field;
        sum.lastData = std::max(sum.lastData, c.lastData);
    }
    return sum;
}

double DramMemory::peakBytesPerCycle() const {
    const auto& standard = state_->config.standard;
    return double(state_->config.channels) * standard.organisation.pseudoChannels * standard.organisation.burstBytes() /
           standard.timing.burst;
}

double DramMemory::secondsPerCycle() const {
    return state_->config.standard.timing.clockPicoseconds * 1e-12;
}

Expected<DramEnergyParts> DramMemory::energy() const {
    const auto& command = state_->config.energy;
    if (!command)
        return fail("dram.no-currents", "the memory was given no energies of its commands",
                    "publishedEnergy() of its standard, or commandEnergy() of currents");
    const auto sum = statistics();
    const double second = secondsPerCycle();
    double active = 0, ranks = 0;
    for (const auto& channel : state_->channels) {
        active += double(channel.timing().openCycles(state_->now)) * second;
        ranks += channel.timing().ranks();
    }
    active += double(sum.refreshes) * state_->config.standard.timing.rfc * second;
    return energyOf(*command, {sum.activates, sum.reads - sum.forwarded, sum.writes, sum.refreshes, sum.bankRefreshes,
                               active, std::max(0.0, ranks * double(state_->now) * second - active)});
}

void DramMemory::observe(std::function<void(const DramIssued&)> observer) {
    for (auto& channel : state_->channels) channel.observer = observer;
}

}  // namespace orrery
