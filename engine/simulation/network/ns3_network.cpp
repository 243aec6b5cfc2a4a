#include "simulation/network/ns3_network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace orrery {

Expected<std::unique_ptr<Ns3Network>> Ns3Network::start(MessageFabric& fabric, TimeBuckets& queue, std::uint64_t seed) {
    auto process = HelperProcess::start("orrery-ns3", "ORRERY_NS3");
    if (!process)
        return fail("network.ns3", "ns-3 is not there: " + process.error().message,
                    "the program `orrery-ns3`, which is built where Debian's package libns3-dev is installed",
                    "install libns3-dev, run cmake again (ORRERY_NS3=ON, the default) and build; or take "
                    "network=packets, which needs nothing");
    std::unique_ptr<Ns3Network> made(new Ns3Network(fabric, queue, std::move(*process)));
    if (auto good = made->build(seed); !good) return Unexpected(std::move(good.error()));
    return made;
}

Expected<void> Ns3Network::build(std::uint64_t seed) {
    const PacketSettings& packets = fabric_.settings().packets;
    const MessageFabric::Ends ends = fabric_.linkEnds();
    constexpr std::size_t most_links = 1 << 16, most_pairs = 1024;
    if (ends.links.size() > most_links)
        return fail("network.ns3", fmt::format("a network of {} links is too large for ns-3", ends.links.size()),
                    fmt::format("at most {}", most_links), "take network=fluid, or a smaller cluster");
    std::string text =
        fmt::format("settings {} {} {} {} {} {} {}\nvertices {}\n", packets.rateControl ? 1 : 0,
                    static_cast<std::int64_t>(packets.payload), static_cast<std::int64_t>(packets.header),
                    packets.markFrom, packets.markAll, packets.markMost, seed & 0xFFFFFFF, ends.vertices);
    const std::vector<MessageFabric::LinkRate> rates = fabric_.linkRates();
    linkThere_.assign(rates.size(), -1);
    for (const MessageFabric::LinkRate& one : rates) rates_.push_back(one.rate);
    for (std::size_t l = 0; l < rates.size(); ++l) {
        if (ends.links[l].from == ends.links[l].to) continue;
        linkThere_[l] = static_cast<std::int32_t>(linkHere_.size());
        linkHere_.push_back(static_cast<std::int32_t>(l));
        text += fmt::format("link {} {} {} {}\n", ends.links[l].from, ends.links[l].to, rates[l].rate * 1e9,
                            static_cast<std::int64_t>(std::llround(rates[l].latency * 1000)));
    }
    toSay_ = text + "build\n";
    const auto devices = static_cast<std::int32_t>(fabric_.devices());
    if (packets.rateControl && static_cast<std::size_t>(devices) * static_cast<std::size_t>(devices) <= most_pairs)
        for (std::int32_t a = 0; a < devices; ++a)
            for (std::int32_t b = 0; b < devices; ++b)
                if (a != b) flowOf({a, b});
    std::string answer;
    if (!process_.write(toSay_ + "start\n") || !process_.readLine(answer) || answer != "ready") failed(answer);
    toSay_.clear();
    if (problem_) return Unexpected(*problem_);
    return {};
}

std::vector<std::int32_t> Ns3Network::wayOf(const Ends& ends) const {
    std::vector<std::int32_t> way;
    fabric_.way(ends.source, ends.target, way);
    if (ends.part != WayPart::Whole) way = {ends.part == WayPart::First ? way.front() : way.back()};
    for (std::int32_t& link : way) link = linkThere_[static_cast<std::size_t>(link)];
    return way;
}

std::size_t Ns3Network::flowOf(const Ends& ends) {
    const auto [at, isNew] = flows_.emplace(ends, 0);
    if (!isNew) return at->second;
    const std::vector<std::int32_t> way = wayOf(ends);
    // All parts of ways that end at the same switch are one.
    const std::pair<std::int32_t, std::int32_t> key{way.front(), way.back()};
    const auto [same, isFirst] = flowOfLinks_.emplace(key, flowOfLinks_.size());
    at->second = same->second;
    if (!isFirst) return at->second;
    // Back from a switch is the last link of the way back.
    const WayPart back = ends.part == WayPart::First  ? WayPart::Last
                         : ends.part == WayPart::Last ? WayPart::First
                                                      : WayPart::Whole;
    const std::vector<std::int32_t> reverse = wayOf({ends.target, ends.source, back});
    toSay_ +=
        fmt::format("flow {} {} {} {}\n", way.size(), fmt::join(way, " "), reverse.size(), fmt::join(reverse, " "));
    return at->second;
}

