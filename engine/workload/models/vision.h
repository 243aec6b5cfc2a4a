#pragma once

// Image and diffusion models. The classifiers are as torchvision defines them: batch normalisation stands as an
// operator of its own, as in its modules. (An exported ONNX file has it folded into the convolution before it.)

#include "workload/models/builder.h"

#include <array>

namespace orrery {

/// Simonyan and Zisserman, table 1: convolutions before each pooling.
struct VggSize {
    const char* name;
    std::array<int, 5> depths;
};
struct ResNetSize {
    const char* name;
    std::array<std::int64_t, 4> depth;  ///< blocks of each stage
    bool bottleneck = true;             ///< 1×1, 3×3, 1×1; else two 3×3
    std::int64_t groups = 1;            ///< of the 3×3 convolution of a bottleneck
    std::int64_t groupWidth = 64;       ///< its channels in a group at the first stage
};
struct VitSize {
    const char* name;
    std::int64_t patch, hidden, heads, layers;
};

Graph buildAlexNet(const WorkloadOptions& options);
Graph buildVgg(const VggSize& size, const WorkloadOptions& options);
Graph buildResNet(const ResNetSize& size, const WorkloadOptions& options);
Graph buildMobileNetV2(const WorkloadOptions& options);
Graph buildEfficientNetB0(const WorkloadOptions& options);
Graph buildVit(const VitSize& size, const WorkloadOptions& options);
/// One denoising step. `image` is the side of the picture in pixels; the latent is an eighth of it.
Graph buildStableDiffusionUnet(const WorkloadOptions& options);
Graph buildDitXl2(const WorkloadOptions& options);

}  // namespace orrery
