// Who shares a fleet and what stands behind a question: experts, tenants, adapters, stages.

#include "app/window/serving/serving_sections.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "workload/models/transformer_source.h"

#include <QCoreApplication>

#include <algorithm>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingSections", text, note, count);
}

/// A field of a part of every pool.
template <class Spec, class Value>
auto ofPools(Spec PoolSpec::*spec, Value Spec::*field) {
    using Shown =
        std::conditional_t<std::is_same_v<Value, std::int32_t> || std::is_same_v<Value, std::int64_t>, int, Value>;
    return FieldRows::Bound<Shown>{
        [=](const ServingStudy& q) -> Shown { return static_cast<Shown>(firstPool(q).*spec.*field); },
        [=](ServingStudy& q, Shown to) { eachPool(q, [&](PoolSpec& pool) { pool.*spec.*field = to; }); }};
}

template <class Item, class Value>
auto ofItem(std::vector<Item> ServingScenario::*list, std::size_t i, Value Item::*field) {
    using Shown = std::conditional_t<std::is_same_v<Value, std::int32_t>, int, Value>;
    return FieldRows::Bound<Shown>{[=](const ServingStudy& q) -> Shown { return (q.scenario.*list)[i].*field; },
                                   [=](ServingStudy& q, Shown to) { (q.scenario.*list)[i].*field = to; }};
}
template <class Item>
FieldRows::Bound<QString> ofItem(std::vector<Item> ServingScenario::*list, std::size_t i, std::string Item::*field) {
    return {[=](const ServingStudy& q) { return ui::qs((q.scenario.*list)[i].*field); },
            [=](ServingStudy& q, const QString& to) { (q.scenario.*list)[i].*field = to.toStdString(); }};
}

template <class Item>
ListFold::Items listOf(std::vector<Item> ServingScenario::*list) {
    ListFold::Items items;
    items.count = [list](const ServingStudy& q) { return (q.scenario.*list).size(); };
    items.remove = [list](ServingStudy& q, std::size_t i) {
        auto& all = q.scenario.*list;
        if (i < all.size()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    };
    return items;
}

bool isMixture(const ServingStudy& question) {
    const auto config = transformerConfig(question.scenario.model.source);
    return config && config->experts > 0;
}

bool anyAdapters(const ServingStudy& question) {
    return std::ranges::any_of(question.scenario.tenants, [](const TenantSpec& each) { return each.adapters > 0; });
}

/// A name that no other one has: `tenant 2`.
template <class Item>
std::string freshName(const std::vector<Item>& all, const char* word) {
    for (std::size_t number = all.size() + 1;; ++number) {
        const std::string name = word + std::to_string(number);
        if (std::ranges::none_of(all, [&](const Item& each) { return each.name == name; })) return name;
    }
}

}  // namespace

FieldFold* expertSection(QWidget* parent) {
    const auto kindName = [](RoutingKind kind) {
        switch (kind) {
            case RoutingKind::Balanced:
                return t("evenly");
            case RoutingKind::Random:
                return t("at random");
            case RoutingKind::Zipf:
                return t("Zipf, some more often");
            case RoutingKind::Trace:
                return t("as a trace counts them");
        }
        return QString();
    };
    auto* fold = new FieldFold(
        QStringLiteral("serving.experts"), t("Experts"),
        t("Which experts of the mixture tokens choose, and who holds them"),
        [kindName](const ServingStudy& q) {
            const PoolSpec& pool = firstPool(q);
            QString said = kindName(pool.experts.routing);
            if (pool.plan.expert > 1) said += t(", over %1").arg(pool.plan.expert);
            if (pool.experts.waves) said += t(", in step");
            return said;
        },
        parent);
    fold->setShownIf(isMixture);
    FieldRows& rows = fold->rows();
    rows.whole({QStringLiteral("serving.expertParallel"), t("Expert parallel"),
                t("Of the tensor-parallel devices, so many hold whole experts instead of slices of all")},
               1, 1024, ofPools(&PoolSpec::plan, &Plan::expert));
    std::vector<std::pair<QString, QVariant>> kinds;
    for (const RoutingKind kind : {RoutingKind::Balanced, RoutingKind::Random, RoutingKind::Zipf, RoutingKind::Trace})
        kinds.emplace_back(kindName(kind), static_cast<int>(kind));
    rows.choice(
        {QStringLiteral("serving.routing"), t("Tokens choose"),
         t("A device computes the tokens whose experts it holds, and all wait for the slowest: the less even the "
           "choice, the longer")},
        kinds,
        {[](const ServingStudy& q) { return QVariant(static_cast<int>(firstPool(q).experts.routing)); },
         [](ServingStudy& q, const QVariant& to) {
             eachPool(q, [&](PoolSpec& p) { p.experts.routing = static_cast<RoutingKind>(to.toInt()); });
         }});
    rows.measure(
        {QStringLiteral("serving.routing.skew"), t("Skew"), t("The k-th expert is chosen with weight k^−skew")},
        Dimension::Number, ofPools(&PoolSpec::experts, &ExpertChoice::skew), {},
        [](const ServingStudy& q) { return firstPool(q).experts.routing == RoutingKind::Zipf; }, 0, 10);
    rows.word({QStringLiteral("serving.routing.trace"), t("Trace"),
               t("Path of a table with columns `expert` (0, 1, …) and `count`")},
              {[](const ServingStudy& q) { return ui::qs(firstPool(q).experts.trace); },
               [](ServingStudy& q, const QString& to) {
                   eachPool(q, [&](PoolSpec& p) { p.experts.trace = to.toStdString(); });
               }},
              [](const ServingStudy& q) { return firstPool(q).experts.routing == RoutingKind::Trace; });
    rows.flag({QStringLiteral("serving.waves"), t("Replicas go in step"),
               t("They are data-parallel ranks of one engine: the experts are spread over all their devices, and every "
                 "iteration begins and ends together, padded to the largest")},
              ofPools(&PoolSpec::experts, &ExpertChoice::waves));
    return fold;
}

