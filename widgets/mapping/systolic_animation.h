#pragma once

// A systolic array at work, for teaching: what each processing element holds in one cycle, the wavefronts that run
// through them, how full the array is over time. Step by step, slowly, or as a run; the slider and the strip lead to
// any cycle. Space runs and pauses, Left and Right step, Page Up and Down change the fold, Home and End go to the ends,
// Ctrl and arrows choose a processing element.

#include "hardware/views/spatial_array_view.h"
#include "simulation/systolic/folds.h"
#include "simulation/systolic/row_stationary.h"

#include <QTimer>
#include <QWidget>

#include <optional>

class QComboBox;
class QSlider;
class QStackedLayout;

namespace orrery::ui {

class EmptyPage;
class IconButton;
class Label;
class SystolicPicture;
class UtilizationStrip;

class SystolicAnimation : public QWidget {
    Q_OBJECT
public:
    explicit SystolicAnimation(QWidget* parent = nullptr);
    /// [m×k]·[k×n] on an array of rows × columns. A row-stationary array, which shows convolutions alone, and extents
    /// that are not positive clear the view, which says why. The animation starts at its first cycle, paused.
    void setProduct(int rows, int columns, Dataflow dataflow, std::int64_t m, std::int64_t n, std::int64_t k);
    /// A convolution on a row-stationary array. A filter of more rows than the array clears the view, which says why.
    void setConvolution(int rows, int columns, const systolic::Layer& layer);
    void clear(const QString& why);

    const std::optional<systolic::FoldPlan>& plan() const { return plan_; }       ///< of a product
    const std::optional<systolic::RowPlan>& rowPlan() const { return rowPlan_; }  ///< of a convolution
    std::int64_t cycles() const;                                                  ///< of the run; 0: nothing is shown
    std::int64_t cycle() const { return cycle_; }
    bool running() const { return timer_.isActive(); }

public slots:
    void setCycle(std::int64_t cycle);  ///< held to the run
    void step(int cycles);
    void run();
    void pause();
    void toggle();

signals:
    void cycleChanged(std::int64_t cycle);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    QWidget* controls();
    void showPlan();
    void begin();
    std::int64_t passCycles() const;
    void showCycle();
    void showElement();
    void tick();
    void applySpeed();
    void stepFold(int folds);

    std::optional<systolic::FoldPlan> plan_;
    std::optional<systolic::RowPlan> rowPlan_;
    systolic::Array array_;
    systolic::Layer layer_;
    std::int64_t cycle_ = 0;
    std::int64_t perTick_ = 1;
    QTimer timer_;

    QStackedLayout* pages_;
    EmptyPage* empty_;
    SystolicPicture* picture_;
    UtilizationStrip* strip_;
    IconButton* runButton_ = nullptr;
    IconButton* pauseButton_ = nullptr;
    QComboBox* dataflow_ = nullptr;
    QComboBox* speed_ = nullptr;
    QSlider* slider_;
    Label* where_;
    Label* element_;
};

}  // namespace orrery::ui
