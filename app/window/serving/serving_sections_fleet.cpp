#include "app/window/serving/serving_sections.h"
#include "serving/fleet/speculation.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "workload/workload.h"

#include <QComboBox>
#include <QCoreApplication>

#include <cmath>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingSections", text, note, count);
}

QVariant presetOf(const SpeculationChoice& choice) {
    for (const DrafterPreset& preset : drafterPresets())
        if (choice.drafts == preset.drafts && choice.acceptance == preset.acceptance && choice.draftModel.empty())
            return ui::qs(preset.id);
    return QString();
}

FieldFold* speculationSection(const PlanFactsPtr& plan, QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.speculation"), t("Speculation"),
        t("Draft tokens that one iteration of the model verifies together (Leviathan et al., ICML 2023)"),
        [](const ServingStudy& q) {
            const SpeculationChoice& now = firstPool(q).speculation;
            if (now.drafts <= 0) return t("none");
            Speculation expected;
            expected.drafts = now.drafts;
            expected.acceptance = now.acceptance;
            return t("%1 drafts, %2 tokens a step").arg(now.drafts).arg(expectedTokens(expected), 0, 'g', 3);
        },
        parent);
    FieldRows& rows = fold->rows();
    std::vector<std::pair<QString, QVariant>> presets{{t("own numbers"), QString()}};
    for (const DrafterPreset& preset : drafterPresets()) presets.emplace_back(ui::qs(preset.title), ui::qs(preset.id));
    auto* box = rows.choice(
        {QStringLiteral("serving.speculation.preset"), t("Drafter"),
         t("Fills in drafts, acceptance and cost from papers; the cost is a share of one decode iteration")},
        presets,
        {[](const ServingStudy& q) { return presetOf(firstPool(q).speculation); },
         [plan](ServingStudy& q, const QVariant& id) {
             for (const DrafterPreset& preset : drafterPresets()) {
                 if (ui::qs(preset.id) != id.toString()) continue;
                 const Speculation filled = speculationOf(preset, plan->decodeSeconds);
                 eachPool(q, [&](PoolSpec& pool) {
                     pool.speculation = {filled.drafts, filled.acceptance, {}, filled.draftSeconds};
                 });
             }
         }});
    for (int i = 1; i < box->count(); ++i)
        box->setItemData(i, ui::qs(drafterPresets()[static_cast<std::size_t>(i - 1)].source), Qt::ToolTipRole);
    rows.section("speculation");
    return fold;
}

FieldFold* powerSection(QWidget* parent) {
    auto* fold = plainSection({"power", t("Clock, power, price"), t("Clock, power cap and price of the devices"),
                               [](const ServingStudy& q) {
                                   const PoolSpec& pool = firstPool(q);
                                   QStringList said;
                                   if (pool.clock == ClockPolicy::Fixed)
                                       said << t("%1 of the clock").arg(ui::percentText(pool.clockShare));
                                   if (pool.clock == ClockPolicy::Lowest) said << t("lowest clock");
                                   if (pool.powerCap > 0) said << ui::text(pool.powerCap, Dimension::Power);
                                   if (pool.dollarsPerHour > 0) said << t("%1 $/h").arg(pool.dollarsPerHour, 0, 'g', 4);
                                   return said.isEmpty() ? t("as they are") : said.join(QStringLiteral(", "));
                               }},
                              parent);
    FieldRows& rows = fold->rows();
    rows.note(QStringLiteral("serving.power.note"), [](const ServingStudy& q) {
        if (firstPool(q).clock != ClockPolicy::Lowest || q.scenario.promise.tpot > 0) return QString();
        return t("Set a TPOT limit first. Without one the clock does not change");
    });
    return fold;
}

FieldFold* memorySection(QWidget* parent) {
    return plainSection({"memory", t("Memory for the KV cache"), t("The part of a device's memory for the KV cache"),
                         [](const ServingStudy& q) {
                             const PoolSpec& pool = firstPool(q);
                             if (pool.kvBlocks > 0)
                                 return t("%1 blocks").arg(ui::countText(static_cast<double>(pool.kvBlocks)));
                             return t("%1, %2").arg(ui::percentText(pool.memoryShare),
                                                    ui::qs(toText(q.scenario.model.kv)));
                         }},
                        parent);
}

FieldFold* lineSection(QWidget* parent) {
    return plainSection(
        {"line", t("Queue"), t("Order of the queue, how many requests may wait, which are refused"),
         [](const ServingStudy& q) {
             const AdmissionSpec& now = firstPool(q).admission;
             QString said =
                 ui::qs(fieldWords(*findField("pools/admission/order"), fieldValue(q, "pools/admission/order")));
             if (now.queue > 0) said += t(", at most %1").arg(now.queue);
             if (now.dropLate) said += t(", not the late");
             return said;
         }},
        parent);
}

}  // namespace

FieldFold* transferSection(const PlanFactsPtr& plan, QWidget* parent);
FieldFold* autoscaleSection(QWidget* parent);
FieldFold* failureSection(QWidget* parent);

std::vector<FieldFold*> fleetSections(const PlanFactsPtr& plan, QWidget* parent) {
    return {lineSection(parent),   speculationSection(plan, parent), powerSection(parent),
            memorySection(parent), transferSection(plan, parent),    autoscaleSection(parent),
            failureSection(parent)};
}

}  // namespace orrery::app
