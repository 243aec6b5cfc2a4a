#include "simulation/network/closed_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace orrery {

namespace {

// Nineteen in twenty published all-reduces of a node are at most so many times slower: start and steps, and bytes
// (README).
constexpr double worst_latency = 3, worst_bytes = 1.2;

double phasesOf(CollectiveOp op) {
    return op == CollectiveOp::AllReduce ? 2 : 1;
}

bool pairwise(CollectiveOp op) {
    return op == CollectiveOp::AllToAll || op == CollectiveOp::SendReceive;
}

bool switched(const NetworkTier& tier) {
    using enum TopologyShape;
    const TopologyShape shape = tier.shape;
    return shape == Switch || shape == Star || shape == NvSwitch || shape == FatTree || shape == RailOptimised;
}

/// Ranks of a call inside an endpoint of each tier, and behind all of them.
std::vector<double> ranksInside(const Communicator& group) {
    std::vector<double> inside{1};
    for (const std::int64_t ranks : group.ranks) inside.push_back(inside.back() * static_cast<double>(ranks));
    return inside;
}

struct Way {
    double seconds = std::numeric_limits<double>::infinity();
    double latency = 0;
    double sequential = 0;  ///< if no tier worked while another does
    std::vector<double> perTier;
    std::string name;
};

class Pricing {
public:
    Pricing(const CollectiveCall& call, const std::vector<NetworkTier>& tiers, const CollectiveSoftware& software)
        : call_(call),
          tiers_(tiers),
          software_(software),
          wire_(wireBytesPerTier(call)),
          inside_(ranksInside(call.group)) {}

    bool crosses(std::size_t t) const { return call_.group.ranks[t] > 1; }
    const std::vector<double>& wire() const { return wire_; }

    // A device's own share of a tier.
    double rate(std::size_t t) const {
        const NetworkTier& tier = tiers_[t];
        const BytesPerSecond whole = call_.op == CollectiveOp::AllToAll ? tier.allToAll : tier.bandwidth;
        return whole.value / static_cast<double>(tier.inner);
    }
    double share(const CollectiveProtocol& p, std::size_t t) const {
        const bool all = call_.op == CollectiveOp::AllToAll;
        if (tiers_[t].betweenNodes) return all ? software_.allToAll.between : p.shareBetween;
        if (all) return software_.allToAll.inside;
        double links = 1;
        for (const LinkGeneration& one : software_.links)
            if (tiers_[t].perDevice().value >= one.bandwidth) links = one.share;
        return links * p.shareInside;
    }
    // What filling the channels takes, beside latency and bytes.
    double filling(const CollectiveProtocol& p, bool inSwitch) const {
        if (pairwise(call_.op) || p.name == "LL" || software_.fill.step <= 0) return 0;
        double local = 1;
        for (std::size_t t = 0; t < tiers_.size(); ++t)
            if (!tiers_[t].betweenNodes) local *= static_cast<double>(call_.group.ranks[t]);
        const double message = local * (inSwitch ? software_.fill.messageInSwitch : software_.fill.message);
        const double steps = std::max(1.0, (local - 1) * (inSwitch ? 1 : phasesOf(call_.op)));
        return -steps * software_.fill.step * std::expm1(-call_.bytes / message);
    }
    double step(const CollectiveProtocol& p, std::size_t t) const {
        return (tiers_[t].betweenNodes ? p.stepBetween : p.stepInside) + tiers_[t].latency.value;
    }

    // One ring through all ranks: of its steps those between endpoints of a tier cost that tier's latency. Pairwise
    // sends all start at once.
    double ringLatency(const CollectiveProtocol& p) const {
        double seconds = p.base;
        const double n = inside_.back();
        for (std::size_t t = 0; t < tiers_.size(); ++t) {
            if (!crosses(t)) continue;
            const double steps = pairwise(call_.op) ? 1 : phasesOf(call_.op) * (n / inside_[t] - n / inside_[t + 1]);
            seconds += steps * step(p, t);
        }
        return seconds;
    }
    // Up and down: a chain inside a node, a binary tree over nodes.
    double treeLatency(const CollectiveProtocol& p) const {
        double seconds = p.base;
        for (std::size_t t = 0; t < tiers_.size(); ++t) {
            if (!crosses(t)) continue;
            const auto ranks = static_cast<double>(call_.group.ranks[t]);
            seconds += 2 * (tiers_[t].betweenNodes ? std::ceil(std::log2(ranks)) : ranks - 1) * step(p, t);
        }
        return seconds;
    }

