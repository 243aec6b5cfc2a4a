#pragma once

// Tags of a sectored cache for the interval model: which sectors are there, which are on their way and who waits for
// them. Time is the caller's; the same rules of allocation as the cycle simulator's cache, without its queues.

#include "simulation/gpu/machine.h"

#include <array>
#include <cstdint>
#include <vector>

namespace orrery::gpusim {

class TimedCache {
public:
    enum class Found : std::uint8_t { Hit, Pending, Missing, Refused };
    struct Line {
        std::uint64_t tag = ~std::uint64_t{0};
        std::uint8_t valid = 0, pending = 0, dirty = 0, partial = 0;  ///< a bit per sector
        std::array<std::uint16_t, 4> merged{};
        std::array<std::int32_t, 4> waiting{-1, -1, -1, -1};  ///< the latest request for the sector
        std::array<std::uint32_t, 4> written{};
        std::int32_t newer = -1, older = -1, next = -1;
    };
    void configure(const CacheShape& shape, double dirtyPercent);
    void setWays(int ways);  ///< empties it
    int ways() const { return ways_; }
    /// `line` is where it is or, if the line is absent, the one to be replaced; Refused if none may go.
    Found find(std::uint64_t sector, std::uint32_t set, std::int32_t& line);
    /// Makes the line that of the sector; the number of dirty sectors that this drives out.
    int take(std::int32_t line, std::uint64_t sector, std::uint32_t set);
    void use(std::int32_t line, std::uint32_t set);
    void write(std::int32_t line, std::uint64_t sector, std::uint32_t bytes);
    /// The sector has come.
    void fill(std::int32_t line, std::uint64_t sector);
    void invalidate();
    Line& line(std::int32_t at) { return lines_[static_cast<std::size_t>(at)]; }
    std::uint64_t tagOf(std::int32_t at) const { return lines_[static_cast<std::size_t>(at)].tag; }
    int pending = 0;  ///< sectors under way

    static unsigned sectorOf(std::uint64_t address) { return static_cast<unsigned>(address >> 5) & 3; }

private:
    void lay();  // lines are laid out at the first access: most caches of a big GPU see none
    std::int32_t lookup(std::uint64_t tag) const;
    void unlink(std::int32_t at, std::uint32_t set);
    void pushNewest(std::int32_t at, std::uint32_t set);
    std::size_t bucket(std::uint64_t tag) const;

    CacheShape shape_;
    int ways_ = 1;
    double dirtyPercent_ = 0;
    std::int64_t dirtyLines_ = 0;
    bool touched_ = false;
    std::vector<Line> lines_;
    std::vector<std::int32_t> newest_, oldest_, buckets_;
};

}  // namespace orrery::gpusim
