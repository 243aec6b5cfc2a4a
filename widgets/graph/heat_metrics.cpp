// Which numbers there are to paint: everything here is read off the workload, an answer, or measured times.

#include "widgets/common/text.h"
#include "widgets/graph/heat.h"
#include "widgets/plots/operator_facts.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace orrery::ui {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

QString tr(const char* text) {
    return QCoreApplication::translate("orrery::ui::graph", text);
}

/// More than three decades between the smallest and the largest positive value: a linear scale would show one colour.
bool isWide(const std::vector<double>& values) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const double value : values) {
        if (!(value > 0) || !std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    return high > low * 1000;
}

class List {
public:
    explicit List(const Snapshot& snapshot) : snapshot_(snapshot), workload_(*snapshot.scenario.workload) {}

    void ofWorkload() {
        const CostTable& costs = workload_.costs;
        const std::size_t count = workload_.graph.operators.size();
        if (costs.flops.size() != count || costs.repeat.size() != count) return;
        std::vector<double> work(count), bytes(count), weights(count);
        for (std::size_t i = 0; i < count; ++i) {
            work[i] = costs.flops[i] * costs.repeat[i];
            bytes[i] = costs.bytes(i) * costs.repeat[i];
            weights[i] = costs.weightBytes[i] * costs.repeat[i];
        }
        sum(QStringLiteral("work"), tr("Work"), Dimension::Operations, std::move(work), tr("FLOPs of all repetitions"));
        sum(QStringLiteral("data"), tr("Data touched"), Dimension::Data, std::move(bytes),
            tr("Weights, activations and cache of all repetitions, if nothing is reused between operators"));
        sum(QStringLiteral("weights"), tr("Weights read"), Dimension::Data, std::move(weights),
            tr("Parameters read, all repetitions"));
    }

    void ofAnswer(const Answer& answer) {
        const OperatorEstimates& columns = answer.estimate->operators;
        const QString key = QLatin1Char('/') + answer.method, by = QStringLiteral(" · ") + answer.title;
        sum(QStringLiteral("time") + key, tr("Time") + by, Dimension::Time, columns.seconds,
            tr("Time of all repetitions, by %1").arg(answer.title));
        const double all = std::accumulate(columns.seconds.begin(), columns.seconds.end(), 0.0);
        if (all > 0) {
            std::vector<double> share = columns.seconds;
            for (double& value : share) value /= all;
            sum(QStringLiteral("share") + key, tr("Share of time") + by, Dimension::Fraction, std::move(share),
                tr("Of the time of all operators, by %1").arg(answer.title));
        }
        const std::size_t count = columns.size();
        if (columns.bytes.size() == count)
            sum(QStringLiteral("bytes") + key, tr("Bytes") + by, Dimension::Data, columns.bytes,
                tr("Past the outermost memory level, all repetitions, by %1").arg(answer.title));
        if (columns.bytes.size() == count && columns.flops.size() == count) {
            HeatMetric metric{QStringLiteral("intensity") + key, tr("Intensity") + by, Dimension::Intensity};
            metric.values.assign(count, nothing);
            for (std::size_t i = 0; i < count; ++i) {
                if (columns.bytes[i] > 0) metric.values[i] = columns.flops[i] / columns.bytes[i];
            }
            metric.weights = columns.bytes;  // FLOPs of a group over bytes of a group
            metric.note = tr("FLOPs per byte past the outermost memory level, by %1").arg(answer.title);
            add(std::move(metric));
        }
        if (columns.joules.size() == count)
            sum(QStringLiteral("energy") + key, tr("Energy") + by, Dimension::Energy, columns.joules,
                tr("Of all repetitions, by %1").arg(answer.title));
        if (columns.bound.size() == count) bound(answer, key, by);
    }

    void ofPair(const Answer& a, const Answer& b) {
        const std::vector<double>&x = a.estimate->operators.seconds, &y = b.estimate->operators.seconds;
        const QString key = QLatin1Char('/') + a.method + QLatin1Char('/') + b.method;
        const QString pair = tr("%1 − %2").arg(b.title, a.title);
        HeatMetric difference{QStringLiteral("difference") + key, tr("Difference · %1").arg(pair), Dimension::Time};
        HeatMetric ratio{QStringLiteral("ratio") + key, tr("Ratio · %1 / %2").arg(b.title, a.title)};
        difference.diverging = ratio.diverging = true;
        difference.additive = true;
        ratio.logarithmic = true;
        ratio.weights = x;  // of a group: its time by the one over its time by the other
        for (std::size_t i = 0; i < x.size(); ++i) {
            difference.values.push_back(y[i] - x[i]);
            ratio.values.push_back(x[i] > 0 && y[i] > 0 ? y[i] / x[i] : nothing);
        }
        difference.note = tr("Time by %1 minus time by %2").arg(b.title, a.title);
        ratio.note = tr("Time by %1 ÷ time by %2").arg(b.title, a.title);
        add(std::move(difference));
        add(std::move(ratio));
    }

    void ofMeasured(const std::vector<double>& measured, const std::vector<const Answer*>& answers) {
        if (std::all_of(measured.begin(), measured.end(), [](double value) { return std::isnan(value); })) return;
        sum(QStringLiteral("measured"), tr("Time · measured"), Dimension::Time, measured,
            tr("From the file of measured times"));
        for (const Answer* answer : answers) {
            HeatMetric metric{QStringLiteral("error/") + answer->method, tr("Error · %1").arg(answer->title),
                              Dimension::Fraction};
            metric.diverging = true;
            metric.weights = measured;
            for (std::size_t i = 0; i < measured.size(); ++i) {
                const double seconds = answer->estimate->operators.seconds[i];
                metric.values.push_back(measured[i] > 0 ? (seconds - measured[i]) / measured[i] : nothing);
            }
            metric.note = tr("(%1 − measured) / measured").arg(answer->title);
            add(std::move(metric));
        }
    }

    std::vector<HeatMetric> take() { return std::move(metrics_); }

private:
    void bound(const Answer& answer, const QString& key, const QString& by) {
        const OperatorEstimates& columns = answer.estimate->operators;
        HeatMetric metric{QStringLiteral("bound") + key, tr("Bound by") + by};
        metric.weights = columns.seconds;
        for (const Bound& each : columns.bound) {
            const auto found = std::find(metric.bounds.begin(), metric.bounds.end(), each);
            metric.values.push_back(static_cast<double>(found - metric.bounds.begin()));
            if (found != metric.bounds.end()) continue;
            metric.bounds.push_back(each);
            metric.choices.push_back(boundText(each, *answer.estimate));
        }
        metric.note =
            tr("What limits each operator, by %1; of a folded group, what limits most of its time").arg(answer.title);
        add(std::move(metric));
    }

    void sum(const QString& id, const QString& title, Dimension dimension, std::vector<double> values,
             const QString& note) {
        HeatMetric metric{id, title, dimension, std::move(values)};
        metric.additive = true;
        metric.note = note;
        add(std::move(metric));
    }

    void add(HeatMetric metric) {
        if (metric.values.size() != workload_.graph.operators.size()) return;
        if (metric.choices.empty() && !metric.diverging) metric.logarithmic = isWide(metric.values);
        metrics_.push_back(std::move(metric));
    }

    const Snapshot& snapshot_;
    const Workload& workload_;
    std::vector<HeatMetric> metrics_;
};

}  // namespace