void Ns3Network::sendPart(std::int32_t source, std::int32_t target, WayPart part, double bytes,
                          TimeBuckets::Event there) {
    const std::size_t flow = flowOf({source, target, part});
    fmt::format_to(std::back_inserter(toSay_), "send {} {} {} {:.0f}\n", queue_.now(), flow, messages_.size(),
                   std::ceil(std::max(bytes, 1.0)));
    messages_.push_back(there);
    ++underWay_;
    if (comesTogether_) return;
    comesTogether_ = true;
    queue_.schedule(queue_.now(), Together, 0);
}

// Both clocks: ns-3 goes on to the next event here, or until a message has come. Whatever happens at this tick has then
// told it what it sends, for this event stands behind all others of its tick, and begins again where more is to come.
void Ns3Network::handle(TimeBuckets::Event) {
    comesTogether_ = false;
    if (problem_ || underWay_ == 0) return;
    // So that a run can be stopped.
    constexpr SimTime longest = 1'000'000'000;
    SimTime until = queue_.now() + longest;
    if (!queue_.empty()) until = std::min(until, queue_.next());
    if (until > queue_.now()) {
        if (!ask(fmt::format("until {}\n", until))) return;
        std::string answer;
        while (process_.readLine(answer)) {
            unsigned message = 0;
            long long time = 0;
            if (std::sscanf(answer.c_str(), "come %u %lld", &message, &time) == 2 && message < messages_.size()) {
                queue_.schedule(time, messages_[message].code, messages_[message].subject);
                --underWay_;
                until = std::min<SimTime>(until, time);
            } else if (std::sscanf(answer.c_str(), "at %lld", &time) == 1) {
                break;
            } else {
                return failed(answer);
            }
            answer.clear();
        }
        if (answer.empty()) return failed(answer);
    }
    if (underWay_ == 0) return;
    comesTogether_ = true;
    queue_.schedule(until, Together, 0);
}

bool Ns3Network::ask(const std::string& question) {
    const bool taken = process_.write(toSay_ + question);
    toSay_.clear();
    if (!taken) failed({});
    return taken;
}

void Ns3Network::failed(const std::string& what) {
    problem_ = fail("network.ns3", what.empty() ? "ns-3 has ended before its time" : "ns-3 says: " + what,
                    "a run of ns-3 that ends", "take network=packets")
                   .value();
}

Expected<void> Ns3Network::finish() {
    if (problem_) return Unexpected(*problem_);
    if (!ask("end\n")) return Unexpected(*problem_);
    std::string answer;
    while (process_.readLine(answer) && answer != "done") {
        unsigned long long packets = 0, marks = 0, drops = 0;
        std::size_t link = 0;
        long long begin = 0, end = 0;
        double bytes = 0;
        if (std::sscanf(answer.c_str(), "counts %llu %llu %llu", &packets, &marks, &drops) == 3) {
            packets_ = packets;
            marks_ = marks;
        } else if (std::sscanf(answer.c_str(), "busy %zu %lld %lld %lf", &link, &begin, &end, &bytes) == 4 &&
                   link < linkHere_.size()) {
            const auto here = static_cast<std::size_t>(linkHere_[link]);
            const SimTime busy = fabric_.ticks(bytes / rates_[here]);
            fabric_.use()[here].bytes += bytes;
            fabric_.use()[here].busy += busy;
            if (LinkUseOverTime& time = fabric_.useOverTime(); time.wanted() && end > begin)
                time.add(here, begin, end, std::min(1.0, static_cast<double>(busy) / static_cast<double>(end - begin)));
        } else {
            failed(answer);
            return Unexpected(*problem_);
        }
    }
    if (answer != "done") failed({});
    if (problem_) return Unexpected(*problem_);
    return {};
}

}  // namespace orrery
