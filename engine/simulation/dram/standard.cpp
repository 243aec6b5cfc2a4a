#include "simulation/dram/standard.h"

#include <fmt/format.h>

namespace orrery {

double DramStandard::peakBandwidth() const {
    const double perBurst = double(organisation.pseudoChannels) * organisation.burstBytes();
    return perBurst / (timing.burst * timing.clockPicoseconds * 1e-12);
}

Expected<DramStandard> dramStandard(std::string_view id) {
    std::string known;
    for (const auto& standard : dramStandards()) {
        if (standard.id == id) return standard;
        known += (known.empty() ? "" : ", ") + standard.id;
    }
    return fail("dram.unknown-standard", fmt::format("there is no DRAM standard '{}'", id), "one of " + known,
                "name one of these, or give organisation and timing yourself");
}

namespace {

bool isPowerOfTwo(std::int64_t value) {
    return value > 0 && (value & (value - 1)) == 0;
}

}  // namespace

Diagnostics check(const DramStandard& standard) {
    Diagnostics found;
    const auto refuse = [&](std::string message, std::string expected) {
        Diagnostic d;
        d.code = "dram.bad-standard";
        d.message = std::move(message);
        d.expected = std::move(expected);
        d.hint = "compare with the data sheet or with a built-in standard";
        d.place.path = standard.id;
        found.push_back(std::move(d));
    };
    const auto& o = standard.organisation;
    const auto& t = standard.timing;
    const auto within = [&](const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
        if (value < least || value > most)
            refuse(fmt::format("{} is {}", name, value), fmt::format("between {} and {}", least, most));
        return value >= least && value <= most;
    };
    bool sizes = within("pseudo-channels", o.pseudoChannels, 1, 16);
    sizes &= within("ranks", o.ranks, 1, 64);
    sizes &= within("bank groups", o.bankGroups, 1, 64);
    sizes &= within("banks per group", o.banksPerGroup, 1, 64);
    sizes &= within("rows", o.rows, 1, std::int64_t(1) << 32);
    sizes &= within("columns", o.columns, 1, 1 << 24);
    sizes &= within("bus bits", o.busBits, 4, 4096);
    sizes &= within("burst length", o.burstLength, 1, 256);
    if (sizes) {
        if (o.banks() > 1024) refuse(fmt::format("a channel has {} banks", o.banks()), "at most 1024");
        if (o.columns % o.burstLength != 0)
            refuse(fmt::format("{} columns are not whole bursts of {}", o.columns, o.burstLength),
                   "a multiple of the burst length");
        if (!isPowerOfTwo(o.burstBytes()) || o.busBits * o.burstLength % 8 != 0)
            refuse(fmt::format("a burst has {} bits", o.busBits * o.burstLength), "a power of two of bytes");
    }
    constexpr int most = 1'000'000;
    within("clock (ps)", t.clockPicoseconds, 1, most);
    within("burst cycles", t.burst, 1, 1024);
    for (const auto& [name, value] : {std::pair{"tCL", t.cl},
                                      {"tCWL", t.cwl},
                                      {"tRCD (read)", t.rcdRead},
                                      {"tRCD (write)", t.rcdWrite},
                                      {"tRP", t.rp},
                                      {"tRAS", t.ras},
                                      {"tRC", t.rc},
                                      {"tCCD_S", t.ccdS},
                                      {"tCCD_L", t.ccdL}})
        within(name, value, 1, most);
    for (const auto& [name, value] : {std::pair{"tRRD_S", t.rrdS},
                                      {"tRRD_L", t.rrdL},
                                      {"tFAW", t.faw},
                                      {"tRTP", t.rtp},
                                      {"tWR", t.wr},
                                      {"tWTR_S", t.wtrS},
                                      {"tWTR_L", t.wtrL},
                                      {"rank switch", t.rankSwitch},
                                      {"read to write", t.readToWrite},
                                      {"tREFI", t.refi},
                                      {"tRFC", t.rfc},
                                      {"tRFC per bank", t.rfcBank},
                                      {"tREFI per bank", t.refiBank},
                                      {"tRREFD", t.refreshToRefresh},
                                      {"tPPD", t.ppd},
                                      {"tCCD_S of writes", t.ccdWriteS},
                                      {"tCCD_L of writes", t.ccdWriteL}})
        within(name, value, 0, most);
    within("cycles of an activate on its bus", t.activateSlots, 1, 8);
    within("cycles of a column command on its bus", t.columnSlots, 1, 8);
    if (!found.empty()) return found;
    if (t.ccdS < t.burst)
        refuse(fmt::format("tCCD_S {} is shorter than a burst of {}", t.ccdS, t.burst), "bursts that do not overlap");
    if (t.ccdL < t.ccdS) refuse(fmt::format("tCCD_L {} is below tCCD_S {}", t.ccdL, t.ccdS), "tCCD_L ≥ tCCD_S");
    if (t.rrdL < t.rrdS) refuse(fmt::format("tRRD_L {} is below tRRD_S {}", t.rrdL, t.rrdS), "tRRD_L ≥ tRRD_S");
    if (t.rc < t.ras) refuse(fmt::format("tRC {} is below tRAS {}", t.rc, t.ras), "tRC ≈ tRAS + tRP");
    if (t.refi > 0 && t.rfc >= t.refi)
        refuse(fmt::format("tRFC {} leaves no time within tREFI {}", t.rfc, t.refi), "tRFC well below tREFI");
    return found;
}

}  // namespace orrery
