#pragma once

// The totals of the workload that is shown, as a page.

#include "app/window/page.h"

class QLabel;

namespace orrery::app {

class TotalsPage : public Page {
    Q_OBJECT
public:
    TotalsPage(Studio& studio, QWidget* parent);
    PageCard card() const override;
    void feed(const ui::SnapshotPtr& snapshot) override;

private:
    QLabel* text_;
};

}  // namespace orrery::app
