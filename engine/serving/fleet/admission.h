#pragma once

// Who comes next, in front of any scheduler: the line of a replica by arrival, priority, length, deadline or fair
// shares, how long it may grow, and what becomes of those who are too late. The policy behind it sees only as many
// requests as its next iteration may take, so that the order of the line is the order of admission.

#include "serving/schedulers/scheduler.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery {

enum class AdmissionOrder : std::uint8_t {
    Arrival,
    Priority,  ///< smaller RequestStream::priority first
    Shortest,  ///< prompt to compute; long ones may wait for ever under load
    Fair,      ///< the tenant that was given least: virtual token counters (Sheng et al., OSDI 2024), 1 per prompt
               ///< token at admission and 2 per token written; a tenant that was away is lifted to the least of those
               ///< who wait, so that nobody saves up
    Deadline,  ///< earliest arrival + promised time to first token, of its tenant
};
std::string_view toText(AdmissionOrder order);

struct AdmissionSpec {
    AdmissionOrder order = AdmissionOrder::Arrival;
    std::int32_t queue = 0;  ///< requests that may wait; more are refused (`queue full`). 0: no limit
    bool dropLate = false;   ///< whose first token is due before its turn comes is refused (`deadline missed`)
    bool plain() const { return order == AdmissionOrder::Arrival && queue == 0 && !dropLate; }
    bool operator==(const AdmissionSpec&) const = default;
};

class AdmissionLine final : public Scheduler {
public:
    /// `due`: promised seconds to the first token by tenant; the last one holds for all further tenants. Empty or 0:
    /// nothing is promised, so that nobody is late. `spec` is the policy's own.
    AdmissionLine(std::unique_ptr<Scheduler> policy, const SchedulerSpec& spec, RequestTable& requests,
                  const AdmissionSpec& rules, std::vector<double> due);

    void add(RequestIndex r, SimTime now) override;
    void next(Batch& batch, SimTime now) override;
    void finish(const Batch& batch, SimTime now) override;
    void evict(std::vector<RequestIndex>& out, bool all) override;
    bool depart(RequestIndex r) override { return policy_->depart(r); }
    bool adoptsBlocks() const override { return policy_->adoptsBlocks(); }
    std::int32_t waiting() const override { return policy_->waiting() + inLine(); }
    std::int32_t running() const override { return policy_->running(); }
    std::int32_t pendingTasks() const override { return policy_->pendingTasks() + inLine(); }
    std::int64_t pendingTokens() const override { return policy_->pendingTokens() + lineTokens_; }
    std::int64_t blocksToArrive(RequestIndex r, std::int64_t ofItsText) const override {
        return policy_->blocksToArrive(r, ofItsText);
    }

private:
    struct Waiter {
        double key = 0;  ///< smaller goes first
        SimTime arrived = 0;
        RequestIndex request = no_request;
    };
    struct Tenant {
        std::vector<Waiter> line;  ///< a heap, the next one in front
        double served = 0;         ///< virtual token counter
    };
    std::int32_t inLine() const { return inLine_; }
    std::size_t tenantOf(RequestIndex r) const;
    SimTime dueAt(RequestIndex r) const;
    double keyOf(RequestIndex r) const;
    Tenant* nextTenant();
    RequestIndex pop();
    void refuse(RequestIndex r, RejectReason reason);
    void feed(SimTime now);

    std::unique_ptr<Scheduler> policy_;
    RequestTable& requests_;
    AdmissionSpec rules_;
    std::vector<double> due_;
    std::int32_t sequences_;       ///< that the policy may hold
    std::int64_t tokens_;          ///< of one iteration; huge where the policy knows no budget
    std::vector<Tenant> tenants_;  ///< one, unless shares are fair
    std::int32_t inLine_ = 0;
    std::int64_t lineTokens_ = 0;
    std::vector<RequestIndex> inside_;  ///< given to the policy; those that it has begun are forgotten
    std::vector<RequestIndex> refused_;
    std::vector<RequestIndex> dropped_;
    std::unordered_map<RequestIndex, std::int32_t> counted_;  ///< tokens written that the counters know, while it runs
};

}  // namespace orrery
