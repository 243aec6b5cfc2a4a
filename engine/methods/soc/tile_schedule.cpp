#include "methods/soc/tile_schedule.h"

#include <queue>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace orrery {

namespace {

struct Stretch {
    double begin, end;
};

struct Passage {
    double in = 0, compute = 0, out = 0;  ///< ends
};

// Jobs of one accelerator, and how far it has come.
struct Lane {
    std::vector<std::int32_t> jobs;
    std::size_t next = 0;    ///< whose tiles are not in yet
    std::size_t stored = 0;  ///< whose results are not out yet; in order
    std::size_t computed = 0;
};

class Floor {
public:
    Floor(std::span<const TileJob> jobs, std::int32_t accelerators, TileBuffers buffers, double shared)
        : jobs_(jobs),
          shared_(shared),
          ahead_(buffers == TileBuffers::Two ? 2 : 1),
          passages_(jobs.size()),
          ready_(jobs.size()),
          lanes_(static_cast<std::size_t>(std::max(1, accelerators))) {
        double prepared = 0;
        for (std::size_t j = 0; j < jobs.size(); ++j) {
            ready_[j] = prepared += jobs[j].prepare;
            lanes_[static_cast<std::size_t>(jobs[j].accelerator)].jobs.push_back(static_cast<std::int32_t>(j));
        }
        prepared_ = prepared;
        if (buffers == TileBuffers::One) std::ranges::fill(ready_, prepared);
        carried_.reserve(2 * jobs.size());
        computed_.reserve(jobs.size());
    }

    TileBill run(TileBuffers buffers) {
        for (std::size_t l = 0; l < lanes_.size(); ++l) await(l);
        while (!waiting_.empty()) {
            const Waiting first = waiting_.top();
            waiting_.pop();
            pass(first);
            await(first.lane);
        }
        double end = prepared_;
        for (const Passage& each : passages_) end = std::max(end, each.out);
        double processor = buffers == TileBuffers::One ? end : prepared_;
        gathered_.resize(jobs_.size());
        for (std::size_t j = 0; j < jobs_.size(); ++j) gathered_[j] = static_cast<std::int32_t>(j);
        std::ranges::stable_sort(gathered_, {}, [&](std::int32_t j) { return out(j); });
        for (const std::int32_t j : gathered_) {
            const double takes = jobs_[static_cast<std::size_t>(j)].gather;
            if (takes > 0) processor = std::max(processor, out(j)) + takes;
        }
        TileBill bill;
        bill.seconds = std::max(end, processor);
        bill.compute = unite(computed_);
        unite(carried_);
        bill.transfer = std::min(bill.seconds - bill.compute, without(carried_, computed_));
        bill.preparation = bill.seconds - bill.compute - bill.transfer;
        return bill;
    }

    const std::vector<Passage>& passages() const { return passages_; }
    const std::vector<Lane>& lanes() const { return lanes_; }
    double prepared() const { return prepared_; }

private:
    double out(std::int32_t j) const { return passages_[static_cast<std::size_t>(j)].out; }
    const Passage& at(const Lane& lane, std::size_t k) const {
        return passages_[static_cast<std::size_t>(lane.jobs[k])];
    }
    // When its tiles may come in: prepared, and a buffer free.
    double readyIn(const Lane& lane) const {
        const double prepared = ready_[static_cast<std::size_t>(lane.jobs[lane.next])];
        if (lane.next < ahead_) return prepared;
        const Passage& before = at(lane, lane.next - ahead_);
        return std::max(prepared, ahead_ == 1 ? before.out : before.compute);
    }
    double carry(double ready, double takes, double& free) {
        if (takes <= 0) return ready;
        const double begin = std::max(ready, free);
        const double behind = std::max(begin, sharedFree_) + shared_ * takes;
        free = std::max(begin + takes, behind);
        sharedFree_ = behind;
        carried_.push_back({begin, free});
        return free;
    }

    // The next transfer of an accelerator, by when it is ready; results before tiles.
    struct Waiting {
        double ready;
        std::size_t lane;
        bool stores;
        // The first accelerator before the others.
        bool operator>(const Waiting& other) const {
            return ready != other.ready ? ready > other.ready : lane > other.lane;
        }
    };
    // What is ready when depends on the accelerator's own past alone.
    void await(std::size_t l) {
        const Lane& lane = lanes_[l];
        const bool mayStore = lane.stored < lane.computed;
        const bool mayLoad = lane.next < lane.jobs.size() && lane.next < lane.stored + ahead_;
        const double store = mayStore ? at(lane, lane.stored).compute : 0, load = mayLoad ? readyIn(lane) : 0;
        if (mayStore && (!mayLoad || store <= load))
            waiting_.push({store, l, true});
        else if (mayLoad)
            waiting_.push({load, l, false});
    }
    void pass(const Waiting& transfer) {
        Lane& lane = lanes_[transfer.lane];
        const std::size_t k = transfer.stores ? lane.stored++ : lane.next++;
        const auto j = static_cast<std::size_t>(lane.jobs[k]);
        Passage& passage = passages_[j];
        if (transfer.stores) {
            passage.out = carry(passage.compute, jobs_[j].out, outFree_);
            return;
        }
        passage.in = carry(transfer.ready, jobs_[j].in, inFree_);
        double begin = passage.in;
        if (k > 0) begin = std::max(begin, at(lane, k - 1).compute);
        if (k >= ahead_) begin = std::max(begin, at(lane, k - ahead_).out);
        passage.compute = begin + jobs_[j].compute;
        if (jobs_[j].compute > 0) computed_.push_back({begin, passage.compute});
        lane.computed = k + 1;
    }

