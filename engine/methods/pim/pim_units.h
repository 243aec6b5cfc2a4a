#pragma once

// What a kernel takes on the units of a memory: attention of decoding and products of few rows, from the drawing
// (PimView), the timing standard that it names and the laws of simulation/pim.

#include "hardware/views/pim_view.h"
#include "simulation/pim/hbm_pim.h"
#include "simulation/pim/upmem.h"
#include "workload/kernel.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery {

struct PimTime {
    double seconds = 0;     ///< of the whole kernel, handing over included
    double units = 0;       ///< while units work
    double handedOver = 0;  ///< moving operands and results, what does not hide behind the units
    double busBytes = 0;    ///< between device and memory
    double joules = -1;     ///< of the units; below 0: they state no energy
};

class PimUnits {
public:
    /// Fails with `pim.timing` where the memory names no timing standard that is known (units at banks need one).
    static Expected<PimUnits> make(PimView view);

    /// Nothing for kernels that the units do not take: other kinds, types without a rate, more rows than `mostRows`.
    std::optional<PimTime> price(const Kernel& kernel) const;
    const PimView& view() const { return view_; }
    /// How they are read, as sentences.
    std::vector<std::string> assumptions() const;

    /// Vectors that a product may have: beyond, a matrix unit is meant.
    static constexpr std::int64_t mostRows = 64;

private:
    std::optional<PimTime> atBanks(const Kernel& kernel) const;
    std::optional<PimTime> onProcessors(const Kernel& kernel) const;
    /// Cycles between two multiplies, as rate of the units and power cap allow.
    std::optional<pim::HbmPim> stackFor(DType type) const;

    PimView view_;
    pim::HbmPim stack_;
    pim::Dpu dpu_;
    pim::UnitPlace place_ = pim::UnitPlace::Bank;
    std::string standard_;  ///< id of the timing standard
};

}  // namespace orrery
