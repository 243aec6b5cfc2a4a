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
}  // namespace orrery::ui

namespace orrery::app {

class CountersTab : public QWidget {
    Q_OBJECT
public:
    explicit CountersTab(QWidget* parent = nullptr);
    /// Nothing where no GPU is drawn.
    void ask(const std::optional<GpuDrawing>& gpu, const std::string& kernel);
    /// What was run; taken where it is of the kernel that is asked about, as a whole.
    void setRun(const GpuAnswer& answer);
    const std::optional<CounterAnswers>& told() const { return told_; }
    QString exportTo(const QString& file) const;

private:
    void show();
    void say(const QString& text);

    std::shared_ptr<const CounterModel> model_;  ///< read when it is first asked
    std::optional<CounterAnswers> told_;
    std::optional<CounterValues> counted_;
    double widening_ = 1;
    std::string kernel_;
    ui::Label* state_;
    ui::CellsTable* table_;
    Background work_;  ///< last: stops before what it delivers to goes
};

}  // namespace orrery::app
