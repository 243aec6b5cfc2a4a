#pragma once

// A kernel cut into waves of blocks, as many as the machine has places, and which of them are simulated.

#include "base/random.h"
#include "simulation/sampling/signatures.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::gpusim {

enum class WaveUse : std::uint8_t {
    Passed,    ///< through the caches, in no time
    Beside,    ///< simulated, so that the one behind or in front of it finds the machine as it would be
    Measured,  ///< drawn
    Kept       ///< simulated in any case: where the machine fills and empties
};

struct Wave {
    std::int64_t blocks = 0;
    WaveUse use = WaveUse::Kept;
    int stratum = -1;  ///< of those that are drawn from
};

/// Waves that a sample is planned of at most.
constexpr std::int64_t mostWaves = std::int64_t{1} << 22;

/// Whole waves, at most `mostWaves`, and at the end at least as many blocks as one has. The first eighth, one to sixteen waves, and the last
/// are kept, those between are to be drawn from. One wave of all where there are none between.
std::vector<Wave> wavesOf(std::int64_t blocks, std::int64_t places);

/// Blocks that any sample simulates at least: waves that are kept, one that is drawn, and what stands beside a jump.
/// All of them where nothing can be passed.
std::int64_t leastBlocks(std::int64_t blocks, std::int64_t places);

/// Draws `units` of the inner waves: one at random from each of equal stretches (SMARTS: Wunderlich et al., ISCA 2003).
void drawRandom(std::vector<Wave>& waves, std::int64_t units, RandomStream& random);

/// Clusters the inner waves, whose signatures and warp instructions these are (of all waves), and draws from each
/// cluster its share of `units`, at least two; one where all of it is the same (SimPoint: Sherwood et al., ASPLOS
/// 2002).
void drawAlike(std::vector<Wave>& waves, std::span<const Signature> signatures, std::span<const double> instructions,
               std::int64_t units, std::uint64_t seed, RandomStream& random);

}  // namespace orrery::gpusim