    // `factor` × bytes of the hierarchical algorithm on each tier; chunks of a long message keep all tiers busy.
    Way way(const CollectiveProtocol& p, double latency, const std::vector<double>& bytes,
            std::string_view name) const {
        Way out;
        out.latency = latency;
        out.perTier.resize(tiers_.size());
        double most = 0, sum = 0;
        for (std::size_t t = 0; t < tiers_.size(); ++t) {
            if (!crosses(t)) continue;
            const double seconds = bytes[t] / (rate(t) * share(p, t));
            out.perTier[t] = seconds;
            most = std::max(most, seconds);
            sum += seconds;
        }
        const double fill = filling(p, name.starts_with("switch"));
        out.seconds = latency + fill + most;
        out.sequential = latency + fill + sum;
        out.name = p.name == "wires" ? std::string(name) : fmt::format("{} {}", name, p.name);
        return out;
    }

    // A flat ring sends everything through every device and every boundary that it crosses.
    std::vector<double> ringBytes() const {
        std::vector<double> bytes(tiers_.size());
        const double all = leastBytes(call_.op, call_.bytes, static_cast<std::int64_t>(inside_.back()));
        for (std::size_t t = 0; t < tiers_.size(); ++t)
            if (crosses(t)) bytes[t] = all / inside_[t];
        return bytes;
    }
    // What a device sends at least: switches may reduce and multicast, so that the buffer crosses each link once.
    std::vector<double> boundBytes() const {
        std::vector<double> bytes = wire_;
        if (call_.op != CollectiveOp::AllReduce) return bytes;
        for (std::size_t t = 0; t < tiers_.size(); ++t)
            if (crosses(t) && switched(tiers_[t])) bytes[t] = std::min(bytes[t], call_.bytes / inside_[t]);
        return bytes;
    }
    // Trees send the buffer up and down; of two nodes each is the other's root for one half.
    double treeTimes(std::size_t t) const { return tiers_[t].betweenNodes && call_.group.ranks[t] == 2 ? 1 : 2; }
    std::vector<double> treeBytes() const {
        std::vector<double> bytes(tiers_.size());
        for (std::size_t t = 0; t < tiers_.size(); ++t)
            if (crosses(t)) bytes[t] = treeTimes(t) * call_.bytes / inside_[t];
        return bytes;
    }

    // In the switch of a node, and among nodes in a tree, of an all-reduce.
    Way reducedInSwitch() const {
        if (call_.op != CollectiveOp::AllReduce) return {};
        std::size_t first = 0;
        while (first < tiers_.size() && !crosses(first)) ++first;
        if (first == tiers_.size()) return {};
        const NetworkTier& tier = tiers_[first];
        const auto local = static_cast<double>(call_.group.ranks[first]);
        if (tier.inner != 1 || tier.betweenNodes || tier.irregular || !switched(tier)) return {};
        const bool alone = call_.group.ranks[first] == call_.group.size;
        if (!alone && (call_.group.uneven || call_.group.ranks[first] != tier.size)) return {};
        const SwitchReduction* used = nullptr;
        for (const SwitchReduction& one : software_.inSwitch)
            if (call_.group.ranks[first] >= one.ranks && tier.bandwidth.value > one.bandwidth) used = &one;
        if (!used) return {};
        std::vector<double> bytes = treeBytes();
        bytes[first] = call_.bytes * local / (local - 1);
        const CollectiveProtocol& p = alone ? used->protocol : used->tree;
        double latency = p.base + step(p, first);
        for (std::size_t t = first + 1; t < tiers_.size(); ++t) {
            if (!crosses(t)) continue;
            if (!tiers_[t].betweenNodes) return {};
            latency += 2 * std::ceil(std::log2(static_cast<double>(call_.group.ranks[t]))) * step(p, t);
        }
        return way(p, latency, bytes, alone ? "switch" : "switch tree");
    }

private:
    const CollectiveCall& call_;
    const std::vector<NetworkTier>& tiers_;
    const CollectiveSoftware& software_;
    std::vector<double> wire_, inside_;
};

}  // namespace

