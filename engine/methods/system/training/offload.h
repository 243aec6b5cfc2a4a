#pragma once

// What leaves a device for its host's memory in a training step, and what that takes over the drawn host link: state
// and step of the optimizer (ZeRO-Offload, Ren et al. 2021), weights (ZeRO-Infinity, Rajbhandari et al. 2021), and
// activations.

#include "hardware/views/host_view.h"
#include "methods/estimate.h"
#include "methods/system/training/sides.h"
#include "methods/system/training/training_program.h"
#include "workload/workload.h"

#include <optional>
#include <string>

namespace orrery {

/// `whole`: memory of one device for the shard's pass, whose weights count gradients and the optimizer's state.
/// `gradientBytes`: of one gradient as it is exchanged. Gradients go down in fp32, as DeepSpeed copies them; the step
/// reads them, reads and writes the state, and writes the new weights, at the bandwidth of the host's memory
/// (ZeRO-Offload's CPU-Adam is bound by it).
HostPrices hostPrices(const HostView& host, const CostTotals& shard, const MemoryUse& whole, double gradientBytes);

/// The program with its host, the host's step, and what each layer keeps of a micro-batch there. `perLayer`:
/// activations of a repeated layer, B.
void takeHost(const HostPrices& host, bool full, double perLayer, TrainingProgram& program);

/// Of a step on the host, s, and of sending so much up in so many parts as it goes.
Sides stepAndSend(const Sides& step, double sent);

/// What a device's share of the host's memory lacks.
Diagnostic hostTooSmall(double needs, double memory);
/// What is assumed of a plan that offloads; empty for any other.
std::string offloadSaid(std::uint8_t offload, const std::optional<HostView>& host);

}  // namespace orrery