std::vector<HeatMetric> heatMetrics(const Snapshot& snapshot, const std::vector<double>& measured,
                                    const std::vector<StoredAnswers>& stored) {
    if (!snapshot.scenario.workload) return {};
    const std::size_t count = snapshot.scenario.workload->graph.operators.size();
    std::vector<const Answer*> answers;
    for (const Answer& answer : snapshot.answers) {
        if (answer.estimate && answer.estimate->operators.seconds.size() == count) answers.push_back(&answer);
    }
    List list(snapshot);
    for (const Answer* answer : answers) list.ofAnswer(*answer);
    for (std::size_t a = 0; a < answers.size(); ++a) {
        for (std::size_t b = a + 1; b < answers.size(); ++b) list.ofPair(*answers[a], *answers[b]);
    }
    for (const StoredAnswers& run : stored) {
        for (Answer then : run.answers) {
            if (!then.estimate || then.estimate->operators.seconds.size() != count) continue;
            const auto now = std::find_if(answers.begin(), answers.end(),
                                          [&](const Answer* answer) { return answer->method == then.method; });
            then.method = run.run + QLatin1Char('/') + then.method;
            then.title += QStringLiteral(", ") + run.title;
            list.ofAnswer(then);
            if (now != answers.end()) list.ofPair(then, **now);
        }
    }
    if (measured.size() == count) list.ofMeasured(measured, answers);
    list.ofWorkload();
    return list.take();
}

}  // namespace orrery::ui
