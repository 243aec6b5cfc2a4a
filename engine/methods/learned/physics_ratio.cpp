#include "methods/learned/physics_ratio.h"

#include "hardware/files/catalogue.h"
#include "methods/tile/tile_family.h"

#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace orrery {

namespace {

std::optional<GpuView> catalogueGpu(const std::string& id) {
    static std::mutex mutex;
    static std::map<std::string, std::optional<GpuView>> known;
    const std::scoped_lock lock(mutex);
    const auto found = known.find(id);
    if (found != known.end()) return found->second;
    auto& gpu = known[id];
    const auto loaded = loadHardware(id);
    if (!loaded) return gpu;
    if (auto view = gpuView(loaded->hardware)) gpu = std::move(*view);
    return gpu;
}

// Made once: prices allocate nothing.
std::span<const double> nominal(const TileFamily& family) {
    static const auto all = [] {
        std::vector<std::vector<double>> each;
        for (const TileFamily& one : tileFamilies()) each.push_back(nominalParameters(one));
        return each;
    }();
    return all[static_cast<std::size_t>(&family - tileFamilies().data())];
}

}  // namespace

std::optional<GpuView> learnedDevice(const CalibrationSection& section) {
    if (!section.device || section.device->id.empty()) return std::nullopt;
    auto gpu = catalogueGpu(section.device->id);
    if (!gpu || foreignDistance(section, *gpu) > 0) return std::nullopt;
    return gpu;
}

std::optional<double> physicsRatio(const Kernel& kernel, const GpuView& here, const GpuView& there) {
    const TileFamily* family = tileFamilyOf(kernel);
    if (!family) return std::nullopt;
    const std::span<const double> parameters = nominal(*family);
    const double before = family->physics(kernel, there, parameters).seconds;
    const double now = family->physics(kernel, here, parameters).seconds;
    if (!(before > 0) || !(now > 0)) return std::nullopt;
    return now / before;
}

}  // namespace orrery
