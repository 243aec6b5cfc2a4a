#include "learning/schedules/tensor_work.h"

#include "base/text/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace orrery {

namespace {

Expected<TensorWork> refuse(std::string_view workload, std::string_view why) {
    return fail("schedules.workload", fmt::format("`{}` is no operator that is known here: {}", workload, why),
                "two tensors with their types, then stride and padding",
                "1x64x56x56:float32;64x64x3x3:float32;(1 1);(1 1 1 1);(1 1);float32");
}

// `1x64x56x56:float32`, every extent at least 1.
std::vector<double> extentsOf(std::string_view tensor) {
    std::vector<double> extents;
    for (const std::string_view each : splitTrimmed(tensor.substr(0, tensor.find(':')), 'x')) {
        const auto number = wholeIn(each);
        if (!number || *number < 1 || *number > (1 << 28)) return {};
        extents.push_back(static_cast<double>(*number));
    }
    return extents;
}

// `(1 1 1 1)`.
std::vector<double> numbersOf(std::string_view list) {
    std::vector<double> numbers;
    if (list.size() < 2 || list.front() != '(' || list.back() != ')') return numbers;
    for (const std::string_view each : splitTrimmed(list.substr(1, list.size() - 2), ' ')) {
        const auto number = wholeIn(each);
        if (number && *number >= 0 && *number <= (1 << 20)) numbers.push_back(static_cast<double>(*number));
    }
    return numbers;
}

double bytesOf(std::string_view tensor) {
    const auto type = tensor.substr(std::min(tensor.find(':'), tensor.size()));
    return type.ends_with("64") ? 8 : type.ends_with("16") ? 2 : type.ends_with("8") ? 1 : 4;
}

double extentAfter(double extent, double padding, double kernel, double stride) {
    return std::max(1.0, std::floor((extent + padding - kernel) / stride) + 1);
}

}  // namespace

double TensorWork::flops() const {
    const double sites = transposed ? batch * inputRows * inputColumns : batch * rows * columns;
    return 2 * sites * outputs * reduction();
}

double TensorWork::bytes() const {
    const double weights = outputs * reduction() * (product ? batch : 1);  // each product of a batch has its own
    return elementBytes * (batch * inputRows * inputColumns * inputs + weights + batch * rows * columns * outputs);
}

Expected<TensorWork> readTensorWork(std::string_view task, std::string_view workload) {
    const auto words = splitTrimmed(workload, ';');
    if (words.size() < 2) return refuse(workload, "it has less than two tensors");
    const auto a = extentsOf(words[0]), b = extentsOf(words[1]);
    if (a.empty() || b.empty()) return refuse(workload, "an extent is no whole number above 0");
    TensorWork work;
    work.elementBytes = bytesOf(words[0]);
    const bool blocked = a.size() == 6 || (task.find("packed") != task.npos && a.size() == 4 && b.size() == 4);
    if (a.size() == 2 || a.size() == 3 || (blocked && a.size() == 4)) {
        if (task.find("conv1d") != task.npos) return refuse(workload, "convolutions of one dimension are not known");
        work.product = true;
        if (blocked) {  // 1x16x1x16 and 8x16x16x16
            work.rows = a[0] * a[2], work.inputs = a[1] * a[3], work.outputs = b[0] * b[2];
        } else {
            const std::size_t first = a.size() - 2;
            if (b.size() != a.size() || a.back() != b.back()) return refuse(workload, "the two tensors do not fit");
            work.batch = a.size() == 3 ? a[0] : 1;
            work.rows = a[first], work.inputs = a.back(), work.outputs = b[first];
        }
        work.inputRows = work.rows;
        return work;
    }
    if (a.size() < 4 || b.size() < 4) return refuse(workload, "it has neither two nor four dimensions");
    const auto pads = words.size() > 3 ? numbersOf(words[3]) : std::vector<double>{};
    const auto strides = words.size() > 2 ? numbersOf(words[2]) : std::vector<double>{};
    work.batch = a[0];
    work.inputs = a[1] * (a.size() == 6 ? a[5] : a.size() == 5 ? a[4] : 1);
    work.inputRows = a[2], work.inputColumns = a[3];
    work.kernelRows = b[2], work.kernelColumns = b[3];
    work.stride = strides.empty() ? 1 : std::max(1.0, strides[0]);
    work.depthwise = task.starts_with("depthwise");
    work.winograd = task.find("winograd") != task.npos;
    work.transposed = task.find("transpose") != task.npos;
    const double block = b.size() == 6 ? (a.size() == 6 ? b[4] : b[5]) : b.size() == 5 ? b[4] : 1;
    work.outputs = work.transposed && a.size() == 4 ? b[1] : b[0] * block;
    if (work.depthwise) work.groups = work.outputs = work.inputs;
    const double down = pads.size() == 4 ? pads[0] + pads[2] : pads.empty() ? 0 : 2 * pads[0];
    const double across = pads.size() == 4 ? pads[1] + pads[3] : pads.size() > 1 ? 2 * pads[1] : down;
    const double stepAcross = strides.size() > 1 ? std::max(1.0, strides[1]) : work.stride;
    if (work.transposed) {
        work.rows = std::max(1.0, (work.inputRows - 1) * work.stride + work.kernelRows - down);
        work.columns = std::max(1.0, (work.inputColumns - 1) * stepAcross + work.kernelColumns - across);
    } else {
        work.rows = extentAfter(work.inputRows, down, work.kernelRows, work.stride);
        work.columns = extentAfter(work.inputColumns, across, work.kernelColumns, stepAcross);
    }
    // What each output channel reads, where groups are not stated.
    if (!work.depthwise && !work.transposed && a.size() == 4 && b[1] < work.inputs && b.size() == 4)
        work.groups = std::max(1.0, std::round(work.inputs / b[1]));
    return work;
}

}  // namespace orrery
