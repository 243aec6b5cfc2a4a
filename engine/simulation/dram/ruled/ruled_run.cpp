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

// A tick whose commands say what held them; false: the record is full.
bool tickRecorded(RuledDramController& controller, RuledRecord& record, std::vector<RuledDramController::Done>& done) {
    const auto before = controller.waits();
    const std::size_t known = record.issued.size();
    controller.tick(done);
    for (std::size_t i = known; i < record.issued.size(); ++i) {
        RuledIssued& one = record.issued[i];
        if (one.command == RuledCommand::Read || one.command == RuledCommand::Write)
            noteHolder(one, before, controller.waits());
    }
    if (record.issued.size() < record.most) return true;
    record.cut = true;
    controller.record(nullptr);
    return false;
}

}  // namespace

Expected<RuledResult> runRuledDram(const DramRules& rules, const RuledAddressMap& map, bool refresh,
                                   const RuledInjection& injection, const std::vector<DramTraceRequest>& trace,
                                   std::stop_token stop, RuledRecord* record) {
    RuledResult result;
    RuledDramController controller(rules, refresh);
    const std::size_t n = trace.size();
    result.accepted.resize(n);
    result.done.assign(n, -1);
    std::vector<RuledPlace> places(n);
    for (std::size_t i = 0; i < n; ++i) places[i] = map.place(trace[i].address);

    std::vector<RuledDramController::Done> done;
    done.reserve(8);
    std::size_t next = 0;
    std::int64_t earliest = 0, last = 0, lastProgress = 0;
    std::int64_t waitingFor = -1;  // chain: the read that must return
    // A request waits for no more than all buffered ones, each with a row of its own, and a refresh between any two.
    const std::int64_t patience = 1'000'000 + 16 * (rules.timingOf("nRFC") + rules.timingOf("nRC") + 1000) * 4096;
    // When could the next request be offered?
    const auto nextOffer = [&](std::int64_t now) {
        if (next >= n || !controller.wouldTake(trace[next].write, places[next])) return RuledDramController::never;
        if (waitingFor < 0) return std::max(earliest, now);
        const auto returned = result.done[static_cast<std::size_t>(waitingFor)];
        return returned < 0 ? RuledDramController::never : std::max({earliest, now, returned});
    };
    std::int64_t offerAt = 0;
    unsigned turns = 0;
    if (record) controller.record(&record->issued);
    while (next < n || !controller.idle() || controller.now() < last) {  // a refresh may be due before the last beat
        if ((++turns & 0xffff) == 0 && stop.stop_requested())
            return fail("dram.stopped", "the run was stopped", {}, {});
        const std::int64_t now = controller.now();
        if (offerAt <= now) {
            const bool write = trace[next].write;
            const auto answer = controller.offer(static_cast<std::int32_t>(next), write, places[next]);
            if (answer != RuledOffer::Refused) {
                result.accepted[next] = now;
                result.lastAccept = now;
                if (answer == RuledOffer::Forwarded) result.done[next] = now + 1;
                if (answer == RuledOffer::Merged) result.done[next] = now;
                earliest = now + injection.every;
                waitingFor = injection.chain && !write ? static_cast<std::int64_t>(next) : -1;
                ++next;
                lastProgress = now;
            }
            offerAt = nextOffer(now);
        }
        const std::int64_t tickAt = controller.nextTick();
        if (offerAt < tickAt) {
            controller.pass(offerAt + 1);
            continue;
        }
        if (next >= n && controller.idle()) {
            if (tickAt > last) break;
        } else if (tickAt >= RuledDramController::never || now - lastProgress > patience) {
            return fail("dram.stuck", fmt::format("request {} is never served", next),
                        "timings that let every request finish", "look for contradictions between the constraints",
                        {rules.file, 0, 0, "dram.timing_constraints"});
        }
        controller.pass(tickAt);
        done.clear();
        if (record) {
            if (!tickRecorded(controller, *record, done)) record = nullptr;
        } else {
            controller.tick(done);
        }
        for (const auto& one : done) {
            result.done[static_cast<std::size_t>(one.request)] = one.cycle;
            last = std::max(last, one.cycle);
            lastProgress = controller.now();
        }
        if (offerAt == RuledDramController::never) offerAt = nextOffer(controller.now());
    }
    for (std::size_t i = 0; i < n; ++i) last = std::max(last, result.done[i]);

    std::vector<std::int64_t> latencies;
    latencies.reserve(n);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (trace[i].write) {
            ++result.writes;
            continue;
        }
        ++result.reads;
        latencies.push_back(result.done[i] - result.accepted[i]);
        sum += static_cast<double>(latencies.back());
    }
    if (!latencies.empty()) {
        const auto size = latencies.size();
        const auto at = [&](double share) {
            const auto place =
                latencies.begin() + static_cast<std::ptrdiff_t>(std::min(
                                        size - 1, static_cast<std::size_t>(share * static_cast<double>(size))));
            std::nth_element(latencies.begin(), place, latencies.end());
            return *place;
        };
        result.meanLatency = sum / static_cast<double>(latencies.size());
        const auto [least, most] = std::minmax_element(latencies.begin(), latencies.end());
        result.leastLatency = *least, result.mostLatency = *most;
        result.medianLatency = at(0.5), result.latency95 = at(0.95);
    }
    result.cycles = last;
    if (last > 0)
        result.bytesPerSecond =
            static_cast<double>(n) * rules.burstBytes() / (static_cast<double>(last) * rules.cycleSeconds());
    result.counts = controller.counts();
    result.waits = controller.waits();
    return result;
}

}  // namespace orrery
