#include "simulation/gpu/recorder.h"

#include <algorithm>

namespace orrery::gpusim {

namespace {

constexpr std::array<std::string_view, warpStateCount> warpNames{
    "absent",        "issued",     "not selected",      "unit busy",      "memory",
    "shared memory", "arithmetic", "at barrier",        "copies",         "atomics",
    "fence",         "fetch",      "instruction cache", "constant cache", "done",
};
constexpr std::array<std::string_view, schedulerStateCount> schedulerNames{
    "no warps",          "issued",        "nothing to issue", "waits for registers", "unit busy",
    "instruction cache", "constant cache"};

// Between what a warp waits for, the slower kind explains the wait.
int slowness(WarpState state) {
    return state == WarpState::Memory ? 2 : state == WarpState::Shared ? 1 : 0;
}

}  // namespace

std::string_view toText(WarpState state) {
    return warpNames[static_cast<std::size_t>(state)];
}
std::string_view toText(SchedulerState state) {
    return schedulerNames[static_cast<std::size_t>(state)];
}

std::uint64_t RecordedInstruction::stalls() const {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < warpStateCount; ++i) {
        const auto state = static_cast<WarpState>(i);
        if (state != WarpState::Absent && state != WarpState::Issue && state != WarpState::Done) out += warpCycles[i];
    }
    return out;
}

std::uint64_t Recording::busiest(std::uint64_t length) const {
    // Issues of all schedulers as +1 spans: a sliding sum over their cycles, in the order of time.
    std::vector<std::uint32_t> at;
    for (const auto& spans : schedulerSpans) {
        for (std::size_t i = 0; i < spans.size(); ++i) {
            if (spans[i].state != SchedulerState::Issue) continue;
            const auto end = i + 1 < spans.size() ? spans[i + 1].begin : static_cast<std::uint32_t>(recorded);
            for (auto t = spans[i].begin; t < end; ++t) at.push_back(t);
        }
    }
    std::ranges::sort(at);
    std::size_t first = 0, best = 0;
    std::uint64_t where = 0;
    for (std::size_t last = 0; last < at.size(); ++last) {
        while (at[last] - at[first] >= length) ++first;
        if (last - first + 1 > best) best = last - first + 1, where = at[first];
    }
    return where;
}

std::array<double, warpStateCount> Recording::stack() const {
    std::array<double, warpStateCount> out{};
    const auto issued = static_cast<double>(schedulerCycles[static_cast<std::size_t>(SchedulerState::Issue)]);
    if (issued <= 0) return out;
    const auto split = [&](SchedulerState of, std::initializer_list<WarpState> causes, WarpState otherwise) {
        const double cycles = static_cast<double>(schedulerCycles[static_cast<std::size_t>(of)]) / issued;
        double all = 0;
        for (const WarpState cause : causes) all += static_cast<double>(warpCycles[static_cast<std::size_t>(cause)]);
        if (all <= 0) {
            out[static_cast<std::size_t>(otherwise)] += cycles;
            return;
        }
        for (const WarpState cause : causes) {
            const auto at = static_cast<std::size_t>(cause);
            out[at] += cycles * static_cast<double>(warpCycles[at]) / all;
        }
    };
    using enum WarpState;
    out[static_cast<std::size_t>(Issue)] = 1;
    split(SchedulerState::Unit, {Unit}, Unit);
    split(SchedulerState::Dependence, {Memory, Shared, Arithmetic}, Arithmetic);
    split(SchedulerState::Code, {Code}, Code);
    split(SchedulerState::Constant, {Constant}, Constant);
    split(SchedulerState::NoInstruction, {Barrier, Copies, Atomic, Fence, Fetch, Done}, Fetch);
    // What is left of the run: no warp was there.
    double counted = 0;
    for (const double part : out) counted += part;
    out[static_cast<std::size_t>(Absent)] = std::max(0.0, static_cast<double>(cycles) * schedulers / issued - counted);
    return out;
}

