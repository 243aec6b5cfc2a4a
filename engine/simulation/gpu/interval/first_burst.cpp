#include "simulation/gpu/interval/first_burst.h"

#include "simulation/gpu/address.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cmath>

namespace orrery::gpusim {

namespace {

constexpr std::size_t mostRequests = 2048;  // of one SM
constexpr std::size_t entries = 32;

// Sectors of global memory that each warp asks for before it waits for one of them.
std::vector<std::uint64_t> askedBeforeAWait(const TraceBlock& block, const std::vector<StaticInstruction>& statics) {
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> loads;  // by warp: first access and count
    for (std::size_t warp = 0; warp + 1 < block.begin.size(); ++warp) {
        auto& own = loads.emplace_back();
        std::bitset<256> awaited;
        bool ended = false;
        for (std::uint32_t i = block.begin[warp]; i < block.begin[warp + 1] && !ended; ++i) {
            const Executed& executed = block.instructions[i];
            const StaticInstruction& one = statics[executed.what];
            const auto needs = [&](int reg) { return reg >= 0 && awaited[static_cast<std::size_t>(reg)]; };
            ended = needs(one.destination);
            for (unsigned s = 0; s < one.sources; ++s) ended |= needs(one.source[s]);
            switch (one.action) {
                case Action::Load:
                case Action::CopyToShared:
                    if (ended || executed.count == 0) break;
                    own.emplace_back(executed.first, executed.count);
                    if (one.destination >= 0) awaited.set(static_cast<std::size_t>(one.destination));
                    break;
                case Action::Atomic:
                case Action::Barrier:
                case Action::Fence:
                case Action::AwaitGroup:
                    ended |= !own.empty();
                    break;
                default:
                    break;
            }
        }
    }
    // Warps take turns; an instruction's sectors leave from the last on.
    std::vector<std::uint64_t> out;
    for (std::size_t turn = 0;; ++turn) {
        bool any = false;
        for (const auto& own : loads) {
            if (turn >= own.size()) continue;
            any = true;
            for (std::uint32_t i = own[turn].second; i-- > 0;)
                out.push_back(block.accesses[own[turn].first + i].address);
        }
        if (!any) return out;
    }
}

// Requests of every port, in their order, and slices that each take the first one of a port after the other.
class Ports {
public:
    Ports(std::size_t ports, std::size_t slices)
        : words_((ports + 63) / 64),
          wanted_(slices * words_, 0),
          active_((slices + 63) / 64, 0),
          turn_(slices, 0),
          queue_(ports),
          at_(ports, 0) {}

    std::vector<std::uint16_t>& of(std::size_t port) { return queue_[port]; }

