// LightLLM (ModelTC/lightllm, router/req_queue.py): tokens, not blocks, are counted; a prompt is admitted if the memory
// suffices at every later moment, given that outputs end where they are said to end; decodes run some iterations
// between admissions.

#include "serving/schedulers/all.h"
#include "serving/schedulers/scheduler_base.h"

#include <algorithm>

namespace orrery {

namespace {

class LightLlm final : public SchedulerBase {
public:
    LightLlm(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv)
        : SchedulerBase(spec, requests, kv),
          patience_(static_cast<std::int32_t>(numberOf(spec, "max-waiting-iterations", 10))) {}

    void next(Batch& batch, SimTime) override {
        if (ready_.empty()) {
            admitPrompts(batch);
            if (!batch.empty()) waited_ = 0;
            if (!batch.empty() || ready_.empty()) return;
        }
        if (waited_ >= patience_) {
            waited_ = 0;
            admitPrompts(batch);
            if (!batch.empty()) return;
        }
        ++waited_;
        decode(batch);
    }

private:
    struct Course {
        std::int64_t now = 0;   ///< tokens that it holds
        std::int64_t left = 0;  ///< tokens that it will add
    };

    Course courseOf(RequestIndex r, bool queued) const {
        const std::int64_t left = std::int64_t{requests_.output[r]} - requests_.generated[r] - (queued ? 2 : 1);
        return {requests_.text(r) + (queued ? 1 : 0), std::max<std::int64_t>(0, left)};
    }

    // Most tokens that are held at one time: when the i-th longest ends, i sequences have grown as far as it.
    bool suffices(RequestIndex r) {
        const Course course = courseOf(r, !comesWithCache(r));
        const auto place = std::upper_bound(courses_.begin(), courses_.end(), course,
                                            [](const Course& a, const Course& b) { return a.left > b.left; });
        courses_.insert(place, course);
        std::int64_t most = 0, held = 0, count = 0;
        for (const Course& each : courses_) {
            held += each.now;
            most = std::max(most, held + each.left * ++count);
        }
        return most < kv_.total() * kv_.tokensPerBlock();
    }

    void admitPrompts(Batch& batch) {
        courses_.clear();
        for (const RequestIndex r : ready_) courses_.push_back(courseOf(r, false));
        std::stable_sort(courses_.begin(), courses_.end(),
                         [](const Course& a, const Course& b) { return a.left > b.left; });
        std::int64_t tokens = 0;
        while (!waiting_.empty()) {
            const RequestIndex r = waiting_.front();
            const bool cache = comesWithCache(r);
            const std::int64_t left = cache ? 0 : requests_.left(r);
            const std::int64_t longest = std::int64_t{requests_.prompt[r]} + requests_.output[r] - 1;
            if (left > spec_.tokenBudget || neverFits(r, 0) || longest >= kv_.total() * kv_.tokensPerBlock()) {
                reject(waiting_.popFront(), RejectReason::TooLong, batch);
                continue;
            }
            if (tokens + left > spec_.tokenBudget || held_ >= spec_.maxSequences ||
                static_cast<std::int32_t>(batch.requests.size()) >= perBatch_ || !suffices(r)) {
                return;
            }
            const std::int32_t blocks = kv_.blocksFor(requests_.text(r));
            if (kv_.free() < blocks) return;
            admit(waiting_.popFront(), blocks);
            if (cache) {
                ready_.push_back(r);
                continue;
            }
            batch.add(r, static_cast<std::int32_t>(left));
            tokens += left;
        }
    }

    // The forecast leaves out that blocks fill up unevenly: where they run out, the youngest starts again.
    void decode(Batch& batch) {
        std::size_t first = 0, end = ready_.size();
        for (; first < end; ++first) {
            const RequestIndex r = ready_[first];
            const std::int32_t blocks = growth(r);
            while (kv_.free() < blocks && end > first + 1) restart(ready_[--end], batch);
            if (kv_.free() < blocks) {
                restart(r, batch);
                ++first;
                break;
            }
            if (blocks > 0) kv_.take(requests_, r, blocks);
            batch.add(r, decodeTokens(r));
        }
        ready_.clear();
    }

    std::int32_t patience_, waited_ = 0;
    std::vector<Course> courses_;  ///< the longest first
};

}  // namespace

SchedulerCard lightLlm() {
    return {"light-llm",
            "LightLLM",
            "Admits a prompt if memory suffices until the last token of all, and then decodes a while before it looks "
            "again. Hardly ever preempts; needs to know how long outputs are.",
            "ModelTC/lightllm, router/req_queue.py; compatibility `vidur`: Vidur 7d47513",
            {{"maxSequences", "Sequences", 128, "that run at one time"},
             {"tokenBudget", "Tokens per iteration", 4096, "of prompts; a longer prompt is rejected"},
             {"max-waiting-iterations", "Patience", 10, "decode iterations between admissions"}},
            [](const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv) -> std::unique_ptr<Scheduler> {
                return std::make_unique<LightLlm>(spec, requests, kv);
            }};
}

}  // namespace orrery
