#pragma once

// Counters of the kernel predicted from its code, before it runs, and beside them what a run of the whole kernel has
// counted.

#include "app/document/background.h"
#include "app/window/gpu/gpu_question.h"
#include "evaluation/counters/counter_model.h"

#include <QWidget>

#include <memory>
#include <optional>

namespace orrery::ui {
class CellsTable;
class Label;
enum class Tone;
}  // namespace orrery::ui

namespace orrery::app {

class CountersTab : public QWidget {
    Q_OBJECT
public:
    explicit CountersTab(QWidget* parent = nullptr);
    /// Nothing where no GPU is drawn. Answered once the tab is seen. True if something else was asked about before: a
    /// run is then to be set anew.
    bool ask(const HardwarePtr& hardware, const std::optional<GpuDrawing>& gpu, const std::string& kernel);
    /// No kernel or no GPU: nothing is shown but why.
    void refuse(const Diagnostic& why);
    /// What was run; taken where it is of the design and the kernel that are asked about, as a whole.
    void setRun(const GpuAnswer& answer);
    const std::optional<CounterAnswers>& told() const { return told_; }
    QString exportTo(const QString& file) const;

protected:
    void showEvent(QShowEvent* event) override;

private:
    void forget();
    void begin();
    void show();
    void say(const QString& text, ui::Tone tone);

    std::shared_ptr<const CounterModel> model_;  ///< read when it is first asked
    std::optional<CounterAnswers> told_;
    std::optional<CounterValues> counted_;
    bool ranInPart_ = false;  ///< what it counted is not of the whole kernel
    double widening_ = 1;
    HardwarePtr hardware_;
    std::optional<GpuDrawing> gpu_;
    std::string kernel_;
    int question_ = 0;  ///< answers to an earlier one are left aside
    bool due_ = false;  ///< asked, and not seen yet
    ui::Label* state_;
    ui::CellsTable* table_;
    Background work_;  ///< last: stops before what it delivers to goes
};

}  // namespace orrery::app
