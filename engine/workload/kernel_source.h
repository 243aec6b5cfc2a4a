#pragma once

// One kernel as a workload, named by its fields: `kernel:gemm m=4096 n=4096 k=8192 dtype=bf16`. The fields are those of
// reference tables (kernel_fields.h), so that a measured row can be asked as a question.

#include "workload/importers.h"
#include "workload/kernel.h"

#include <string>
#include <string_view>

namespace orrery {

/// True where a workload's source says one kernel: it begins with `kernel:`.
bool isKernelSource(std::string_view source);
/// With `kernel:` or without; a word alone is the kind, after it the type: `gemm m=64 n=64 k=64 bf16`. Fails with
/// `kernel.source` naming the field and what may stand there.
Expected<Kernel> kernelFromSource(std::string_view source);
/// The source of which kernelFromSource() makes the same kernel (equal kernelIdentity, flops and bytes); empty for
/// collectives and experts, which are no workload of one device.
std::string kernelSource(const Kernel& kernel);
/// A graph of one operator.
Expected<ImportedGraph> buildFromKernel(std::string_view source);

}  // namespace orrery
