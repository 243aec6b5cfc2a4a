#pragma once

// Supply currents of a DRAM device as a data sheet lists them (JEDEC's IDD loops): presets/memory/*.yaml, each with its
// source. A device without published currents has no file, and nothing stands in for one.

#include "base/diagnostic.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Amperes of one rail.
struct DramRail {
    std::string name;  ///< `VDD`
    double volts = 0;
    double idd0 = 0;               ///< one bank activated and precharged every tRC
    double idd2n = 0, idd3n = 0;   ///< standby with all banks closed; with a bank open
    double idd4r = 0, idd4w = 0;   ///< reads, writes without a gap
    double idd5b = 0;              ///< refreshes of all banks without a gap
    std::optional<double> idd5pb;  ///< refreshes bank by bank
};

struct DramCurrents {
    std::string id, title, family, basis, source;
    double rate = 0;      ///< MT/s of a data pin
    int dataPins = 0;     ///< of what the currents are: a device, or a channel of a stack
    double gigabits = 0;  ///< of the same (2³⁰ bits)
    std::vector<DramRail> rails;
};

/// What tells devices apart whose currents differ.
struct DramDevice {
    std::string family;
    double rate = 0;        ///< MT/s of a data pin
    int dataPins = 0;       ///< 0: not told
    double bitsPerPin = 0;  ///< banks × rows × columns of a rank
};
/// In what the currents are of another device, a sentence each; of the same rate are those within 1 %.
std::vector<std::string> unlike(const DramCurrents& currents, const DramDevice& device);

/// Code `dram.currents` with place and key.
Expected<DramCurrents> readDramCurrents(std::string_view yaml, const std::string& path);
/// The shipped ones, sorted.
std::vector<std::string> dramCurrentsIds();
/// By id, or a file whose name ends in `.yaml`.
Expected<DramCurrents> loadDramCurrents(const std::string& idOrFile);
/// The first shipped one that is of this device. Fails with `dram.no-currents`.
Expected<DramCurrents> publishedCurrents(const DramDevice& device);

}  // namespace orrery
