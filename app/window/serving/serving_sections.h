#pragma once

// The folded sections of the serving form: what most questions leave as it is.

#include "app/window/serving/serving_fields.h"

#include <memory>

namespace orrery::app {

/// What the newest answer said about the fleet: edits that need a number to start from take it from here.
struct PlanFacts {
    double decodeSeconds = 0;  ///< one iteration of a lone sequence; 0: not known yet
    TransferSpec transfer;     ///< as the drawn links gave it
};
using PlanFactsPtr = std::shared_ptr<const PlanFacts>;

FieldFold* expertSection(QWidget* parent);
FieldFold* lineSection(QWidget* parent);
/// Waiting line, speculation, clock and power, memory, transfers, autoscaling, failures.
std::vector<FieldFold*> fleetSections(const PlanFactsPtr& plan, QWidget* parent);
/// Shape of bursts and days, conversations and agents, tenants and adapters, stages.
std::vector<FieldFold*> trafficSections(QWidget* parent);
/// Rows that only some routers read.
void routerRows(FieldRows& rows);

/// Every pool.
template <class Change>
void eachPool(ServingStudy& question, Change change) {
    for (PoolSpec& pool : question.scenario.pools) change(pool);
}
inline const PoolSpec& firstPool(const ServingStudy& question) {
    return question.scenario.pools.front();
}

}  // namespace orrery::app
