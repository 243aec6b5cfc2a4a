#pragma once

// Convolutions in groups, which libraries compute directly where a product's tiles would be all but empty.

#include "hardware/views/gpu_view.h"
#include "methods/kernel_method.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace orrery {

/// A convolution in groups (depthwise above all) leaves a tile of products all but empty; libraries compute it
/// directly. Then it streams its input and its result once, as a vector operator of as many bytes does. Nothing for
/// others.
std::optional<Kernel> convolutionAsStream(const Kernel& kernel);
/// And it takes no less than its operands take to come: each multiplication reads one from the L1 cache, which gives a
/// thread 4 B of the drawn rate of shared memory; of 128 B per cycle and multiprocessor where none is drawn (NVIDIA,
/// "Tesla V100 GPU architecture", 2017, and later white papers).
double operandSeconds(const Kernel& kernel, const GpuView& gpu);

/// A direct convolution in groups: its stream by `price`, and no less than its operands take. Nothing for others.
template <class Price>
std::optional<KernelPrice> directConvolution(const Kernel& kernel, const GpuView& gpu, const Price& price) {
    const auto stream = convolutionAsStream(kernel);
    if (!stream) return std::nullopt;
    KernelPrice direct = price(*stream);
    if (const double least = operandSeconds(kernel, gpu); least > direct.seconds) {
        const double longer = least / direct.seconds;
        direct.low *= longer, direct.high *= longer, direct.seconds = least;
        direct.bound = {BoundKind::Compute, -1};
    }
    return direct;
}

/// What a pricer that uses fasterConvolution() says of the kernels that it took directly (KernelPricer::notes()).
std::vector<KernelNote> directConvolutionNotes();

/// What `price` says of a kernel; of a convolution in groups the faster of that and of a direct one, which has the
/// first of directConvolutionNotes().
template <class Price>
KernelPrice fasterConvolution(const Kernel& kernel, const GpuView& gpu, const Price& price) {
    KernelPrice made = price(kernel);
    auto other = directConvolution(kernel, gpu, price);
    if (!other) return made;
    // Nobody measured which of them a library runs, nor how well: the interval reaches from one to the other.
    if (other->seconds < made.seconds) {
        std::swap(made, *other);
        made.note = 0;
    }
    made.low = std::min(made.low, made.seconds);
    made.high = std::max(made.high, other->seconds);
    // A roofline stands for the stream where the method has none: a guess, which the product still bounds.
    if (!made.priced && other->priced) made.priced = true, made.errorKnown = false;
    made.domain = DomainVerdict::Outside;
    return made;
}

}  // namespace orrery