    // Sorts and joins; the length of it all.
    static double unite(std::vector<Stretch>& stretches) {
        std::ranges::sort(stretches, {}, &Stretch::begin);
        std::size_t kept = 0;
        double length = 0;
        for (const Stretch& each : stretches) {
            if (kept > 0 && each.begin <= stretches[kept - 1].end)
                stretches[kept - 1].end = std::max(stretches[kept - 1].end, each.end);
            else
                stretches[kept++] = each;
        }
        stretches.resize(kept);
        for (const Stretch& each : stretches) length += each.end - each.begin;
        return length;
    }
    // Length of `some` outside of `others`; both in order, each without overlaps.
    static double without(const std::vector<Stretch>& some, const std::vector<Stretch>& others) {
        double length = 0;
        std::size_t o = 0;
        for (const Stretch& each : some) {
            double covered = 0;
            while (o < others.size() && others[o].end <= each.begin) ++o;
            for (std::size_t i = o; i < others.size() && others[i].begin < each.end; ++i)
                covered += std::min(each.end, others[i].end) - std::max(each.begin, others[i].begin);
            length += each.end - each.begin - covered;
        }
        return length;
    }

    std::span<const TileJob> jobs_;
    double shared_ = 1;
    std::size_t ahead_;
    std::vector<Passage> passages_;
    std::vector<double> ready_;
    std::vector<Lane> lanes_;
    std::vector<Stretch> carried_, computed_;
    std::vector<std::int32_t> gathered_;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
    double prepared_ = 0, inFree_ = 0, outFree_ = 0, sharedFree_ = 0;
};

void drawSpans(std::span<const TileJob> jobs, const Floor& floor, TileBuffers buffers, double seconds,
               std::vector<KernelSpan>& spans, std::size_t pieces) {
    if (floor.prepared() > 0) spans.push_back({preparationRow, 0, floor.prepared()});
    double gather = 0;
    for (const TileJob& job : jobs) gather += job.gather;
    if (gather > 0) spans.push_back({preparationRow, seconds - gather, seconds});
    // Behind what stands in the row already; returns where it ends.
    std::vector<double> free(static_cast<std::size_t>(transferRow(0)) + 2 * floor.lanes().size());
    const auto put = [&](std::int32_t row, double begin, double takes) {
        double& end = free[static_cast<std::size_t>(row)];
        begin = std::max(begin, end);
        if (takes > 0) spans.push_back({row, begin, end = begin + takes});
        return begin + takes;
    };
    std::int32_t accelerator = 0;
    for (const Lane& lane : floor.lanes()) {
        const std::size_t step =
            std::max<std::size_t>(1, (lane.jobs.size() + pieces - 1) / std::max<std::size_t>(1, pieces));
        for (std::size_t first = 0; first < lane.jobs.size(); first += step) {
            const std::size_t end = std::min(first + step, lane.jobs.size());
            double in = 0, compute = 0, out = 0;
            for (std::size_t k = first; k < end; ++k) {
                const TileJob& job = jobs[static_cast<std::size_t>(lane.jobs[k])];
                in += job.in, compute += job.compute, out += job.out;
            }
            const auto passage = [&](std::size_t k) -> const Passage& {
                return floor.passages()[static_cast<std::size_t>(lane.jobs[k])];
            };
            const TileJob& begins = jobs[static_cast<std::size_t>(lane.jobs[first])];
            const double loads = put(transferRow(accelerator), passage(first).in - begins.in, in);
            put(computeRow(accelerator),
                buffers == TileBuffers::One ? passage(end - 1).out - out - compute
                                            : passage(first).compute - begins.compute,
                compute);
            put(transferRow(accelerator), std::max(loads, passage(end - 1).out - out), out);
        }
        ++accelerator;
    }
    std::ranges::stable_sort(spans, [](const KernelSpan& a, const KernelSpan& b) {
        return a.row != b.row ? a.row < b.row : a.start < b.start;
    });
}

}  // namespace

TileBill scheduleTiles(std::span<const TileJob> jobs, std::int32_t accelerators, TileBuffers buffers,
                       std::vector<KernelSpan>* spans, std::size_t pieces, double shared) {
    Floor floor(jobs, accelerators, buffers, shared);
    const TileBill bill = floor.run(buffers);
    if (spans) drawSpans(jobs, floor, buffers, bill.seconds, *spans, pieces);
    return bill;
}

}  // namespace orrery
