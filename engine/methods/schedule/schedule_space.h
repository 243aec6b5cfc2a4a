#pragma once

// The schedules that one product may have on a drawn device: axes (tiles, order, vectors, tasks; tiles of a block,
// warps, stages, parts of the reduction), which combinations can run, and two prices of each: a cheap one from the
// loops alone, and a dear one by the device's own simulation. Tiles divide what they split on a CPU, as in TVM's
// splits.

#include "hardware/views/device_ref.h"
#include "learning/schedules/schedule_nest.h"
#include "workload/kernel.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct ScheduleAxis {
    std::string name, meaning;
    std::vector<double> values;
    std::vector<std::string> words;  ///< of each value, where numbers say nothing; else empty
    std::string textOf(std::size_t choice) const;
};

/// A combination of choices, the last axis fastest.
using SchedulePoint = std::uint32_t;

class ScheduleSpace {
public:
    virtual ~ScheduleSpace() = default;
    ScheduleSpace(const ScheduleSpace&) = delete;
    ScheduleSpace& operator=(const ScheduleSpace&) = delete;

    const std::vector<ScheduleAxis>& axes() const { return axes_; }
    /// Those that can run, rising.
    std::span<const SchedulePoint> legal() const { return legal_; }
    bool isLegal(SchedulePoint point) const;
    /// Which value of each axis.
    std::vector<std::size_t> choicesOf(SchedulePoint point) const;
    SchedulePoint pointOf(std::span<const std::size_t> choices) const;
    /// `rows 8, columns 32, …`.
    std::string textOf(SchedulePoint point) const;

    const std::string& device() const { return device_; }
    const std::string& target() const { return target_; }  ///< the method that seconds() asks: `core-windows`
    const Kernel& kernel() const { return kernel_; }

    /// What a learned model sees of a schedule: choices and what follows from them on this device, none of it a time.
    virtual const std::vector<std::string>& featureNames() const = 0;
    virtual void features(SchedulePoint point, std::span<double> out) const = 0;
    /// Seconds from the loops alone, nothing fitted: schedule_price.h on a CPU, the interval model of one tile on a
    /// GPU.
    virtual double cheapSeconds(SchedulePoint point) const = 0;
    /// Seconds by the target, with the device's launch and never below its roofline. Thread-safe; the same point the
    /// same bits. Fails with `study.cancelled` and as the simulator does.
    virtual Expected<double> seconds(SchedulePoint point, const std::stop_token& stop) const = 0;
    virtual ScheduleNest nest(SchedulePoint point) const = 0;

protected:
    ScheduleSpace() = default;
    double value(SchedulePoint point, std::size_t axis) const;
    /// Keeps the points of `axes_` for which `runs` holds. Fails with `schedules.space` where none does, and
    /// where there are more than 2²⁴ points.
    Expected<void> keep(const std::function<bool(SchedulePoint)>& runs);

    std::vector<ScheduleAxis> axes_;
    std::vector<SchedulePoint> legal_;
    std::string device_, target_;
    Kernel kernel_;
};
using ScheduleSpacePtr = std::shared_ptr<const ScheduleSpace>;

/// `gemm m=256 n=1024 k=512 fp32`, also as `gemm:m=256,n=1024,k=512`; without a type fp32 on a CPU, fp16 on a GPU. A
/// convolution only on a GPU. `target`: `core-windows` (the usual one) or `core-cycle`; `gpu-interval` (the usual one)
/// or `gpu-cycle`. Fails with `kernel.source`, `schedules.workload`, `schedules.target`, and as the device's views.
Expected<ScheduleSpacePtr> scheduleSpace(const HardwarePtr& hardware, std::string_view workload,
                                         std::string_view target = {});

/// Divisors of `extent`, at most `most` of them, evenly over their logarithms, with the first and the last.
std::vector<double> someDivisors(std::int64_t extent, std::size_t most, std::int64_t largest);

Expected<ScheduleSpacePtr> coreScheduleSpace(const HardwarePtr& hardware, const Kernel& kernel,
                                             std::string_view target);
Expected<ScheduleSpacePtr> gpuScheduleSpace(const HardwarePtr& hardware, const Kernel& kernel, std::string_view target);

}  // namespace orrery
