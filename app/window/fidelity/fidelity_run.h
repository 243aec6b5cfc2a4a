#pragma once

// Ladders, budgets and advice for the question of the window, made off the GUI thread.

#include "learning/calibration.h"
#include "study/fidelity/advice.h"
#include "study/fidelity/budget.h"
#include "study/fidelity/ladder_answer.h"
#include "widgets/fidelity/convergence_plot.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace orrery::app {

enum class FidelityMode { Ladder, Within, To, Advice };

struct FidelityQuestion {
    Scenario scenario;
    FidelityMode mode = FidelityMode::Ladder;
    double value = 0;  ///< seconds of Within, share of To, wanted latency of Advice (0: none)
    std::string full;  ///< empty: by evidence
    DataAtHand data = DataAtHand::None;
    std::shared_ptr<const CalibrationSet> calibrations;
};

/// Written by the engine's thread, read by the panel.
class FidelitySteps {
public:
    void add(ui::ConvergencePoint point) {
        const std::lock_guard lock(mutex_);
        points_.push_back(std::move(point));
    }
    std::vector<ui::ConvergencePoint> points() const {
        const std::lock_guard lock(mutex_);
        return points_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<ui::ConvergencePoint> points_;
};

struct FidelityView {
    FidelityQuestion question;
    std::optional<LadderAnswer> ladder;
    std::optional<BudgetAnswer> budget;
    std::optional<AdviceAnswer> advice;
    std::vector<ui::ConvergencePoint> points;
};
using FidelityViewPtr = std::shared_ptr<const FidelityView>;

/// Fails as the engine's functions do. Steps are told as they come.
Expected<FidelityViewPtr> fidelityNow(const FidelityQuestion& question, FidelitySteps& steps, std::stop_token stop,
                                      Progress& progress);

}  // namespace orrery::app
