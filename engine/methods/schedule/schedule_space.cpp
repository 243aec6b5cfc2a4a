#include "methods/schedule/schedule_space.h"

#include "hardware/views/gpu_view.h"
#include "methods/cpu/cpu_view.h"
#include "workload/kernel_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr std::size_t mostPoints = std::size_t{1} << 24;

// `gemm:m=1,n=2` → `gemm fp16 m=1 n=2`: a type that is named later stands. Empty where nothing is asked.
std::string plainSource(std::string_view workload, std::string_view type) {
    std::string text(workload);
    if (text.starts_with("kernel:")) text.erase(0, 7);
    std::replace(text.begin(), text.end(), ':', ' ');
    std::replace(text.begin(), text.end(), ',', ' ');
    text.erase(0, text.find_first_not_of(' '));
    if (text.empty()) return text;
    text.insert(std::min(text.find(' '), text.size()), fmt::format(" {}", type));
    return text;
}

}  // namespace

std::string ScheduleAxis::textOf(std::size_t choice) const {
    return words.empty() ? fmt::format("{} {:g}", name, values[choice]) : words[choice];
}

bool ScheduleSpace::isLegal(SchedulePoint point) const {
    return std::binary_search(legal_.begin(), legal_.end(), point);
}

std::vector<std::size_t> ScheduleSpace::choicesOf(SchedulePoint point) const {
    std::vector<std::size_t> choices(axes_.size());
    std::size_t left = point;
    for (std::size_t i = axes_.size(); i-- > 0;) {
        choices[i] = left % axes_[i].values.size();
        left /= axes_[i].values.size();
    }
    return choices;
}

SchedulePoint ScheduleSpace::pointOf(std::span<const std::size_t> choices) const {
    std::size_t point = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) point = point * axes_[i].values.size() + choices[i];
    return static_cast<SchedulePoint>(point);
}

std::string ScheduleSpace::textOf(SchedulePoint point) const {
    const auto choices = choicesOf(point);
    std::string text;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        if (axes_[i].values.size() < 2) continue;
        if (!text.empty()) text += ", ";
        text += axes_[i].textOf(choices[i]);
    }
    return text;
}

double ScheduleSpace::value(SchedulePoint point, std::size_t axis) const {
    std::size_t left = point;
    for (std::size_t i = axes_.size() - 1; i > axis; --i) left /= axes_[i].values.size();
    return axes_[axis].values[left % axes_[axis].values.size()];
}

Expected<void> ScheduleSpace::keep(const std::function<bool(SchedulePoint)>& runs) {
    std::size_t all = 1;
    for (const ScheduleAxis& axis : axes_) {
        all *= axis.values.size();
        if (all == 0 || all > mostPoints) break;
    }
    if (all > mostPoints)
        return fail("schedules.space",
                    fmt::format("{} on {} has too many schedules to look at each", toText(kernel_), device_),
                    fmt::format("at most {} combinations of choices", mostPoints),
                    "choose smaller extents, or extents with fewer divisors");
    for (std::size_t point = 0; point < all; ++point)
        if (runs(static_cast<SchedulePoint>(point))) legal_.push_back(static_cast<SchedulePoint>(point));
    if (legal_.empty())
        return fail("schedules.space", fmt::format("no schedule of {} can run on {}", toText(kernel_), device_), {},
                    "choose larger extents, or a device with more registers or shared memory");
    return {};
}

std::vector<double> someDivisors(std::int64_t extent, std::size_t most, std::int64_t largest) {
    // In pairs of product `extent`, so that the longest loop has a step per whole number up to its root.
    std::vector<double> all, above;
    for (std::int64_t i = 1; i <= extent / i; ++i) {
        if (extent % i != 0) continue;
        const std::int64_t other = extent / i;
        if (i <= largest) all.push_back(static_cast<double>(i));
        if (other != i && other <= largest) above.push_back(static_cast<double>(other));
    }
    all.insert(all.end(), above.rbegin(), above.rend());
    if (all.size() <= most) return all;
    std::vector<double> some;
    const double top = std::log2(all.back());
    for (std::size_t i = 0; i < most; ++i) {
        const double wanted = top * static_cast<double>(i) / static_cast<double>(most - 1);
        const auto near = std::min_element(all.begin(), all.end(), [&](double a, double b) {
            return std::abs(std::log2(a) - wanted) < std::abs(std::log2(b) - wanted);
        });
        if (some.empty() || *near > some.back()) some.push_back(*near);
    }
    return some;
}

Expected<ScheduleSpacePtr> scheduleSpace(const HardwarePtr& hardware, std::string_view workload,
                                         std::string_view target) {
    const auto device = firstDevice(hardware);
    if (!device) return Unexpected(device.error());
    const bool gpu = gpuView(*device).has_value();
    if (!gpu) {
        if (auto cpu = cpuView(*device); !cpu) return Unexpected(cpu.error());
    }
    const std::string source = plainSource(workload, gpu ? "fp16" : "fp32");
    if (source.empty())
        return fail("kernel.source", fmt::format("the workload `{}` names no kernel", workload), "a kind and its sizes",
                    "gemm:m=256,n=1024,k=512");
    auto kernel = kernelFromSource(source);
    if (!kernel) return Unexpected(kernel.error());
    const bool product = kernel->kind == KernelKind::Gemm || (gpu && kernel->kind == KernelKind::Convolution);
    if (!product)
        return fail("schedules.workload", fmt::format("{} has no space of schedules here", toText(*kernel)),
                    gpu ? "a matrix product or a convolution" : "a matrix product", "gemm:m=256,n=1024,k=512");
    return gpu ? gpuScheduleSpace(hardware, *kernel, target) : coreScheduleSpace(hardware, *kernel, target);
}

}  // namespace orrery
