#pragma once

// The tab of operators that run together: asked for by a button, as it takes seconds.

#include "app/document/background.h"
#include "hardware/views/spatial_array_view.h"
#include "mapping/fusion/fuse.h"
#include "widgets/common/snapshot.h"

#include <QWidget>

#include <optional>

class QPushButton;

namespace orrery::ui {
class FusedList;
class Label;
}  // namespace orrery::ui

namespace orrery::app {

class MappingFusion : public QWidget {
    Q_OBJECT
public:
    explicit MappingFusion(QWidget* parent = nullptr);
    /// What is asked about from now on; an answer to anything else is dropped.
    void setScenario(const std::optional<SpatialArrayView>& view, WorkloadPtr workload);
    void setObjective(MapObjective objective) { objective_ = objective; }
    void start();
    bool isRunning() const { return work_.isRunning(); }
    ui::FusedList* list() const { return list_; }
    const std::optional<FusionResult>& result() const { return result_; }

private:
    void show(const OperatorChain& chain, Expected<FusionResult>&& result);
    void tell(const QString& text, bool bad = false);

    std::optional<SpatialArrayView> view_;
    WorkloadPtr workload_;
    MapObjective objective_ = MapObjective::Edp;
    int scenario_ = 0;  ///< counts the questions
    std::optional<FusionResult> result_;
    ui::FusedList* list_ = nullptr;
    ui::Label* state_ = nullptr;
    QPushButton* run_ = nullptr;
    Background work_;
};

}  // namespace orrery::app
