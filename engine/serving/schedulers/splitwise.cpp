// The machine scheduler of Splitwise's simulator (Patel et al., ISCA 2024; Mutinifni/splitwise-sim instance.py, class
// SplitwiseInstance, MIT). A request is two tasks, its prompt and its decode; prompts go first, decoding requests that
// do not fit beside them are set aside with their memory kept, and one that was passed over `max_preemptions` times
// goes before every prompt. A batch that only decodes runs on unchanged until one of it ends or something arrives that
// fits.
//
// As there, memory is asked for the whole output: output lengths are known to it. `compatibility` `splitwise` asks for
// it when decoding starts, as its simulator does; prompts that hold memory can then wait for each other for ever, so
// that otherwise a request asks for all at once.

#include "serving/schedulers/all.h"

#include <algorithm>

namespace orrery {

namespace {

enum class TaskState : std::uint8_t { None, Queued, Running, Blocked };

struct Task {
    RequestIndex request = no_request;
    bool prompt = false;
    bool operator==(const Task&) const = default;
};
using Tasks = std::vector<Task>;

void drop(Tasks& from, Task task) {
    if (const auto found = std::find(from.begin(), from.end(), task); found != from.end()) from.erase(found);
}

class Splitwise final : public Scheduler {
public:
    Splitwise(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& memory)
        : maxBatch_(static_cast<std::size_t>(spec.maxSequences)),
          maxTokens_(spec.tokenBudget),
          t_(requests),
          kv_(memory),
          rows_(requests.size()),
          free_(memory.free()) {
        inParts_ = spec.compatibility == "splitwise";
        maxPreemptions_ = static_cast<std::int32_t>(numberOf(spec, "max_preemptions", 4));
    }

    void add(RequestIndex r, SimTime) override {
        if (phase_ == Phase::Restart) start();
        if (r >= rows_.size()) rows_.resize(t_.size());
        Row& row = rows_[r];
        row = Row{};
        const bool withCache = t_.computed[r] > 0;
        const std::int32_t steps = t_.output[r] - t_.generated[r] - (withCache ? 0 : 1);
        row.promptTokens = withCache ? 0 : t_.left(r);
        const std::int32_t text = withCache ? t_.computed[r] : row.promptTokens;
        const bool decodesHere = t_.decodeOn[r] < 0 || t_.decodeOn[r] == t_.replica[r];
        row.promptBlocks = kv_.blocksFor(text + 1);
        row.decodeBlocks = kv_.blocksFor(std::max(steps, 0));
        if (!inParts_) {
            if (decodesHere) row.promptBlocks = kv_.blocksFor(text + 1 + std::max(steps, 0));
            row.decodeBlocks = 0;
        }
        if (row.promptBlocks + row.decodeBlocks > kv_.total()) {
            tooLong_.push_back(r);
            return;
        }
        if (withCache) {
            row.promptBlocks -= t_.blocks[r];  // of a cache that came with its blocks, nothing is left to take
            arrive({r, false});
            return;
        }
        arrive({r, true});
        if (decodesHere && steps > 0) arrive({r, false});
    }

    void next(Batch& batch, SimTime) override {
        for (const RequestIndex r : tooLong_) {
            t_.state[r] = RequestState::Rejected;
            t_.reason[r] = RejectReason::TooLong;
            kv_.release(t_, r);
            batch.dropped.push_back(r);
        }
        tooLong_.clear();
        noticeFreed();
        if (phase_ == Phase::Restart) start();
        if (phase_ != Phase::Ready) return;
        phase_ = Phase::Flying;
        for (const Task& task : batch_) batch.add(task.request, task.prompt ? rows_[task.request].promptTokens : 1);
        batch.dropped.insert(batch.dropped.end(), setAside_.begin(), setAside_.end());
        setAside_.clear();
    }

    void finish(const Batch&, SimTime) override {
        noticeFreed();
        bool again = pause_;
        flown_ = batch_;
        for (const Task& task : flown_) {
            const RequestIndex r = task.request;
            const bool ended = t_.finished(r);
            if (task.prompt ? t_.computed[r] == 0 : !ended) continue;
            again = true;
            leaveBatch(task);
            leavePool(task);
            if (ended) {
                if (rows_[r].decode != TaskState::None) forgetDecode(r);
                kv_.release(t_, r);
            }
        }
        free_ = kv_.free();
        phase_ = again ? Phase::Restart : Phase::Ready;
    }

    bool depart(RequestIndex r) override {
        if (rows_[r].decode != TaskState::None) forgetDecode(r);
        if (phase_ == Phase::Ready && batch_.empty()) phase_ = Phase::Restart;
        return true;
    }

    void evict(std::vector<RequestIndex>& out, bool all) override {
        evicted_ = pool_;
        for (const RequestIndex r : evicted_) {
            if (!all && (rows_[r].prompt != TaskState::Queued)) continue;
            if (rows_[r].prompt != TaskState::None) forget({r, true});
            if (rows_[r].decode != TaskState::None) forgetDecode(r);
            kv_.release(t_, r);
            t_.lose(r);
            t_.state[r] = RequestState::Waiting;
            out.push_back(r);
        }
        free_ = kv_.free();
        if (all) phase_ = Phase::Idle, pause_ = false;
    }

