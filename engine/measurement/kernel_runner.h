#pragma once

// A kernel with memory of its own that can be run again and again on this machine.

#include "base/diagnostic.h"
#include "workload/kernel.h"

#include <memory>
#include <string>

namespace orrery {

class KernelRunner {
public:
    virtual ~KernelRunner() = default;
    /// Once, to the end. Run number i of a product takes the i-th copy of its weights, so that they come from memory
    /// as a model's do; activations stay where they are.
    virtual void run(std::size_t number) = 0;
    /// Seconds of `runs` runs one after another, the first of them number `first`: by this machine's clock, or by the
    /// device's own where it has one.
    virtual Expected<double> seconds(std::size_t first, std::size_t runs);
};
using KernelRunnerPtr = std::unique_ptr<KernelRunner>;

/// What runs kernels: a library that is loaded, or code of our own.
class KernelLibrary {
public:
    virtual ~KernelLibrary() = default;
    virtual std::string name() const = 0;  ///< `oneDNN 2.6.3`
    /// Fails with `measure.unsupported` for a kernel or type that it has not, `measure.memory` for one that is too
    /// large. `coldBytes`: copies of weights are made until they take so many bytes together.
    virtual Expected<KernelRunnerPtr> make(const Kernel& kernel, double coldBytes) const = 0;
    /// Hz at which its kernels run now; 0: not known.
    virtual double clock() const;
};
using KernelLibraryPtr = std::shared_ptr<const KernelLibrary>;

/// oneDNN 2 (`libdnnl.so.2`): products in fp32, bf16 and int8, attention as two products and a softmax, convolutions,
/// element-wise operators, softmax, layer normalisation. Fails with `measure.no-library`.
Expected<KernelLibraryPtr> loadOneDnn();
/// OpenBLAS: products in fp32. Fails with `measure.no-library`.
Expected<KernelLibraryPtr> loadOpenBlas();
/// Loops of our own on all cores: additions in fp32.
KernelLibraryPtr ownKernels();

/// Bytes that one kernel may take with all copies of its weights.
inline constexpr double mostKernelBytes = 2e9;

}  // namespace orrery
