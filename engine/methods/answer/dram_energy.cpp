#include "methods/answer/dram_energy.h"

#include "base/text/words.h"
#include "simulation/dram/command_energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>

namespace orrery {

namespace {

constexpr double gibi = 1024.0 * 1024 * 1024;

// `DDR4-2400` is ddr4-2400r; a family alone names no rate, on which currents depend.
const DramStandard* standardNamed(std::string_view timing) {
    const std::string name = lower(timing);
    if (name.find('-') == std::string::npos) return nullptr;
    for (const DramStandard& each : dramStandards()) {
        const bool begins = each.id.starts_with(name);
        if (begins && (each.id.size() == name.size() || !std::isdigit(static_cast<unsigned char>(each.id[name.size()]))))
            return &each;
    }
    return nullptr;
}

// Published ones do not change while the program runs, and answers are asked for at every edit.
Expected<DramCurrents> currentsOf(const DramDevice& device) {
    static std::mutex mutex;
    static std::map<std::string, Expected<DramCurrents>> known;
    const std::string key = fmt::format("{}|{}|{}|{}", device.family, device.rate, device.dataPins, device.bitsPerPin);
    const std::scoped_lock lock(mutex);
    const auto found = known.find(key);
    return found != known.end() ? found->second : known.emplace(key, publishedCurrents(device)).first->second;
}

double gibibytes(double bytes) {
    const double binary = bytes / gibi;
    return std::fabs(binary - std::round(binary)) < 1e-6 * binary ? binary : bytes / 1e9;
}

}  // namespace

Expected<DrawnDramEnergy> drawnDramEnergy(const MemoryLevel& memory, const Hardware& design) {
    const DramStandard* standard = memory.kind == ComponentKind::Dram ? standardNamed(memory.timing) : nullptr;
    if (!standard) {
        return fail("dram.no-currents",
                    memory.timing.empty() ? fmt::format("{} names no timing standard", memory.name)
                                          : fmt::format("no supply currents of {} are at hand", memory.timing),
                    "a family and rate with published currents, such as DDR4-3200", {}, {{}, 0, 0, memory.path});
    }
    const DramOrganisation& o = standard->organisation;
    const DramTiming& t = standard->timing;
    const double second = t.clockPicoseconds * 1e-12;
    // Clocks are whole picoseconds; the id ends in the rate.
    const double rate = std::strtod(standard->id.c_str() + standard->id.find('-') + 1, nullptr);
    DramDevice device{standard->family, rate, o.devicePins,
                      static_cast<double>(o.rows) * o.banksPerRank() * o.columns};

    DrawnDramEnergy out;
    const Component* drawn = componentAt(design.root, memory.place);
    PartRead read{memory.place, {}};
    const auto count = [&](std::string_view name) {
        const Attribute* attribute = drawn ? drawn->find(name) : nullptr;
        const Measure* value = attribute ? std::get_if<Measure>(&attribute->value) : nullptr;
        if (!value || value->si < 1) return 0.0;
        read.attributes.emplace_back(name);
        return value->si;
    };
    const auto instances = static_cast<double>(std::max<std::int64_t>(1, memory.instances));
    const double gib = gibibytes(memory.capacity.value / instances);
    out.stacked = o.pseudoChannels > 1;
    // Of a stack the currents are of a channel, of a module they are of a chip.
    double parts = 0;
    if (out.stacked) {
        parts = count("channels");
    } else if (const double chips = count("chips"); chips > 0) {
        device.dataPins = std::max(1, static_cast<int>(std::lround(o.busBits / chips)));
        parts = chips * std::max(1.0, count("channels")) * std::max(1.0, count("ranks"));
    }
    if (parts > 0) device.bitsPerPin = 8 * gib * gibi / parts / device.dataPins;
    const auto currents = currentsOf(device);
    if (!currents) return Unexpected(currents.error());
    const auto energy = commandEnergy(
        *currents, {t.rc * second, t.ras * second, t.burst * second, t.rfc * second, t.rfcBank * second}, 1);
    if (!energy) return Unexpected(energy.error());
    const double pinBytes = currents->dataPins / 8.0;
    out.title = currents->title;
    out.devices = 8 * gib / currents->gigabits * instances;
    out.reading = JoulesPerByte(energy->read / (o.burstLength * pinBytes) + energy->activate / (o.columns * pinBytes));
    out.standing = Watts(out.devices * (energy->activeStandby + (t.refi > 0 ? energy->refresh / (t.refi * second) : 0)));
    std::ranges::sort(read.attributes);
    out.read.parts.push_back(std::move(read));
    return out;
}

}  // namespace orrery