std::vector<double> wireBytesPerTier(const CollectiveCall& call) {
    const std::vector<std::int64_t>& ranks = call.group.ranks;
    std::vector<double> bytes(ranks.size());
    const std::vector<double> inside = ranksInside(call.group);
    const int outermost = call.group.outermost();
    for (std::size_t t = 0; t < ranks.size(); ++t) {
        if (ranks[t] <= 1) continue;
        const auto r = static_cast<double>(ranks[t]);
        switch (call.op) {
            case CollectiveOp::AllReduce:
            case CollectiveOp::AllGather:
            case CollectiveOp::ReduceScatter:
                bytes[t] = phasesOf(call.op) * (r - 1) / r * call.bytes / inside[t];
                break;
            case CollectiveOp::AllToAll:
                bytes[t] = call.bytes * (inside[t + 1] - inside[t]) / inside.back();
                break;
            case CollectiveOp::Broadcast:
                bytes[t] = call.bytes / inside[t];
                break;
            case CollectiveOp::SendReceive:
                bytes[t] = static_cast<int>(t) == outermost ? call.bytes : 0;
                break;
        }
    }
    return bytes;
}

ClosedFormNetwork::ClosedFormNetwork(std::vector<NetworkTier> tiers, const CollectiveSoftware& software)
    : tiers_(std::move(tiers)), software_(&software) {}

Expected<CollectivePrice> ClosedFormNetwork::price(const CollectiveCall& call, const std::stop_token&) const {
    if (auto good = checkCall(call, tiers_); !good) return Unexpected(std::move(good.error()));
    CollectivePrice price;
    if (call.group.size <= 1 || call.bytes <= 0) return price;
    const Pricing pricing(call, tiers_, *software_);
    const bool wires = software_->tree.empty();
    Way best;
    for (const CollectiveProtocol& p : software_->ring) {
        const double latency = pricing.ringLatency(p);
        // The wires alone know no library's one ring: the hierarchical algorithm moves least.
        const bool flat = !wires && !pairwise(call.op);
        Way way = pricing.way(p, latency, flat ? pricing.ringBytes() : pricing.wire(),
                              pairwise(call.op) ? "direct"
                              : wires           ? "hierarchical ring"
                                                : "ring");
        if (way.seconds < best.seconds) best = std::move(way);
    }
    if (call.op == CollectiveOp::AllReduce) {
        for (const CollectiveProtocol& p : software_->tree) {
            Way way = pricing.way(p, pricing.treeLatency(p), pricing.treeBytes(), "tree");
            if (way.seconds < best.seconds) best = std::move(way);
        }
    }
    if (auto way = pricing.reducedInSwitch(); way.seconds < best.seconds) best = std::move(way);
    const CollectiveProtocol& bare = wiresAlone().ring.front();
    double drawnLatency = 0;
    for (std::size_t t = 0; t < tiers_.size(); ++t)
        if (pricing.crosses(t)) drawnLatency = std::max(drawnLatency, phasesOf(call.op) * tiers_[t].latency.value);
    const Pricing bound(call, tiers_, wiresAlone());
    price.low = std::max(drawnLatency, bound.way(bare, 0, bound.boundBytes(), {}).seconds);
    price.seconds = std::max(best.seconds, price.low);
    const double inTurn = std::max(price.seconds, best.sequential) - best.latency;
    price.high = wires ? best.latency + inTurn : worst_latency * best.latency + worst_bytes * inTurn;
    price.algorithm = std::move(best.name);
    double most = best.latency;
    for (std::size_t t = 0; t < tiers_.size(); ++t) {
        if (!pricing.crosses(t)) continue;
        price.loads.push_back({static_cast<int>(t), pricing.wire()[t], best.perTier[t]});
        if (best.perTier[t] > most) {
            most = best.perTier[t];
            price.boundBy = static_cast<int>(t);
        }
        if (tiers_[t].latency.value <= 0 && wires)
            price.assumptions.push_back(fmt::format("`{}` states no latency: its steps take no time.", tiers_[t].name));
        if (tiers_[t].irregular)
            price.assumptions.push_back(
                fmt::format("`{}` has no named shape: its bandwidth is that of its narrowest cut.", tiers_[t].name));
    }
    if (call.group.uneven)
        price.assumptions.emplace_back("The groups lie unevenly in the network: priced as the one spread widest.");
    return price;
}

}  // namespace orrery
