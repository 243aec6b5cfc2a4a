#include "simulation/dram/ruled/ruled_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery {

namespace {

// What a read or write of this cycle waited for: where the sums of waits grew most. The data bus at its pace is no
// wait.
void noteHolder(RuledIssued& column, const std::vector<std::int64_t>& before, const std::vector<std::int64_t>& after) {
    const std::size_t busy = after.size() - ruledOtherWaits + ruledDataBus;
    for (std::size_t i = 0; i < after.size(); ++i) {
        const std::int64_t grown = after[i] - before[i];
        if (i == busy || grown <= column.held) continue;
        column.held = grown;
        column.heldBy = static_cast<std::int32_t>(i);
    }
}

// What held each column command of a record, from how the sums of waits grew.
class Recorder {
public:
    explicit Recorder(RuledRecord* record) : record_(record) {}
    explicit operator bool() const { return record_ != nullptr; }
    /// After every command that moves a request; false: the record is full.
    bool add(const std::vector<std::int64_t>& waits) {
        before_.resize(waits.size());
        for (; known_ < record_->issued.size(); ++known_) {
            RuledIssued& one = record_->issued[known_];
            if (isRead(one.command) || isWrite(one.command)) noteHolder(one, before_, waits);
        }
        before_ = waits;
        record_->cut = known_ >= record_->most;
        if (record_->cut) record_ = nullptr;
        return record_ != nullptr;
    }

private:
    RuledRecord* record_;
    std::vector<std::int64_t> before_;
    std::size_t known_ = 0;
};

// Of latencies from the least on: how many there are of each, or, where they lie far apart, all of them.
class Latencies {
public:
    Latencies(std::int64_t least, std::int64_t most) : least_(least), counts_(most - least < mostCounts) {
        if (counts_) many_.assign(static_cast<std::size_t>(most - least + 1), 0);
    }
    void add(std::int64_t latency) {
        if (counts_)
            ++many_[static_cast<std::size_t>(latency - least_)];
        else
            many_.push_back(latency);
    }
    /// The latency at this place in order, counted from 0.
    std::int64_t at(std::size_t place) {
        if (!counts_) {
            const auto it = many_.begin() + static_cast<std::ptrdiff_t>(place);
            std::nth_element(many_.begin(), it, many_.end());
            return *it;
        }
        auto left = static_cast<std::int64_t>(place);
        std::int64_t latency = least_;
        for (auto it = many_.begin(); left >= *it; ++it, ++latency) left -= *it;
        return latency;
    }

private:
    static constexpr std::int64_t mostCounts = 1 << 20;
    std::int64_t least_;
    bool counts_;
    std::vector<std::int64_t> many_;
};

// What is told of all requests together.
void summarise(RuledResult& result, const DramRules& rules, const std::vector<DramTraceRequest>& trace) {
    const std::size_t n = trace.size();
    std::int64_t last = 0, sum = 0, least = INT64_MAX, most = 0;
    for (std::size_t i = 0; i < n; ++i) {
        last = std::max(last, result.done[i]);
        if (trace[i].write) continue;
        ++result.reads;
        const std::int64_t latency = result.done[i] - result.accepted[i];
        sum += latency;
        least = std::min(least, latency), most = std::max(most, latency);
    }
    result.writes = static_cast<std::int64_t>(n) - result.reads;
    result.cycles = last;
    if (result.reads > 0) {
        const auto reads = static_cast<double>(result.reads);
        Latencies latencies(least, most);
        for (std::size_t i = 0; i < n; ++i)
            if (!trace[i].write) latencies.add(result.done[i] - result.accepted[i]);
        const auto at = [&](double share) { return latencies.at(static_cast<std::size_t>(share * reads)); };
        result.meanLatency = static_cast<double>(sum) / reads;
        result.leastLatency = least, result.mostLatency = most;
        result.medianLatency = at(0.5), result.latency95 = at(0.95);
    }
    if (last > 0)
        result.bytesPerSecond =
            static_cast<double>(n) * rules.burstBytes() / (static_cast<double>(last) * rules.cycleSeconds());
}

constexpr std::int64_t mostAtOnce = 1 << 24;  // cycles, before the run looks whether it is stopped or stuck

template <int Lanes>
Expected<RuledResult> run(const DramRules& rules, const RuledAddressMap& map, bool refresh,
                          const RuledInjection& injection, const std::vector<DramTraceRequest>& trace,
                          std::stop_token stop, RuledRecord* record) {
    using Controller = RuledDramController<Lanes>;
    RuledResult result;
    Controller controller(rules, refresh);
    const std::size_t n = trace.size();
    result.accepted.resize(n);
    result.done.assign(n, -1);
    RuledPlace place;  // of the next
    if (n > 0) place = map.place(trace[0].address);

    std::vector<RuledDone> done;
    done.reserve(8);
    std::size_t next = 0;
    std::int64_t earliest = 0, last = 0, lastProgress = 0;
    std::int64_t waitingFor = -1;  // chain: the read that must return
    // A request waits for no more than all buffered ones, each with a row of its own, and a refresh between any two.
    const std::int64_t patience = 1'000'000 + 16 * (rules.timingOf("nRFC") + rules.timingOf("nRC") + 1000) * 4096;
    // When could the next request be offered?
    const auto nextOffer = [&](std::int64_t now) {
        if (next >= n || !controller.wouldTake(trace[next].write, place)) return Controller::never;
        if (waitingFor < 0) return std::max(earliest, now);
        const auto returned = result.done[static_cast<std::size_t>(waitingFor)];
        return returned < 0 ? Controller::never : std::max({earliest, now, returned});
    };
    std::int64_t offerAt = n > 0 ? 0 : Controller::never;
    unsigned turns = 0;
    Recorder recorder(record);
    if (record) controller.record(&record->issued);
    while (next < n || !controller.idle() || controller.now() < last) {  // a refresh may be due before the last beat
        if ((++turns & 0xffff) == 0 && stop.stop_requested())
            return fail("dram.stopped", "the run was stopped", {}, {});
        const std::int64_t now = controller.now();
        if (now > DramRuleTables::lastCycle)
            return fail("dram.long", fmt::format("after {} cycles {} of {} requests have been accepted", now, next, n),
                        fmt::format("runs of at most {} cycles", DramRuleTables::lastCycle),
                        "take a part of the trace, or let requests come closer together");
        if (offerAt <= now) {
            const bool write = trace[next].write;
            const auto answer = controller.offer(static_cast<std::int32_t>(next), write, place);
            if (answer != RuledOffer::Refused) {
                result.accepted[next] = result.lastAccept = now;
                if (answer == RuledOffer::Forwarded) result.done[next] = now + 1;
                if (answer == RuledOffer::Merged) result.done[next] = now;
                earliest = now + injection.every;
                waitingFor = injection.chain && !write ? static_cast<std::int64_t>(next) : -1;
                if (++next < n) place = map.place(trace[next].address);
                lastProgress = now;
            }
            offerAt = nextOffer(now);
        } else if (!controller.idle() && now - lastProgress > patience) {
            return fail("dram.stuck", fmt::format("request {} is never served", next),
                        "timings that let every request finish", "look for contradictions between the constraints",
                        {rules.file, 0, 0, "dram.timing_constraints"});
        }
        const bool over = next >= n && controller.idle();
        done.clear();
        controller.advance(over ? last : std::min(offerAt, now + mostAtOnce), done);
        if (recorder && !recorder.add(controller.waits())) controller.record(nullptr);
        for (const auto& one : done) {
            result.done[static_cast<std::size_t>(one.request)] = one.cycle;
            last = std::max(last, one.cycle);
            lastProgress = controller.now();
        }
        if (offerAt == Controller::never) offerAt = nextOffer(controller.now());
    }
    result.counts = controller.counts();
    result.waits = controller.waits();
    result.ranks = controller.ranks().ranks();
    result.rankRefreshes = controller.rankRefreshes();
    summarise(result, rules, trace);
    result.activeCycles = controller.ranks().active(result.cycles);
    return result;
}

}  // namespace

Expected<RuledResult> runRuledDram(const DramRules& rules, const RuledAddressMap& map, bool refresh,
                                   const RuledInjection& injection, const std::vector<DramTraceRequest>& trace,
                                   std::stop_token stop, RuledRecord* record) {
    const DramRuleTables tables(rules);
    const std::size_t lanes = tables.words == 1 ? tables.lanes : 0;
    const auto as = lanes == 4 ? run<4> : lanes == 8 ? run<8> : lanes == 16 ? run<16> : run<0>;
    return as(rules, map, refresh, injection, trace, std::move(stop), record);
}

}  // namespace orrery
