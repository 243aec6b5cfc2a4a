#pragma once

// The fleet where it stands: the drawn design with what each pool's devices do at one moment of the run, and the KV
// caches on their way over the drawn network.

#include "methods/system/planned_fleet.h"
#include "serving/serving_scenario.h"
#include "widgets/canvas/canvas_view.h"
#include "widgets/canvas/placements.h"
#include "widgets/serving/replay.h"

#include <QWidget>

#include <vector>

class QComboBox;

namespace orrery::ui {
class Label;
}

namespace orrery::app {

/// What stands on the components of `design` at `time`: per pool of it the KV cache in use (the bar) and in words who
/// decodes, is read or waits; on the network the caches that move. A bar turns to warning above 80 %, to bad above
/// 95 %.
std::vector<ui::ComponentLoad> fleetLoads(const ui::Replay& replay, const PlannedFleet& planned, const Hardware& design,
                                          SimTime time);

class FleetDrawing : public QWidget {
    Q_OBJECT
public:
    explicit FleetDrawing(QWidget* parent = nullptr);
    /// `drawing` is the design in hand, with its placements; other designs lie as their files have it. `replay` is
    /// kept by the caller, null: none.
    void setFleet(const PlannedFleet& planned, const HardwarePtr& drawing, ui::PlacementsPtr placements,
                  const ui::Replay* replay);
    void setPlacements(ui::PlacementsPtr placements);  ///< of the drawing
    void setTime(SimTime time);
    ui::CanvasView* view() const { return view_; }
    const std::vector<ui::ComponentLoad>& loads() const { return loads_; }

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void showDesign();
    void showLoads();

    PlannedFleet planned_;
    HardwarePtr drawing_;
    ui::PlacementsPtr placements_;
    const ui::Replay* replay_ = nullptr;
    SimTime time_ = 0;
    std::vector<HardwarePtr> designs_;  ///< that pools stand on, each once
    HardwarePtr shown_;
    std::vector<ui::ComponentLoad> loads_;
    ui::ComponentSelection selection_;
    QComboBox* choice_;
    ui::Label* told_;
    ui::CanvasView* view_;
};

}  // namespace orrery::app