std::size_t Recording::bytes() const {
    std::size_t out = bins.size() * sizeof(RecordedBin) + instructions.size() * sizeof(RecordedInstruction);
    for (const auto& spans : warps) out += spans.capacity() * sizeof(WarpSpan);
    for (const auto& spans : schedulerSpans) out += spans.capacity() * sizeof(SchedulerSpan);
    return out;
}

void Recorder::begin(const Machine& machine, const KernelSource& kernel, std::uint64_t opens) {
    const RecordOptions options = options_;
    *this = Recorder(options);
    statics_ = &kernel.statics(), kernel_ = &kernel;
    opens_ = opens;
    out_.sm = options_.sm, out_.schedulers = machine.schedulers, out_.lanes = machine.lanes;
    out_.warps.resize(static_cast<std::size_t>(machine.warps()));
    out_.schedulerSpans.resize(static_cast<std::size_t>(machine.schedulers));
    out_.binCycles = 16;
    producers_.assign(out_.warps.size(), {});
    out_.unitPeak.fill(machine.schedulers);
    out_.unitPeak[static_cast<std::size_t>(Unit::Mem)] = 1;
    out_.l1Peak = machine.l1Banks;
    out_.l2Peak = machine.slices() * machine.l2Mhz / machine.coreMhz;
    out_.dramPeak =
        static_cast<double>(machine.channels) / std::max(1, machine.dram.ccd) * machine.dramMhz / machine.coreMhz;
}

RecordedBin& Recorder::bin(std::uint64_t at) {
    while (at / out_.binCycles >= options_.mostBins) {
        // Twice as wide: neighbours become one.
        const auto join = [](auto& to, const auto& from) {
            for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
        };
        std::vector<RecordedBin> wide((out_.bins.size() + 1) / 2);
        for (std::size_t i = 0; i < out_.bins.size(); ++i) {
            RecordedBin& to = wide[i / 2];
            const RecordedBin& from = out_.bins[i];
            join(to.issues, from.issues), join(to.unitCycles, from.unitCycles);
            join(to.schedulers, from.schedulers), join(to.warps, from.warps);
            to.sharedPasses += from.sharedPasses, to.sharedConflictCycles += from.sharedConflictCycles;
            to.l1BankCycles += from.l1BankCycles, to.l1 += from.l1, to.l1Hits += from.l1Hits;
            to.l2 += from.l2, to.l2Hits += from.l2Hits, to.dram += from.dram;
        }
        out_.bins = std::move(wide);
        out_.binCycles *= 2;
    }
    const auto index = static_cast<std::size_t>(at / out_.binCycles);
    if (index >= out_.bins.size()) out_.bins.resize(index + 1);
    return out_.bins[index];
}

WarpState Recorder::producerOf(unsigned id, unsigned reg) const {
    const std::uint32_t what = producers_[id][reg & 255];
    if (what >= statics_->size()) return WarpState::Arithmetic;
    switch ((*statics_)[what].action) {
        case Action::Load:
        case Action::GenericLoad:
        case Action::Atomic:
            return WarpState::Memory;
        case Action::SharedLoad:
        case Action::SharedAtomic:
            return WarpState::Shared;
        default:
            return WarpState::Arithmetic;
    }
}

void Recorder::warp(unsigned id, unsigned scheduler, WarpState state, std::uint32_t instruction, int operand) {
    Now& one = now_[id];
    if (seen_[id] && one.operand >= 0 && operand >= 0 && slowness(state) <= slowness(one.state)) return;
    seen_[id] = true;
    one = {state, instruction, static_cast<std::uint8_t>(scheduler), static_cast<std::int16_t>(operand)};
}

void Recorder::issued(unsigned id, unsigned scheduler, const Executed& what) {
    now_[id] = {WarpState::Issue, what.what, static_cast<std::uint8_t>(scheduler), -1};
    seen_[id] = true;
    nowSchedulers_[scheduler] = SchedulerState::Issue;
    const StaticInstruction& one = (*statics_)[what.what];
    if (one.destination >= 0) producers_[id][static_cast<unsigned>(one.destination) & 255] = what.what;
    if (what.what >= out_.instructions.size()) out_.instructions.resize(statics_->size());
    RecordedInstruction& row = out_.instructions[what.what];
    ++row.issues;
    for (auto left = what.mask; left; left &= left - 1) ++row.lanes;
}

