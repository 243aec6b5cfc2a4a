#include "serving/fleet/replica.h"

#include "serving/fleet/speculation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

// Ranks that go in step carry fractions of ticks each for itself: their ends may lie so far apart.
constexpr SimTime sameInstant = 2;

SchedulerSpec schedulerOf(const ReplicaSpec& spec) {
    SchedulerSpec scheduler = spec.scheduler;
    scheduler.stages = spec.time->stages();
    scheduler.kvBytesPerToken = spec.kvBytesPerToken;
    scheduler.lookahead = std::max(scheduler.lookahead, spec.speculation.drafts);
    return scheduler;
}

}  // namespace

FineTime after(const FineTime& time, double seconds) {
    // Half of what a SimTime holds is 53 days; nothing goes on beyond.
    constexpr double most = 4.6e18;
    assert(seconds >= 0);
    const double ticks = std::min(time.part + std::max(0.0, seconds) * serving_ticks_per_second,
                                  std::max(0.0, most - static_cast<double>(time.ticks)));
    const double whole = std::floor(ticks);
    return {time.ticks + static_cast<SimTime>(whole), ticks - whole};
}

Replica::Replica(const ReplicaSpec& spec, std::int32_t index, RequestTable& requests, ReplicaTotals& totals,
                 std::uint64_t seed)
    : spec_(spec),
      index_(index),
      requests_(requests),
      totals_(totals),
      time_(withDrafts(spec.time, spec.speculation)),
      kv_(spec.kvBlocks, spec.tokensPerBlock),
      scheduler_(findScheduler(spec.scheduler.id)->make(schedulerOf(spec), requests, kv_)),
      ring_(static_cast<std::size_t>(spec.time->stages())),
      stageFree_(ring_.size()),
      random_(seed, 0x64726166740000ull + static_cast<std::uint64_t>(index)) {
    if (!spec_.admission.plain()) {
        scheduler_ = std::make_unique<AdmissionLine>(std::move(scheduler_), spec_.scheduler, requests, spec_.admission,
                                                     spec_.due);
    }
    if (spec_.adapters.count <= 0 || requests.stream->adapter.empty()) return;
    auto gate = std::make_unique<AdapterGate>(std::move(scheduler_), requests, spec_.adapters.count,
                                              spec_.adapters.loadSeconds);
    gate_ = gate.get();
    scheduler_ = std::move(gate);
}

void Replica::account(SimTime now) {
    totals_.blockSeconds += static_cast<double>(kv_.used()) * toSeconds(now - accounted_);
    accounted_ = now;
}

const Iteration* Replica::dispatch(SimTime now, const std::vector<RequestIndex>*& dropped) {
    dropped = nullptr;
    if (count_ == ring_.size() || !up) return nullptr;
    const std::size_t place = (first_ + count_) % ring_.size();
    Iteration& iteration = ring_[place];
    iteration.batch.clear();
    const auto lost = requests_.lostTokens;
    account(now);
    scheduler_->next(iteration.batch, now);
    totals_.recomputedTokens += requests_.lostTokens - lost;
    totals_.peakBlocks = std::max(totals_.peakBlocks, kv_.used());
    dropped = &iteration.batch.dropped;
    if (iteration.batch.empty()) return nullptr;
    describe(iteration, now);
    ++count_;
    newest_ = place;
    if (inWave()) return &iteration;
    price(iteration, 0);
    time(iteration, now);
    return &iteration;
}

void Replica::stoodStill(RequestIndex r, SimTime since, SimTime now) {
    // Its first iteration was lost with a replica that failed: it has stood since it was scheduled there.
    totals_.stalled += now - std::max(since, requests_.scheduled[r]);
    ++totals_.stalls;
    if (requests_.stalls[r] < std::numeric_limits<std::uint16_t>::max()) ++requests_.stalls[r];
}

// What the iteration computes, in the words of its price.
void Replica::describe(Iteration& iteration, SimTime now) {
    prompts_.clear();
    contexts_.clear();
    contextSum_ = 0;
    iteration.promptTokens = iteration.decodeTokens = 0;
    double pairs = 0;
    const auto& batch = iteration.batch;
    for (std::size_t i = 0; i < batch.requests.size(); ++i) {
        const RequestIndex r = batch.requests[i];
        const std::int32_t tokens = batch.tokens[i], computed = requests_.computed[r];
        if (requests_.decoding(r)) {
            contexts_.push_back(computed);
            contextSum_ += computed;
            iteration.decodeTokens += tokens;
            if (requests_.lastToken[r] < now - sameInstant) stoodStill(r, requests_.lastToken[r], now);
        } else {
            prompts_.push_back({tokens, computed});
            iteration.promptTokens += tokens;
            totals_.contextTokens += static_cast<std::uint64_t>(computed) + static_cast<std::uint64_t>(tokens);
            pairs += tokens * (computed + 0.5 * (tokens + 1));
            const SimTime last = std::max(requests_.lastToken[r], requests_.lastChunk[r]);
            if (requests_.scheduled[r] < 0) {
                requests_.scheduled[r] = now;
                totals_.cachedTokens += static_cast<std::uint64_t>(requests_.cached[r]);
            } else if (last < now - sameInstant) {
                stoodStill(r, last, now);
            }
        }
    }
    if (gate_) {
        const AdapterGate::Use& use = gate_->newest();
        iteration.adapters = use.adapters;
        iteration.adapterTokens = use.tokens;
        totals_.adapterUses += static_cast<std::uint64_t>(use.adapters);
        totals_.adapterLoads += static_cast<std::uint64_t>(use.loads);
        totals_.adapterSeconds += use.loads * spec_.adapters.loadSeconds;
    }
    iteration.decodes = static_cast<std::int32_t>(contexts_.size());
    const double each = iteration.decodes > 0 ? static_cast<double>(iteration.decodeTokens) / iteration.decodes : 0;
    totals_.contextTokens += static_cast<std::uint64_t>(contextSum_ + iteration.decodeTokens);
    totals_.pairs += pairs + each * static_cast<double>(contextSum_) + iteration.decodes * each * (each + 1) / 2;
}

