#include "methods/tile/tile_wave_convolution.h"

#include "methods/tile/tile_wave_terms.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace orrery {

namespace {

// Nominal values of what convolutions add: medians of fits to NeuSight's convolutions on each of five devices (P4,
// P100, V100, T4, A100 80 GB PCIe), a fifth of their rows.
const std::array<TileParameter, ConvolutionParameterCount>& parameterTable() {
    static const auto table = [] {
        std::array<TileParameter, ConvolutionParameterCount> all;
        std::copy(simtFamily().parameters.begin(), simtFamily().parameters.end(), all.begin());
        all[ConvolutionImplicit] = {"implicit cost",
                                    1.7,
                                    0.8,
                                    2.5,
                                    0.3,
                                    Dimension::Number,
                                    "times as long as a product of an implicit GEMM's shape takes"};
        all[ConvolutionFused] = {"fused winograd cost",
                                 1.1,
                                 0.8,
                                 3,
                                 0.3,
                                 Dimension::Number,
                                 "times as long as tiles of products of its shape take"};
        all[ConvolutionParts] = {"winograd cost",
                                 1.15,
                                 0.8,
                                 2.5,
                                 0.3,
                                 Dimension::Number,
                                 "times as long as batched products of its shape take"};
        all[ConvolutionTransform] = {"transform share",
                                     0.5,
                                     0.1,
                                     1,
                                     0.3,
                                     Dimension::Fraction,
                                     "share of the DRAM rate that Winograd's transforms reach"};
        all[ConvolutionTransformLaunch] = {
            "transform launch", 8e-5, 1e-7, 2e-4, 0.5, Dimension::Time, "time of launching Winograd's transforms"};
        return all;
    }();
    return table;
}

double positive(std::int64_t value) {
    return static_cast<double>(std::max<std::int64_t>(value, 1));
}

struct Shape {
    double batch, in, out, height, width, outHeight, outWidth, bytes;
    double inputBytes() const { return batch * in * height * width * bytes; }
    double outputBytes() const { return batch * out * outHeight * outWidth * bytes; }
};
Shape shapeOf(const Kernel& kernel) {
    const ConvolutionShape& c = kernel.convolution;
    return {positive(c.batch), positive(c.inChannels), positive(c.outChannels), positive(c.height),
            positive(c.width), positive(c.outHeight),  positive(c.outWidth),    bits(kernel.type) / 8.0};
}

bool winograd(const ConvolutionShape& c) {
    return c.kernelHeight == 3 && c.kernelWidth == 3 && c.stride == 1 && c.dilation == 1 && c.groups <= 1;
}

/// Without its launch, and longer by `cost`.
void stretch(TilePhysics& out, double cost) {
    const double run = (out.seconds - out.launch) * (cost - 1);
    out.compute *= cost, out.l2 *= cost, out.dram *= cost;
    out.seconds += run;
}

TilePhysics implicitGemm(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    TilePhysics out = simtPhysics(productOfConvolution(kernel), gpu, p);
    stretch(out, p[ConvolutionImplicit]);
    return out;
}

TilePhysics fusedWinograd(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    constexpr double tile = 128, threads = 256;
    const Shape shape = shapeOf(kernel);
    TilePhysics out;
    out.tileM = out.tileN = tile, out.tileK = 8;
    out.blocks =
        shape.batch * std::ceil(shape.out / 32) * std::ceil(shape.outHeight / 8) * std::ceil(shape.outWidth / 16);
    const double perSm = std::ceil(out.blocks / gpu.sms);
    out.blocksPerWave = 2 * gpu.sms, out.waves = out.blocks / out.blocksPerWave;
    const double perCycle = std::max(gpu.vectorPeak(kernel.type), 1.0) / (gpu.sms * gpu.clock), lanes = perCycle / 2;
    const double resident = std::min(perSm, 2.0) * threads / 32 / (lanes / 16);
    const double share = p[SimtCompute] * simtIssueShare(gpu, lanes, p) / (1 + p[SimtWarps] / resident);
    const double work = perSm * 2 * tile * tile * (shape.in + p[SimtSteps]);
    out.steps = shape.in / 8;
    out.compute = work / (perCycle * gpu.clock * std::max(share, 0.05));
    // Tiles of input overlap by two pixels; weights come transformed, 16 for 9.
    const double input = 10.0 * 18 / (8 * 16) * 128, weights = 16 * 32;
    out.l2Bytes = out.blocks * (input + weights) * shape.in * shape.bytes;
    out.l2 = out.l2Bytes / (gpu.sms * p[SimtFeed] * gpu.clock);
    out.dramBytes = shape.inputBytes() + 16 * shape.in * shape.out * shape.bytes + shape.outputBytes();
    out.dramBytes *= tile::missShare(out.dramBytes, p[SimtWarm] * std::max(gpu.l2Bytes, 1.0));
    out.dram = out.dramBytes / (p[SimtDram] * gpu.dramBandwidth);
    out.fill = shape.outHeight * shape.outWidth * shape.out * shape.batch / (out.blocks * 128 * 32);
    out.seconds = tile::slower(tile::slower(out.compute, out.l2), out.dram);
    finishSimt(out, work * gpu.sms, 0, gpu, p);
    stretch(out, p[ConvolutionFused]);
    return out;
}

TilePhysics winogradByParts(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    const Shape shape = shapeOf(kernel);
    const double tiles = shape.batch * std::ceil(shape.outHeight / 4) * std::ceil(shape.outWidth / 4);
    Kernel product;
    product.kind = KernelKind::Gemm;
    product.type = product.weightType = kernel.type;
    product.batch = 36;
    product.m = static_cast<std::int64_t>(tiles);
    product.n = static_cast<std::int64_t>(shape.out);
    product.k = static_cast<std::int64_t>(shape.in);
    TilePhysics out = simtPhysics(product, gpu, p);
    stretch(out, p[ConvolutionParts]);
    const double moved = shape.inputBytes() + shape.outputBytes() + 9 * shape.in * shape.out * shape.bytes +
                         36 * shape.bytes * (tiles * shape.in + tiles * shape.out + shape.in * shape.out);
    const double missed = moved * tile::missShare(moved, p[SimtWarm] * std::max(gpu.l2Bytes, 1.0));
    const double l2Rate = gpu.sms * 2 * p[SimtFeed] * gpu.clock;
    out.serial = p[ConvolutionTransformLaunch] +
                 tile::slower(moved / l2Rate, missed / (p[ConvolutionTransform] * gpu.dramBandwidth));
    out.dramBytes += missed;
    out.seconds += out.serial;
    return out;
}

}  // namespace

