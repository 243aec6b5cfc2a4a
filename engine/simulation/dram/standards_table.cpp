// Data alone. Times that a standard gives in nanoseconds are rounded up to cycles. One row is one channel.

#include "simulation/dram/standard.h"

#include <array>
#include <vector>

namespace orrery {

namespace {

constexpr auto ramulator2 =
    "JEDEC values as in Ramulator 2.1 (github.com/CMU-SAFARI/ramulator2, python/ramulator/dram)";

DramStandard row(const char* id, const char* family, const char* source, const DramOrganisation& organisation,
                 const DramTiming& timing) {
    return {id, family, source, organisation, timing};
}

// clang-format off
// 8 Gb x8 devices, eight of them: 64 bits.
constexpr DramOrganisation ddr4{.bankGroups = 4, .banksPerGroup = 4, .rows = 65536, .columns = 1024, .busBits = 64,
    .burstLength = 8, .devicePins = 8};
// 16 Gb x8 devices, four of them: one of the two 32-bit channels of a module.
constexpr DramOrganisation ddr5{.bankGroups = 8, .banksPerGroup = 4, .rows = 65536, .columns = 1024, .busBits = 32,
    .burstLength = 16, .devicePins = 8};
constexpr DramOrganisation lpddr4{.banksPerGroup = 8, .rows = 32768, .columns = 1024, .busBits = 16,
    .burstLength = 16, .devicePins = 16};
constexpr DramOrganisation lpddr5{.bankGroups = 4, .banksPerGroup = 4, .rows = 32768, .columns = 1024, .busBits = 16,
    .burstLength = 16, .devicePins = 16};
// One of the eight channels of a stack: two pseudo-channels of 64 bits, rows of 1 KiB.
constexpr DramOrganisation hbm2{.pseudoChannels = 2, .bankGroups = 4, .banksPerGroup = 4, .rows = 32768,
    .columns = 128, .busBits = 64, .burstLength = 4, .devicePins = 128};
// One of sixteen: two pseudo-channels of 32 bits; stack identifiers count as ranks.
constexpr DramOrganisation hbm3{.pseudoChannels = 2, .ranks = 2, .bankGroups = 4, .banksPerGroup = 4, .rows = 16384,
    .columns = 256, .busBits = 32, .burstLength = 8, .devicePins = 64};
constexpr DramOrganisation hbm4{.pseudoChannels = 2, .ranks = 2, .bankGroups = 2, .banksPerGroup = 8, .rows = 16384,
    .columns = 256, .busBits = 32, .burstLength = 8, .devicePins = 64};
// One of the two 16-bit channels of a device.
constexpr DramOrganisation gddr6{.bankGroups = 4, .banksPerGroup = 4, .rows = 16384, .columns = 1024, .busBits = 16,
    .burstLength = 16, .devicePins = 16};

std::vector<DramStandard> ddr() {
    std::vector<DramStandard> rows;
    rows.push_back(row("ddr4-2400r", "DDR4", ramulator2, ddr4,
                       {.clockPicoseconds = 833, .burst = 4, .cl = 16, .cwl = 12, .rcdRead = 16, .rcdWrite = 16,
                        .rp = 16, .ras = 39, .rc = 55, .ccdS = 4, .ccdL = 6, .rrdS = 4, .rrdL = 6, .faw = 26,
                        .rtp = 9, .wr = 18, .wtrS = 3, .wtrL = 9, .rankSwitch = 2, .refi = 9364, .rfc = 421}));
    rows.push_back(row("ddr4-3200aa", "DDR4", ramulator2, ddr4,
                       {.clockPicoseconds = 625, .burst = 4, .cl = 22, .cwl = 16, .rcdRead = 22, .rcdWrite = 22,
                        .rp = 22, .ras = 52, .rc = 74, .ccdS = 4, .ccdL = 8, .rrdS = 4, .rrdL = 8, .faw = 34,
                        .rtp = 12, .wr = 24, .wtrS = 4, .wtrL = 12, .rankSwitch = 2, .refi = 12480, .rfc = 560}));
    rows.push_back(row("ddr5-4800b", "DDR5", ramulator2, ddr5,
                       {.clockPicoseconds = 416, .burst = 8, .cl = 36, .cwl = 34, .rcdRead = 36, .rcdWrite = 36,
                        .rp = 36, .ras = 77, .rc = 113, .ccdS = 8, .ccdL = 12, .ccdWriteS = 8, .ccdWriteL = 48,
                        .rrdS = 8, .rrdL = 12, .faw = 48, .rtp = 18, .wr = 72, .wtrS = 6, .wtrL = 24, .rankSwitch = 2,
                        .readToWrite = 14, .refi = 9375, .rfc = 710, .ppd = 2, .activateSlots = 2,
                        .columnSlots = 2}));
    rows.push_back(row("ddr5-6400a", "DDR5", ramulator2, ddr5,
                       {.clockPicoseconds = 312, .burst = 8, .cl = 46, .cwl = 44, .rcdRead = 46, .rcdWrite = 46,
                        .rp = 46, .ras = 103, .rc = 149, .ccdS = 8, .ccdL = 16, .ccdWriteS = 8, .ccdWriteL = 64,
                        .rrdS = 16, .rrdL = 16, .faw = 64, .rtp = 24, .wr = 96, .wtrS = 5, .wtrL = 32,
                        .rankSwitch = 2, .readToWrite = 14, .refi = 12500, .rfc = 946, .ppd = 2, .activateSlots = 2,
                        .columnSlots = 2}));
    return rows;
}

std::vector<DramStandard> lowPower() {
    std::vector<DramStandard> rows;
    // Bank refresh of the 8 Gb die (4 Gb channel); read latency with tDQSCK; commands of four cycles count from their
    // end.
    constexpr auto ramulator1 =
        "JESD209-4 values as in Ramulator 1 (github.com/CMU-SAFARI/ramulator, src/LPDDR4.h), commands of four cycles";
    rows.push_back(row("lpddr4-2400", "LPDDR4", ramulator1, lpddr4,
                       {.clockPicoseconds = 833, .burst = 8, .cl = 24, .cwl = 11, .rcdRead = 22, .rcdWrite = 22,
                        .rp = 22, .ras = 51, .rc = 73, .ccdS = 8, .ccdL = 8, .rrdS = 12, .rrdL = 12, .faw = 48,
                        .rtp = 9, .wr = 22, .wtrS = 12, .wtrL = 12, .rankSwitch = 2, .refi = 4685, .rfc = 216,
                        .rfcBank = 108, .ppd = 4, .activateSlots = 4, .columnSlots = 4}));
    rows.push_back(row("lpddr4-3200", "LPDDR4", ramulator1, lpddr4,
                       {.clockPicoseconds = 625, .burst = 8, .cl = 32, .cwl = 15, .rcdRead = 29, .rcdWrite = 29,
                        .rp = 29, .ras = 68, .rc = 97, .ccdS = 8, .ccdL = 8, .rrdS = 16, .rrdL = 16, .faw = 64,
                        .rtp = 12, .wr = 29, .wtrS = 16, .wtrL = 16, .rankSwitch = 2, .refi = 6247, .rfc = 288,
                        .rfcBank = 144, .ppd = 4, .activateSlots = 4, .columnSlots = 4}));
    // ACT-1 and ACT-2 may lie apart with other commands between them, so that an activate is counted as its ACT-2
    // alone.
    rows.push_back(row("lpddr5-6400", "LPDDR5", ramulator2, lpddr5,
                       {.clockPicoseconds = 1250, .burst = 2, .cl = 17, .cwl = 9, .rcdRead = 15, .rcdWrite = 15,
                        .rp = 15, .ras = 34, .rc = 49, .ccdS = 2, .ccdL = 4, .rrdS = 4, .rrdL = 4, .faw = 16,
                        .rtp = 8, .wr = 28, .wtrS = 5, .wtrL = 10, .rankSwitch = 2, .refi = 3125, .rfc = 168,
                        .rfcBank = 96, .ppd = 2}));
    rows.push_back(row("lpddr5x-8533", "LPDDR5", ramulator2, lpddr5,
                       {.clockPicoseconds = 938, .burst = 2, .cl = 23, .cwl = 12, .rcdRead = 20, .rcdWrite = 20,
                        .rp = 20, .ras = 46, .rc = 66, .ccdS = 2, .ccdL = 6, .rrdS = 6, .rrdL = 6, .faw = 22,
                        .rtp = 11, .wr = 38, .wtrS = 7, .wtrL = 14, .rankSwitch = 2, .refi = 4165, .rfc = 224,
                        .rfcBank = 128, .ppd = 2}));
    return rows;
}

std::vector<DramStandard> stacked() {
    std::vector<DramStandard> rows;
    rows.push_back(row("hbm2-2000", "HBM2", ramulator2, hbm2,
                       {.clockPicoseconds = 1000, .burst = 2, .cl = 14, .cwl = 5, .rcdRead = 14, .rcdWrite = 12,
                        .rp = 14, .ras = 34, .rc = 48, .ccdS = 2, .ccdL = 4, .rrdS = 4, .rrdL = 4, .faw = 15,
                        .rtp = 5, .wr = 16, .wtrS = 6, .wtrL = 8, .refi = 3900, .rfc = 260, .rfcBank = 160,
                        .refreshToRefresh
                           = 8, .activateSlots = 2, .splitCommandBus = true}));
    rows.push_back(row("hbm2-2400", "HBM2", ramulator2, hbm2,
                       {.clockPicoseconds = 833, .burst = 2, .cl = 17, .cwl = 6, .rcdRead = 17, .rcdWrite = 14,
                        .rp = 17, .ras = 40, .rc = 57, .ccdS = 2, .ccdL = 4, .rrdS = 5, .rrdL = 5, .faw = 19,
                        .rtp = 6, .wr = 19, .wtrS = 8, .wtrL = 10, .refi = 4682, .rfc = 313, .rfcBank = 193,
                        .refreshToRefresh = 10, .activateSlots = 2, .splitCommandBus = true}));
    // AttAcc's stacks; what its simulator does not state is that of hbm3-6400 in nanoseconds.
    constexpr auto attacc = "AttAcc's simulator (github.com/scale-snu/attacc_simulator, ramulator2 HBM3 preset)";
    const DramStandard hbm3Slow =
        row("hbm3-5200", "HBM3", attacc, hbm3,
                       {.clockPicoseconds = 769, .burst = 2, .cl = 17, .cwl = 9, .rcdRead = 19, .rcdWrite = 13,
                        .rp = 19, .ras = 45, .rc = 64, .ccdS = 2, .ccdL = 4, .rrdS = 4, .rrdL = 5, .faw = 20,
                        .rtp = 8, .wr = 27, .wtrS = 6, .wtrL = 9, .rankSwitch = 1, .readToWrite = 17, .refi = 5070,
                        .rfc = 456, .rfcBank = 260, .refreshToRefresh = 7, .ppd = 2, .activateSlots = 2,
                        .splitCommandBus = true});
    rows.push_back(row("hbm3-6400", "HBM3", ramulator2, hbm3,
                       {.clockPicoseconds = 625, .burst = 2, .cl = 20, .cwl = 10, .rcdRead = 31, .rcdWrite = 15,
                        .rp = 26, .ras = 45, .rc = 72, .ccdS = 2, .ccdL = 4, .rrdS = 4, .rrdL = 5, .faw = 24,
                        .rtp = 9, .wr = 33, .wtrS = 7, .wtrL = 10, .rankSwitch = 1, .readToWrite = 20, .refi = 6240,
                        .rfc = 560, .rfcBank = 320, .refreshToRefresh = 8, .ppd = 2, .activateSlots = 2,
                        .splitCommandBus
                           = true}));
    rows.push_back(row("hbm3e-9200", "HBM3", ramulator2, hbm3,
                       {.clockPicoseconds = 435, .burst = 2, .cl = 29, .cwl = 14, .rcdRead = 45, .rcdWrite = 22,
                        .rp = 37, .ras = 65, .rc = 104, .ccdS = 2, .ccdL = 6, .rrdS = 6, .rrdL = 7, .faw = 35,
                        .rtp = 13, .wr = 47, .wtrS = 10, .wtrL = 14, .rankSwitch = 2, .readToWrite = 29, .refi = 8970,
                        .rfc = 805, .rfcBank = 460, .refreshToRefresh = 8, .ppd = 2, .activateSlots = 2,
                        .splitCommandBus
                           = true}));
    rows.push_back(hbm3Slow);
    rows.push_back(row("hbm4-8000", "HBM4", ramulator2, hbm4,
                       {.clockPicoseconds = 500, .burst = 2, .cl = 20, .cwl = 10, .rcdRead = 39, .rcdWrite = 19,
                        .rp = 33, .ras = 57, .rc = 90, .ccdS = 2, .ccdL = 4, .rrdS = 5, .rrdL = 7, .faw = 30,
                        .rtp = 12, .wr = 42, .wtrS = 9, .wtrL = 13, .readToWrite = 25, .refi = 7800, .rfc = 900,
                        .rfcBank = 560, .refreshToRefresh = 8, .ppd = 2, .activateSlots = 2,
                        .splitCommandBus = true}));
    return rows;
}

std::vector<DramStandard> graphics() {
    constexpr auto source = "Samsung 8 Gb data sheet values as in Ramulator 2.1 (python/ramulator/dram/gddr6.py); tCCD from JESD250";
    // Latencies of a 14 Gb/s part at 1.35 V (there GDDR6_2000_1350mV_double; the same part at 1.25 V takes 30 cycles for
    // tRCDRD and tRP); for bursts of two cycles tCCD_S is two and tCCD_L three.
    return {row("gddr6-14000", "GDDR6", source, gddr6,
                {.clockPicoseconds = 570, .burst = 2, .cl = 24, .cwl = 6, .rcdRead = 26, .rcdWrite = 16, .rp = 26,
                 .ras = 53, .rc = 79, .ccdS = 2, .ccdL = 3, .rrdS = 7, .rrdL = 7, .faw = 28, .rtp = 4, .wr = 26,
                 .wtrS = 9, .wtrL = 11, .readToWrite = 25, .refi = 3333, .rfc = 210, .rfcBank = 105,
                 .refreshToRefresh = 14})};
}

}  // namespace

// clang-format on

std::span<const DramStandard> dramStandards() {
    static const std::vector<DramStandard> all = [] {
        std::vector<DramStandard> list;
        for (auto part : {ddr(), lowPower(), stacked(), graphics()}) list.insert(list.end(), part.begin(), part.end());
        return list;
    }();
    return all;
}

}  // namespace orrery
