// What happens to a fleet while it serves: caches that move, replicas that join, leave and fail.

#include "app/window/serving/serving_sections.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

#include <algorithm>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingSections", text, note, count);
}

FieldRows::Bound<double> ofTransfer(double TransferSpec::*field) {
    return {[field](const ServingStudy& q) { return q.scenario.transfer ? *q.scenario.transfer.*field : 0; },
            [field](ServingStudy& q, double to) { *q.scenario.transfer.*field = to; }};
}
FieldRows::Bound<double> ofScaling(double AutoscaleSpec::*field) {
    return {[field](const ServingStudy& q) { return q.scenario.autoscale.*field; },
            [field](ServingStudy& q, double to) { q.scenario.autoscale.*field = to; }};
}
FieldRows::Bound<int> ofScaling(std::int32_t AutoscaleSpec::*field) {
    return {[field](const ServingStudy& q) { return q.scenario.autoscale.*field; },
            [field](ServingStudy& q, int to) { q.scenario.autoscale.*field = to; }};
}

}  // namespace

FieldFold* transferSection(const PlanFactsPtr& plan, QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.transfer"), t("Transfers of KV caches"),
        t("Keys and values on their way from the pool that computes prompts to the one that decodes"),
        [](const ServingStudy& q) {
            const auto& now = q.scenario.transfer;
            if (!now) return t("over the drawn links");
            return now->bytesPerSecond > 0 ? ui::text(now->bytesPerSecond, Dimension::DataRate) : t("at once");
        },
        parent);
    fold->setShownIf([](const ServingStudy& q) { return q.scenario.pools.size() > 1; });
    FieldRows& rows = fold->rows();
    const auto own = [](const ServingStudy& q) { return q.scenario.transfer.has_value(); };
    rows.flag(
        {QStringLiteral("serving.transfer.drawn"), t("Over the links of the drawing"),
         t("Bandwidth and latency of the network that joins the pools, as it is drawn; off: numbers of your own")},
        {[](const ServingStudy& q) { return !q.scenario.transfer; },
         [plan](ServingStudy& q, bool drawn) {
             q.scenario.transfer.reset();
             if (!drawn) q.scenario.transfer = plan->transfer;
         }});
    rows.measure({QStringLiteral("serving.transfer.bandwidth"), t("Bandwidth"),
                  t("Bytes per second of one replica's way out, and in. Empty: transfers take no time")},
                 Dimension::DataRate, ofTransfer(&TransferSpec::bytesPerSecond), t("no limit"), own);
    rows.measure({QStringLiteral("serving.transfer.latency"), t("Latency"), t("Seconds before the first byte arrives")},
                 Dimension::Time, ofTransfer(&TransferSpec::latency), t("none"), own, 0, 1000);
    rows.measure({QStringLiteral("serving.transfer.hidden"), t("Hidden share"),
                  t("Share of a transfer that overlaps with computing the prompt, layer by layer (Splitwise)")},
                 Dimension::Fraction, ofTransfer(&TransferSpec::hidden), t("none"), own, 0, 1);
    rows.choice(
        {QStringLiteral("serving.transfer.sharing"), t("Shared"),
         t("How transfers that use one end of a link at the same time share it")},
        {{t("fairly (max-min)"), static_cast<int>(LinkSharing::Fair)},
         {t("one after another"), static_cast<int>(LinkSharing::Fifo)},
         {t("not at all"), static_cast<int>(LinkSharing::None)}},
        {[](const ServingStudy& q) {
             return QVariant(static_cast<int>(q.scenario.transfer ? q.scenario.transfer->sharing : LinkSharing::Fair));
         },
         [](ServingStudy& q, const QVariant& to) {
             q.scenario.transfer->sharing = static_cast<LinkSharing>(to.toInt());
         }},
        own);
    rows.measure({QStringLiteral("serving.transfer.retry"), t("Looks again after"),
                  t("Seconds between two looks for room where a cache is to go. Empty: as soon as there is some")},
                 Dimension::Time, ofTransfer(&TransferSpec::retry), t("at once"), own, 0, 1000);
    return fold;
}

