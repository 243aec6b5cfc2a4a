#include "methods/gpu/machine_part.h"

#include "methods/gpu/gpu_machine.h"
#include "simulation/gpu/occupancy.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {

namespace {

// Of as many channels as a region's rows could begin in, those that they do. Rows that stand a multiple of all channels
// apart meet in one.
double reached(const gpusim::TemplateRegion& region, int channelBit, int channels) {
    std::vector<char> seen(static_cast<std::size_t>(channels), 0);
    const std::int64_t most = std::clamp<std::int64_t>(region.rows, 1, channels);
    for (std::int64_t row = 0; row < most; ++row) {
        const auto address = static_cast<std::uint64_t>(static_cast<double>(row) * region.stride);
        seen[(address >> channelBit) % static_cast<std::uint64_t>(channels)] = 1;
    }
    return static_cast<double>(std::count(seen.begin(), seen.end(), 1)) / static_cast<double>(most);
}

int channelsLike(const gpusim::Machine& whole, double wanted, const gpusim::KernelTemplate& kernel) {
    constexpr int tries = 4;
    constexpr double few = 0.25;  // of all rows' reach, that rounding may cost
    const auto regions = kernel.regions(0);
    const auto lost = [&](int channels) {
        double out = 0;
        for (const auto& one : regions)
            out += std::max(0.0,
                            reached(one, whole.channelBit, whole.channels) - reached(one, whole.channelBit, channels));
        return out;
    };
    int best = channelsNear(wanted);
    double least = lost(best);
    for (int i = 1, next = best; i < tries && least > few; ++i) {
        do ++next;
        while (channelsNear(next) != next);
        if (const double one = lost(next); one < least) least = one, best = next;
    }
    return best;
}

}  // namespace

int smsOfPart(const gpusim::Machine& whole, int parts, const gpusim::KernelTemplate& kernel) {
    const int sms = std::max(1, whole.sms / parts), cluster = gpusim::clusterOf(whole, kernel.header());
    return parts > 1 && sms >= cluster && cluster > 1 ? sms - sms % cluster : sms;
}

MachinePart partOfMachine(const gpusim::Machine& whole, int parts, const gpusim::KernelTemplate& kernel) {
    MachinePart out{whole};
    if (parts < 2) return out;
    gpusim::Machine& m = out.machine;
    m.sms = smsOfPart(whole, parts, kernel);
    out.share = static_cast<double>(m.sms) / whole.sms;
    const double wanted = whole.channels * out.share;
    m.channels = channelsLike(whole, wanted, kernel);
    const double rounding = wanted / m.channels;
    m.dramMhz *= rounding, m.l2Mhz *= rounding;
    m.l2.ways = std::max(1, static_cast<int>(std::lround(m.l2.ways * rounding)));
    m.lastLevel.bytes *= out.share;
    return out;
}

}  // namespace orrery
