#pragma once

// What stands in L2 when a kernel begins, as an earlier run of it left it there. A sector is put in its place when it
// is first asked for, so that a part of a machine needs room for what its own blocks touch alone.

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::gpusim {

struct MemoryRange {
    std::uint64_t first = 0, bytes = 0;
};

class ResidentSectors {
public:
    explicit ResidentSectors(std::span<const MemoryRange> ranges) {
        for (const MemoryRange& range : ranges) {
            const std::uint64_t from = range.first >> 5, end = (range.first + range.bytes + 31) >> 5;
            ranges_.push_back({from, end, std::vector<bool>(end - from)});
        }
    }
    bool empty() const { return ranges_.empty(); }
    /// Whether the sector is one of them and was never asked for.
    bool take(std::uint64_t address) {
        const std::uint64_t sector = address >> 5;
        for (Range& range : ranges_) {
            if (sector < range.from || sector >= range.end) continue;
            const auto place = static_cast<std::size_t>(sector - range.from);
            if (range.asked[place]) return false;
            range.asked[place] = true;
            return true;
        }
        return false;
    }

private:
    struct Range {
        std::uint64_t from = 0, end = 0;  ///< sectors of 32 bytes
        std::vector<bool> asked;
    };
    std::vector<Range> ranges_;
};

}  // namespace orrery::gpusim