Kernel productOfConvolution(const Kernel& kernel) {
    const ConvolutionShape& shape = kernel.convolution;
    const std::int64_t groups = std::max<std::int64_t>(shape.groups, 1);
    Kernel product = kernel;
    product.kind = KernelKind::Gemm;
    product.batch = groups;
    product.m = shape.batch * shape.outHeight * shape.outWidth;
    product.n = std::max<std::int64_t>(shape.outChannels / groups, 1);
    product.k = std::max<std::int64_t>(shape.inChannels / groups, 1) * shape.kernelHeight * shape.kernelWidth;
    return product;
}

std::optional<Kernel> convolutionAsProduct(const Kernel& kernel) {
    if (kernel.kind != KernelKind::Convolution) return std::nullopt;
    const bool vectors = kernel.type == DType::F32 && kernel.convolution.groups <= 1 && !winograd(kernel.convolution);
    if (bits(kernel.type) > 16 && !vectors) return std::nullopt;
    Kernel product = productOfConvolution(kernel);
    if (product.m < 1 || product.k < 1) return std::nullopt;
    return product;
}

ConvolutionTimes convolutionTimes(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    ConvolutionTimes times{implicitGemm(kernel, gpu, p).seconds, INFINITY, INFINITY};
    if (winograd(kernel.convolution)) {
        times.fused = fusedWinograd(kernel, gpu, p).seconds;
        times.parts = winogradByParts(kernel, gpu, p).seconds;
    }
    return times;
}

TilePhysics convolutionPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> p) {
    TilePhysics best = implicitGemm(kernel, gpu, p);
    if (!winograd(kernel.convolution)) return best;
    for (const auto algorithm : {fusedWinograd, winogradByParts}) {
        const TilePhysics other = algorithm(kernel, gpu, p);
        if (other.seconds < best.seconds) best = other;
    }
    return best;
}

const TileFamily& convolutionFamily() {
    static const TileFamily family{"vector-unit convolutions",
                                   [](const Kernel& kernel) {
                                       const ConvolutionShape& shape = kernel.convolution;
                                       return kernel.kind == KernelKind::Convolution && kernel.type == DType::F32 &&
                                              shape.batch > 0 && shape.outHeight > 0 && shape.outWidth > 0 &&
                                              shape.inChannels > 0 && shape.outChannels > 0;
                                   },
                                   parameterTable(),
                                   convolutionPhysics,
                                   nullptr,
                                   0.1};
    return family;
}

}  // namespace orrery
