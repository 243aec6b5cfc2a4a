#pragma once

// Convolutions, by the algorithms that libraries choose from.
//
// On the vector units (fp32) the fastest of
//   implicit GEMM        a product with rows batch·outHeight·outWidth and a reduction over channels and kernel
//   fused Winograd       F(2×2, 3×3): a block makes 8×16 pixels of 32 channels with 16 products of 32×32 per channel,
//   that
//                        is one 128×128 tile with a reduction over channels (cuDNN's `winograd_128x128` kernels, whose
//                        grids the NeuSight table records)
//   Winograd by parts    F(4×4, 3×3): input and output are transformed through memory, 36 batched products between them
//                        (cuDNN runs cuBLAS's `sgemm` with a grid of 36 in z)
// after Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016: 36 and 144 multiplications for
// 4 and 16 pixels become 16 and 36. Both Winograds are for 3×3 kernels of stride 1 without groups or dilation.
//
// On tensor cores (16 bit and less), and where neither Winograd runs, the product of an implicit GEMM stands for a
// convolution: `convolutionAsProduct`.

#include "methods/tile/tile_family.h"
#include "methods/tile/tile_wave_simt.h"

#include <optional>

namespace orrery {

/// Places of the parameters of convolutionFamily() behind those of simtFamily().
enum ConvolutionParameter : std::size_t {
    ConvolutionImplicit = SimtParameterCount,  ///< times as long as a product of its shape takes
    ConvolutionFused,                          ///< the same, of its tiles
    ConvolutionParts,                          ///< the same, of its batched products
    ConvolutionTransform,                      ///< share of the DRAM rate that transforms reach
    ConvolutionTransformLaunch,                ///< s of the transforms' launches together
    ConvolutionParameterCount
};

const TileFamily& convolutionFamily();
TilePhysics convolutionPhysics(const Kernel& kernel, const GpuView& gpu, std::span<const double> parameters);

/// Seconds of each algorithm, launch inside; infinity where it cannot run.
struct ConvolutionTimes {
    double implicit = 0, fused = 0, parts = 0;
};
ConvolutionTimes convolutionTimes(const Kernel& kernel, const GpuView& gpu, std::span<const double> parameters);

/// The product that an implicit GEMM makes of a convolution. It keeps the convolution's shape, by which its input
/// counts once and not once per window.
Kernel productOfConvolution(const Kernel& kernel);
/// The same for convolutions that are priced as products; nothing for all other kernels. On tensor cores all are. On
/// the vector units those that no Winograd takes (1×1, strided, wide kernels): none of them stands in the table that
/// `ConvolutionImplicit` was fitted to, which has 3×3 of stride 1 alone. Where cuDNN chose an implicit GEMM in it, V100
/// reaches 10.9 TFLOP/s (median of 131 rows above 20 GFLOP, `scudnn_128x64`), as its products do.
std::optional<Kernel> convolutionAsProduct(const Kernel& kernel);

}  // namespace orrery
