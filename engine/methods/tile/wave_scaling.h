#pragma once

// `wave-scaling`: measured on one GPU, predicted on another, after Habitat (Yu et al., "Habitat: A Runtime-Based
// Computational Performance Predictor for Deep Neural Network Training", USENIX ATC 2021, section 4.2).
//
// Fitting keeps, for each device measured, a price of its kernels (that of `tile-hybrid`) and what the device is; the
// nearest of them becomes the origin. Kernels that run the same code everywhere are scaled by waves; those whose code
// differs between devices (products, convolutions, attention) by the ratio of the two physical prices, where Habitat
// asks a network for it. The gap of a launch is the host's and is not scaled.

#include "methods/kernel_method.h"

namespace orrery {

/// A GPU as wave scaling sees it.
struct WaveDevice {
    double sms = 1, clock = 1, bandwidth = 1;  ///< clock Hz, bandwidth B/s
    double waveBlocks = 1;                     ///< blocks that run at once: sms × occupancy
};

/// γ: how far a kernel of this intensity (FLOP/B) is limited by memory on a device with this ridge point (peak FLOP/s ÷
/// B/s): 1 − x/2R up to the ridge, R/2x beyond; 1 without operations, 0 without bytes.
double memoryBoundedness(double flops, double bytes, double ridge);

/// Factor of the time from origin to destination (equation 1; where one wave holds all blocks on both, the form without
/// memory).
double waveScale(const WaveDevice& origin, const WaveDevice& destination, double blocks, double gamma);

KernelMethod waveScalingKernels();

}  // namespace orrery
