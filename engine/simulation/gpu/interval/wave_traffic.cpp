#include "simulation/gpu/interval/wave_traffic.h"

#include "simulation/gpu/address.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace orrery::gpusim {

namespace {

constexpr std::int64_t mostWaves = 16;          // of those that are averaged
constexpr std::size_t mostSectorsLaid = 32768;  // over slices and channels

bool hasSteps(const TemplateRegion& region) {
    return region.piece < region.bytes;
}

// The fullest of `parts` over their mean. Random places fill some more than others by chance too, which queues even
// out: the excess of a random spread (extreme value of Poisson counts) is no imbalance.
double unevenness(const std::vector<double>& load, double count) {
    const double parts = static_cast<double>(load.size());
    double all = 0, most = 0;
    for (const double each : load) all += each, most = std::max(most, each);
    if (all <= 0) return 1;
    const double chance = std::sqrt(2 * std::log(std::max(2.0, parts)) * parts / std::max(1.0, count));
    return std::max(1.0, most * parts / all - chance);
}

}  // namespace

TrafficOfWaves::TrafficOfWaves(const Machine& machine, const KernelTemplate& kernel, std::int64_t perWave,
                               std::span<const MemoryRange> resident, std::int64_t ahead)
    : machine_(machine),
      kernel_(kernel),
      perWave_(std::max<std::int64_t>(1, perWave)),
      ahead_(std::max<std::int64_t>(1, ahead)),
      resident_(resident) {
    waves_ = (kernel.header().blocks() + perWave_ - 1) / perWave_;
    sectorsOfL2_ = 4.0 * machine.l2.sets * machine.l2.ways * machine.slices();
    for (const MemoryRange& range : resident) residentSectors_ += static_cast<double>(range.bytes) / 32;
}

bool TrafficOfWaves::covers(const Machine& machine, const KernelTemplate& kernel) {
    return machine.dies < 2 && machine.lastLevel.bytes <= 0 && !machine.idealMemory && !kernel.regions(0).empty();
}

bool TrafficOfWaves::isResident(const TemplateRegion& region) const {
    for (const MemoryRange& range : resident_) {
        if (region.first >= range.first && region.first < range.first + range.bytes) return true;
    }
    return false;
}

TrafficOfWaves::Wave TrafficOfWaves::wave(std::int64_t at) const {
    Wave out;
    const std::int64_t end = std::min(kernel_.header().blocks(), (at + 1) * perWave_);
    for (std::int64_t block = at * perWave_; block < end; ++block) {
        const auto regions = kernel_.regions(block);
        out.resize(regions.size());
        for (std::size_t i = 0; i < regions.size(); ++i) {
            const TemplateRegion& r = regions[i];
            if (r.rows <= 0 || r.bytes <= 0) continue;
            const double all = static_cast<double>(r.rows) * static_cast<double>(r.bytes);
            // Rows of a convolution's windows lie over each other.
            const double span = r.rows > 1 ? static_cast<double>(r.rows - 1) * r.stride + static_cast<double>(r.bytes)
                                           : static_cast<double>(r.bytes);
            out[i].push_back({r.first, 1, all / 32, std::min(all, span) / 32, r});
        }
    }
    for (auto& places : out) {
        std::stable_sort(places.begin(), places.end(),
                         [](const Place& a, const Place& b) { return a.first < b.first; });
        std::size_t kept = 0;
        for (std::size_t i = 1; i < places.size(); ++i) {
            Place& last = places[kept];
            if (places[i].first != last.first) {
                places[++kept] = places[i];
                continue;
            }
            ++last.blocks;
            // Of a causal attention some see less of the same keys.
            last.asked += places[i].asked;
            if (places[i].distinct > last.distinct) last.distinct = places[i].distinct, last.region = places[i].region;
        }
        if (!places.empty()) places.resize(kept + 1);
    }
    return out;
}

WaveTraffic TrafficOfWaves::of(std::int64_t first, std::int64_t last) const {
    WaveTraffic out;
    first = std::clamp<std::int64_t>(first, 0, waves_ - 1), last = std::clamp<std::int64_t>(last, first, waves_ - 1);
    struct Sum {
        double asked = 0, missing = 0, fetched = 0;
    };
    std::vector<Sum> sums;
    double comesIn = 0, drivenOut = 0, waves = 0;
    const std::int64_t step = (last - first) / mostWaves + 1;
    for (std::int64_t at = first; at <= last; at += step) {
        const Wave now = wave(at);
        const Wave before = at > 0 ? wave(at - 1) : Wave{};
        sums.resize(std::max(sums.size(), now.size()));
        double touched = 0, written = 0, fresh = 0;
        for (const auto& places : now) {
            for (const Place& place : places) touched += place.distinct;
        }
        const bool stays = touched <= sectorsOfL2_;
        for (std::size_t i = 0; i < now.size(); ++i) {
            for (const Place& place : now[i]) {
                const auto same = [&](const std::vector<Place>& places) {
                    return std::binary_search(places.begin(), places.end(), place,
                                              [](const Place& a, const Place& b) { return a.first < b.first; });
                };
                sums[i].asked += place.asked;
                if (isResident(place.region) || (stays && i < before.size() && same(before[i]))) continue;
                sums[i].missing += place.asked, sums[i].fetched += place.distinct;
                fresh += place.distinct;
                if (place.region.written) written += place.distinct;
            }
        }
        const double held = residentSectors_ + static_cast<double>(at) * fresh;
        comesIn += fresh, out.fetched += fresh - written, ++waves;
        if (fresh > 0)
            drivenOut += std::clamp(held + fresh - std::max(held, sectorsOfL2_), 0.0, fresh) * written / fresh;
        if (at == first) services(now, out);
    }
    for (const Sum& sum : sums) {
        out.operands.push_back({sum.asked > 0 ? sum.missing / sum.asked : 0,
                                sum.missing > 0 ? std::min(1.0, sum.fetched / sum.missing) : 1});
    }
    out.writeBacks = comesIn > 0 ? drivenOut / comesIn : 0;
    out.fetched /= waves, out.drivenOut = drivenOut / waves;
    return out;
}