FieldFold* tenantSection(QWidget* parent) {
    auto items = listOf(&ServingScenario::tenants);
    items.add = [](ServingStudy& q) {
        TenantSpec made;
        made.name = freshName(q.scenario.tenants, "tenant ");
        q.scenario.tenants.push_back(std::move(made));
    };
    items.build = [](FieldRows& rows, std::size_t i) {
        const auto id = [i](const char* field) {
            return QStringLiteral("serving.tenant.%1.%2").arg(i).arg(QLatin1String(field));
        };
        constexpr auto all = &ServingScenario::tenants;
        rows.word({id("name"), t("Name"), t("Results and pools name it so")}, ofItem(all, i, &TenantSpec::name));
        rows.measure({id("share"), t("Share"), t("Of the sessions, against the other tenants' shares")},
                     Dimension::Number, ofItem(all, i, &TenantSpec::share), {}, {}, 1e-6, 1e6);
        rows.measure({id("ttft"), t("First token"), t("Promised to this tenant; empty: as promised to all")},
                     Dimension::Time, ofItem(all, i, &TenantSpec::ttft), t("as to all"));
        rows.whole({id("adapters"), t("LoRA adapters"), t("That its sessions ask for; none: the model as it is")}, 0,
                   100000, ofItem(all, i, &TenantSpec::adapters), {}, t("none"));
        rows.measure(
            {id("skew"), t("Skew"), t("Its k-th adapter is asked for with weight k^−skew")}, Dimension::Number,
            ofItem(all, i, &TenantSpec::adapterSkew), {},
            [i](const ServingStudy& q) { return q.scenario.tenants[i].adapters > 0; }, 0, 10);
    };
    items.title = t("Tenant %1");
    items.addText = t("Add a tenant");
    items.addTip = t("One more who shares the fleet: a customer, or users of another model");
    return new ListFold(
        QStringLiteral("serving.tenants"), t("Tenants"),
        t("Who shares the fleet, with what share of the traffic; figures are then given for each"),
        [](const ServingStudy& q) {
            const auto count = static_cast<int>(q.scenario.tenants.size());
            return count == 0 ? t("everybody alike") : t("%n tenant(s)", nullptr, count);
        },
        std::move(items), parent);
}