    std::int32_t pendingTasks() const override { return static_cast<std::int32_t>(pending_.size()); }
    bool adoptsBlocks() const override { return true; }
    std::int64_t blocksToArrive(RequestIndex r, std::int64_t ofItsText) const override {
        return inParts_ ? ofItsText : kv_.blocksFor(std::int64_t{t_.computed[r]} + 1 + t_.output[r] - t_.generated[r]);
    }
    std::int32_t waiting() const override { return static_cast<std::int32_t>(pool_.size() - inBatch()); }
    std::int32_t running() const override { return static_cast<std::int32_t>(batch_.size()); }
    std::int64_t pendingTokens() const override { return pendingTokens_; }

private:
    struct Row {
        TaskState prompt = TaskState::None, decode = TaskState::None;
        std::int32_t promptTokens = 0;
        std::int32_t promptBlocks = 0, decodeBlocks = 0;
        std::int32_t promptPassed = 0, decodePassed = 0;  ///< times that it was not chosen
        std::uint32_t chosenIn = 0;                       ///< selection in which the request was last chosen
        bool chosenPrompt = false;                        ///< and which of its tasks
    };
    enum class Phase : std::uint8_t { Idle, Restart, Ready, Flying };

    TaskState& state(Task task) { return task.prompt ? rows_[task.request].prompt : rows_[task.request].decode; }
    std::int32_t& passed(Task task) {
        return task.prompt ? rows_[task.request].promptPassed : rows_[task.request].decodePassed;
    }
    std::int32_t tokens(Task task) const { return task.prompt ? rows_[task.request].promptTokens : 1; }
    /// Blocks that it takes when it starts. A decode whose cache came from elsewhere takes those of its prompt as well.
    std::int32_t blocks(Task task) const {
        const Row& row = rows_[task.request];
        if (task.prompt) return row.promptBlocks;
        return row.decodeBlocks + (row.promptTokens == 0 ? row.promptBlocks : 0);
    }
    std::size_t inBatch() const { return std::min(batch_.size(), pool_.size()); }
    Task first(RequestIndex r) const { return {r, rows_[r].prompt != TaskState::None}; }

    void arrive(Task task) {
        state(task) = TaskState::Queued;
        const RequestIndex r = task.request;
        const bool known = std::find(pool_.begin(), pool_.end(), r) != pool_.end();
        if (!known)
            pool_.insert(
                std::upper_bound(pool_.begin(), pool_.end(), r,
                                 [&](RequestIndex a, RequestIndex b) { return t_.arrived[a] < t_.arrived[b]; }),
                r);
        enqueue(task, false);
        if (batch_.empty()) {
            if (blocks(task) <= kv_.free()) start();
            return;
        }
        const bool room = batch_.size() < maxBatch_ && batchTokens_ + tokens(task) <= maxTokens_;
        const std::int64_t promptTokens = batchTokens_ - static_cast<std::int64_t>(batch_.size() - promptsInBatch_);
        const bool displaces =
            task.prompt && promptsInBatch_ < batch_.size() && promptTokens + tokens(task) <= maxTokens_;
        if (room || displaces) pause();
    }

    void pause() {
        if (promptsInBatch_ == 0) pause_ = true;
    }

    // Somebody else gave blocks back: a cache has left for its decode replica.
    void noticeFreed() {
        const bool more = kv_.free() > free_;
        free_ = kv_.free();
        if (!more || pending_.empty()) return;
        if (batch_.empty()) {
            if (phase_ == Phase::Idle && blocks(pending_.front()) <= kv_.free()) phase_ = Phase::Restart;
        } else if (batch_.size() < maxBatch_ && batchTokens_ < maxTokens_) {
            pause();
        }
    }

    // Ordered by times passed over, then arrival, as they were when each came: the order goes stale on purpose.
    void enqueue(Task task, bool preempted) {
        const auto before = [&](Task a, Task b) {
            const std::int32_t pa = passed(a);
            const std::int32_t pb = passed(b);
            return pa != pb ? pa < pb : t_.arrived[a.request] < t_.arrived[b.request];
        };
        std::size_t low = 0;
        std::size_t high = pending_.size();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (before(task, pending_[middle]))
                high = middle;
            else
                low = middle + 1;
        }
        pending_.insert(pending_.begin() + static_cast<std::ptrdiff_t>(low), task);
        if (preempted) blocked_.push_back(task);
        if (task.prompt) prompts_.push_back(task);
        pendingTokens_ += tokens(task);
    }
    void dequeue(Task task) {
        drop(pending_, task);
        drop(blocked_, task);
        if (task.prompt) drop(prompts_, task);
        pendingTokens_ -= tokens(task);
    }
    void leaveBatch(Task task) {
        drop(batch_, task);
        if (task.prompt) --promptsInBatch_;
    }
    void leavePool(Task task) {
        state(task) = TaskState::None;
        const Row& row = rows_[task.request];
        if (row.prompt == TaskState::None && row.decode == TaskState::None)
            pool_.erase(std::find(pool_.begin(), pool_.end(), task.request));
    }
    void forget(Task task) {
        if (state(task) == TaskState::Running)
            leaveBatch(task);
        else
            dequeue(task);
        leavePool(task);
    }
    void forgetDecode(RequestIndex r) { forget({r, false}); }

