#pragma once

// Better plans for the question: a search by the closed form in the background, its plans as a scatter with the front
// and as a table, and the one that is chosen as the document's.

#include "app/document/background.h"
#include "app/window/training/training_question.h"
#include "study/planning/plan_search.h"

#include <QElapsedTimer>
#include <QWidget>

#include <memory>
#include <vector>

class QCheckBox;
class QComboBox;
class QProgressBar;
class QPushButton;
class QSpinBox;

namespace orrery::ui {
class CellsTable;
class FrontPlot;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class WorkloadCache;

class PlanFinder : public QWidget {
    Q_OBJECT
public:
    explicit PlanFinder(std::shared_ptr<WorkloadCache> cache, QWidget* parent = nullptr);
    /// `method`: a choice that prices kernels.
    void setQuestion(const TrainingQuestion& question, const std::string& method,
                     std::shared_ptr<const CalibrationSet> calibrations);
    bool isBusy() const { return work_.isRunning(); }
    const std::optional<PlanSearchResult>& result() const { return result_; }
    ui::FrontPlot* plot() const { return plot_; }
    ui::CellsTable* table() const { return table_; }
    QString command() const;  ///< the same search on the command line
    void choose(int point);   ///< −1: none

signals:
    void used(const orrery::StepPlan& plan);

private:
    QWidget* buildChoices();
    void start();
    void take(Expected<PlanSearchResult> found);
    void showState();
    void showPlot();
    void showTable();
    void showUse();
    bool outdated() const;  ///< what was found is of another question

    struct Asked {
        HardwarePtr hardware;
        WorkloadRecipe recipe;
        TrainingStep step;
        std::string method;
        std::map<std::string, double> prices;
        bool operator==(const Asked&) const = default;
    };

    std::shared_ptr<WorkloadCache> cache_;
    TrainingQuestion question_;
    Asked asked_, searched_;
    std::shared_ptr<const CalibrationSet> calibrations_;
    std::optional<PlanSearchResult> result_;
    std::optional<Diagnostic> refusal_;
    int chosen_ = -1;
    QElapsedTimer since_;

    QComboBox *objective_ = nullptr, *across_ = nullptr, *up_ = nullptr, *schedules_ = nullptr;
    QSpinBox* most_ = nullptr;
    QCheckBox* inside_ = nullptr;
    QPushButton *run_ = nullptr, *use_ = nullptr;
    QProgressBar* bar_ = nullptr;
    ui::Label *state_ = nullptr, *chosenText_ = nullptr;
    ui::FrontPlot* plot_ = nullptr;
    ui::CellsTable* table_ = nullptr;
    Background work_;  ///< last
};

}  // namespace orrery::app
