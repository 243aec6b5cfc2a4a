#pragma once

// The part of a last-level cache that stands in front of one memory channel: which sectors of 32 bytes it holds, and
// which of them main memory lacks. Lines of 128 bytes, least recently used first.

#include "simulation/gpu/machine.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace orrery::gpusim {

class LastLevelTags {
public:
    explicit LastLevelTags(const Machine& machine) {
        if (machine.lastLevel.bytes <= 0) return;
        const double lines = machine.lastLevel.bytes / machine.channels / 128;
        while (static_cast<double>(sets_) * 2 * ways <= lines) sets_ *= 2;
        ways_ = static_cast<std::size_t>(lines) / sets_;
        lines_.assign(sets_ * ways_, {});
    }
    bool present() const { return !lines_.empty(); }

    template <class Archive>
    void keep(Archive& archive) {
        archive(time_, lines_);
    }

    struct Found {
        bool hit = false;
        std::optional<std::uint64_t> writtenBack;  ///< address of a line that main memory must take
        int sectors = 0;                           ///< of it
    };
    /// `address` is that of a sector in this channel; the line is held from then on.
    Found access(std::uint64_t address, bool write, int writtenSectors = 1) {
        const std::uint64_t line = address >> 7;
        // Channels take addresses in turn of 256 bytes, so neighbouring lines here stand far apart.
        const std::uint64_t mixed = line * 0x9e3779b97f4a7c15ull >> 40;
        Line* const set = &lines_[(mixed & (sets_ - 1)) * ways_];
        const auto bit = static_cast<std::uint8_t>(1u << ((address >> 5) & 3));
        Found out;
        Line* oldest = set;
        for (Line* one = set; one < set + ways_; ++one) {
            if (one->tag == line && one->valid) {
                out.hit = (one->valid & bit) != 0;
                take(*one, bit, write, writtenSectors);
                return out;
            }
            if (one->used < oldest->used) oldest = one;
        }
        if (oldest->valid && oldest->dirty) out.writtenBack = oldest->tag << 7, out.sectors = oldest->dirty;
        *oldest = Line{line, 0, 0, 0};
        take(*oldest, bit, write, writtenSectors);
        return out;
    }

private:
    static constexpr std::size_t ways = 16;
    struct Line {
        std::uint64_t tag = 0, used = 0;
        std::uint8_t valid = 0;  ///< a bit per sector
        std::uint8_t dirty = 0;  ///< how many
    };
    void take(Line& line, std::uint8_t bit, bool write, int writtenSectors) {
        line.valid |= write && writtenSectors >= 4 ? std::uint8_t{15} : bit;
        if (write) line.dirty = static_cast<std::uint8_t>(std::max<int>(line.dirty, writtenSectors));
        line.used = ++time_;
    }
    std::size_t sets_ = 1, ways_ = 0;
    std::uint64_t time_ = 0;
    std::vector<Line> lines_;
};

}  // namespace orrery::gpusim
