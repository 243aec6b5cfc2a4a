#pragma once

// Which part of an address chooses channel, rank, bank, row and column: a string of fields from the most to the least
// significant, as controllers document it. It decides whether a stream meets one bank group or all of them, and with
// that up to half of the bandwidth, so it is a knob that users see.

#include "base/diagnostic.h"
#include "simulation/dram/standard.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

/// Where one burst lies. `bank` counts all banks of a channel:
/// ((pseudo-channel × ranks + rank) × bank groups + bank group) × banks per group + bank.
struct DramAddress {
    int channel = 0;
    int bank = 0;
    std::int32_t column = 0;  ///< in bursts
    std::int64_t row = 0;
    bool operator==(const DramAddress&) const = default;
};

/// Fields of two letters: `Ch` channel, `Pc` pseudo-channel, `Ra` rank, `Bg` bank group, `Ba` bank, `Ro` row, `Co`
/// column (in bursts; the bytes of a burst are always lowest). Where `Pc` is not named it stands right of `Ra`, where
/// `Bg` is not named right of `Ba`. A number after a field takes that many values of its lowest part and leaves the
/// rest to a mention further left: `RoCoBaBgCo4Ch` puts four bursts of a row side by side. Sizes need not be powers of
/// two. Examples: `RoBaRaCoCh`, `ChRaBaRoCo`, `RoCoBaRaBgCh`.
class DramAddressMap {
public:
    static Expected<DramAddressMap> parse(std::string_view text, const DramOrganisation& organisation, int channels,
                                          bool permuteBanks = false);

    /// Of the burst with this index (address / burst bytes). Indices beyond the capacity wrap around.
    DramAddress decode(std::int64_t burst) const;
    std::int64_t encode(const DramAddress& address) const;

    std::int64_t bursts() const { return bursts_; }  ///< capacity of all channels
    int channels() const { return channels_; }
    int channelOf(std::int64_t burst) const { return int(burst / belowChannel_ % channels_); }
    const std::string& text() const { return text_; }

    /// Bursts of one channel in the range [first, first + count), and the n-th of them; both by arithmetic, so that a
    /// long transfer needs no list of its bursts.
    std::int64_t countOfChannel(int channel, std::int64_t first, std::int64_t count) const;
    std::int64_t burstOfChannel(int channel, std::int64_t ordinal) const;  ///< ordinal from address 0
    std::int64_t ordinalsBefore(int channel, std::int64_t burst) const;    ///< bursts of the channel below this one

private:
    struct Digit {
        int field = 0;            ///< row of fields_
        std::int64_t size = 1;    ///< values
        std::int64_t weight = 1;  ///< within its field
        int shift = -1;           ///< log2 of size, or -1
    };
    std::array<Digit, 16> digits_{};  ///< least significant first
    int digitCount_ = 0;
    int channels_ = 1;
    DramOrganisation organisation_;
    std::int64_t bursts_ = 0;
    std::int64_t belowChannel_ = 1;  ///< product of the digits less significant than the channel
    bool permuteBanks_ = false;
    std::string text_;
};

}  // namespace orrery