void Replica::price(Iteration& iteration, std::int32_t tokens) {
    const auto& batch = iteration.batch;
    IterationWork work;
    work.prompts = prompts_;
    work.decodes = contexts_;
    work.decodeContext = contextSum_;
    work.tokensPerDecode = iteration.decodes > 0 ? iteration.decodeTokens / iteration.decodes : 1;
    work.tokens = std::max(tokens, iteration.promptTokens + iteration.decodeTokens);
    work.sampled = iteration.decodes;
    for (std::size_t i = 0; i < batch.requests.size() && !prompts_.empty(); ++i) {
        const RequestIndex r = batch.requests[i];
        if (!requests_.decoding(r) && requests_.left(r) == batch.tokens[i]) ++work.sampled;
    }
    iteration.price = time_->price(work);
    if (iteration.adapters == 0 || !spec_.adapters.extra) return;
    work.adapters = iteration.adapters;
    work.adapterTokens = iteration.adapterTokens;
    const IterationPrice extra = spec_.adapters.extra->price(work);
    iteration.price.seconds += extra.seconds;
    iteration.price.lastSeconds += extra.lastSeconds;
}

double Replica::priceNewest(std::int32_t tokens) {
    Iteration& iteration = ring_[newest_];
    price(iteration, tokens);
    return iteration.price.host + iteration.price.lastSeconds + iteration.batch.delay;
}

const Iteration& Replica::startNewest(SimTime now, double wait) {
    Iteration& iteration = ring_[newest_];
    iteration.price.lastSeconds += wait;
    time(iteration, now);
    return iteration;
}

void Replica::time(Iteration& iteration, SimTime now) {
    const auto& batch = iteration.batch;
    auto& price = iteration.price;
    const double start = price.host + batch.delay;
    iteration.begin = now == lastEnd_.ticks ? lastEnd_ : FineTime{now, 0};
    FineTime ready = start > 0 ? after(iteration.begin, start) : iteration.begin;
    const std::size_t last = stageFree_.size() - 1;
    double seconds = start;
    for (std::size_t s = 0; s <= last; ++s) {
        const double share = s == last ? price.lastSeconds : price.seconds;
        ready = after(std::max(ready, stageFree_[s]), share);
        stageFree_[s] = ready;
        seconds += share;
    }
    iteration.end = ready;
    lowSeconds += seconds * price.low;
    highSeconds += seconds * price.high;
    pricedSeconds += seconds;
    outside += price.domain == DomainVerdict::Outside ? 1 : 0;

    ++totals_.iterations;
    totals_.promptTokens += static_cast<std::uint64_t>(iteration.promptTokens);
    totals_.decodeTokens += static_cast<std::uint64_t>(iteration.decodeTokens);
    const SimTime from = std::max(iteration.begin.ticks, busyUntil_);
    if (iteration.end.ticks > from) {
        const SimTime busy = iteration.end.ticks - from;
        totals_.busy += busy;
        busyUntil_ = iteration.end.ticks;
        totals_.joules += toSeconds(busy) * wattsOf(iteration);
    }
}

double Replica::wattsOf(const Iteration& iteration) const {
    if (iteration.price.watts > 0) return iteration.price.watts;
    const double share =
        static_cast<double>(iteration.promptTokens) / std::max(1, iteration.promptTokens + iteration.decodeTokens);
    return share * spec_.power.prompt + (1 - share) * spec_.power.decode;
}

void Replica::interrupt(SimTime now) {
    if (count_ == 0 || busyUntil_ <= now) return;
    totals_.busy -= busyUntil_ - now;
    totals_.joules -= toSeconds(busyUntil_ - now) * wattsOf(ring_[newest_]);
    busyUntil_ = now;
}

void Replica::retire(SimTime now) {
    assert(count_ > 0);
    lastEnd_ = ring_[first_].end;
    lastEnd_.ticks = std::max(lastEnd_.ticks, now);
    first_ = (first_ + 1) % ring_.size();
    --count_;
}

std::int32_t Replica::committed(std::int32_t planned) {
    const std::int32_t tokens = committedTokens(spec_.speculation, planned, steps_++, random_);
    totals_.drafted += static_cast<std::uint64_t>(planned);
    totals_.accepted += static_cast<std::uint64_t>(tokens - 1);
    return tokens;
}

}  // namespace orrery
