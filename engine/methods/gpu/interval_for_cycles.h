#pragma once

// How far the interval model lies from the simulation of the same machine: with it a cheap answer can stand for a dear
// one before anything dear was asked (study/fidelity).

#include <string_view>

namespace orrery {

inline constexpr std::string_view gpuIntervalChoice = "gpu-interval", gpuCycleChoice = "gpu-cycle";
/// 90 % of |ln(`gpu-cycle` ÷ `gpu-interval`)| of a kernel. The different kernels of five models on H100 and of four of
/// them on L40S (ResNet-18, VGG-16, EfficientNet-B0, ViT-B/16, BERT large) say 0.10; twice that, for two devices say
/// little of a third. tst_fidelity measures it again.
inline constexpr double intervalForCycles = 0.2;
/// Degrees of freedom of that number: errors of kernels of one model on one device go together, so that the nine of
/// these count, and not their kernels. Nine are not independent either, they are of two devices. The 8 was chosen in
/// sight of the answers on A100, so that these are no proof of it.
inline constexpr double intervalForCyclesDegrees = 8;

}  // namespace orrery
