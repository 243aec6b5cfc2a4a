#pragma once

// The tab of the least data movement: the curve of the chosen operator, with the drawn levels and the present mapping.

#include "app/document/background.h"
#include "mapping/nest_evaluator.h"

#include <QWidget>

class QPushButton;

namespace orrery::ui {
class BoundPlot;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class MappingBound : public QWidget {
    Q_OBJECT
public:
    explicit MappingBound(QWidget* parent = nullptr);
    /// Draws the curve of a nest, unless it is the one that is drawn.
    void setNest(const NestProblem& problem, const NestHardware& hardware);
    /// The present mapping; without counts it does not fit and has no place.
    void setMapping(const NestMapping& mapping, const std::optional<NestCounts>& counts);
    ui::BoundPlot* plot() const { return plot_; }
    bool isRunning() const { return work_.isRunning(); }

private:
    void exportAs();
    void tell();

    std::optional<NestProblem> problem_;
    NestHardware hardware_;
    std::optional<NestMapping> mapping_;
    std::optional<NestCounts> counts_;
    ui::BoundPlot* plot_ = nullptr;
    ui::Label* state_ = nullptr;
    QPushButton* export_ = nullptr;
    Background work_;
};

}  // namespace orrery::app
