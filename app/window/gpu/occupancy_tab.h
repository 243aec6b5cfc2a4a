#pragma once

// The occupancy calculator: registers, shared memory and threads of a block against the drawn multiprocessor. It
// answers at once and runs nothing.

#include "app/window/gpu/gpu_question.h"
#include "simulation/gpu/occupancy_curve.h"

#include <QWidget>

class QPushButton;
class QSpinBox;

namespace orrery::ui {
class Label;
class OccupancyView;
}  // namespace orrery::ui

namespace orrery::app {

class OccupancyTab : public QWidget {
    Q_OBJECT
public:
    explicit OccupancyTab(QWidget* parent = nullptr);
    void setMachine(const std::optional<gpusim::Machine>& machine);
    /// What the kernel's block asks for: what the button goes back to, and what is shown unless a person chose.
    void setKernel(const gpusim::KernelHeader& kernel);
    ui::OccupancyView* view() const { return view_; }
    const gpusim::KernelHeader& block() const { return block_; }

private:
    void take(gpusim::BlockNeed need, int value);
    void show();

    std::optional<gpusim::Machine> machine_;
    gpusim::KernelHeader block_, kernel_;
    bool chosen_ = false;
    QSpinBox *registers_ = nullptr, *shared_ = nullptr, *threads_ = nullptr;
    QPushButton* reset_ = nullptr;
    ui::Label* result_ = nullptr;
    ui::OccupancyView* view_ = nullptr;
};

}  // namespace orrery::app
