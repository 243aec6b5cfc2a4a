#include "simulation/cpu/core/windows/window_flow.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace orrery::pipeline {

namespace {

constexpr std::uint64_t pageLines = 64;
constexpr double leastPhase = 0.02;
constexpr std::size_t mostPhases = 4;

struct Ring {
    std::vector<double>& left;
    std::size_t entries, at = 0;
    Ring(std::vector<double>& store, int size) : left(store), entries(static_cast<std::size_t>(std::max(1, size))) {
        left.assign(entries, -1e18);
    }
    double free() const { return left[at]; }
    void enter(double leaves) {
        left[at] = leaves;
        if (++at == entries) at = 0;
    }
};

}  // namespace

void Window::clear() {
    op.clear(), address.clear(), taken.clear(), level.clear(), broughtBy.clear(), askedBy.clear();
    lines.fill(0), waits.fill(0);
    written = 0;
}

WindowLevels::WindowLevels(const LoopNest& nest, const NestReuse& reuse, const std::vector<int>& nodeOf,
                           const std::vector<BoundOp>& ops, const Machine& machine)
    : nest_(nest), reuse_(reuse), nodeOf_(nodeOf), ops_(ops), machine_(machine) {}

void WindowLevels::look(const Window& w) {
    const std::size_t arrays = static_cast<std::size_t>(reuse_.arrays), cells = nest_.nodes.size() * arrays;
    std::vector<float> fresh(cells, 0), runs(nest_.nodes.size(), 0);
    LineTable seen(w.size());
    touches_.clear();
    for (std::size_t i = 0; i < w.size(); ++i) {
        const int node = nodeOf_[w.op[i]];
        if (nest_.nodes[static_cast<std::size_t>(node)].firstOp == w.op[i]) runs[static_cast<std::size_t>(node)] += 1;
        const int array = reuse_.arrayOf[w.op[i]];
        if (array < 0) continue;
        for (std::uint64_t line = w.address[i] >> 6; line <= (w.address[i] + ops_[w.op[i]].bytes - 1) >> 6; ++line) {
            bool first = false;
            seen.find(line, first);
            if (!first) continue;
            fresh[static_cast<std::size_t>(node) * arrays + static_cast<std::size_t>(array)] += 1;
            touches_.push_back({line, node, array});
        }
    }
    share_.assign(cells, {});
    std::vector<double> edges{0.0, 1.0};
    for (std::size_t node = 0; node < runs.size(); ++node) {
        for (std::size_t array = 0; array < arrays; ++array) {
            const std::size_t cell = node * arrays + array;
            if (fresh[cell] <= 0) continue;
            const auto& missing = reuse_.missingOf(static_cast<int>(node), static_cast<int>(array));
            for (std::size_t c = 0; c < machine_.caches.size(); ++c) {
                const double part = std::min(1.0, missing[c] * runs[node] / fresh[cell]);
                share_[cell][c] = static_cast<float>(part);
                if (part > leastPhase && part < 1 - leastPhase) edges.push_back(part);
            }
        }
    }
    std::sort(edges.begin(), edges.end());
    lengths_.clear();
    double begin = 0;
    for (std::size_t i = 1; i < edges.size(); ++i) {
        const bool last = i + 1 == edges.size();
        // Short phases belong to their neighbour; few are enough.
        if (!last && (edges[i] - begin < leastPhase || 1 - edges[i] < leastPhase || lengths_.size() + 1 >= mostPhases))
            continue;
        lengths_.push_back(edges[i] - begin);
        begin = edges[i];
    }
}

void WindowLevels::enter(std::size_t phase) {
    at_ = 0;
    for (std::size_t i = 0; i < phase; ++i) at_ += lengths_[i];
    at_ += lengths_[phase] / 2;
}

std::uint8_t WindowLevels::levelOf(int node, int array) const {
    const std::size_t caches = machine_.caches.size();
    if (caches == 0) return mostCaches;
    const auto& share = share_[static_cast<std::size_t>(node) * static_cast<std::size_t>(reuse_.arrays) +
                               static_cast<std::size_t>(array)];
    std::size_t level = 0;
    for (std::size_t c = 0; c < caches; ++c)
        if (share[c] > at_) level = c + 1;
    return static_cast<std::uint8_t>(level == caches ? mostCaches : level);
}

