#pragma once

// Bytes as a fluid over shared links: each flow takes a fixed path, runs at the rate that its links leave it, and
// arrives a latency after its last byte has left. Rates change only where a flow begins or ends, so a run costs as many
// steps as there are flows, not bytes. For caches that move between replicas, and for networks of many collectives.

#include "simulation/picoseconds.h"

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace orrery {

enum class LinkSharing : std::uint8_t {
    None,  ///< every flow has its links to itself
    Fifo,  ///< a link carries one flow at a time, in the order of their start
    Fair   ///< max-min fair (Bertsekas & Gallager, Data Networks, 6.5.2)
};
std::string_view toText(LinkSharing sharing);

class FluidFlows {
public:
    static constexpr SimTime never = std::numeric_limits<SimTime>::max();
    static constexpr std::size_t longest_path = 12;

    /// `capacities`: B/s of each link, one direction. `latency`: seconds, of every flow.
    FluidFlows(std::vector<double> capacities, LinkSharing sharing, double latency);

    /// Begins a flow over the links of `path` (at most longest_path; each once). No bytes take the latency alone. Time
    /// never goes back from call to call.
    void start(std::uint32_t subject, std::span<const std::int32_t> path, double bytes, SimTime now);
    /// Appends the subjects of the flows that have arrived by `now`, in the order of their start.
    void arrivals(SimTime now, std::vector<std::uint32_t>& out);
    /// When the next flow arrives or has sent its last byte; `never` without flows.
    SimTime next() const;
    /// Stops the flows for whose subject `concerned(subject)` is true and appends them.
    template <class Concerned>
    void cancel(Concerned&& concerned, SimTime now, std::vector<std::uint32_t>& out) {
        drain(now);
        for (const Flow& flow : flows_)
            if (concerned(flow.subject)) out.push_back(flow.subject);
        std::erase_if(flows_, [&](const Flow& flow) { return concerned(flow.subject); });
        share();
    }

    std::size_t size() const { return flows_.size(); }
    /// B/s now, by the order of start; 0 for one that waits for a link or has sent everything.
    double rate(std::size_t flow) const { return flows_[flow].arrives == never ? flows_[flow].rate : 0; }

private:
    struct Flow {
        std::uint32_t subject = 0;
        std::uint8_t links = 0;
        std::array<std::int32_t, longest_path> path{};
        double left = 0;          ///< bytes
        double rate = 0;          ///< B/s
        SimTime arrives = never;  ///< known once the last byte has left
        std::span<const std::int32_t> way() const { return {path.data(), links}; }
    };
    double narrowest(const Flow& flow) const;
    void drain(SimTime now);
    void share();
    void shareInTurn();
    void shareFairly();

    std::vector<double> capacities_, spare_;
    std::vector<std::int32_t> users_;  ///< flows without a rate yet, per link
    std::vector<Flow> flows_;
    LinkSharing sharing_;
    double latency_;
    SimTime now_ = 0;
};

}  // namespace orrery
