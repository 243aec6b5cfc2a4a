#pragma once

#include "workload/what_if.h"

#include <QWidget>

#include <vector>

class QHBoxLayout;

namespace orrery::app {

/// The changes to the workload that are being asked about, each with a button that takes it back. Hidden without any.
class WhatIfStrip : public QWidget {
    Q_OBJECT
public:
    explicit WhatIfStrip(QWidget* parent = nullptr);
    void setWhatIfs(const std::vector<WhatIf>& changes);

signals:
    void removed(int index);
    void cleared();

private:
    QHBoxLayout* row_;
};

}  // namespace orrery::app
