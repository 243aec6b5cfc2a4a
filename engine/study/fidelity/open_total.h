#pragma once

// The time of a graph of which full fidelity has priced some kernels and cheap methods all: estimate, interval, and
// which kernel to ask next.

#include "study/fidelity/askers.h"
#include "study/fidelity/ratio_belief.h"

#include <functional>
#include <optional>
#include <vector>

namespace orrery {

class OpenTotal {
public:
    struct State {
        double latency = 0, low = 0, high = 0;
        double fullLow = 0, fullHigh = 0;
        double least = 0;  ///< (high − low) ÷ latency that full fidelity states of itself
        std::size_t known = 0;
    };
    /// `full`: by unit, which asker is full fidelity; `skeleton`: whose composition carries the answer. Every unit has
    /// been answered by asker 0. The askers must outlive it.
    OpenTotal(KernelAskers& askers, const std::vector<std::size_t>& full, std::size_t skeleton);
    /// Full fidelity has been asked about this unit.
    void learn(std::size_t unit);
    State state();
    /// The unit that shrinks the interval most per stated second, of those that `fits`.
    std::optional<std::size_t> best(const std::function<bool(std::size_t)>& fits) const;
    const Composition& composition() const { return composition_; }
    std::vector<BudgetFamily> families() const;

private:
    struct Control {
        std::size_t asker = 0;
        double usual = 0;  ///< ln of its seconds per kernel, weighted by time
        RatioBelief belief;
    };
    struct Unit {
        bool known = false;
        std::vector<double> cheap;  ///< seconds of all launches, by control
        double seconds = 0;         ///< as it stands now
        double apart = 0;           ///< 90 % in ln: how far corrected cheap answers about it differ
    };
    struct Family {
        std::vector<Control> controls;
        std::vector<std::size_t> units;
        std::size_t control = 0;  ///< the surest
    };
    /// Whether it is the sampled form of full fidelity about all of these.
    bool samplesFull(const KernelAsker& asker, const std::vector<std::size_t>& units) const;
    /// Whether it was measured against full fidelity about all of these.
    bool standsForFull(const KernelAsker& asker, const std::vector<std::size_t>& units) const;
    void chooseControls();
    void fill();
    double sizeOf(const Control& control, std::size_t unit, std::size_t at) const;
    double ratioOf(const Family& family, std::size_t unit) const;  ///< mean of ln(full ÷ cheap)
    double apartOf(const Family& family, std::size_t unit) const;
    double ownOf(const RatioBelief& belief, std::size_t unit) const;
    double openSquares(const Family& family, std::optional<std::size_t> asked) const;

    KernelAskers& askers_;
    const std::vector<std::size_t>& full_;
    Composition composition_;
    std::vector<Unit> units_;
    std::vector<Family> families_;
};

}  // namespace orrery
