#include "app/document/commands/serving_edits.h"

#include <QObject>

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

/// What a person would say has changed.
Words difference(const ServingStudy& before, const ServingStudy& after) {
    const auto numbers = [](const QString& subject, double from, double to) {
        return Words{subject, number(from), number(to)};
    };
    const auto words = [](const QString& subject, const std::string& from, const std::string& to) {
        return Words{subject, word(from), word(to)};
    };
    if (before.scenario.model.source != after.scenario.model.source)
        return words(QObject::tr("Served model"), before.scenario.model.source, after.scenario.model.source);
    if (before.scenario.model != after.scenario.model) return {QObject::tr("Precision of the served model"), {}, {}};
    if (before.scenario.pools.size() != after.scenario.pools.size())
        return {after.scenario.pools.size() > 1 ? QObject::tr("Prefill and decode apart")
                                                : QObject::tr("Prefill and decode together"),
                {},
                {}};
    for (std::size_t i = 0; i < before.scenario.pools.size(); ++i) {
        const PoolSpec &a = before.scenario.pools[i], &b = after.scenario.pools[i];
        if (a.hardware != b.hardware) return words(QObject::tr("Serving device"), a.hardware, b.hardware);
        if (a.replicas != b.replicas) return numbers(QObject::tr("Replicas"), a.replicas, b.replicas);
        if (a.plan.tensor != b.plan.tensor)
            return numbers(QObject::tr("Tensor parallel"), a.plan.tensor, b.plan.tensor);
        if (a.plan.pipeline != b.plan.pipeline)
            return numbers(QObject::tr("Pipeline parallel"), a.plan.pipeline, b.plan.pipeline);
        if (a.scheduler.id != b.scheduler.id) return words(QObject::tr("Scheduler"), a.scheduler.id, b.scheduler.id);
        if (a.scheduler != b.scheduler) return {QObject::tr("Numbers of the scheduler"), {}, {}};
        if (a.time.method != b.time.method)
            return words(QObject::tr("Iterations priced by"), a.time.method, b.time.method);
        if (a != b) return {QObject::tr("Pool %1").arg(QString::fromStdString(b.name)), {}, {}};
    }
    if (before.scenario.router != after.scenario.router)
        return words(QObject::tr("Router"), before.scenario.router.id, after.scenario.router.id);
    if (before.scenario.promise != after.scenario.promise) return {QObject::tr("Promise to users"), {}, {}};
    if (before.compareWith != after.compareWith)
        return words(QObject::tr("Compared scheduler"), before.compareWith ? before.compareWith->id : "",
                     after.compareWith ? after.compareWith->id : "");
    if (before.traffic.arrivals.rate != after.traffic.arrivals.rate)
        return numbers(QObject::tr("Requests per second"), before.traffic.arrivals.rate, after.traffic.arrivals.rate);
    if (before.traffic.requests != after.traffic.requests)
        return numbers(QObject::tr("Number of requests"), static_cast<double>(before.traffic.requests),
                       static_cast<double>(after.traffic.requests));
    if (before.traffic.trace.file != after.traffic.trace.file)
        return {QObject::tr("Trace of requests"), {}, word(after.traffic.trace.file)};
    if (before.traffic != after.traffic) return {QObject::tr("Traffic"), {}, {}};
    if (before.seed != after.seed)
        return numbers(QObject::tr("Seed of the traffic"), static_cast<double>(before.seed),
                       static_cast<double>(after.seed));
    return {QObject::tr("Serving"), {}, {}};
}

}  // namespace

Expected<Edit> setServingEdit(const ProjectState& state, const ServingStudy& study, const ServingStudy& usual) {
    const Words words = difference(state.serving ? *state.serving : usual, study);
    Edit edit{state, words.subject, words.from, words.to, QStringLiteral("serving/") + words.subject};
    edit.after.serving = study;
    return edit;
}

}  // namespace orrery::app
