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

}  // namespace

FieldFold* transferSection(const PlanFactsPtr& plan, QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.transfer"), t("Transfers of KV caches"),
        t("Transfer of the KV cache from the prefill pool to the decode pool"),
        [](const ServingStudy& q) {
            const auto& now = q.scenario.transfer;
            if (!now) return t("over the drawn links");
            return now->bytesPerSecond > 0 ? ui::text(now->bytesPerSecond, Dimension::DataRate) : t("at once");
        },
        parent);
    fold->setShownIf([](const ServingStudy& q) { return q.scenario.pools.size() > 1; });
    FieldRows& rows = fold->rows();
    rows.flag(
        {QStringLiteral("serving.transfer.drawn"), t("Over the links of the drawing"),
         t("Bandwidth and latency of the network that joins the pools, as it is drawn; off: numbers of your own")},
        {[](const ServingStudy& q) { return !q.scenario.transfer; },
         [plan](ServingStudy& q, bool drawn) {
             q.scenario.transfer.reset();
             if (!drawn) q.scenario.transfer = plan->transfer;
         }});
    rows.section("transfer");
    return fold;
}

FieldFold* autoscaleSection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.autoscale"), t("Autoscaling"),
        t("Replicas start if the load is high and stop if it is low, one per pool and decision"),
        [](const ServingStudy& q) {
            const AutoscaleSpec& now = q.scenario.autoscale;
            if (now.interval <= 0) return t("off");
            return t("every %1, from %2").arg(ui::text(now.interval, Dimension::Time)).arg(std::max(1, now.least));
        },
        parent);
    FieldRows& rows = fold->rows();
    const auto on = [](const ServingStudy& q) { return q.scenario.autoscale.interval > 0; };
    rows.flag({QStringLiteral("serving.autoscale.on"), t("Grow and shrink with load"),
               t("The number above is the maximum. The run starts with the minimum")},
              {on, [](ServingStudy& q, bool yes) { q.scenario.autoscale.interval = yes ? 5 : 0; }});
    rows.section("autoscale");
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
    items.list = "failures";
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
