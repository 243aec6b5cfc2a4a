#pragma once

// Kernels of another engine than those that a method's sections were learned from: the rule that rows of a table are
// judged by (learning/section_price.h), for whole models and for serving. And kernels of another version of that
// engine, where tables of both have shown that their family moved (learning/moved_versions.h).

#include "hardware/views/gpu_view.h"
#include "learning/calibration.h"
#include "learning/moved_versions.h"
#include "methods/kernel_method.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {

class ForeignStack {
public:
    ForeignStack() = default;  ///< nothing is foreign
    /// `engine`: as Software::engine. Empty: nothing is foreign.
    ForeignStack(std::string_view method, const CalibrationSet& calibrations, const GpuView& gpu,
                 std::string_view engine);
    bool empty() const { return foreign_.empty() && moved_.empty(); }
    /// Kernels of NCCL are NCCL's whoever calls them.
    bool foreign(const Kernel& kernel) const;
    /// Whether its price was learned from the software that is asked about: that engine in that major version. True of
    /// all kernels where no engine is asked about, false where nothing was learned of them.
    bool own(const Kernel& kernel) const;
    /// How the kernel's family is known to have moved since the version that its prices were learned from; null: not
    /// known to, or foreign.
    const MovedVersion* moved(const Kernel& kernel) const;
    /// Widens a price of such a kernel, foreign or moved, and flags it.
    void doubt(const Kernel& kernel, KernelPrice& price) const;

private:
    std::vector<std::pair<KernelKind, std::string>> foreign_;  // kind and variant of sections
    std::vector<std::pair<KernelKind, std::string>> own_;
    bool asked_ = false;               // about an engine
    std::vector<MovedVersion> moved_;  // one for each such section
};

}  // namespace orrery
