#include "methods/answer/direct_convolution.h"

namespace orrery {

std::optional<Kernel> convolutionAsStream(const Kernel& kernel) {
    if (kernel.kind != KernelKind::Convolution || kernel.convolution.groups <= 1) return std::nullopt;
    // As many elements as are read and written, half of them each.
    constexpr std::int64_t row = 1024;
    const ConvolutionShape& shape = kernel.convolution;
    const auto extent = [](std::int64_t value) { return static_cast<double>(std::max<std::int64_t>(value, 1)); };
    const double read = extent(shape.inChannels) * extent(shape.height) * extent(shape.width);
    const double written = extent(shape.outChannels) * extent(shape.outHeight) * extent(shape.outWidth);
    Kernel stream;
    stream.kind = KernelKind::Elementwise;
    stream.type = stream.weightType = kernel.type;
    stream.function = "Relu";
    stream.n = row;
    stream.m = std::max<std::int64_t>(1, static_cast<std::int64_t>(extent(shape.batch) * (read + written) / 2 / row));
    countWork(stream);
    return stream;
}

double operandSeconds(const Kernel& kernel, const GpuView& gpu) {
    constexpr double usualBytesPerCycle = 128, lane = 4;
    const double rate = gpu.sharedBandwidth > 0 ? gpu.sharedBandwidth : usualBytesPerCycle * gpu.clock;
    return kernel.flops / 2 / (rate / lane * gpu.sms);
}

std::vector<KernelNote> directConvolutionNotes() {
    return {
        {"in groups, taken as computed directly, as a stream of their input and result, for the tiles of a product "
         "would be all but empty; the interval reaches to the product"}};
}

}  // namespace orrery
