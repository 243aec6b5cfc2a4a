#pragma once

// What the exchanges of a training step take, by a network model over the drawn links: each distinct one is priced
// once, before the run.

#include "mapping/placement.h"
#include "methods/system/training/training_program.h"
#include "simulation/network/network_model.h"

#include <map>
#include <tuple>

namespace orrery {

CollectiveOp collectiveOf(TraceCollective op);  ///< an all-reduce for those that plans do not have

class PlanPrices {
public:
    enum class Side : std::uint8_t { Low, Likely, High };

    /// Prices every exchange of the job's traces. Fails as the network model does.
    static Expected<PlanPrices> make(const ClusterJob& job, const Placement& placement, const NetworkModel& network,
                                     const std::stop_token& stop);

    /// One side of the prices, for a run; they outlive it.
    class Taken final : public ExchangePrices {
    public:
        Taken(const PlanPrices& prices, Side side) : prices_(prices), side_(side) {}
        double collective(TraceCollective op, double bytes, std::int32_t group) const override;
        double message(std::int32_t source, std::int32_t target, double bytes) const override;

    private:
        const PlanPrices& prices_;
        Side side_;
    };
    Taken take(Side side) const { return {*this, side}; }

    /// One kind of exchange and how often one device of a stage takes part in it, by slot.
    struct Exchange {
        CollectivePrice price;
        std::vector<std::int64_t> times;
    };
    const auto& exchanges() const { return exchanges_; }

private:
    static constexpr std::int32_t Pipeline = programGroupCount;  ///< a kind of group beyond ProgramGroup's
    using Key = std::tuple<std::int32_t, TraceCollective, std::int64_t>;
    double secondsOf(const Key& key, Side side) const;

    std::vector<std::int32_t> kindOfGroup_;
    std::map<Key, Exchange> exchanges_;
};

}  // namespace orrery
