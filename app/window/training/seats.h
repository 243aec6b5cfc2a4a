#pragma once

// Where the ranks of a plan on several kinds of device sit on the map of devices.

#include "app/window/training/training_question.h"
#include "widgets/training/cluster_map.h"

namespace orrery::app {

/// Kinds, their nodes and the seat of every rank, idle ones last. Of a question whose plan stands on several kinds.
void seatKinds(const TrainingQuestion& question, ui::ClusterMapData& map);
/// `h100`, or `h100 and a100`.
QString devicesText(const TrainingQuestion& question);

}  // namespace orrery::app