void Recorder::add(std::uint64_t from, std::uint64_t cycles) {
    if (statics_ && out_.instructions.size() < statics_->size()) out_.instructions.resize(statics_->size());
    for (std::size_t w = 0; w < out_.warps.size(); ++w) {
        const Now& one = now_[w];
        if (one.state == WarpState::Absent) continue;
        const auto state = static_cast<std::size_t>(one.state);
        out_.warpCycles[state] += cycles;
        if (one.instruction >= out_.instructions.size()) continue;
        out_.instructions[one.instruction].warpCycles[state] += cycles;
        if (one.operand < 0) continue;
        const std::uint32_t producer = producers_[w][static_cast<unsigned>(one.operand) & 255];
        if (producer < out_.instructions.size()) out_.instructions[producer].awaited += cycles;
    }
    for (std::size_t s = 0; s < out_.schedulerSpans.size(); ++s)
        out_.schedulerCycles[static_cast<std::size_t>(nowSchedulers_[s])] += cycles;
    for (std::uint64_t at = from; at < from + cycles;) {
        RecordedBin& to = bin(at);
        const std::uint64_t end = std::min(from + cycles, (at / out_.binCycles + 1) * out_.binCycles);
        const auto n = static_cast<std::uint32_t>(end - at);
        for (std::size_t w = 0; w < out_.warps.size(); ++w) to.warps[static_cast<std::size_t>(now_[w].state)] += n;
        for (std::size_t s = 0; s < out_.schedulerSpans.size(); ++s)
            to.schedulers[static_cast<std::size_t>(nowSchedulers_[s])] += n;
        if (loadStoreBusy_) to.unitCycles[static_cast<std::size_t>(Unit::Mem)] += n;
        at = end;
    }
}

void Recorder::count(const Counters& counts, std::uint64_t now) {
    RecordedBin& to = bin(now);
    const auto more = [](std::uint64_t after, std::uint64_t before) {
        return static_cast<std::uint32_t>(after - before);
    };
    to.sharedPasses += more(counts.sharedPasses, before_.sharedPasses);
    to.sharedConflictCycles += more(counts.sharedConflictCycles, before_.sharedConflictCycles);
    to.l1BankCycles += more(counts.l1BankCycles, before_.l1BankCycles);
    to.l1 += more(counts.l1.reads + counts.l1.writes, before_.l1.reads + before_.l1.writes);
    to.l1Hits += more(counts.l1.readHits + counts.l1.writeHits, before_.l1.readHits + before_.l1.writeHits);
    before_ = counts;
}

void Recorder::endCycle(std::uint64_t now, const Counters& counts, bool loadStoreBusy) {
    const std::uint64_t at = time(now);
    if (at > last_ + 1) {
        // What this cycle has told stands already.
        const auto warps = now_;
        const auto schedulers = nowSchedulers_;
        leave(last_ + 1);
        now_ = warps, nowSchedulers_ = schedulers;
    }
    for (std::size_t w = 0; w < out_.warps.size(); ++w) {
        if (!seen_[w]) now_[w] = {};
        seen_[w] = false;
        // It could have been issued: the scheduler took another, or the unit none.
        if (now_[w].state == WarpState::NotSelected && nowSchedulers_[now_[w].scheduler] != SchedulerState::Issue)
            now_[w].state =
                nowSchedulers_[now_[w].scheduler] == SchedulerState::Constant ? WarpState::Constant : WarpState::Unit;
    }
    loadStoreBusy_ = loadStoreBusy;
    add(at, 1);
    for (const Now& one : now_) {
        if (one.state != WarpState::Issue) continue;
        const StaticInstruction& what = (*statics_)[one.instruction];
        const auto u = static_cast<std::size_t>(what.unit);
        RecordedBin& to = bin(at);
        ++to.issues[u];
        if (what.unit != Unit::Mem) to.unitCycles[u] += static_cast<std::uint32_t>(what.initiation);
    }
    count(counts, at);
    last_ = at;
    out_.cycles = at + 1;
    if (full_ || at < options_.from) return;
    out_.recorded = at + 1;
    draw(static_cast<std::uint32_t>(at));
    full_ = spans_ + out_.warps.size() + out_.schedulerSpans.size() > options_.mostSpans;
}

