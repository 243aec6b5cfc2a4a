#pragma once

// What every picture says of one operator: its name, its share of the time, what bounds it.

#include "widgets/common/result_view.h"
#include "widgets/common/snapshot.h"

#include <QString>

#include <utility>
#include <vector>

namespace orrery::ui {

/// `operator #12` where the graph is not there.
QString operatorName(const Snapshot& snapshot, int op);
/// The last part of a scoped name: `q_proj` of `layers/attn/q_proj`.
QString shortName(const QString& name);
OperatorKind operatorKind(const Snapshot& snapshot, int op);  ///< Other where the graph is not there
QString kindText(OperatorKind kind);                          ///< `Matrix product`, for people
/// `compute`, `hbm3 bandwidth`, `launch overhead`.
QString boundText(Bound bound, const Estimate& estimate);
/// What a view that needs the primary estimate says when there is none: why it failed and what to do, or that it is
/// still running; `otherwise` if there is no question yet.
EmptyState withoutEstimate(const SnapshotPtr& snapshot, const EmptyState& otherwise);
double totalSeconds(const Estimate& estimate);  ///< sum of the column; 0 if empty
/// Label and value of each line of a hover card, without the name. Empty if the estimate has no such operator.
std::vector<std::pair<QString, QString>> operatorCard(const Snapshot& snapshot, const Estimate& estimate, int op);
/// A field of a CSV file, quoted where it must be (RFC 4180).
QString csvField(const QString& text);

}  // namespace orrery::ui
