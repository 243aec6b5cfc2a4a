// Static batches, as FasterTransformer and the first serving engines have them: a batch is formed, runs until its last
// request is done, and only then makes room for the next one.

#include "serving/schedulers/all.h"
#include "serving/schedulers/scheduler_base.h"

#include <algorithm>

namespace orrery {

namespace {

class StaticBatch final : public SchedulerBase {
public:
    using SchedulerBase::SchedulerBase;

    void next(Batch& batch, SimTime) override {
        if (!idle_.empty()) {
            resume(batch);
            return;
        }
        const auto limit = static_cast<std::size_t>(spec_.maxSequences);
        while (!waiting_.empty() && batch.requests.size() < limit) {
            const RequestIndex r = waiting_.front();
            const std::int32_t blocks = reservation(r);
            if ((spec_.maxModelLength > 0 && neverFits(r, 0)) || blocks > kv_.total()) {
                reject(waiting_.popFront(), RejectReason::TooLong, batch);
                continue;
            }
            if (kv_.free() < blocks) break;
            admit(waiting_.popFront(), blocks);
            batch.add(r, comesWithCache(r) ? decodeTokens(r) : requests_.left(r));
        }
        if (!batch.empty()) groups_.push_back(batch.requests);
    }

    void finish(const Batch& batch, SimTime) override {
        const bool done = std::all_of(batch.requests.begin(), batch.requests.end(),
                                      [&](RequestIndex r) { return requests_.finished(r); });
        if (!done) {
            idle_.push_back(batch.requests);
            return;
        }
        // Vidur frees the requests of the last, shrunken iteration alone and loses the memory of all others.
        if (vidur()) {
            for (const RequestIndex r : batch.requests) release(r);
            return;
        }
        const RequestIndex last = batch.requests.front();
        const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const auto& each) {
            return std::find(each.begin(), each.end(), last) != each.end();
        });
        if (group == groups_.end()) return;
        for (const RequestIndex r : *group) release(r);
        groups_.erase(group);
    }

    void evict(std::vector<RequestIndex>& out, bool all) override {
        if (all) {
            for (const auto& group : groups_) {
                for (const RequestIndex r : group) {
                    release(r);
                    if (requests_.finished(r)) continue;
                    requests_.lose(r);
                    out.push_back(r);
                }
            }
            groups_.clear();
            idle_.clear();
        }
        SchedulerBase::evict(out, all);
        for (const RequestIndex r : out) requests_.state[r] = RequestState::Waiting;
    }
    // Its decodes are the batch's: a prompt cannot leave it.
    bool depart(RequestIndex) override { return false; }

private:
    void resume(Batch& batch) {
        for (const RequestIndex r : idle_.front()) {
            if (requests_.finished(r)) continue;
            batch.add(r, requests_.decoding(r) ? decodeTokens(r) : requests_.left(r));
        }
        idle_.erase(idle_.begin());
    }
    std::int32_t reservation(RequestIndex r) const {
        const std::int32_t longest = spec_.maxModelLength;
        if (longest <= 0) return kv_.blocksFor(requests_.prompt[r] + requests_.output[r]);
        return vidur() ? longest / kv_.tokensPerBlock() : kv_.blocksFor(longest);
    }

    std::vector<std::vector<RequestIndex>> groups_;  ///< batches as they were formed
    std::vector<std::vector<RequestIndex>> idle_;    ///< what is left of those that are in no iteration
};

}  // namespace

SchedulerCard staticBatch() {
    return {
        "static",
        "Static batches",
        "A batch runs until its longest output is done; whoever finishes early leaves an empty seat. The baseline that "
        "continuous batching was measured against.",
        "NVIDIA FasterTransformer; baseline of Yu et al., OSDI 2022; compatibility `vidur`: Vidur 7d47513",
        {{"maxSequences", "Sequences", 128, "of one batch"},
         {"maxModelLength", "Longest text", 0, "tokens that are reserved per request; 0: of its prompt and output"}},
        [](const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv) -> std::unique_ptr<Scheduler> {
            return std::make_unique<StaticBatch>(spec, requests, kv);
        }};
}

}  // namespace orrery
