// Who shares a fleet and what stands behind a question: tenants, adapters, stages.

#include "app/window/serving/serving_sections.h"
#include "widgets/common/text.h"

#include <QCoreApplication>

#include <algorithm>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingSections", text, note, count);
}

template <class Item>
ListFold::Items listOf(std::vector<Item> ServingScenario::*list, const char* path) {
    ListFold::Items items;
    items.list = path;
    items.count = [list](const ServingStudy& q) { return (q.scenario.*list).size(); };
    items.remove = [list](ServingStudy& q, std::size_t i) {
        auto& all = q.scenario.*list;
        if (i < all.size()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    };
    return items;
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

FieldFold* tenantSection(QWidget* parent) {
    auto items = listOf(&ServingScenario::tenants, "tenants");
    items.add = [](ServingStudy& q) {
        TenantSpec made;
        made.name = freshName(q.scenario.tenants, "tenant ");
        q.scenario.tenants.push_back(std::move(made));
    };
    items.title = t("Tenant %1");
    items.addText = t("Add a tenant");
    items.addTip = t("Adds a tenant: a customer, or the users of another model");
    auto* fold = new ListFold(
        QStringLiteral("serving.tenants"), t("Tenants"),
        t("Tenants and their shares of the traffic. Figures are given for each"),
        [](const ServingStudy& q) {
            const auto count = static_cast<int>(q.scenario.tenants.size());
            return count == 0 ? t("everybody alike") : t("%n tenant(s)", nullptr, count);
        },
        std::move(items), parent);
    fold->rows().section("tenants");
    return fold;
}

FieldFold* adapterSection(QWidget* parent) {
    return plainSection({"adapters", t("LoRA adapters"),
                         t("LoRA adapters: small additions to the weights. Those that do not fit on a replica are "
                           "loaded from its host"),
                         [](const ServingStudy& q) {
                             const AdapterChoice& now = firstPool(q).adapters;
                             return t("rank %1, %2 at a time").arg(now.rank).arg(now.resident);
                         },
                         anyAdapters},
                        parent);
}

FieldFold* stageSection(QWidget* parent) {
    auto items = listOf(&ServingScenario::stages, "stages");
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
    items.title = t("Stage %1");
    items.addText = t("Add a stage in front");
    items.addTip = t("Adds a step of every question, such as look up, rerank or encode");
    return new ListFold(
        QStringLiteral("serving.stages"), t("Stages of a question"),
        t("Steps of every question, one after another. There are figures for whole questions and for each stage"),
        [](const ServingStudy& q) {
            QStringList names;
            for (const StageSpec& each : q.scenario.stages) names << ui::qs(each.name);
            return names.isEmpty() ? t("one request") : names.join(QStringLiteral(" → "));
        },
        std::move(items), parent);
}

}  // namespace orrery::app
