#pragma once

// Packets by ns-3 (www.nsnam.org), in the program `orrery-ns3` (app/ns3): the links of the fabric, each pair on the way
// that the fabric's hash gives it. With rate control DCTCP and ECN marks, which of what ns-3 has stands nearest to
// DCQCN; without, datagrams at the pace of their first link. ns-3 knows no pauses (PFC): buffers have no end, nothing
// is lost.

#include "base/helper_process.h"
#include "simulation/network/message_fabric.h"
#include "simulation/network/message_network.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

class Ns3Network final : public MessageNetwork {
public:
    /// Both outlive it; the fabric has congestion, and a slot for every device. Connections of up to 1,024 pairs stand
    /// before time begins; with more, each begins with its first message. Fails with `network.ns3`, saying how to get
    /// it, and where there are more than 65,536 links.
    static Expected<std::unique_ptr<Ns3Network>> start(MessageFabric& fabric, TimeBuckets& queue, std::uint64_t seed);

    void sendPart(std::int32_t source, std::int32_t target, WayPart part, double bytes,
                  TimeBuckets::Event there) override;
    void handle(TimeBuckets::Event event) override;
    std::unique_ptr<MessageNetwork> copy() const override { return nullptr; }
    /// Takes the use of links and the counts.
    Expected<void> finish() override;

    std::uint64_t packets() const { return packets_; }
    std::uint64_t marks() const { return marks_; }

private:
    enum Event : std::uint32_t { Together = first_event };
    struct Ends {
        std::int32_t source = 0, target = 0;
        WayPart part = WayPart::Whole;
        auto operator<=>(const Ends&) const = default;
    };

    Ns3Network(MessageFabric& fabric, TimeBuckets& queue, HelperProcess process)
        : fabric_(fabric), queue_(queue), process_(std::move(process)) {}
    Expected<void> build(std::uint64_t seed);
    std::size_t flowOf(const Ends& ends);
    std::vector<std::int32_t> wayOf(const Ends& ends) const;
    bool ask(const std::string& question);
    void failed(const std::string& what);

    MessageFabric& fabric_;
    TimeBuckets& queue_;
    HelperProcess process_;
    std::vector<std::int32_t> linkThere_;  ///< its number over there, by ours; -1: it joins nothing
    std::vector<std::int32_t> linkHere_;   ///< ours, by its number over there
    std::vector<double> rates_;            ///< B/ns, by our number
    std::map<Ends, std::size_t> flows_;
    std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> flowOfLinks_;  ///< by the first and the last link
    std::vector<TimeBuckets::Event> messages_;
    std::string toSay_;
    std::size_t underWay_ = 0;
    bool comesTogether_ = false;
    std::optional<Diagnostic> problem_;
    std::uint64_t packets_ = 0, marks_ = 0;
};

}  // namespace orrery