FieldFold* autoscaleSection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.autoscale"), t("Autoscaling"),
        t("Replicas join while load is high and leave while it is low, one per pool and decision"),
        [](const ServingStudy& q) {
            const AutoscaleSpec& now = q.scenario.autoscale;
            if (now.interval <= 0) return t("off");
            return t("every %1, from %2").arg(ui::text(now.interval, Dimension::Time)).arg(std::max(1, now.least));
        },
        parent);
    FieldRows& rows = fold->rows();
    const auto on = [](const ServingStudy& q) { return q.scenario.autoscale.interval > 0; };
    rows.flag({QStringLiteral("serving.autoscale.on"), t("Grow and shrink with load"),
               t("The number of replicas above is then the most; the run begins with the least")},
              {on, [](ServingStudy& q, bool yes) { q.scenario.autoscale.interval = yes ? 5 : 0; }});
    rows.measure({QStringLiteral("serving.autoscale.interval"), t("Decides every"), t("Seconds between two decisions")},
                 Dimension::Time, ofScaling(&AutoscaleSpec::interval), {}, on, 1e-3, 1e6);
    rows.measure(
        {QStringLiteral("serving.autoscale.spinUp"), t("Spin-up"),
         t("Seconds from the decision to the first iteration: weights ÷ bandwidth, and the start of the engine")},
        Dimension::Time, ofScaling(&AutoscaleSpec::spinUp), t("none"), on, 0, 1e6);
    rows.measure({QStringLiteral("serving.autoscale.up"), t("Grows above"),
                  t("Mean load of a replica: the larger of KV cache in use and requests ÷ sequences of its scheduler")},
                 Dimension::Fraction, ofScaling(&AutoscaleSpec::up), {}, on, 0, 100);
    rows.measure({QStringLiteral("serving.autoscale.down"), t("Shrinks below"),
                  t("Mean load of a replica below which one leaves, when it has finished what runs")},
                 Dimension::Fraction, ofScaling(&AutoscaleSpec::down), {}, on, 0, 100);
    rows.whole({QStringLiteral("serving.autoscale.least"), t("Least"), t("Replicas that a pool never goes below")}, 1,
               1024, ofScaling(&AutoscaleSpec::least), on);
    rows.whole({QStringLiteral("serving.autoscale.most"), t("Most"),
                t("Replicas that a pool never goes beyond; all: as many as are set above")},
               0, 1024, ofScaling(&AutoscaleSpec::most), on, t("all"));
    return fold;
}

FieldFold* failureSection(QWidget* parent) {
    const auto replicas = [](const ServingStudy& q) {
        int all = 0;
        for (const PoolSpec& pool : q.scenario.pools) all += pool.replicas;
        return std::max(1, all);
    };
    ListFold::Items items;
    items.count = [](const ServingStudy& q) { return q.scenario.failures.size(); };
    items.add = [replicas](ServingStudy& q) {
        auto& all = q.scenario.failures;
        const ReplicaFailure before = all.empty() ? ReplicaFailure{-1, 0, 10, false} : all.back();
        all.push_back({(before.replica + 1) % replicas(q), before.at + 5, before.lasting, false});
    };
    items.remove = [](ServingStudy& q, std::size_t i) {
        auto& all = q.scenario.failures;
        if (i < all.size()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    };
    items.build = [](FieldRows& rows, std::size_t i) {
        const auto id = [i](const char* field) {
            return QStringLiteral("serving.failure.%1.%2").arg(i).arg(QLatin1String(field));
        };
        const auto seconds = [i](double ReplicaFailure::*field) {
            return FieldRows::Bound<double>{
                [i, field](const ServingStudy& q) { return q.scenario.failures[i].*field; },
                [i, field](ServingStudy& q, double to) { q.scenario.failures[i].*field = to; }};
        };
        rows.whole({id("replica"), t("Replica"), t("Which one, as the fleet numbers them from 1 on")}, 1, 100000,
                   {[i](const ServingStudy& q) { return q.scenario.failures[i].replica + 1; },
                    [i](ServingStudy& q, int to) { q.scenario.failures[i].replica = to - 1; }});
        rows.measure({id("at"), t("At"), t("Seconds after the run's begin")}, Dimension::Time,
                     seconds(&ReplicaFailure::at), {}, {}, 0, 1e9);
        rows.measure({id("lasting"), t("For"), t("Seconds until it is back. Empty: it does not come back")},
                     Dimension::Time, seconds(&ReplicaFailure::lasting), t("good"), {}, 0, 1e9);
        rows.choice({id("kind"), t("How"),
                     t("Fails: what runs there is lost and starts again elsewhere. Drains: it finishes what runs and "
                       "takes nothing new")},
                    {{t("fails"), false}, {t("drains"), true}},
                    {[i](const ServingStudy& q) { return QVariant(q.scenario.failures[i].drain); },
                     [i](ServingStudy& q, const QVariant& to) { q.scenario.failures[i].drain = to.toBool(); }});
    };
    items.title = t("Failure %1");
    items.addText = t("Add a failure");
    items.addTip = t("One more replica fails, or drains, at a moment of the run");
    return new ListFold(
        QStringLiteral("serving.failures"), t("Failures"),
        t("Replicas that fail or drain at a moment of the run, and come back"),
        [](const ServingStudy& q) {
            const auto count = static_cast<int>(q.scenario.failures.size());
            return count == 0 ? t("none") : t("%n failure(s)", nullptr, count);
        },
        std::move(items), parent);
}

}  // namespace orrery::app
