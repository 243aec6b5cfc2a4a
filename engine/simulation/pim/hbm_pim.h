#pragma once

// Attention of one token on an HBM3 stack with multipliers beside its banks (AttAcc, Park et al., ASPLOS 2024), from
// the commands that a head needs and the timing of the banks that serve them.

#include "base/diagnostic.h"

#include <cstdint>
#include <string_view>

namespace orrery::pim {

/// Where the multipliers stand: at each bank, at each bank group, or on the buffer die.
enum class UnitPlace : std::uint8_t { Bank, BankGroup, Buffer };

/// `bank` or `BA`, `bg` or `BG`, `buffer` or `BUFFER`.
Expected<UnitPlace> placeOf(std::string_view name);
std::string_view nameOf(UnitPlace place);  ///< `bank`, `bg`, `buffer`

/// One stack: organisation, timing in command clocks. Defaults: HBM3 at 5.2 Gb/s as AttAcc's simulator states it.
struct HbmPim {
    int channels = 16, pseudoChannels = 2, ranks = 2, bankGroups = 4, banks = 4;
    int columnBytes = 32, columnsPerRow = 32;
    double clockNanoseconds = 0.769;
    int multiplyInterval = 4;        ///< between two multiply commands to all banks (tCCD_L)
    int multiplyIntervalCapped = 6;  ///< the same under the power limit of the stack
    int bufferInterval = 2;          ///< between two multiplies of the buffer die (burst)
    int rcd = 19, rp = 19, ras = 45, rtp = 8, refreshTime = 456, refreshInterval = 5070;
    int moveInterval = 2, moveIntervalSameGroup = 4;  ///< between two moves of data: other bank group, the same one
    int headsOfSoftmaxStep = 16;                      ///< keys between two moves of scores
};

struct Attention {
    std::int64_t length = 0;    ///< keys and values
    std::int64_t heads = 0;     ///< of this stack
    std::int64_t headSize = 0;  ///< elements
    int elementBytes = 2;
};

/// Commands of all channels together.
struct PimCommands {
    std::int64_t multiply = 0, softmax = 0, toMultiplier = 0, toSoftmax = 0, write = 0;
};

struct PimAttention {
    std::int64_t cycles = 0;
    double seconds = 0;
    PimCommands commands;
    // Cycles of one channel by what it does.
    std::int64_t multiplying = 0, openingRows = 0, refreshing = 0, moving = 0;
};

/// Fails with `pim.attention` for sizes below 1 or above 2^24.
Expected<PimAttention> attentionOn(const HbmPim& stack, UnitPlace place, bool powerCapped, const Attention& attention);

/// A matrix that stands in the banks times some vectors.
struct PimProduct {
    std::int64_t rows = 0;   ///< of the matrix: results of one vector
    std::int64_t depth = 0;  ///< elements of a vector
    std::int64_t vectors = 1;
    int elementBytes = 2;
};
/// Rows are dealt to the groups of all channels, depth to the banks that add up; every vector passes the open row
/// before the next one is opened. Vectors come in and results go out by moves with nothing beside them. Fails with
/// `pim.product` for sizes below 1 or above 2^31.
Expected<PimAttention> productOn(const HbmPim& stack, UnitPlace place, bool powerCapped, const PimProduct& product);

}  // namespace orrery::pim
