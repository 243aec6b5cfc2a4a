#pragma once

// What all blocks of a wave ask of L2 and of main memory together, from the places that they touch (`regions` of a
// template), without running any of them: which sectors are in L2 by then, how many blocks share one, how evenly
// slices, channels, banks and rows carry them.
//
// A place is in L2 when an earlier wave touched it and less than L2 holds was touched in between: the stack distance of
// a place that all waves go through in the same order is what a wave touches (PPT-GPU's reuse profiles, in closed
// form).

#include "simulation/gpu/resident.h"
#include "simulation/gpu/templates/kernel_template.h"

#include <span>
#include <vector>

namespace orrery::gpusim {

struct WaveTraffic {
    struct Operand {
        double missing = 1;  ///< share of its sectors that are not in L2 when they are asked for
        double fetches = 1;  ///< sectors that main memory sends for one of those; 1 / n where n blocks share it
    };
    std::vector<Operand> operands;      ///< as `KernelTemplate::regions` has them
    double writeBacks = 0;              ///< dirty sectors driven out of L2 per sector that comes in
    double fetched = 0, drivenOut = 0;  ///< sectors of a wave, from main memory and to it
    double sliceCycles = 0;             ///< core cycles of all slices together, per request
    double dramCycles = 0;              ///< core cycles of all channels together, per sector
    double openings = 0;                ///< rows opened, per sector
};

class TrafficOfWaves {
public:
    /// Waves of `perWave` blocks; `kernel` with its whole main loop, of which `ahead` steps are asked for at a time.
    /// All outlive it.
    TrafficOfWaves(const Machine& machine, const KernelTemplate& kernel, std::int64_t perWave,
                   std::span<const MemoryRange> resident, std::int64_t ahead = 1);
    /// The mean over waves `first` … `last`, services as in the first of them.
    WaveTraffic of(std::int64_t first, std::int64_t last) const;
    /// The template says what its blocks touch, and the machine has one L2 with main memory right behind it.
    static bool covers(const Machine& machine, const KernelTemplate& kernel);

private:
    struct Place {
        std::uint64_t first = 0;
        std::int64_t blocks = 0;  ///< that touch it
        double asked = 0;         ///< sectors, of one block
        double distinct = 0;      ///< of them
        TemplateRegion region;
    };
    using Wave = std::vector<std::vector<Place>>;  // by operand, sorted by `first`
    Wave wave(std::int64_t at) const;
    void services(const Wave& wave, WaveTraffic& out) const;
    bool isResident(const TemplateRegion& region) const;

    const Machine& machine_;
    const KernelTemplate& kernel_;
    std::int64_t perWave_ = 1, waves_ = 1, ahead_ = 1;
    double sectorsOfL2_ = 0, residentSectors_ = 0;
    std::span<const MemoryRange> resident_;
};

}  // namespace orrery::gpusim
