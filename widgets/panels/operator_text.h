#pragma once

#include "methods/estimate.h"
#include "workload/workload.h"

#include <QString>

namespace orrery::ui {

/// `matrix product`, `normalisation`: for people.
QString operatorKindText(OperatorKind kind);
/// `compute`, `memory: hbm3`, `overhead`.
QString operatorBoundText(const Bound& bound, const Estimate& estimate);
/// `Analytical`, `Cycle-accurate`.
QString methodologyText(const QString& methodId);

}  // namespace orrery::ui