void Recorder::draw(std::uint32_t begin) {
    for (std::size_t w = 0; w < out_.warps.size(); ++w) {
        auto& spans = out_.warps[w];
        const Now& one = now_[w];
        // Two issues of one instruction are two.
        const bool same = !spans.empty() && spans.back().state == one.state && one.state != WarpState::Issue &&
                          spans.back().instruction == one.instruction;
        if (same || (spans.empty() && one.state == WarpState::Absent)) continue;
        spans.push_back({begin, one.state, one.instruction});
        ++spans_;
    }
    for (std::size_t s = 0; s < out_.schedulerSpans.size(); ++s) {
        auto& spans = out_.schedulerSpans[s];
        if (!spans.empty() && spans.back().state == nowSchedulers_[s]) continue;
        spans.push_back({begin, nowSchedulers_[s]});
        ++spans_;
    }
}

// An empty SM has no cycles.
void Recorder::leave(std::uint64_t at) {
    now_.fill({}), nowSchedulers_.fill(SchedulerState::Absent);
    if (!full_ && at >= options_.from) draw(static_cast<std::uint32_t>(at));
}

void Recorder::end(std::uint64_t now) {
    const std::uint64_t at = time(now);
    if (at > last_ + 1) leave(last_ + 1);
    if (!full_ && at >= options_.from) out_.recorded = at;
    out_.cycles = at;
    // The kernel need not live longer than its run.
    if (!kernel_) return;
    auto texts = kernel_->texts();
    out_.instructions.resize(statics_->size());
    for (std::size_t i = 0; i < out_.instructions.size(); ++i) {
        if (i < texts.size()) out_.instructions[i].text = std::move(texts[i]);
        out_.instructions[i].unit = (*statics_)[i].unit;
    }
}

void Recorder::slept(std::uint64_t cycles, const Counters& counts) {
    add(last_ + 1, cycles);
    last_ += cycles;
    count(counts, last_);
    out_.cycles = last_ + 1;
    if (!full_ && last_ >= options_.from) out_.recorded = last_ + 1;
}

void Recorder::memory(std::uint64_t now, const Counters& counts) {
    if (now <= opens_) {
        memoryBefore_ = counts;
        return;
    }
    const auto l2 = [](const Counters& c) { return c.l2.reads + c.l2.writes; };
    const auto hits = [](const Counters& c) { return c.l2.readHits + c.l2.writeHits; };
    const auto dram = [](const Counters& c) { return c.dramReads + c.dramWrites; };
    if (l2(counts) == l2(memoryBefore_) && dram(counts) == dram(memoryBefore_)) return;
    RecordedBin& to = bin(time(now));
    to.l2 += static_cast<std::uint32_t>(l2(counts) - l2(memoryBefore_));
    to.l2Hits += static_cast<std::uint32_t>(hits(counts) - hits(memoryBefore_));
    to.dram += static_cast<std::uint32_t>(dram(counts) - dram(memoryBefore_));
    memoryBefore_ = counts;
}

Recording Recorder::take() {
    statics_ = nullptr, kernel_ = nullptr;
    // Kept as long as it is looked at; growing has left up to half of it empty.
    for (auto& spans : out_.warps) spans.shrink_to_fit();
    for (auto& spans : out_.schedulerSpans) spans.shrink_to_fit();
    return std::move(out_);
}

}  // namespace orrery::gpusim
