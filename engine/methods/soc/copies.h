#pragma once

// What a processor takes to copy runs of bytes and to lay a tensor out anew, from the instructions that one of its
// cores runs for it (simulation/cpu/core): the loop of a copy is written for the drawn core and timed by windows of it.

#include "base/diagnostic.h"
#include "hardware/views/device_ref.h"
#include "hardware/views/parts_read.h"
#include "methods/soc/tiles.h"
#include "simulation/cpu/core/kernels/nest.h"
#include "simulation/cpu/core/machine.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace orrery {

/// Whether runs are taken out of a tensor into a tile, or put back into it.
enum class CopyWay : std::uint8_t { IntoTile, IntoTensor };

/// Integer operations of one run beside its loop: source and target from the counters of three dimensions.
inline constexpr int runOverhead = 6;

/// Runs of `bytes` each, `count` of them, one side of which lies `pitch` apart: whole registers, four a turn, then the
/// rest by halves.
pipeline::LoopNest copyNest(const pipeline::Machine& machine, std::uint64_t count, std::int64_t bytes,
                            std::int64_t pitch, CopyWay way);
/// A tensor of channels × pixels written anew as pixels × channels, element by element (SMAUG's loops).
pipeline::LoopNest layoutNest(std::int64_t channels, std::int64_t pixels, int elementBytes);

/// What one run takes, in seconds, by its bytes, its pitch and the way.
struct TimedRuns {
    std::mutex guard;
    std::map<std::tuple<std::int64_t, std::int64_t, int>, double> seconds;
};

class CopyTimes {
public:
    /// Fails as coreViews() and pipeline::machineOf() do; where cores differ, of those that there are most of.
    /// `flows`: windows pass as dataflow, a first order at a hundredth of the cost.
    static Expected<std::shared_ptr<const CopyTimes>> make(const DeviceRef& processor, bool flows = false);

    /// Seconds of all runs by so many threads on cores of their own: they share the runs evenly, and the bandwidth of
    /// main memory, past which each byte goes twice. Caches are empty before. Thread-safe; equal runs are timed once.
    double seconds(const CopyRuns& runs, CopyWay way, std::int64_t threads) const;
    double seconds(const std::vector<CopyRuns>& runs, CopyWay way, std::int64_t threads) const;
    double layoutSeconds(double channels, double pixels, double elementBytes, std::int64_t threads) const;
    /// Of one thread, one run in the middle of many.
    double runSeconds(std::int64_t bytes, std::int64_t pitch, CopyWay way) const;

    const pipeline::Machine& machine() const { return machine_; }
    std::int64_t cores() const { return cores_; }
    const PartsRead& used() const { return used_; }

private:
    CopyTimes(pipeline::Machine machine, bool flows) : machine_(std::move(machine)), flows_(flows) {}
    template <class Nest>
    double timed(const std::tuple<std::int64_t, std::int64_t, int>& key, double share, Nest&& nest) const;

    pipeline::Machine machine_;
    bool flows_ = false;
    std::int64_t cores_ = 1;
    double bandwidth_ = 0;  ///< of main memory, all cores together
    PartsRead used_;
    std::shared_ptr<TimedRuns> known_;  ///< shared by all of equal cores
};

}  // namespace orrery
