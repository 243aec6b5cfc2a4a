#pragma once

// What the exchanges of a training step take, by a network model over the drawn links: each distinct one is priced
// once, before the run.

#include "mapping/placement.h"
#include "methods/system/training/training_program.h"
#include "simulation/network/network_model.h"

#include <functional>
#include <map>
#include <tuple>

namespace orrery {

CollectiveOp collectiveOf(TraceCollective op);  ///< an all-reduce for those that plans do not have

class PlanPrices {
public:
    enum class Side : std::uint8_t { Low, Likely, High };
    static double place(Side side) { return side == Side::Low ? -1 : side == Side::High ? 1 : 0; }

    /// Prices every exchange of the job's traces. Fails as the network model does.
    static Expected<PlanPrices> make(const ClusterJob& job, const Placement& placement, const NetworkModel& network,
                                     const std::stop_token& stop);

    /// Over which network a device of a slot exchanges something of a kind, and with whom: `pipeline` to the stage
    /// behind.
    struct Way {
        const NetworkModel* network = nullptr;
        std::size_t index = 0;  ///< of the network, for Exchange
        const Communicator* group = nullptr;
    };
    using WayOf = std::function<Way(std::int32_t kind, std::int32_t slot)>;
    static constexpr std::int32_t pipeline = programGroupCount;  ///< a kind of group beyond ProgramGroup's
    /// The same where stages and copies stand on several kinds of device: every slot's exchanges have their own prices.
    static Expected<PlanPrices> make(const ClusterJob& job, const WayOf& way, const std::stop_token& stop);

    /// The prices at a place of their intervals, for a run; they outlive it. -1: low; 0: likely; 1: high; between and
    /// beyond in equal ratios, never below low.
    class Taken final : public ExchangePrices {
    public:
        Taken(const PlanPrices& prices, double place) : prices_(prices), place_(place) {}
        double collective(TraceCollective op, double bytes, std::int32_t group) const override;
        double message(std::int32_t source, std::int32_t target, double bytes) const override;

    private:
        const PlanPrices& prices_;
        double place_;
    };
    Taken take(Side side) const { return {*this, place(side)}; }
    Taken takeAt(double place) const { return {*this, place}; }

    /// One kind of exchange and how often one device of a stage takes part in it, by slot.
    struct Exchange {
        CollectivePrice price;
        std::vector<std::int64_t> times;
        std::size_t network = 0;  ///< Way::index
    };
    const auto& exchanges() const { return exchanges_; }
    /// Seconds of all exchanges of weights and gradients, of one device of every stage, as they are likely alone.
    double besideSeconds() const;
    /// Shares of exchanges of activations, and of gatherings of weights, that pass beside computing and so take no
    /// time of the run.
    void hide(double tensor, double gather) { hiddenTensor_ = tensor, hiddenGather_ = gather; }
    /// Exchanges of weights and gradients take so many times as long as alone.
    void slowCopies(double times) { slower_ = times; }

private:
    /// Kind, what, bytes, and where slots differ the slot.
    using Key = std::tuple<std::int32_t, TraceCollective, std::int64_t, std::int32_t>;
    static Expected<PlanPrices> priced(const ClusterJob& job, const WayOf& way, bool bySlot,
                                       const std::stop_token& stop);
    std::int32_t placeOf(std::int32_t slot) const { return slotOf_.empty() ? 0 : slot; }
    double secondsOf(const Key& key, double place) const;

    std::vector<std::int32_t> kindOfGroup_, slotOfGroup_;
    std::vector<std::int32_t> slotOf_;  ///< by rank; empty: all slots have the same prices
    std::map<Key, Exchange> exchanges_;
    double hiddenTensor_ = 0, hiddenGather_ = 0, slower_ = 1;
};

}  // namespace orrery
