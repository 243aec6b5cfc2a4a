#pragma once

// Kernel methods as fillings of another's slots.

#include "methods/kernel_method.h"

#include <string_view>

namespace orrery {

/// An option of a kernel method as it is bound; `fallback` where it is not named or empty.
std::string_view optionOf(const BindContext& context, std::string_view key, std::string_view fallback);

/// Binds the kernel method that `text` chooses (`cpu-roofline(library=framework)`) to a device. Fails with
/// `method.unknown` or `method.bad-option` where it is none, or is `self`, and as its binder does.
Expected<KernelPricerPtr> fillSlot(std::string_view text, std::string_view self, const DeviceRef& place,
                                   const BindContext& context);

}  // namespace orrery
