#include "serving/limiting_factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <vector>

namespace orrery {

namespace {

constexpr double hardly = 0.02;  // of the makespan
constexpr double nearlyFull = 0.95;

struct Change {
    SimTime at;
    std::int32_t running, waiting;
};

// A place that a sequence leaves is filled one iteration later where the next one is planned while one runs, and the
// scheduler counts it as taken until then. So it does here: until somebody takes it, or nobody does for `patience`.
class Places {
public:
    Places(std::int32_t cap, SimTime patience) : cap_(cap), patience_(patience) {}
    void change(std::int32_t by, SimTime at) {
        running_ += by;
        if (by < 0) left_.insert(left_.end(), static_cast<std::size_t>(-by), at);
        for (; by > 0 && !left_.empty(); --by) left_.pop_front();
    }
    /// Of the time from `at` until `until`, in which nothing changes: how much of it all places were taken.
    SimTime taken(SimTime at, SimTime until) {
        while (!left_.empty() && left_.front() + patience_ <= at) left_.pop_front();
        const std::int64_t lacking = cap_ - running_;
        if (lacking <= 0) return until - at;
        if (lacking > std::ssize(left_)) return 0;
        return std::min(until, left_[left_.size() - static_cast<std::size_t>(lacking)] + patience_) - at;
    }

private:
    const std::int64_t cap_;
    const SimTime patience_;
    std::int64_t running_ = 0;
    std::deque<SimTime> left_;  ///< when each place was left that nobody has taken, oldest first
};

struct Watched {
    double waiting = 0, atCap = 0;  // s, of all replicas
    std::int32_t cap = 0;           // of the replicas that stood at it
};

void watch(std::vector<Change>& changes, std::int32_t cap, SimTime patience, Watched& seen) {
    // Who leaves at an instant makes room for who begins then.
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.at != b.at ? a.at < b.at : a.running < b.running; });
    Places places(cap, patience);
    std::int64_t waiting = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        places.change(changes[i].running, changes[i].at);
        waiting += changes[i].waiting;
        if (i + 1 == changes.size() || waiting <= 0 || changes[i + 1].at == changes[i].at) continue;
        seen.waiting += toSeconds(changes[i + 1].at - changes[i].at);
        const SimTime taken = places.taken(changes[i].at, changes[i + 1].at);
        if (taken <= 0) continue;
        seen.atCap += toSeconds(taken);
        seen.cap = std::max(seen.cap, cap);
    }
}

}  // namespace

std::string shareText(double share) {
    const double percent = 100 * share;
    if (percent > 0 && percent < 0.1) return "< 0.1 %";
    return fmt::format("{:.{}f} %", percent, percent > 0 && percent < 9.95 ? 1 : 0);
}

LimitingFactor limitingFactor(const ServingResult& result, const FleetSpec& fleet, const ServingMetrics& metrics) {
    const RequestTable& requests = result.requests;
    // Autoscaling switches described replicas on and off: each has its own description.
    if (fleet.replicas.size() != result.replicas.size() || fleet.replicas.empty() || metrics.iterations == 0 ||
        !(metrics.makespan > 0))
        return {};
    double busy = 0;
    for (const ReplicaTotals& replica : result.replicas) busy += toSeconds(replica.busy);
    const double peak = metrics.peakKvUse;
    const auto patience = toTicks(3 * busy / static_cast<double>(metrics.iterations));
    std::vector<std::vector<Change>> changes(result.replicas.size());
    for (RequestIndex r = 0; r < requests.size(); ++r) {
        const std::int32_t on = requests.replica[r];
        if (on < 0 || static_cast<std::size_t>(on) >= changes.size()) continue;
        auto& list = changes[static_cast<std::size_t>(on)];
        const SimTime begun = requests.scheduled[r], end = requests.ended[r] >= 0 ? requests.ended[r] : result.end;
        const SimTime queued = requests.arrived[r] + patience, until = begun >= 0 ? begun : end;
        if (until > queued) {
            list.push_back({queued, 0, 1});
            list.push_back({until, 0, -1});
        }
        if (begun < 0) continue;
        const std::int32_t then = requests.decodeOn[r];
        const bool moves = then >= 0 && then != on && requests.firstToken[r] >= 0;
        list.push_back({begun, 1, 0});
        list.push_back({moves ? requests.firstToken[r] : end, -1, 0});
        if (!moves || static_cast<std::size_t>(then) >= changes.size()) continue;
        changes[static_cast<std::size_t>(then)].push_back({requests.firstToken[r], 1, 0});
        changes[static_cast<std::size_t>(then)].push_back({end, -1, 0});
    }
    Watched seen;
    for (std::size_t i = 0; i < changes.size(); ++i)
        watch(changes[i], fleet.replicas[i].scheduler.maxSequences, patience, seen);

    const double replicaSeconds =
        metrics.makespan * static_cast<double>(std::max<std::size_t>(result.replicas.size(), 1));
    const double busyShare = std::min(busy / replicaSeconds, 1.0);
    LimitingFactor found;
    const std::string cache = fmt::format("KV cache at most {} full", shareText(peak));
    const double capped = seen.waiting > 0 ? seen.atCap / seen.waiting : 0;
    if (seen.waiting < hardly * replicaSeconds && metrics.preemptions == 0) {
        found.share = seen.waiting / replicaSeconds;
        found.text = fmt::format("no limit reached; devices {:.0f} % busy; {}", 100 * busyShare, cache);
    } else if (capped >= 0.5) {
        found = {LimitKind::Sequences, capped, fmt::format("limited by {} sequences at once; {}", seen.cap, cache)};
    } else if (peak >= nearlyFull) {
        found = {LimitKind::KvCache, 1 - capped, fmt::format("limited by room for KV caches: {}", cache)};
        if (metrics.preemptions > 0) found.text += fmt::format(", {} preemptions", metrics.preemptions);
    } else {
        found = {LimitKind::Iterations, 1 - capped,
                 fmt::format("limited by iteration times; devices {:.0f} % busy; {}", 100 * busyShare, cache)};
    }
    return found;
}

}  // namespace orrery
