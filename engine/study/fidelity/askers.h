#pragma once

// The methods that can be asked about the kernels of one question, bound to its device, and what they have said.

#include "methods/model/open_composition.h"
#include "study/fidelity/budget.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace orrery {

/// Launches of one kernel in one use, which are asked once.
struct KernelUnit {
    std::vector<std::size_t> launches;
    KernelKind kind = KernelKind::Other;
    std::size_t family = 0;
    double count = 0;         ///< launches, repeats counted
    double flops = 0;         ///< of one launch
    double instructions = 0;  ///< of warps, of one launch: what a simulation of it runs, at most its budget
    double programs = 1;      ///< of one launch, among which gpu-interval chooses: tiles of a product
    std::size_t first() const { return launches.front(); }
};

struct KernelAsker {
    std::string choice;
    const KernelMethod* method = nullptr;  ///< null: the roofline of each kernel, which costs nothing and comes last
    ModelOptions options;
    Composition open;
    CostModel cost;
    double flopsPerCycle = 0;
    double mostInstructions = 0;                   ///< that it simulates of a kernel, by which it is paid; 0: flat
    std::string samples;                           ///< the method that it is the sampled form of; empty: of none
    double samplingError = 0;                      ///< ln, 90 %, of one kernel against that method
    std::string standsFor;                         ///< a slower method of the same machine; empty: for none
    double standingError = 0;                      ///< ln, 90 %, of one kernel against that method, as it was measured
    double standingDegrees = 2;                    ///< of freedom, of that error
    std::vector<std::optional<KernelPrice>> said;  ///< by unit
    BudgetAsked asked;

    double stated(const KernelUnit& unit) const;  ///< seconds that one answer is stated to take
    /// Seconds of all launches of a unit by what it said.
    double seconds(const std::vector<KernelUnit>& units, std::size_t unit) const;
};

struct KernelAskers {
    Scenario scenario;             ///< in types that the device has
    std::vector<KernelAsker> all;  ///< cheapest first, by the stated cost of every unit
    std::vector<KernelUnit> units;
    std::vector<std::string> families;
    Diagnostics notes;
    double launches = 0;
};

/// Those of `choices` (of all kernel methods where empty) that answer on the device which the first of them takes.
Expected<KernelAskers> kernelAskers(const Scenario& scenario, const std::vector<std::string>& choices,
                                    const BudgetOptions& options);
/// Asks about one unit, unless it has been; counts time by `clock`.
Expected<void> askAbout(KernelAskers& askers, KernelAsker& asker, std::size_t unit, const BudgetOptions& options,
                        const std::function<double()>& clock);

}  // namespace orrery
