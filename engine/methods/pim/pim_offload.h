#pragma once

// A device whose memory computes: each kernel on the device, as another kernel method prices it, or on the units of the
// memory, whichever is cheaper (PAISE's choice, made kernel by kernel).

#include "methods/kernel_method.h"

namespace orrery {

KernelMethod pimOffloadMethod();

}  // namespace orrery
