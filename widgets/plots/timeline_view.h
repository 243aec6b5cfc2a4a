#pragma once

#include "widgets/common/result_view.h"

namespace orrery::ui {

class TimelineView : public ResultView {
    Q_OBJECT
public:
    explicit TimelineView(Selection* selection, QWidget* parent = nullptr);

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
};

}  // namespace orrery::ui