FieldFold* adapterSection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.adapters"), t("LoRA adapters"),
        t("Small additions to the weights, one set per use; those that a replica has no room for come from its host"),
        [](const ServingStudy& q) {
            const AdapterChoice& now = firstPool(q).adapters;
            return t("rank %1, %2 at a time").arg(now.rank).arg(now.resident);
        },
        parent);
    fold->setShownIf(anyAdapters);
    FieldRows& rows = fold->rows();
    rows.whole(
        {QStringLiteral("serving.adapter.rank"), t("Rank"), t("Width of the two small matrices (Hu et al. 2021)")}, 1,
        1024, ofPools(&PoolSpec::adapters, &AdapterChoice::rank));
    rows.whole({QStringLiteral("serving.adapter.resident"), t("In memory"),
                t("Adapters whose weights a replica holds at a time; the others wait in its host's memory")},
               1, 100000, ofPools(&PoolSpec::adapters, &AdapterChoice::resident));
    rows.choice({QStringLiteral("serving.adapter.targets"), t("Added to"), t("Which products of a layer they add to")},
                {{t("attention"), static_cast<int>(AdapterTargets::Attention)},
                 {t("all products"), static_cast<int>(AdapterTargets::All)}},
                {[](const ServingStudy& q) { return QVariant(static_cast<int>(firstPool(q).adapters.targets)); },
                 [](ServingStudy& q, const QVariant& to) {
                     eachPool(q, [&](PoolSpec& p) { p.adapters.targets = static_cast<AdapterTargets>(to.toInt()); });
                 }});
    rows.measure({QStringLiteral("serving.adapter.bandwidth"), t("From the host"),
                  t("Bytes per second of one device's way to its host. Empty: PCIe of its generation")},
                 Dimension::DataRate, ofPools(&PoolSpec::adapters, &AdapterChoice::hostBandwidth), t("PCIe"));
    rows.measure({QStringLiteral("serving.adapter.hidden"), t("Hidden share"),
                  t("Of a load that earlier iterations hide (S-LoRA fetches ahead of the next batch)")},
                 Dimension::Fraction, ofPools(&PoolSpec::adapters, &AdapterChoice::hidden), t("none"), {}, 0, 1);
    return fold;
}

FieldFold* stageSection(QWidget* parent) {
    auto items = listOf(&ServingScenario::stages);
    items.add = [](ServingStudy& q) {
        StageSpec made;
        made.name = freshName(q.scenario.stages, "stage ");
        // The first pool answers the question itself; another stage is a law until somebody says better.
        if (q.scenario.stages.empty()) {
            made.pool = q.scenario.pools.front().name;
            made.output = 0;
        } else {
            made.seconds = 0.02;
        }
        q.scenario.stages.insert(q.scenario.stages.begin(), std::move(made));
    };
    items.build = [](FieldRows& rows, std::size_t i) {
        const auto id = [i](const char* field) {
            return QStringLiteral("serving.stage.%1.%2").arg(i).arg(QLatin1String(field));
        };
        constexpr auto all = &ServingScenario::stages;
        const auto byLaw = [i](const ServingStudy& q) { return q.scenario.stages[i].pool.empty(); };
        rows.word({id("name"), t("Name"), t("Results name it so: retrieve, rerank, answer")},
                  ofItem(all, i, &StageSpec::name));
        rows.word(
            {id("pool"), t("On the pool"), t("Name of the pool that runs it; empty: workers of its own, by time")},
            ofItem(all, i, &StageSpec::pool));
        rows.measure({id("ofPrompt"), t("Reads"), t("× the question's tokens")}, Dimension::Number,
                     ofItem(all, i, &StageSpec::ofPrompt), {}, {}, 0, 1e4);
        rows.whole({id("added"), t("and"), t("So many tokens more: passages, instructions")}, 0, 1000000,
                   ofItem(all, i, &StageSpec::added));
        rows.whole({id("output"), t("Writes"), t("Tokens that it yields")}, 0, 100000,
                   ofItem(all, i, &StageSpec::output), {}, t("the answer"));
        rows.measure({id("pause"), t("Pause before"), t("Seconds between the end of the stage before and its begin")},
                     Dimension::Time, ofItem(all, i, &StageSpec::pause), t("none"), {}, 0, 1e6);
        rows.measure({id("seconds"), t("A pass takes"), t("Seconds, whatever is in it")}, Dimension::Time,
                     ofItem(all, i, &StageSpec::seconds), t("no time"), byLaw, 0, 1e6);
        rows.measure({id("perToken"), t("and per token"), t("Seconds more for each token that it reads")},
                     Dimension::Time, ofItem(all, i, &StageSpec::perToken), t("no time"), byLaw, 0, 1e3);
        rows.whole({id("workers"), t("Workers"), t("That run it side by side")}, 1, 100000,
                   ofItem(all, i, &StageSpec::workers), byLaw);
        rows.whole({id("together"), t("Together"), t("Questions in one pass of a worker, at most")}, 1, 100000,
                   ofItem(all, i, &StageSpec::together), byLaw);
    };
    items.title = t("Stage %1");
    items.addText = t("Add a stage in front");
    items.addTip = t("One more step that every question passes: look up, rerank, encode");
    return new ListFold(
        QStringLiteral("serving.stages"), t("Stages of a question"),
        t("Steps that every question passes, one after another; figures are of whole questions and of each stage"),
        [](const ServingStudy& q) {
            QStringList names;
            for (const StageSpec& each : q.scenario.stages) names << ui::qs(each.name);
            return names.isEmpty() ? t("one request") : names.join(QStringLiteral(" → "));
        },
        std::move(items), parent);
}

}  // namespace orrery::app
