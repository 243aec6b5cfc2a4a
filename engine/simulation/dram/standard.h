#pragma once

// What a DRAM is: its organisation and its timing in integer cycles of the command clock, as JEDEC names them. Values
// of real standards are data with sources (standards.cpp); nothing here knows a controller.

#include "base/diagnostic.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

using DramCycle = std::int64_t;  ///< cycles of the command clock

/// One channel. A pseudo-channel has a data bus of its own and shares the command bus with its sibling; standards
/// without them have one.
struct DramOrganisation {
    int pseudoChannels = 1;
    int ranks = 1;  ///< per pseudo-channel
    int bankGroups = 1;
    int banksPerGroup = 1;
    std::int64_t rows = 0;  ///< per bank
    int columns = 0;        ///< per row, in transfers of busBits (all devices of the rank together)
    int busBits = 0;        ///< of one pseudo-channel
    int burstLength = 0;    ///< transfers per column command
    int devicePins = 0;     ///< data pins of one device, or of a stack's channel

    int burstBytes() const { return busBits * burstLength / 8; }
    int burstsPerRow() const { return columns / burstLength; }
    int banksPerRank() const { return bankGroups * banksPerGroup; }
    int banks() const { return pseudoChannels * ranks * banksPerRank(); }
    std::int64_t bytes() const { return rows * banks() * burstsPerRow() * burstBytes(); }
    bool operator==(const DramOrganisation&) const = default;
};

/// Cycles of the command clock. S: another bank group of the rank; L: the same one. Constraints between two commands
/// run from command edge to command edge, so that write-to-read is cwl + burst + wtr.
struct DramTiming {
    int clockPicoseconds = 0;
    int burst = 0;  ///< cycles of the data bus that one column command takes
    int cl = 0, cwl = 0;
    int rcdRead = 0, rcdWrite = 0, rp = 0, ras = 0, rc = 0;
    int ccdS = 0, ccdL = 0;
    int ccdWriteS = 0, ccdWriteL = 0;  ///< write to write where it differs (DDR5); 0: as for reads
    int rrdS = 0, rrdL = 0, faw = 0;
    int rtp = 0, wr = 0, wtrS = 0, wtrL = 0;
    int rankSwitch = 0;     ///< idle cycles of the data bus between bursts of two ranks
    int readToWrite = 0;    ///< read to write command of one rank; 0: cl + burst + 2 - cwl
    int refi = 0, rfc = 0;  ///< all banks of a rank; refi 0: no refresh
    int rfcBank = 0, refiBank = 0,
        refreshToRefresh = 0;                ///< per bank; 0: the standard has none. refiBank: one bank every
    int ppd = 0;                             ///< precharge to precharge of one rank
    int activateSlots = 1, columnSlots = 1;  ///< cycles that a command takes of its bus; it counts from its last one
    bool splitCommandBus = false;            ///< row and column commands in the same cycle (HBM)
    bool operator==(const DramTiming&) const = default;
};

struct DramStandard {
    std::string id;      ///< `hbm2-2000`
    std::string family;  ///< HBM2
    std::string source;
    DramOrganisation organisation;
    DramTiming timing;

    /// Bytes per second of one channel: data buses × width × rate.
    double peakBandwidth() const;
};

/// All built-in standards.
std::span<const DramStandard> dramStandards();
/// By id; the diagnostic lists the ids.
Expected<DramStandard> dramStandard(std::string_view id);
/// Whether a standard can exist: positive sizes, powers of two where buses need them, tRAS + tRP ≤ tRC + 1, bursts that
/// fit.
Diagnostics check(const DramStandard& standard);

}  // namespace orrery
