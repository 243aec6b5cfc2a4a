#pragma once

#include "widgets/common/result_view.h"

namespace orrery::ui {

class RooflinePlot : public ResultView {
    Q_OBJECT
public:
    explicit RooflinePlot(Selection* selection, QWidget* parent = nullptr);

protected:
    void snapshotChanged(const SnapshotPtr& before) override;
};

}  // namespace orrery::ui
