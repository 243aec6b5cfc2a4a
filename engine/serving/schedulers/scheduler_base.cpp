#include "serving/schedulers/scheduler_base.h"

#include <algorithm>

namespace orrery {

SchedulerBase::SchedulerBase(const SchedulerSpec& spec, RequestTable& requests, KvBlocks& kv)
    : spec_(spec),
      requests_(requests),
      kv_(kv),
      waiting_(requests),
      perBatch_(std::max(1, spec.maxSequences / std::max(1, spec.stages))),
      watermark_(static_cast<std::int64_t>(spec.watermark * static_cast<double>(kv.total()))),
      vidur_(spec.compatibility == "vidur") {}

void SchedulerBase::add(RequestIndex r, SimTime) {
    requests_.state[r] = RequestState::Waiting;
    waiting_.pushBack(r);
}

void SchedulerBase::finish(const Batch& batch, SimTime) {
    for (const RequestIndex r : batch.requests) {
        if (requests_.finished(r)) {
            release(r);
        } else {
            ready(r);
        }
    }
}

void SchedulerBase::evict(std::vector<RequestIndex>& out, bool all) {
    if (all) {
        for (const RequestIndex r : ready_) {
            release(r);
            requests_.lose(r);
            requests_.state[r] = RequestState::Waiting;
            out.push_back(r);
        }
        ready_.clear();
    }
    while (!waiting_.empty()) {
        const RequestIndex r = waiting_.popFront();
        requests_.state[r] = RequestState::Waiting;
        out.push_back(r);
    }
}

bool SchedulerBase::depart(RequestIndex r) {
    const auto found = std::find(ready_.rbegin(), ready_.rend(), r);
    if (found == ready_.rend()) return false;
    ready_.erase(std::next(found).base());
    --held_;
    return true;
}

void SchedulerBase::restart(RequestIndex r, Batch& batch) {
    release(r);
    // Vidur makes what was processed the new prompt. For a prompt that was computed in part, that cuts it short and
    // decodes its rest token by token; engines compute the whole prompt again.
    if (vidur_) {
        const std::int32_t all = requests_.prompt[r] + requests_.output[r];
        requests_.prompt[r] = requests_.generated[r] > 0 ? requests_.text(r) : requests_.computed[r];
        requests_.output[r] = all - requests_.prompt[r];
        requests_.generated[r] = 0;
    }
    requests_.lose(r);
    requests_.state[r] = RequestState::Preempted;
    ++requests_.preemptions[r];
    ++requests_.restarts[r];
    waiting_.pushFront(r);
    batch.dropped.push_back(r);
}

void SchedulerBase::reject(RequestIndex r, RejectReason reason, Batch& batch) {
    requests_.state[r] = RequestState::Rejected;
    requests_.reason[r] = reason;
    batch.dropped.push_back(r);
}

bool SchedulerBase::neverFits(RequestIndex r, std::int64_t reserve) const {
    if (spec_.maxModelLength > 0 && requests_.prompt[r] + requests_.output[r] > spec_.maxModelLength) return true;
    return kv_.blocksFor(requests_.text(r)) > kv_.total() - reserve;
}

}  // namespace orrery
