#pragma once

// Which kernel method prices iterations where nobody chose one, and which ones could.

#include "hardware/views/device_ref.h"
#include "methods/kernel_method.h"
#include "workload/models/transformer_source.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct ServedModel;

/// A kernel method beside a device.
struct PricerOffer {
    const KernelMethod* method = nullptr;
    std::optional<Diagnostic> refusal;  ///< why it does not price the device; nothing: it does
};

/// Kernel methods that need no file and take less than half a second for a kernel, in the order of kernelMethods().
std::vector<PricerOffer> pricerOffers(const DeviceRef& device, const CalibrationSet& calibrations);
/// Those of them that price the device.
std::vector<const KernelMethod*> pricersOf(const DeviceRef& device, const CalibrationSet& calibrations);

struct UsualPricer {
    const KernelMethod* method = nullptr;
    std::string reason;  ///< one sentence
};

/// Of pricersOf() the one with the least error to expect of a decode iteration of 16 sequences at a context of 512
/// tokens: half of its prices' 90 % intervals in ln, weighted by time, and a tenth more for the share of the time that
/// it does not cover or whose error nobody measured (the rule of evaluation/best_answer.h, of prices alone). Ties go to
/// the first; what walks cycle by cycle is asked by name. Fails with `serving.no-kernel-method` where none binds.
Expected<UsualPricer> usualPricer(const DeviceRef& device, const TransformerConfig& model, const ServedModel& types,
                                  const CalibrationSet& calibrations);

/// `npu-tile, loop-nest or data-centric`; empty where none could.
std::string namesOf(const std::vector<const KernelMethod*>& methods);

}  // namespace orrery
