#pragma once

// Adapters as methods of the common contract. One that is asked kernel by kernel is a kernel method: plans, training
// and serving compose it as any other. One that is asked once answers as its program does, for the whole.

#include "methods/adapter/adapter.h"
#include "methods/kernel_method.h"

#include <span>

namespace orrery {

/// `adapter(file=…)`, and one method for each of shippedAdapters(), by its id. They stand in no list of methods that
/// are asked together: each runs another program.
std::span<const Method> adapterMethods();
/// Whether it is one of them.
bool asksProgram(const Method& method);
/// Null where the id is none of theirs, or the adapter is not asked kernel by kernel.
const KernelMethod* findAdapterKernels(std::string_view id);
/// The binder of them all; `adapter` names which, `file` where that is `adapter`.
Expected<KernelPricerPtr> bindAdapter(const DeviceRef& place, const BindContext& context);

/// Every distinct kernel of the question, or the question itself, as inputs in a folder, to be run elsewhere and read
/// with `recorded=`. Returns the names of the runs.
Expected<std::vector<std::string>> writeAdapterInputs(const Adapter& adapter, const Scenario& scenario,
                                                      const std::string& folder);

}  // namespace orrery
