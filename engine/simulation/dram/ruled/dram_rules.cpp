#include "simulation/dram/ruled/dram_rules.h"

#include <algorithm>

namespace orrery {

std::int64_t DramRules::banks() const {
    std::int64_t n = 1;
    for (int l = 0; l <= bankLevel(); ++l) n *= count[static_cast<std::size_t>(l)];
    return n;
}

double DramRules::cycleSeconds() const {
    return static_cast<double>(timingOf("tCK_ps")) * 1e-12;
}

int DramRules::dataBuses() const {
    for (std::size_t l = 0; l < levels.size() && l < count.size(); ++l)
        if (levels[l] == "PseudoChannel") return static_cast<int>(count[l]);
    return 1;
}

double DramRules::peakBandwidth() const {
    return dataBuses() * burstBytes() / (static_cast<double>(timingOf("nBL")) * cycleSeconds());
}

std::int64_t DramRules::burstPace() const {
    return std::max<std::int64_t>(1, timingOf("nBL") / dataBuses());
}

std::int64_t DramRules::timingOf(std::string_view name) const {
    for (std::size_t i = 0; i < timingNames.size() && i < timing.size(); ++i)
        if (timingNames[i] == name || (name == "nBL" && timingNames[i] == "nBL_min")) return timing[i];
    return 0;
}

int DramRules::commandOf(std::string_view name) const {
    const auto found = std::find(commands.begin(), commands.end(), name);
    return found == commands.end() ? -1 : static_cast<int>(found - commands.begin());
}

}  // namespace orrery
