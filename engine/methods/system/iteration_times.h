#pragma once

// From a pool's slot to its iteration time, kept by what it depends on.

#include "hardware/views/gpu_view.h"
#include "methods/model/kernel_iteration.h"
#include "methods/system/planned_fleet.h"
#include "serving/serving_scenario.h"

#include <list>
#include <mutex>
#include <optional>
#include <string>

namespace orrery {

struct IterationTimes::Parts {
    using Time = std::shared_ptr<const KernelIterationTime>;
    /// How many of those used last are kept: each takes up to some megabytes, and every edit of a device makes another.
    std::size_t most = 16;
    Time find(const std::string& key);  ///< null if there is none
    void add(const std::string& key, Time time);
    std::size_t size();

private:
    std::mutex guard_;
    std::list<std::pair<std::string, Time>> made_;  ///< used last first
};

/// What a pool runs on.
struct PoolDevice {
    DeviceView device;
    std::optional<GpuView> gpu;  ///< where it is one: power, links
    std::string key;             ///< equal for devices that price alike
    std::int64_t drawn = 1;      ///< copies in the drawing
    double readRate = 0;         ///< B/s that main memory gives to reads alone, with pages as the pool's method says
    std::shared_ptr<const Hardware> design;
    ComponentPath place;  ///< in the design
    double bandwidth() const { return gpu ? gpu->dramBandwidth : device.main().bandwidth.value; }
    double memoryBytes() const { return gpu ? gpu->dramBytes : device.main().capacity.value; }
};
/// The device that a pool names, with pages as the option `pages` of its kernel method says. Fails with
/// `serving.no-device` and as gpuView() and placePages() do.
Expected<PoolDevice> poolDevice(const PoolSpec& pool, const std::shared_ptr<const Hardware>& drawing);

/// The kernels' iteration time of `model` (a source) on a pool; from the cache where it was made before.
Expected<std::shared_ptr<const KernelIterationTime>> kernelIterationOf(const std::string& model,
                                                                       const ServedModel& types, const PoolSpec& pool,
                                                                       const PoolDevice& device,
                                                                       const FleetOptions& options);
/// What the pool says of the experts of `config`, with its trace read. Fails as readExpertTrace() does.
Expected<ExpertRouting> routingOf(const PoolSpec& pool, const TransformerConfig& config);
/// The slot's iteration time: kernels, table or law.
Expected<IterationTimePtr> iterationTimeOf(const PoolSpec& pool, const IterationLaunches& launches,
                                           const std::shared_ptr<const KernelIterationTime>& kernels);

}  // namespace orrery
