#include "simulation/cpu/core/windows/window_run.h"

#include "simulation/cpu/core/kernel_start.h"

#include <algorithm>

namespace orrery::pipeline {

namespace {

// Operations that run before a window, so that queues and misses in flight are those of its middle; and behind it,
// for lines that prefetchers ask for.
constexpr std::uint64_t leadLength = 4096, tailLength = 1024, longest = 16384, mostRuns = 4;
constexpr double pageLines = 64;
// No window touches as many lines: larger caches would only take time to make.
constexpr double mostBytes = 2 << 20;

Machine small(Machine machine) {
    for (std::size_t c = 1; c < machine.caches.size(); ++c)
        machine.caches[c].bytes = std::min(machine.caches[c].bytes, mostBytes);
    return machine;
}

}  // namespace

WindowRun::WindowRun(const LoopNest& nest, const NestReuse& reuse, const std::vector<int>& nodeOf,
                     const std::vector<BoundOp>& ops, const Machine& machine)
    : nest_(nest),
      reuse_(reuse),
      nodeOf_(nodeOf),
      ops_(ops),
      stream_(nest),
      levels_(nest, reuse, nodeOf, ops, machine),
      core_(small(machine), ops) {}

void WindowRun::read(std::uint64_t end, OpChunk& into) {
    const std::uint64_t begin = stream_.position();
    into.size = 0;
    if (begin < end) stream_.next(into, std::min<std::uint64_t>(end - begin, OpChunk::capacity));
    for (std::size_t i = 0; i < into.size; ++i) {
        stretch_.op.push_back(into.op[i]);
        stretch_.address.push_back(into.address[i]);
    }
}

// Operations in which the array that is read fastest goes through a page.
std::uint64_t WindowRun::pageLength() const {
    std::vector<double> fresh(static_cast<std::size_t>(reuse_.arrays), 0);
    LineTable seen(stretch_.size());
    for (std::size_t i = 0; i < stretch_.size(); ++i) {
        const int array = reuse_.arrayOf[stretch_.op[i]];
        if (array < 0 || reuse_.missingOf(nodeOf_[stretch_.op[i]], array)[0] <= 0) continue;
        bool first = false;
        seen.find(stretch_.address[i] >> 6, first);
        fresh[static_cast<std::size_t>(array)] += first;
    }
    const double most = *std::max_element(fresh.begin(), fresh.end());
    return most > 0 ? static_cast<std::uint64_t>(pageLines * static_cast<double>(stretch_.size()) / most) : 0;
}

void WindowRun::settle(std::size_t phase) {
    levels_.enter(phase);
    for (const FirstTouch& each : levels_.firstTouches())
        core_.memory().settle(each.line, levels_.levelOf(each.node, each.array));
    core_.memory().writeBack(reuse_.writesPerRead);
}

void WindowRun::lead(std::uint64_t begin, std::uint64_t history) {
    const std::uint64_t from = begin - std::min(begin, leadLength);
    stretch_.clear();
    chunks_ = 0;
    stream_.seek(begin - std::min(begin, history));
    while (stream_.position() < from && stream_.nextTouching(lead_, from)) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < lead_.size; ++i) {
            if (ops_[lead_.op[i]].kind != OpKind::Branch) continue;
            lead_.op[kept] = lead_.op[i];
            lead_.taken[kept++] = lead_.taken[i];
        }
        lead_.size = kept;
        core_.warm(lead_);
    }
    read(begin, lead_);
}

void WindowRun::readMiddle(std::uint64_t end) {
    while (stream_.position() < end) {
        if (middle_.size() == chunks_) middle_.emplace_back();
        read(end, middle_[chunks_]);
        if (middle_[chunks_].size == 0) break;
        ++chunks_;
    }
}

WindowRun::Result WindowRun::phases() {
    read(stream_.position() + tailLength, tail_);
    levels_.look(stretch_);
    double n = 0;
    for (std::size_t i = 0; i < chunks_; ++i) n += static_cast<double>(middle_[i].size);
    Result result;
    if (n == 0) return result;
    for (std::size_t phase = 0; phase < levels_.phases().size(); ++phase) {
        const double part = levels_.phases()[phase] / n;
        settle(phase);
        core_.run(lead_);
        const Counters before = core_.counters();
        for (std::size_t i = 0; i < chunks_; ++i) core_.run(middle_[i]);
        const Counters after = core_.counters();
        result.cycles += part * static_cast<double>(after.cycles - before.cycles);
        result.mispredicted += part * static_cast<double>(after.mispredicted - before.mispredicted);
    }
    return result;
}

WindowRun::Result WindowRun::run(const WindowPlace& place, std::uint64_t history) {
    lead(place.begin, history);
    std::uint64_t length = place.length;
    readMiddle(place.begin + length);
    const std::uint64_t page = std::min(pageLength(), longest);
    const std::uint64_t whole = (page + place.turn / 2) / place.turn * place.turn;
    if (whole > length && whole <= place.reach) {
        length = whole;
        readMiddle(place.begin + length);
    }
    Result result = phases();
    const std::uint64_t runs = std::min({place.shifts + 1, (page + length - 1) / length, mostRuns});
    for (std::uint64_t i = 1; i < runs; ++i) {
        const std::uint64_t begin = place.begin - i * place.shift;
        lead(begin, history);
        readMiddle(begin + length);
        const Result more = phases();
        result.cycles += more.cycles;
        result.mispredicted += more.mispredicted;
    }
    const double share = 1.0 / static_cast<double>(std::max<std::uint64_t>(1, runs));
    return {result.cycles * share, result.mispredicted * share};
}

std::vector<WindowRun::Result> WindowRun::whole(const std::vector<int>& classOf, std::size_t classes,
                                                const KernelStart& start) {
    std::vector<Result> all(classes);
    std::vector<double> operations(classes, 0);
    std::vector<Passage> passages;
    std::uint64_t last = 0;
    double count = 0;
    standIn(core_.memory(), nest_, start);
    stream_.seek(0);
    while (stream_.next(lead_)) {
        passages.clear();
        core_.run(lead_, passages);
        count += static_cast<double>(lead_.size);
        for (std::size_t i = 0; i < lead_.size; ++i) {
            const int number = classOf[lead_.op[i]];
            if (number >= 0) {
                all[static_cast<std::size_t>(number)].cycles += static_cast<double>(passages[i].retire - last);
                operations[static_cast<std::size_t>(number)] += 1;
            }
            last = passages[i].retire;
        }
    }
    const double wrong = static_cast<double>(core_.counters().mispredicted) / count;
    for (std::size_t c = 0; c < classes; ++c) {
        if (operations[c] > 0) all[c].cycles /= operations[c];
        all[c].mispredicted = wrong;
    }
    return all;
}

}  // namespace orrery::pipeline