    // Calls `taken(slice, request, pass)`; each slice takes one in a pass.
    template <class F>
    void run(F&& taken) {
        for (std::size_t port = 0; port < queue_.size(); ++port) show(port);
        for (std::uint64_t pass = 0; waiting_ > 0; ++pass) {
            for (std::size_t w = 0; w < active_.size(); ++w) {
                // One that has sent shows its next request to the slices behind.
                std::uint64_t done = 0;
                while (const std::uint64_t left = active_[w] & ~done) {
                    const int bit = std::countr_zero(left);
                    done |= (std::uint64_t{2} << bit) - 1;
                    const std::size_t slice = w * 64 + static_cast<std::size_t>(bit);
                    const std::size_t port = pick(slice);
                    turn_[slice] = static_cast<std::uint32_t>(port + 1 == queue_.size() ? 0 : port + 1);
                    hide(port, slice);
                    taken(slice, at_[port]++, pass);
                    show(port);
                }
            }
        }
    }

private:
    void show(std::size_t port) {
        if (at_[port] >= queue_[port].size()) return;
        const std::size_t slice = queue_[port][at_[port]];
        wanted_[slice * words_ + port / 64] |= std::uint64_t{1} << (port % 64);
        active_[slice / 64] |= std::uint64_t{1} << (slice % 64);
        ++waiting_;
    }
    void hide(std::size_t port, std::size_t slice) {
        std::uint64_t* wanted = &wanted_[slice * words_];
        wanted[port / 64] &= ~(std::uint64_t{1} << (port % 64));
        --waiting_;
        for (std::size_t k = 0; k < words_; ++k) {
            if (wanted[k] != 0) return;
        }
        active_[slice / 64] &= ~(std::uint64_t{1} << (slice % 64));
    }
    // The first from the slice's turn on, around.
    std::size_t pick(std::size_t slice) const {
        const std::uint64_t* wanted = &wanted_[slice * words_];
        const std::size_t from = turn_[slice];
        std::size_t w = from / 64;
        if (const auto left = wanted[w] & (~std::uint64_t{0} << (from % 64)))
            return w * 64 + static_cast<std::size_t>(std::countr_zero(left));
        do {
            w = w + 1 == words_ ? 0 : w + 1;
        } while (wanted[w] == 0);
        return w * 64 + static_cast<std::size_t>(std::countr_zero(wanted[w]));
    }
    std::size_t words_;
    std::vector<std::uint64_t> wanted_, active_;
    std::vector<std::uint32_t> turn_;
    std::vector<std::vector<std::uint16_t>> queue_;
    std::vector<std::uint32_t> at_;
    std::size_t waiting_ = 0;
};

}  // namespace

double FirstBurst::gap(double at) const {
    if (at >= requests || gaps.empty()) return 0;
    return gaps[std::min(static_cast<std::size_t>(at / each), gaps.size() - 1)];
}

Expected<FirstBurst> firstBurst(const Machine& machine, const KernelTemplate& whole, const KernelTemplatePtr& start,
                                std::int64_t senders) {
    auto source = TemplateSource::open(start, machine, {{0, 1}});
    if (!source) return tl::unexpected(source.error());
    TraceBlock block;
    if (const auto got = source->next(block, {0, 1}); !got) return tl::unexpected(got.error());
    const auto asked = askedBeforeAWait(block, source->statics());
    FirstBurst out;
    out.senders = static_cast<double>(senders), out.requests = static_cast<double>(asked.size());
    // Where they lie in the operands of the first block; others ask for the same places of theirs.
    const auto own = whole.regions(0);
    struct Place {
        std::uint64_t offset = 0;
        std::size_t operand = 0;
    };
    std::vector<Place> places;
    for (const std::uint64_t address : asked) {
        if (places.size() >= mostRequests) break;
        for (std::size_t i = 0; i < own.size(); ++i) {
            const auto first = own[i].first & ~std::uint64_t{31};
            const double ends =
                static_cast<double>(own[i].rows - 1) * own[i].stride + static_cast<double>(own[i].bytes);
            if (address < first || static_cast<double>(address - first) > ends) continue;
            places.push_back({address - first, i});
            break;
        }
    }
    if (places.empty()) return out;
    const AddressMap map(machine);
    Ports ports(static_cast<std::size_t>(senders), static_cast<std::size_t>(machine.slices()));
    for (std::size_t sender = 0; sender < static_cast<std::size_t>(senders); ++sender) {
        const auto regions = whole.regions(static_cast<std::int64_t>(sender));
        auto& to = ports.of(sender);
        to.reserve(places.size());
        for (const auto& [offset, operand] : places)
            to.push_back(
                static_cast<std::uint16_t>(map.spot((regions[operand].first & ~std::uint64_t{31}) + offset).slice));
    }
    out.each = std::ceil(static_cast<double>(places.size()) / entries);
    const auto each = static_cast<std::size_t>(out.each), count = (places.size() + each - 1) / each;
    std::vector<double> sum(count, 0), n(count, 0), looked(static_cast<std::size_t>(machine.slices()), 0);
    const double pass = machine.coreMhz / machine.networkMhz / machine.sectorsPerCycle,
                 l2Cycle = machine.coreMhz / machine.l2Mhz;
    ports.run([&](std::size_t slice, std::uint32_t request, std::uint64_t at) {
        // Behind its ports a slice looks up one in each of its own cycles.
        looked[slice] = std::max(looked[slice], pass * static_cast<double>(at)) + l2Cycle;
        sum[request / each] += looked[slice], ++n[request / each];
    });
    // Of the mean of the ports; entries are stamped in their middle.
    double before = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double now = std::max(before, sum[i] / n[i]);
        out.gaps.push_back((now - before) / (i == 0 ? out.each / 2 : out.each));
        before = now;
    }
    return out;
}

}  // namespace orrery::gpusim
