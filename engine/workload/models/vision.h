#pragma once

// Image and diffusion models. The classifiers are as torchvision defines them: batch normalisation stands as an
// operator of its own, as in its modules. (An exported ONNX file has it folded into the convolution before it.)

#include "workload/models/builder.h"

namespace orrery {

Graph buildAlexNet(const WorkloadOptions& options);
Graph buildVgg13(const WorkloadOptions& options);
Graph buildVgg16(const WorkloadOptions& options);
Graph buildResNet50(const WorkloadOptions& options);
Graph buildMobileNetV2(const WorkloadOptions& options);
Graph buildEfficientNetB0(const WorkloadOptions& options);
Graph buildVitB16(const WorkloadOptions& options);
/// One denoising step. `image` is the side of the picture in pixels; the latent is an eighth of it.
Graph buildStableDiffusionUnet(const WorkloadOptions& options);
Graph buildDitXl2(const WorkloadOptions& options);

}  // namespace orrery
