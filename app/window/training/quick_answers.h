#pragma once

// The closed form beside the live answer: a model of the step is prepared once for a design, a model and a method, in
// the background, and then answers every plan within a frame.

#include "app/document/background.h"
#include "app/document/workload_cache.h"
#include "app/window/training/training_question.h"
#include "methods/system/training/step_model.h"

#include <QObject>

#include <memory>
#include <optional>

namespace orrery::app {

class QuickAnswers : public QObject {
    Q_OBJECT
public:
    explicit QuickAnswers(std::shared_ptr<WorkloadCache> cache, QObject* parent = nullptr);

    /// `method`: a choice, as the live answers name theirs; empty: nothing is asked.
    void ask(const TrainingQuestion& question, const std::string& method,
             std::shared_ptr<const CalibrationSet> calibrations);
    bool isBusy() const { return work_.isRunning(); }
    /// Of the plan, if it is the newest that was answered; null: not yet, or refused.
    const StepFigures* figures(const StepPlan& plan) const;
    /// Why the newest plan has none.
    const std::optional<Diagnostic>& refusal() const { return refusal_; }

signals:
    void answered();

private:
    /// What a model is prepared for. Used by one job at a time, never by two.
    struct Prepared {
        HardwarePtr hardware;
        WorkloadRecipe recipe;
        std::string method;
        TrainingStep step;
        std::shared_ptr<const CalibrationSet> calibrations;
        Expected<std::shared_ptr<const StepModel>> model;
    };

    /// What the newest answer is of, beside its plan.
    struct Asked {
        HardwarePtr hardware;
        WorkloadRecipe recipe;
        std::string method;
        TrainingStep step;
        std::shared_ptr<const CalibrationSet> calibrations;
        bool operator==(const Asked&) const = default;
    };

    std::shared_ptr<WorkloadCache> cache_;
    std::shared_ptr<std::optional<Prepared>> prepared_;
    Asked asked_;
    StepPlan plan_;
    std::optional<StepFigures> figures_;
    std::optional<Diagnostic> refusal_;
    Background work_;  ///< last
};

}  // namespace orrery::app