void WindowLevels::set(Window& w, std::size_t phase) {
    enter(phase);
    const auto& reuse = reuse_;
    const auto& ops = ops_;
    const auto& nodeOf = nodeOf_;
    const auto& machine = machine_;
    const std::size_t n = w.size(), caches = machine.caches.size();
    w.level.assign(n, 0);
    w.broughtBy.assign(n, -1);
    w.askedBy.assign(n, -1);
    w.lines.fill(0), w.waits.fill(0);
    w.written = 0;
    std::array<double, mostCaches + 1> latency{};
    for (std::size_t c = 0; c < caches; ++c) latency[c] = machine.caches[c].latency;
    latency[mostCaches] = (caches ? latency[caches - 1] : 0) + machine.memoryLatency * machine.clock;
    struct Stride {
        std::uint64_t last = 0;
        std::int64_t step = 0;
        int sure = 0;
    };
    std::vector<Stride> strides(ops.size());
    struct Stream {
        std::uint64_t page = ~0ull, last = 0;
        int length = 0;
    };
    std::array<Stream, 16> streams{};
    std::size_t streamAt = 0;
    std::size_t streamCache = caches;
    for (std::size_t c = 0; c < caches; ++c)
        if (machine.caches[c].stream && streamCache == caches) streamCache = c;
    LineTable seen(2 * n);
    const auto bring = [&](std::uint64_t line, int node, int array) {
        std::uint8_t level = levelOf(node, array);
        const std::size_t from = level == mostCaches ? caches : level;
        for (std::size_t c = 0; c < from; ++c) w.lines[c] += 1;
        for (std::size_t c = 1; c < from; ++c) w.waits[c] += latency[level];
        if (level == mostCaches) w.written += reuse.writesPerRead;
        // A stream that the prefetcher of an outer cache follows waits there.
        if (level > 0 && streamCache < from) {
            const std::uint64_t page = line / pageLines;
            Stream* stream = nullptr;
            for (Stream& one : streams)
                if (one.page == page) stream = &one;
            if (!stream) {
                stream = &streams[streamAt++ % streams.size()];
                *stream = {page, line, 0};
            } else if (line == stream->last + 1 || line + 1 == stream->last) {
                ++stream->length;
                stream->last = line;
            } else if (line != stream->last) {
                stream->length = 0;
                stream->last = line;
            }
            if (stream->length >= 2) level = static_cast<std::uint8_t>(std::max<std::size_t>(1, streamCache));
        }
        if (level > 0) w.waits[0] += latency[level];
        return level;
    };
    for (std::size_t i = 0; i < n; ++i) {
        const BoundOp& op = ops[w.op[i]];
        const int array = reuse.arrayOf[w.op[i]];
        if (array < 0) continue;
        const int node = nodeOf[w.op[i]];
        for (std::uint64_t line = w.address[i] >> 6; line <= (w.address[i] + op.bytes - 1) >> 6; ++line) {
            bool first = false;
            auto* entry = seen.find(line, first);
            if (first) {
                entry->level = bring(line, node, array);
                entry->by = static_cast<std::int32_t>(i);
                w.level[i] = std::max(w.level[i], entry->level);
                if (caches > 0 && machine.caches[0].nextLine && entry->level > 0) {
                    auto* next = seen.find(line + 1, first);
                    if (first) *next = {line + 1, static_cast<std::int32_t>(i), bring(line + 1, node, array), true};
                }
            } else if (entry->ahead) {
                entry->ahead = false;
                if (entry->level > 0) w.askedBy[i] = entry->by, w.level[i] = std::max(w.level[i], entry->level);
                entry->by = static_cast<std::int32_t>(i);
            } else if (w.level[i] == 0 && entry->level > 0) {
                w.broughtBy[i] = entry->by;
            }
        }
        if (caches > 0 && machine.caches[0].stride) {
            Stride& s = strides[w.op[i]];
            const auto step = static_cast<std::int64_t>(w.address[i] - s.last);
            s.sure = step == s.step && step != 0 ? std::min(s.sure + 1, 3) : 0;
            s.step = step;
            s.last = w.address[i];
            if (s.sure >= 2) {
                const std::int64_t ahead = std::abs(step) < 64 ? (step > 0 ? 64 : -64) : step;
                const std::uint64_t next =
                    static_cast<std::uint64_t>(static_cast<std::int64_t>(w.address[i]) + ahead) >> 6;
                if (next / pageLines == (w.address[i] >> 6) / pageLines) {
                    bool first = false;
                    auto* entry = seen.find(next, first);
                    if (first) *entry = {next, static_cast<std::int32_t>(i), bring(next, node, array), true};
                }
            }
        }
    }
}

WindowFlow::WindowFlow(const Machine& machine, const std::vector<BoundOp>& ops) : machine_(machine), ops_(ops) {
    for (std::size_t i = 0; i < machine.caches.size(); ++i) {
        latency_[i] = machine.caches[i].latency;
        pace_[i] = 64 / machine.caches[i].bytesPerCycle;
    }
    const double outer = machine.caches.empty() ? 0 : machine.caches.back().latency;
    for (std::size_t i = machine.caches.size(); i < latency_.size(); ++i)
        latency_[i] = outer + machine.memoryLatency * machine.clock;
}

