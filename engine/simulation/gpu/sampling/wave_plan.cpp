#include "simulation/gpu/sampling/wave_plan.h"

#include <algorithm>
#include <cmath>

namespace orrery::gpusim {

namespace {

// In the first waves blocks that started together fall out of step.
constexpr std::int64_t mostFirst = 16;

std::int64_t firstOf(std::int64_t inner) {
    return std::clamp<std::int64_t>(inner / 8, 1, mostFirst);
}

// One from each of `count` equal stretches of the members; all where that is as many.
void drawFrom(std::vector<Wave>& waves, std::span<const std::size_t> members, std::size_t count, int stratum,
              RandomStream& random) {
    const std::size_t n = members.size();
    count = std::min(count, n);
    for (const std::size_t at : members) waves[at].use = WaveUse::Passed, waves[at].stratum = stratum;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t from = n * i / count, end = n * (i + 1) / count;
        waves[members[from + random.below(end - from)]].use = WaveUse::Measured;
    }
}

// Blocks jump from one place of memory to another where waves passed, and both sides of the jump feel it: those that
// come next run beside those that were there.
void addNeighbours(std::vector<Wave>& waves) {
    const auto counts = [&](std::size_t i) {
        return waves[i].use == WaveUse::Measured || waves[i].use == WaveUse::Kept;
    };
    for (std::size_t i = 1; i + 1 < waves.size(); ++i) {
        if (waves[i].use == WaveUse::Passed && (counts(i - 1) || counts(i + 1))) waves[i].use = WaveUse::Beside;
    }
}

std::vector<std::size_t> innerOf(const std::vector<Wave>& waves) {
    std::vector<std::size_t> out;
    for (std::size_t i = 1; i + 1 < waves.size(); ++i) {
        if (waves[i].use == WaveUse::Passed) out.push_back(i);
    }
    return out;
}

bool isOne(std::span<const std::size_t> members, std::span<const Signature> signatures,
           std::span<const double> instructions) {
    const std::size_t first = members.front();
    return std::all_of(members.begin(), members.end(), [&](std::size_t at) {
        if (instructions[at] != instructions[first]) return false;
        for (std::size_t d = 0; d < signatureSize; ++d) {
            if (std::fabs(signatures[at][d] - signatures[first][d]) > 1e-9) return false;
        }
        return true;
    });
}

}  // namespace

std::vector<Wave> wavesOf(std::int64_t blocks, std::int64_t places) {
    const std::int64_t inner = blocks / places - 2;
    if (inner < 1) return {{blocks, WaveUse::Kept, -1}};
    std::vector<Wave> out(static_cast<std::size_t>(inner) + 2, {places, WaveUse::Passed, 0});
    std::fill_n(out.begin(), firstOf(inner), Wave{places, WaveUse::Kept, -1});
    out.back() = {blocks - (inner + 1) * places, WaveUse::Kept, -1};
    return out;
}

std::int64_t leastBlocks(std::int64_t blocks, std::int64_t places) {
    const std::int64_t inner = blocks / places - 2;
    const std::int64_t passed = inner < 1 ? 0 : inner + 1 - firstOf(inner) - 3;
    return blocks - std::max<std::int64_t>(passed, 0) * places;
}

void drawRandom(std::vector<Wave>& waves, std::int64_t units, RandomStream& random) {
    const auto inner = innerOf(waves);
    if (inner.empty()) return;
    drawFrom(waves, inner, static_cast<std::size_t>(std::max<std::int64_t>(1, units)), 0, random);
    addNeighbours(waves);
}

void drawAlike(std::vector<Wave>& waves, std::span<const Signature> signatures, std::span<const double> instructions,
               std::int64_t units, std::uint64_t seed, RandomStream& random) {
    const auto inner = innerOf(waves);
    if (inner.empty()) return;
    std::vector<Signature> points;
    for (const std::size_t at : inner) points.push_back(signatures[at]);
    // Each cluster takes two of the units at least.
    const auto most = static_cast<std::size_t>(std::clamp<std::int64_t>(units / 2, 1, 10));
    auto members = membersOf(clustersOf(points, seed, most));
    for (std::size_t c = 0; c < members.size(); ++c) {
        if (members[c].empty()) continue;
        for (std::size_t& at : members[c]) at = inner[at];
        const double share = static_cast<double>(members[c].size()) / static_cast<double>(inner.size());
        const auto count = std::max<std::int64_t>(2, std::llround(share * static_cast<double>(units)));
        const bool one = units == 1 && isOne(members[c], signatures, instructions);
        drawFrom(waves, members[c], one ? 1 : static_cast<std::size_t>(count), static_cast<int>(c), random);
    }
    addNeighbours(waves);
}

}  // namespace orrery::gpusim
