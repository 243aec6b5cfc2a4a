#pragma once

// The folded sections of the serving form: what most questions leave as it is. Their rows are the values that name the
// section (serving/fields); a section adds its title, what it says while it is closed, and controls of its own.

#include "app/window/serving/serving_fields.h"

#include <memory>

namespace orrery::app {

/// What the newest answer said about the fleet: edits that need a number to start from take it from here.
struct PlanFacts {
    double decodeSeconds = 0;  ///< one iteration of a lone sequence; 0: not known yet
    TransferSpec transfer;     ///< as the drawn links gave it
};
using PlanFactsPtr = std::shared_ptr<const PlanFacts>;

/// Experts, activations and host, law.
std::vector<FieldFold*> modelSections(QWidget* parent);
/// Waiting line, speculation, clock and power, memory, transfers, autoscaling, failures.
std::vector<FieldFold*> fleetSections(const PlanFactsPtr& plan, QWidget* parent);
/// Shape of arrivals, lengths, conversations and agents, slice, trace, tenants and adapters, stages.
std::vector<FieldFold*> trafficSections(QWidget* parent);

/// A closed section: the rows of all values that name it. `summary`, where empty, tells what is not as usual.
struct SectionText {
    std::string_view id;  ///< FieldTable::section
    QString title, tip;
    std::function<QString(const ServingStudy&)> summary = {};
    FieldRows::If shown = {};
};
FieldFold* plainSection(const SectionText& text, QWidget* parent);
/// `Factor of the rate 2, until 60 s`; `usual` if everything is as it is by default.
QString unusualValues(const ServingStudy& question, std::string_view section, const QString& usual);

/// Every pool.
template <class Change>
void eachPool(ServingStudy& question, Change change) {
    for (PoolSpec& pool : question.scenario.pools) change(pool);
}
inline const PoolSpec& firstPool(const ServingStudy& question) {
    return question.scenario.pools.front();
}

}  // namespace orrery::app
