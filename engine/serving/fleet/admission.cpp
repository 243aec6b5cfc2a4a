#include "serving/fleet/admission.h"

#include <algorithm>
#include <array>
#include <limits>

namespace orrery {

namespace {

constexpr double perPromptToken = 1, perWrittenToken = 2;  // Sheng et al., OSDI 2024, section 5.1

// Of policies that fill an iteration by tokens; others take whole requests.
std::int64_t tokensOf(const SchedulerSpec& spec) {
    const SchedulerCard* card = findScheduler(spec.id);
    std::int64_t tokens = 0;
    for (const SchedulerOption& option : card ? card->options : std::vector<SchedulerOption>{}) {
        if (option.key == "tokenBudget") tokens = std::max<std::int64_t>(tokens, spec.tokenBudget);
        if (option.key == "chunk") tokens = std::max<std::int64_t>(tokens, spec.chunk);
    }
    return tokens > 0 ? tokens : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

std::string_view toText(AdmissionOrder order) {
    static constexpr std::array<std::string_view, 5> names{"arrival", "priority", "shortest", "fair", "deadline"};
    return names[static_cast<std::size_t>(order)];
}

AdmissionLine::AdmissionLine(std::unique_ptr<Scheduler> policy, const SchedulerSpec& spec, RequestTable& requests,
                             const AdmissionSpec& rules, std::vector<double> due)
    : policy_(std::move(policy)),
      requests_(requests),
      rules_(rules),
      due_(std::move(due)),
      sequences_(std::max(1, spec.maxSequences)),
      tokens_(tokensOf(spec)),
      tenants_(1) {}

std::size_t AdmissionLine::tenantOf(RequestIndex r) const {
    const auto& tenant = requests_.stream->tenant;
    return tenant.empty() ? 0 : static_cast<std::size_t>(std::max(0, tenant[r]));
}

SimTime AdmissionLine::dueAt(RequestIndex r) const {
    const double promised = due_.empty() ? 0 : due_[std::min(tenantOf(r), due_.size() - 1)];
    return promised > 0 ? requests_.arrived[r] + toTicks(promised) : std::numeric_limits<SimTime>::max();
}

double AdmissionLine::keyOf(RequestIndex r) const {
    switch (rules_.order) {
        case AdmissionOrder::Priority:
            return requests_.stream->priority.empty() ? 0 : requests_.stream->priority[r];
        case AdmissionOrder::Shortest:
            return requests_.left(r);
        case AdmissionOrder::Deadline:
            return static_cast<double>(dueAt(r));
        case AdmissionOrder::Arrival:
        case AdmissionOrder::Fair:
            break;
    }
    return 0;
}

namespace {
constexpr auto later = [](const auto& a, const auto& b) {
    if (a.key != b.key) return a.key > b.key;
    return a.arrived != b.arrived ? a.arrived > b.arrived : a.request > b.request;
};
}  // namespace

void AdmissionLine::add(RequestIndex r, SimTime now) {
    // Caches that arrive, and what was computed in part, hold memory: they do not stand in line again.
    if (requests_.computed[r] > 0) return policy_->add(r, now);
    if (rules_.queue > 0 && waiting() >= rules_.queue) return refuse(r, RejectReason::QueueFull);
    const bool fair = rules_.order == AdmissionOrder::Fair;
    const std::size_t at = fair ? tenantOf(r) : 0;
    if (at >= tenants_.size()) tenants_.resize(at + 1);
    Tenant& tenant = tenants_[at];
    if (fair && tenant.line.empty()) {
        if (const Tenant* least = nextTenant()) tenant.served = std::max(tenant.served, least->served);
    }
    requests_.state[r] = RequestState::Waiting;
    tenant.line.push_back({keyOf(r), requests_.arrived[r], r});
    std::push_heap(tenant.line.begin(), tenant.line.end(), later);
    ++inLine_;
    lineTokens_ += requests_.left(r);
}

AdmissionLine::Tenant* AdmissionLine::nextTenant() {
    Tenant* least = nullptr;
    for (Tenant& tenant : tenants_) {
        if (!tenant.line.empty() && (!least || tenant.served < least->served)) least = &tenant;
    }
    return least;
}

RequestIndex AdmissionLine::pop() {
    Tenant& tenant = *nextTenant();
    std::pop_heap(tenant.line.begin(), tenant.line.end(), later);
    const RequestIndex r = tenant.line.back().request;
    tenant.line.pop_back();
    --inLine_;
    lineTokens_ -= requests_.left(r);
    return r;
}

void AdmissionLine::refuse(RequestIndex r, RejectReason reason) {
    requests_.state[r] = RequestState::Rejected;
    requests_.reason[r] = reason;
    refused_.push_back(r);
}

void AdmissionLine::feed(SimTime now) {
    // What it could not take yet counts: it sees no more than one iteration can use.
    std::int64_t tokens = 0;
    std::erase_if(inside_, [&](RequestIndex r) { return requests_.state[r] != RequestState::Waiting; });
    for (const RequestIndex r : inside_) tokens += requests_.left(r);
    while (inLine_ > 0 && tokens < tokens_ && policy_->waiting() + policy_->running() < sequences_) {
        const RequestIndex r = pop();
        if (rules_.dropLate && now > dueAt(r)) {
            refuse(r, RejectReason::DeadlineMissed);
            continue;
        }
        if (rules_.order == AdmissionOrder::Fair) {
            tenants_[tenantOf(r)].served += perPromptToken * requests_.left(r);
            counted_.emplace(r, requests_.generated[r]);
        }
        tokens += requests_.left(r);
        inside_.push_back(r);
        policy_->add(r, now);
    }
}

void AdmissionLine::next(Batch& batch, SimTime now) {
    dropped_.clear();
    bool again = true;
    while (again) {
        const std::int32_t before = inLine_;
        feed(now);
        policy_->next(batch, now);
        // A policy that refused all that it was given may find the next in line to its taste.
        again = batch.empty() && inLine_ > 0 && inLine_ < before && policy_->waiting() == 0;
        dropped_.insert(dropped_.end(), batch.dropped.begin(), batch.dropped.end());
        batch.dropped.clear();
    }
    for (const RequestIndex r : dropped_)
        if (requests_.state[r] == RequestState::Rejected) counted_.erase(r);
    dropped_.insert(dropped_.end(), refused_.begin(), refused_.end());
    refused_.clear();
    batch.dropped.assign(dropped_.begin(), dropped_.end());
}

void AdmissionLine::finish(const Batch& batch, SimTime now) {
    if (rules_.order == AdmissionOrder::Fair) {
        for (const RequestIndex r : batch.requests) {
            const auto known = counted_.find(r);
            if (known == counted_.end()) continue;
            tenants_[tenantOf(r)].served += perWrittenToken * (requests_.generated[r] - known->second);
            known->second = requests_.generated[r];
            if (requests_.finished(r)) counted_.erase(known);
        }
    }
    policy_->finish(batch, now);
}

void AdmissionLine::evict(std::vector<RequestIndex>& out, bool all) {
    const std::size_t before = out.size();
    policy_->evict(out, all);
    for (std::size_t i = before; i < out.size(); ++i) counted_.erase(out[i]);
    inside_.clear();
    for (Tenant& tenant : tenants_) {
        std::sort_heap(tenant.line.begin(), tenant.line.end(), later);
        for (auto waiter = tenant.line.rbegin(); waiter != tenant.line.rend(); ++waiter) out.push_back(waiter->request);
        tenant.line.clear();
    }
    // Nobody has been told yet: elsewhere there may be room.
    for (const RequestIndex r : refused_) {
        requests_.state[r] = RequestState::Waiting;
        requests_.reason[r] = RejectReason::None;
        out.push_back(r);
    }
    refused_.clear();
    inLine_ = 0;
    lineTokens_ = 0;
}

}  // namespace orrery