    bool choose(Task task, bool needsMemory) {
        if (needsMemory) {
            if (blocks(task) > chosenFree_) return false;
            chosenFree_ -= blocks(task);
        }
        chosen_.push_back(task);
        rows_[task.request].chosenIn = selection_;
        rows_[task.request].chosenPrompt = task.prompt;
        chosenTokens_ += tokens(task);
        return true;
    }
    bool full(Task task) const {
        return chosen_.size() == maxBatch_ || (!chosen_.empty() && chosenTokens_ + tokens(task) > maxTokens_);
    }
    bool taken(Task task) const { return rows_[task.request].chosenIn == selection_; }

    void select() {
        chosen_.clear();
        chosenTokens_ = 0;
        chosenFree_ = kv_.free();
        ++selection_;
        for (const Task& task : pending_) {
            if (passed(task) < maxPreemptions_ || full(task)) break;
            if (!taken(task)) choose(task, state(task) != TaskState::Blocked);
        }
        for (const Task& task : prompts_) {
            if (full(task)) break;
            if (!taken(task) && !choose(task, true)) break;
        }
        for (const Task& task : blocked_) {
            if (full(task)) break;
            if (!taken(task)) choose(task, false);
        }
        for (const Task& task : batch_) {
            if (full(task)) break;
            if (!taken(task)) choose(task, false);
        }
        for (const RequestIndex r : pool_) {
            if (chosen_.size() == maxBatch_) break;
            const Task task = first(r);
            if (taken(task)) continue;
            if (full(task)) break;
            const TaskState now = state(task);
            // An older prompt that does not fit must not keep those from decoding who hold the memory.
            if (!choose(task, now == TaskState::Queued) && inParts_) break;
        }
    }

    void start() {
        pause_ = false;
        select();
        batchTokens_ = chosenTokens_;
        old_ = batch_;
        for (const Task& task : old_) {
            if (taken(task) && rows_[task.request].chosenPrompt == task.prompt) continue;
            state(task) = TaskState::Blocked;
            leaveBatch(task);
            enqueue(task, true);
            ++t_.preemptions[task.request];
            setAside_.push_back(task.request);
        }
        for (const Task& task : chosen_) {
            if (state(task) == TaskState::Running) continue;
            dequeue(task);
            batch_.push_back(task);
            if (task.prompt) ++promptsInBatch_;
            if (state(task) == TaskState::Queued) kv_.take(t_, task.request, blocks(task));
            state(task) = TaskState::Running;
            t_.state[task.request] = RequestState::Running;
        }
        for (const RequestIndex r : pool_) {
            const Task task = first(r);
            if (state(task) != TaskState::Running) ++passed(task);
        }
        free_ = kv_.free();
        phase_ = batch_.empty() ? Phase::Idle : Phase::Ready;
    }

    std::size_t maxBatch_;
    std::int64_t maxTokens_;
    std::int32_t maxPreemptions_ = 4;
    bool inParts_;  ///< memory of prompt and decode is asked for one after the other, as splitwise-sim does
    RequestTable& t_;
    KvBlocks& kv_;
    std::vector<Row> rows_;
    std::int64_t free_;  ///< as it was when this policy last looked

    Phase phase_ = Phase::Idle;
    bool pause_ = false;  ///< choose anew after this iteration
    Tasks pending_, prompts_, blocked_, batch_;
    std::vector<RequestIndex> pool_;  ///< requests that are here, by arrival
    std::size_t promptsInBatch_ = 0;
    std::int64_t batchTokens_ = 0, pendingTokens_ = 0;
    std::uint32_t selection_ = 0;

    Tasks chosen_, old_, flown_;  // kept for their memory
    std::int64_t chosenTokens_ = 0, chosenFree_ = 0;
    std::vector<RequestIndex> setAside_, tooLong_, evicted_;
};

std::unique_ptr<Scheduler> make(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& memory) {
    return std::make_unique<Splitwise>(spec, requests, memory);
}

}  // namespace

SchedulerCard splitwise() {
    return {
        "splitwise",
        "Splitwise (mixed batches, prompts first)",
        "Prompts go first, decoding requests fill the batch up and are set aside when it is full. For machines of a "
        "pool "
        "that prompts, decodes, or does both; knows output lengths.",
        "Patel et al., ISCA 2024; splitwise-sim SplitwiseInstance",
        {{"maxSequences", "Batch", 512, "requests in one iteration"},
         {"tokenBudget", "Tokens", 2048, "tokens of one iteration; a longer prompt runs alone"},
         {"max_preemptions", "Patience", 4, "times a request may be passed over before it goes first"}},
        make};
}

}  // namespace orrery