double WindowFlow::cycles(const Window& w, const FlowLimits& limits) {
    const std::size_t n = w.size();
    if (n == 0) return 0;
    issue_.resize(n), filled_.assign(n, 0);
    const auto ring = [&](std::vector<double>& store, int entries, int endless) {
        return Ring(store, limits.queues ? entries : endless);
    };
    Ring window = ring(left_, machine_.reorderBuffer, 1 << 14), loads = ring(loads_, machine_.loadQueue, 1 << 13),
         stores = ring(stores_, machine_.storeQueue, 1 << 13),
         general = ring(general_, machine_.integerRegisters, 1 << 13),
         vectors = ring(vectors_, machine_.vectorRegisters, 1 << 13),
         waiting = ring(waiting_, machine_.scheduler, 1 << 14);
    Ring misses(misses_, machine_.caches.empty() ? 1 << 12 : machine_.caches.front().misses);
    std::array<double, 256> ready{};
    std::array<double, mostCaches + 1> channel{};
    double dispatch = 0, retire = 0, storeLeft = 0, first = 0, inOrderIssue = 0;
    for (int turn = 0; turn < 2; ++turn) {
        if (turn == 1) first = retire;
        for (std::size_t i = 0; i < n; ++i) {
            const BoundOp& op = ops_[w.op[i]];
            const bool isLoad = op.kind == OpKind::Load, isStore = op.kind == OpKind::Store;
            if (limits.queues) {
                if (op.slotCount > 0) dispatch = std::max(dispatch, window.free());
                if (isLoad) dispatch = std::max(dispatch, loads.free());
                if (isStore) dispatch = std::max(dispatch, stores.free());
                if (op.registers == 1) dispatch = std::max(dispatch, general.free());
                if (op.registers == 2) dispatch = std::max(dispatch, vectors.free());
                if (op.ports != 0) dispatch = std::max(dispatch, waiting.free());
            }
            double issue = limits.queues ? dispatch + 1 : 0;
            const std::size_t addressSources = isStore ? 2 : op.from.size();
            for (std::size_t s = 0; s < addressSources; ++s)
                if (op.from[s] != NoRegister) issue = std::max(issue, ready[op.from[s]]);
            issue_[i] = issue;
            double complete = issue + op.latency;
            double started = issue;
            const std::uint8_t level = w.level[i];
            if (limits.caches && (isLoad || isStore) && level > 0) {
                const double asked =
                    std::max(w.askedBy[i] >= 0 ? issue_[static_cast<std::size_t>(w.askedBy[i])] : issue, misses.free());
                double at = asked;
                for (std::size_t c = 1; c < machine_.caches.size() && (c <= level || level == mostCaches); ++c) {
                    channel[c] = std::max(channel[c], asked - 64) + pace_[c];
                    at = std::max(at, channel[c] - pace_[c]);
                }
                filled_[i] = at + latency_[level];
                misses.enter(filled_[i]);
                if (isLoad) complete = std::max(complete, filled_[i] + op.latency - latency_[0]);
            } else if (limits.caches && isLoad && w.broughtBy[i] >= 0) {
                complete = std::max(complete, filled_[static_cast<std::size_t>(w.broughtBy[i])]);
            }
            if (isStore) {
                for (std::size_t s = 2; s < op.from.size(); ++s)
                    if (op.from[s] != NoRegister) started = std::max(started, ready[op.from[s]]);
                complete = started + 1;
            }
            if (op.to != NoRegister) ready[op.to] = op.merges ? std::max(ready[op.to], complete) : complete;
            if (op.to2 != NoRegister) ready[op.to2] = complete;
            retire = std::max(complete, retire);
            if (!limits.queues) continue;
            if (op.slotCount > 0) window.enter(retire);
            if (op.registers == 1) general.enter(retire);
            if (op.registers == 2) vectors.enter(retire);
            if (isLoad) loads.enter(retire);
            if (op.ports != 0) {
                // Entries are left out of order; the one that leaves next is about the oldest of those that wait.
                inOrderIssue = std::max(inOrderIssue - 1, started);
                waiting.enter(std::min(inOrderIssue, started));
            }
            if (isStore) {
                double leaves = std::max(retire + 1, storeLeft + 1.0 / machine_.storesPerCycle);
                if (limits.caches && level > 0)
                    leaves = std::max(leaves, w.askedBy[i] >= 0 ? filled_[i] : retire + latency_[level]);
                storeLeft = leaves;
                stores.enter(leaves);
            }
        }
    }
    return std::max(0.0, retire - first) / static_cast<double>(n);
}

}  // namespace orrery::pipeline