// Some steps' sectors of all blocks, laid over slices and channels: the fullest of them takes as long as they.
void TrafficOfWaves::services(const Wave& wave, WaveTraffic& out) const {
    const AddressMap map(machine_);
    const DramTiming& t = machine_.dram;
    struct Channel {
        double sectors = 0, opened = 0;
        std::vector<double> groups, banks;
    };
    std::vector<Channel> channels(static_cast<std::size_t>(machine_.channels));
    for (Channel& channel : channels) {
        channel.groups.assign(static_cast<std::size_t>(t.groups), 0);
        channel.banks.assign(static_cast<std::size_t>(t.banks), 0);
    }
    std::vector<double> slices(static_cast<std::size_t>(machine_.slices()), 0);
    std::map<std::uint64_t, double> rows;  // sectors by channel, bank and row
    bool loops = false;
    for (const auto& places : wave) {
        for (const Place& place : places) loops |= hasSteps(place.region);
    }
    double sectors = 0;
    std::size_t laid = 0;
    for (const auto& places : wave) {
        for (const Place& place : places) {
            const TemplateRegion& r = place.region;
            if (loops != hasSteps(r)) continue;
            // Not the first step, where there are others; a queue evens out what a pipeline's depth brings.
            const std::int64_t from = r.bytes >= 2 * r.piece ? r.piece : 0,
                               length = std::min(ahead_ * r.piece, r.bytes - from);
            const bool fetched = !r.written && !isResident(r);
            for (std::int64_t row = 0; row < r.rows && laid < mostSectorsLaid; ++row) {
                const auto begin = r.first + static_cast<std::uint64_t>(static_cast<double>(row) * r.stride) +
                                   static_cast<std::uint64_t>(from);
                for (std::uint64_t at = begin & ~std::uint64_t{31};
                     at < begin + static_cast<std::uint64_t>(length) && laid < mostSectorsLaid; at += 32, ++laid) {
                    const auto spot = map.spot(at);
                    slices[spot.slice] += static_cast<double>(place.blocks);
                    if (!fetched) continue;
                    const std::size_t channel = spot.slice / static_cast<unsigned>(machine_.slicesPerChannel);
                    ++sectors, ++channels[channel].sectors;
                    ++channels[channel].groups[spot.bank & (channels[channel].groups.size() - 1)];
                    ++rows[(std::uint64_t{spot.row} << 32) | (static_cast<std::uint64_t>(channel) << 8) | spot.bank];
                }
            }
        }
    }
    const double l2Cycle = machine_.coreMhz / machine_.l2Mhz, dramCycle = machine_.coreMhz / machine_.dramMhz;
    out.sliceCycles = l2Cycle / static_cast<double>(slices.size()) * unevenness(slices, static_cast<double>(laid));
    for (const auto& [key, count] : rows) {
        Channel& channel = channels[(key >> 8) & 0xffffff];
        ++channel.opened;
        channel.banks[(key & 0xff) % channel.banks.size()] +=
            std::max<double>(t.rc, t.rcd + (count - 1) * t.ccdl + t.rtpl + t.rp);
    }
    std::vector<double> time;
    double all = 0, opened = 0;
    for (const Channel& channel : channels) {
        time.push_back(
            std::max({channel.sectors * std::max(t.ccd, t.burst),
                      *std::max_element(channel.groups.begin(), channel.groups.end()) * t.ccdl,
                      *std::max_element(channel.banks.begin(), channel.banks.end()), channel.opened * t.rrd}));
        all += time.back(), opened += channel.opened;
    }
    const double parts = static_cast<double>(channels.size());
    const double even = dramCycle * std::max(t.ccd, t.burst) / parts;
    out.dramCycles =
        sectors > 0 ? std::max(even, dramCycle * all / (parts * sectors) * unevenness(time, sectors)) : even;
    out.openings = sectors > 0 ? opened / sectors : 0;
}

}  // namespace orrery::gpusim
