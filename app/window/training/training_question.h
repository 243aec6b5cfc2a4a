#pragma once

// What the training page asks about: read from the document, nothing of its own.

#include "app/document/document.h"
#include "hardware/views/cluster_view.h"
#include "mapping/placement.h"
#include "mapping/plan_kinds.h"
#include "methods/system/training/plan_values.h"
#include "methods/task.h"

#include <memory>
#include <optional>

namespace orrery::app {

/// What keeps a document from being a question about training.
enum class TrainingLacks { Nothing, Hardware, Workload, Task, Cluster };

/// Where a project states no price of a device's hour.
inline constexpr double usualPrice = 2.5;

struct TrainingQuestion {
    TrainingLacks lacks = TrainingLacks::Hardware;
    std::optional<Diagnostic> why;  ///< of a cluster that cannot be read

    HardwarePtr hardware;
    int hardwareIndex = -1, workloadIndex = -1;
    QString model, design;
    WorkloadRecipe recipe;
    Plan plan;
    TrainingStep step;
    PlanRoom room;
    double price = usualPrice;             ///< dollars of an hour of a device that the plan stands on
    std::map<std::string, double> prices;  ///< of all kinds, as a project has them; never empty
    std::string priceOf;                   ///< the kind of device that is priced; empty: all
    std::shared_ptr<const ClusterView> cluster;
    const DeviceGroup* group = nullptr;  ///< in `cluster`: where the plan stands; of several kinds the first
    std::optional<PlanKinds> kinds;      ///< of a plan on several kinds of device
    double meanPrice = usualPrice;       ///< dollars of an hour of the mean device at work
    std::string otherPriceOf;            ///< the second kind, where there are several
    double otherPrice = usualPrice;
    std::int64_t perNode = 1;  ///< devices behind the first network that leaves a node
};

/// `before`: a question of the same document, whose view of the same design is taken over.
TrainingQuestion trainingQuestion(const Document& document, const TrainingQuestion& before);

/// Devices of a group behind the first network between nodes; all where there is none.
std::int64_t devicesPerNode(const DeviceGroup& group);

}  // namespace orrery::app
