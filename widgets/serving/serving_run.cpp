#include "widgets/serving/serving_run.h"

#include "widgets/common/text.h"

#include <QObject>

#include <algorithm>

namespace orrery::ui {

QString replicaName(const FleetSpec& fleet, std::size_t replica) {
    // What an autoscaler adds is alike the last that was planned.
    const ReplicaSpec& spec = fleet.replicas[std::min(replica, fleet.replicas.size() - 1)];
    QString name = spec.name.empty() ? QObject::tr("Replica") : qs(spec.name);
    const auto alike = std::ranges::count(fleet.replicas, spec.name, &ReplicaSpec::name);
    if (alike > 1 || replica >= fleet.replicas.size()) name += QStringLiteral(" %1").arg(replica + 1);
    if (spec.role != ReplicaRole::Whole) name += QStringLiteral(" · ") + qs(toText(spec.role));
    return name;
}

}  // namespace orrery::ui
