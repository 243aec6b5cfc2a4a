#pragma once

// One answer about a training step, whoever gives it: the run of the step (a method's estimate) or its closed form. The
// page shows both through this.

#include "base/diagnostic.h"
#include "methods/estimate.h"
#include "methods/system/training/step_figures.h"
#include "widgets/training/stage_memory_plot.h"
#include "widgets/training/step_cards.h"
#include "widgets/training/time_split.h"

#include <QString>

#include <optional>
#include <vector>

namespace orrery::app {

struct StepAnswer {
    QString source;  ///< `run with tile-hybrid`, `closed form`
    double seconds = 0, low = 0, high = 0;
    std::optional<double> utilisation;  ///< model FLOPs over peak
    std::optional<double> bubble;       ///< share of the step in which a stage waits for others
    std::optional<double> exposed;      ///< s of exchanges that nothing hides, mean stage
    double rate = 0;                    ///< tokens or samples per second, all devices
    bool tokens = true;
    std::int64_t devices = 1, microbatches = 1;
    std::vector<ui::StageBytes> stages;
    QString layers;                    ///< of each stage, where stages stand on several kinds of device: `22 + 10`
    bool closed = false;               ///< of a closed form: nothing was run
    bool onlyFullest = false;          ///< `stages` is the one that needs most
    bool statesApart = true;           ///< gradients and optimizer are not among the parameters
    double capacity = 0;               ///< B of a device; 0: not known
    std::vector<ui::TimeShare> times;  ///< parts that sum to `seconds`, of the mean stage; empty: not told apart

    double needs() const;                           ///< B of the stage that needs most; 0: not known
    double dollarsPerTrillion(double price) const;  ///< `price` of a device's hour; tokens, or samples
};

/// Why a step takes longer or shorter than another, by the closed form: the parts that differ most, the largest first,
/// at most three: `bubble −470 ms, tensor exchanges −850 ms`; empty where parts are not told apart.
QString whyText(const StepAnswer& answer, const StepAnswer& before);

/// Of a run with more than one device, or of one device's step.
StepAnswer stepAnswer(const Estimate& estimate, const QString& method);

/// Of the closed form.
StepAnswer stepAnswer(const StepFigures& figures);

/// The cards of the page. `quick`: what the closed form says beside the run, null: nothing; `before`: the pinned
/// plan's, null: none.
std::vector<ui::StepCard> stepCards(const StepAnswer& answer, const StepAnswer* quick, const StepAnswer* before,
                                    double price);

/// Rows of name and values for the table: this plan, the closed form, the pinned plan, the difference.
struct StepRow {
    QString name, tip;
    QString brief;  ///< name on a card
    double value = 0;
    std::optional<double> quick, before;
    Dimension dimension = Dimension::Number;
    QString unit;
    bool lessIsBetter = true;
};
std::vector<StepRow> stepRows(const StepAnswer& answer, const StepAnswer* quick, const StepAnswer* before,
                              double price);
QString stepText(const StepRow& row, double value);

}  // namespace orrery::app
