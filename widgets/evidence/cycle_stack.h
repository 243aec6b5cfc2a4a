#pragma once

// Cycles of one kernel by cause, as a stacked bar with direct labels (a CPI stack).

#include "methods/kernel_method.h"

#include <QWidget>

#include <vector>

namespace orrery::ui {

class CycleStack : public QWidget {
    Q_OBJECT
public:
    explicit CycleStack(QWidget* parent = nullptr);
    void setParts(std::vector<StackPart> parts);
    double total() const { return total_; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return {160, sizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<StackPart> parts_;
    double total_ = 0;
};

}  // namespace orrery::ui
