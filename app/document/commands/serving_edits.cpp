#include "app/document/commands/serving_edits.h"

#include <QObject>

#include <vector>

namespace orrery::app {

namespace {

struct Words {
    QString subject, from, to;
};

QString number(double value) {
    return QString::number(value, 'g', 4);
}
QString word(const std::string& text) {
    return text.empty() ? QObject::tr("none") : QString::fromStdString(text);
}

Words numbers(const QString& subject, double from, double to) {
    return {subject, number(from), number(to)};
}
Words words(const QString& subject, const std::string& from, const std::string& to) {
    return {subject, word(from), word(to)};
}
/// Of lists: their lengths where these differ, so that two additions stay two entries.
template <class Items>
Words listed(const QString& subject, const Items& from, const Items& to) {
    if (from.size() == to.size()) return {subject, {}, {}};
    return numbers(subject, static_cast<double>(from.size()), static_cast<double>(to.size()));
}

void ofPool(const PoolSpec& a, const PoolSpec& b, std::vector<Words>& all) {
    const auto add = [&all](Words each) {
        for (const Words& known : all)
            if (known.subject == each.subject) return;
        all.push_back(std::move(each));
    };
    const std::size_t before = all.size();
    if (a.hardware != b.hardware) add(words(QObject::tr("Serving device"), a.hardware, b.hardware));
    if (a.replicas != b.replicas) add(numbers(QObject::tr("Replicas"), a.replicas, b.replicas));
    if (a.plan.tensor != b.plan.tensor) add(numbers(QObject::tr("Tensor parallel"), a.plan.tensor, b.plan.tensor));
    if (a.plan.pipeline != b.plan.pipeline)
        add(numbers(QObject::tr("Pipeline parallel"), a.plan.pipeline, b.plan.pipeline));
    if (a.plan.expert != b.plan.expert) add(numbers(QObject::tr("Expert parallel"), a.plan.expert, b.plan.expert));
    if (a.scheduler.id != b.scheduler.id)
        add(words(QObject::tr("Scheduler"), a.scheduler.id, b.scheduler.id));
    else if (a.scheduler != b.scheduler)
        add({QObject::tr("Numbers of the scheduler"), {}, {}});
    if (a.time.method != b.time.method) add(words(QObject::tr("Iterations priced by"), a.time.method, b.time.method));
    if (a.speculation != b.speculation) {
        if (a.speculation.drafts != b.speculation.drafts)
            add(numbers(QObject::tr("Draft tokens"), a.speculation.drafts, b.speculation.drafts));
        else
            add({QObject::tr("Speculation"), {}, {}});
    }
    if (a.admission != b.admission) add({QObject::tr("Waiting line"), {}, {}});
    if (a.experts != b.experts) add({QObject::tr("Routing to experts"), {}, {}});
    if (a.adapters != b.adapters) add({QObject::tr("LoRA adapters"), {}, {}});
    if (a.clock != b.clock) add({QObject::tr("Clock policy"), {}, {}});
    if (a.clock == b.clock && a.clockShare != b.clockShare)
        add(numbers(QObject::tr("Share of the clock"), a.clockShare, b.clockShare));
    if (a.powerCap != b.powerCap) add(numbers(QObject::tr("Power cap"), a.powerCap, b.powerCap));
    // A price that goes with its device is no change of its own.
    if (a.dollarsPerHour != b.dollarsPerHour && a.hardware == b.hardware)
        add(numbers(QObject::tr("Price per hour"), a.dollarsPerHour, b.dollarsPerHour));
    if (a.memoryShare != b.memoryShare || a.tokensPerBlock != b.tokensPerBlock || a.kvBlocks != b.kvBlocks)
        add({QObject::tr("Memory for the KV cache"), {}, {}});
    if (all.size() == before && a != b) add({QObject::tr("Pool %1").arg(QString::fromStdString(b.name)), {}, {}});
}

void ofScenario(const ServingScenario& a, const ServingScenario& b, std::vector<Words>& all) {
    if (a.model.source != b.model.source)
        all.push_back(words(QObject::tr("Served model"), a.model.source, b.model.source));
    else if (a.model.kv != b.model.kv)
        all.push_back({QObject::tr("Precision of the KV cache"), {}, {}});
    else if (a.model != b.model)
        all.push_back({QObject::tr("Precision of the served model"), {}, {}});
    if (a.pools.size() != b.pools.size()) {
        all.push_back(
            {b.pools.size() > 1 ? QObject::tr("Prefill and decode apart") : QObject::tr("Prefill and decode together"),
             {},
             {}});
        // What the first has in common with the one that was, beside its part.
        PoolSpec first = a.pools.front(), second = b.pools.back();
        second.name = first.name;
        second.role = first.role;
        second.replicas = first.replicas;
        if (first != second) ofPool(first, second, all);
    } else {
        for (std::size_t i = 0; i < a.pools.size(); ++i) ofPool(a.pools[i], b.pools[i], all);
    }
    if (a.router.id != b.router.id)
        all.push_back(words(QObject::tr("Router"), a.router.id, b.router.id));
    else if (a.router != b.router)
        all.push_back({QObject::tr("Numbers of the router"), {}, {}});
    if (a.transfer != b.transfer) all.push_back({QObject::tr("Transfers of KV caches"), {}, {}});
    if (a.autoscale != b.autoscale) all.push_back({QObject::tr("Autoscaling"), {}, {}});
    if (a.failures != b.failures) all.push_back(listed(QObject::tr("Failures"), a.failures, b.failures));
    if (a.tenants != b.tenants) all.push_back(listed(QObject::tr("Tenants"), a.tenants, b.tenants));
    if (a.stages != b.stages) all.push_back(listed(QObject::tr("Stages of a question"), a.stages, b.stages));
    if (a.promise != b.promise) all.push_back({QObject::tr("Promise to users"), {}, {}});
}

void ofTraffic(const TrafficSpec& a, const TrafficSpec& b, std::vector<Words>& all) {
    if (a == b) return;
    if (a.arrivals.rate != b.arrivals.rate)
        all.push_back(numbers(QObject::tr("Requests per second"), a.arrivals.rate, b.arrivals.rate));
    else if (a.requests != b.requests)
        all.push_back(numbers(QObject::tr("Number of requests"), static_cast<double>(a.requests),
                              static_cast<double>(b.requests)));
    else if (a.trace.file != b.trace.file)
        all.push_back({QObject::tr("Trace of requests"), {}, word(b.trace.file)});
    else if (a.sessions != b.sessions || a.sharedPrompt != b.sharedPrompt || a.promptGroups != b.promptGroups)
        all.push_back({QObject::tr("Conversations"), {}, {}});
    else if (a.agents != b.agents)
        all.push_back({QObject::tr("Agents and reasoning"), {}, {}});
    else
        all.push_back({QObject::tr("Traffic"), {}, {}});
}

/// What a person would say has changed.
Words difference(const ServingStudy& before, const ServingStudy& after) {
    std::vector<Words> all;
    ofScenario(before.scenario, after.scenario, all);
    if (before.compareWith != after.compareWith)
        all.push_back(words(QObject::tr("Compared scheduler"), before.compareWith ? before.compareWith->id : "",
                            after.compareWith ? after.compareWith->id : ""));
    ofTraffic(before.traffic, after.traffic, all);
    if (before.seed != after.seed)
        all.push_back(numbers(QObject::tr("Seed of the traffic"), static_cast<double>(before.seed),
                              static_cast<double>(after.seed)));
    if (before.sweep != after.sweep) {
        std::size_t count = 1;
        for (const SweepAxis& axis : after.sweep) count *= axis.values.size();
        all.push_back({QObject::tr("Configurations to search"), {}, QString::number(count)});
    }
    if (before.capacity != after.capacity) all.push_back({QObject::tr("Promise of the capacity"), {}, {}});
    if (all.empty()) return {QObject::tr("Serving"), {}, {}};
    if (all.size() == 1) return all.front();
    QStringList subjects;
    for (const Words& each : all) subjects << each.subject;
    return {QObject::tr("Configuration"), {}, subjects.join(QStringLiteral(", "))};
}

}  // namespace

Expected<Edit> setServingEdit(const ProjectState& state, const ServingStudy& study, const ServingStudy& usual) {
    const Words words = difference(state.serving ? *state.serving : usual, study);
    QString target = QStringLiteral("serving/") + words.subject;
    // Things that are added or ticked one after another are entries of their own.
    const auto& before = state.serving ? *state.serving : usual;
    if (before.scenario.failures.size() != study.scenario.failures.size() ||
        before.scenario.tenants.size() != study.scenario.tenants.size() ||
        before.scenario.stages.size() != study.scenario.stages.size() || before.sweep != study.sweep)
        target.clear();
    Edit edit{state, words.subject, words.from, words.to, target};
    edit.after.serving = study;
    return edit;
}

}  // namespace orrery::app
