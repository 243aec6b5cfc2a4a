// Orca (Yu et al., OSDI 2022): requests join and leave between iterations, prompts and decodes share one, and every
// request has the memory of its longest possible text from the start, so that nothing is ever preempted.

#include "serving/schedulers/all.h"
#include "serving/schedulers/scheduler_base.h"

#include <algorithm>

namespace orrery {

namespace {

class Orca final : public SchedulerBase {
public:
    using SchedulerBase::SchedulerBase;

    void next(Batch& batch, SimTime) override {
        const auto limit = static_cast<std::size_t>(spec_.maxSequences);
        const std::size_t going = std::min(ready_.size(), limit);
        for (std::size_t i = 0; i < going; ++i) {
            const RequestIndex r = ready_[i];
            batch.add(r, requests_.decoding(r) ? decodeTokens(r) : requests_.left(r));
        }
        ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(going));
        while (!waiting_.empty() && batch.requests.size() < limit) {
            const RequestIndex r = waiting_.front();
            const std::int32_t blocks = reservation(r);
            if ((spec_.maxModelLength > 0 && neverFits(r, 0)) || blocks > kv_.total()) {
                reject(waiting_.popFront(), RejectReason::TooLong, batch);
                continue;
            }
            if (kv_.free() < blocks) return;
            admit(waiting_.popFront(), blocks);
            batch.add(r, comesWithCache(r) ? decodeTokens(r) : requests_.left(r));
        }
    }

private:
    // Vidur drops the part of a block that the longest text needs at its end.
    std::int32_t reservation(RequestIndex r) const {
        const std::int32_t longest = spec_.maxModelLength;
        if (longest <= 0) return kv_.blocksFor(requests_.prompt[r] + requests_.output[r]);
        return vidur() ? longest / kv_.tokensPerBlock() : kv_.blocksFor(longest);
    }
};

}  // namespace

SchedulerCard orca() {
    return {
        "orca",
        "Orca",
        "Continuous batching with whole prompts beside decodes and memory reserved for the longest text. Nothing is "
        "preempted, but reserved memory stands empty.",
        "Yu et al., OSDI 2022; compatibility `vidur`: Vidur 7d47513",
        {{"maxSequences", "Sequences", 128, "of one iteration"},
         {"maxModelLength", "Longest text", 0, "tokens that are reserved per request; 0: of its prompt and output"}},
        [](const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Orca>(spec, requests, kv);
        }};
}

}  // namespace orrery
