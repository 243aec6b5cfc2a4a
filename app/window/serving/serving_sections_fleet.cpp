#include "app/window/serving/serving_sections.h"
#include "serving/fleet/speculation.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"
#include "workload/workload.h"

#include <QCoreApplication>

#include <cmath>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingSections", text, note, count);
}

/// A value of the first pool, set in all of them.
template <class Value, class Get, class Set>
FieldRows::Bound<Value> ofPools(Get get, Set set) {
    return {[get](const ServingStudy& q) -> Value { return get(firstPool(q)); },
            [set](ServingStudy& q, Value value) { eachPool(q, [&](PoolSpec& pool) { set(pool, value); }); }};
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
    const auto on = [](const ServingStudy& q) { return firstPool(q).speculation.drafts > 0; };
    std::vector<std::pair<QString, QVariant>> presets{{t("own numbers"), QString()}};
    for (const DrafterPreset& preset : drafterPresets()) presets.emplace_back(ui::qs(preset.title), ui::qs(preset.id));
    auto* box = rows.choice(
        {QStringLiteral("serving.speculation.preset"), t("Drafter"),
         t("Fills in drafts, acceptance and cost as papers report them; the cost is a share of one decoding "
           "iteration")},
        presets,
        ofPools<QVariant>([](const PoolSpec& pool) { return presetOf(pool.speculation); },
                          [plan](PoolSpec& pool, const QVariant& id) {
                              for (const DrafterPreset& preset : drafterPresets()) {
                                  if (ui::qs(preset.id) != id.toString()) continue;
                                  const Speculation filled = speculationOf(preset, plan->decodeSeconds);
                                  pool.speculation = {filled.drafts, filled.acceptance, {}, filled.draftSeconds};
                              }
                          }));
    for (int i = 1; i < box->count(); ++i)
        box->setItemData(i, ui::qs(drafterPresets()[static_cast<std::size_t>(i - 1)].source), Qt::ToolTipRole);
    rows.whole({QStringLiteral("serving.speculation.drafts"), t("Drafts"),
                t("Draft tokens per step and sequence; the model verifies them in one iteration")},
               0, 64,
               ofPools<int>([](const PoolSpec& p) { return p.speculation.drafts; },
                            [](PoolSpec& p, int to) { p.speculation.drafts = to; }),
               {}, t("none"));
    rows.measure({QStringLiteral("serving.speculation.acceptance"), t("Acceptance"),
                  t("Probability that the model keeps a draft token, each by itself; a step yields "
                    "(1 − a^(k+1)) ÷ (1 − a) tokens on average")},
                 Dimension::Fraction,
                 ofPools<double>([](const PoolSpec& p) { return p.speculation.acceptance; },
                                 [](PoolSpec& p, double to) { p.speculation.acceptance = to; }),
                 {}, on, 0, 1);
    std::vector<std::pair<QString, QVariant>> models{{t("a time per token"), QString()}};
    for (const WorkloadInfo& info : builtinWorkloads())
        if (info.hasPhases) models.emplace_back(ui::qs(info.name), ui::qs(info.id));
    rows.choice({QStringLiteral("serving.speculation.model"), t("Drafting costs"),
                 t("Seconds per draft token, or a small model on one of the devices, priced kernel by kernel")},
                models,
                ofPools<QVariant>([](const PoolSpec& p) { return QVariant(ui::qs(p.speculation.draftModel)); },
                                  [](PoolSpec& p, const QVariant& to) {
                                      p.speculation.draftModel = to.toString().toStdString();
                                      if (!p.speculation.draftModel.empty()) p.speculation.draftSeconds = 0;
                                  }),
                on);
    rows.measure(
        {QStringLiteral("serving.speculation.seconds"), t("Time per draft"),
         t("Seconds that one draft token costs, for the whole batch")},
        Dimension::Time,
        ofPools<double>([](const PoolSpec& p) { return p.speculation.draftSeconds; },
                        [](PoolSpec& p, double to) { p.speculation.draftSeconds = to; }),
        t("free"), [on](const ServingStudy& q) { return on(q) && firstPool(q).speculation.draftModel.empty(); }, 0,
        1000);
    return fold;
}

FieldFold* powerSection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.power"), t("Clock, power, price"),
        t("How fast the devices are clocked, what they may draw, what they cost"),
        [](const ServingStudy& q) {
            const PoolSpec& pool = firstPool(q);
            QStringList said;
            if (pool.clock == ClockPolicy::Fixed) said << t("%1 of the clock").arg(ui::percentText(pool.clockShare));
            if (pool.clock == ClockPolicy::Lowest) said << t("lowest clock");
            if (pool.powerCap > 0) said << ui::text(pool.powerCap, Dimension::Power);
            if (pool.dollarsPerHour > 0) said << t("%1 $/h").arg(pool.dollarsPerHour, 0, 'g', 4);
            return said.isEmpty() ? t("as they are") : said.join(QStringLiteral(", "));
        },
        parent);
    FieldRows& rows = fold->rows();
    rows.choice({QStringLiteral("serving.clock"), t("Clock"),
                 t("Lowest: every decoding iteration at the lowest clock that keeps the promise per token "
                   "(ThrottLL'eM, Kakolyris et al. 2025); prompts at the nominal one")},
                {{t("as fast as power lets it"), static_cast<int>(ClockPolicy::Nominal)},
                 {t("fixed"), static_cast<int>(ClockPolicy::Fixed)},
                 {t("lowest that keeps the pace"), static_cast<int>(ClockPolicy::Lowest)}},
                ofPools<QVariant>([](const PoolSpec& p) { return QVariant(static_cast<int>(p.clock)); },
                                  [](PoolSpec& p, const QVariant& to) {
                                      p.clock = static_cast<ClockPolicy>(to.toInt());
                                      if (p.clock == ClockPolicy::Fixed && p.clockShare >= 1) p.clockShare = 0.8;
                                  }));
    rows.measure(
        {QStringLiteral("serving.clockShare"), t("Share of the clock"), t("Of the nominal clock, 10 to 100 %")},
        Dimension::Fraction,
        ofPools<double>([](const PoolSpec& p) { return p.clockShare; },
                        [](PoolSpec& p, double to) { p.clockShare = to; }),
        {}, [](const ServingStudy& q) { return firstPool(q).clock == ClockPolicy::Fixed; }, 0.1, 1);
    rows.measure(
        {QStringLiteral("serving.powerCap"), t("Power cap"),
         t("Watts that one device may draw; its clock falls until it does. Empty: the device's own limit")},
        Dimension::Power,
        ofPools<double>([](const PoolSpec& p) { return p.powerCap; }, [](PoolSpec& p, double to) { p.powerCap = to; }),
        t("the device's own"), {}, 0, 1e5);
    rows.measure({QStringLiteral("serving.price"), t("Price, $/h"),
                  t("Dollars per hour of one device, for the price of a million tokens")},
                 Dimension::Number,
                 ofPools<double>([](const PoolSpec& p) { return p.dollarsPerHour; },
                                 [](PoolSpec& p, double to) { p.dollarsPerHour = to; }),
                 t("not known"), {}, 0, 1e6);
    rows.note(QStringLiteral("serving.power.note"), [](const ServingStudy& q) {
        if (firstPool(q).clock != ClockPolicy::Lowest || q.scenario.promise.tpot > 0) return QString();
        return t("Promise a time per token: until then the clock stays as it is");
    });
    return fold;
}

FieldFold* memorySection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.memory"), t("Memory for the KV cache"),
        t("What of a device's memory holds keys and values"),
        [](const ServingStudy& q) {
            const PoolSpec& pool = firstPool(q);
            if (pool.kvBlocks > 0) return t("%1 blocks").arg(ui::countText(static_cast<double>(pool.kvBlocks)));
            return t("%1, %2").arg(ui::percentText(pool.memoryShare), ui::qs(toText(q.scenario.model.kv)));
        },
        parent);
    FieldRows& rows = fold->rows();
    std::vector<std::pair<QString, QVariant>> types;
    for (const DType type : {DType::BF16, DType::F16, DType::FP8, DType::I8, DType::FP4})
        types.emplace_back(ui::qs(toText(type)), ui::qs(toText(type)));
    rows.choice({QStringLiteral("serving.kv"), t("Stored as"), t("Data type of keys and values in the cache")}, types,
                {[](const ServingStudy& q) { return QVariant(ui::qs(toText(q.scenario.model.kv))); },
                 [](ServingStudy& q, const QVariant& to) {
                     if (const auto type = dtype(to.toString().toStdString())) q.scenario.model.kv = *type;
                 }});
    rows.measure({QStringLiteral("serving.memoryShare"), t("Share of memory"),
                  t("Of the device's memory that the engine may use (vLLM: gpu_memory_utilization)")},
                 Dimension::Fraction,
                 ofPools<double>([](const PoolSpec& p) { return p.memoryShare; },
                                 [](PoolSpec& p, double to) { p.memoryShare = to; }),
                 {}, {}, 0.01, 1);
    rows.whole({QStringLiteral("serving.tokensPerBlock"), t("Tokens per block"),
                t("Tokens that one block of the paged cache holds; 16 is usual")},
               1, 4096,
               ofPools<int>([](const PoolSpec& p) { return p.tokensPerBlock; },
                            [](PoolSpec& p, int to) { p.tokensPerBlock = to; }));
    rows.whole(
        {QStringLiteral("serving.kvBlocks"), t("Blocks"),
         t("Blocks of a replica's cache; none: what memory has left beside weights, activations and graphs")},
        0, 100000000,
        ofPools<int>([](const PoolSpec& p) { return static_cast<int>(std::min<std::int64_t>(p.kvBlocks, 100000000)); },
                     [](PoolSpec& p, int to) { p.kvBlocks = to; }),
        {}, t("from memory"));
    return fold;
}

}  // namespace

void routerRows(FieldRows& rows) {
    rows.measure(
        {QStringLiteral("serving.router.weight"), t("Prefix"),
         t("Tokens of queue that one token found in a replica's cache is worth")},
        Dimension::Number,
        {[](const ServingStudy& q) { return q.scenario.router.weight; },
         [](ServingStudy& q, double to) { q.scenario.router.weight = to; }},
        {}, [](const ServingStudy& q) { return q.scenario.router.id == "prefix-affinity"; }, 0, 1e6);
    rows.measure(
        {QStringLiteral("serving.router.queue"), t("Queue"),
         t("Prompt tokens that wait at a replica before it borrows help from the mixed pool")},
        Dimension::Number,
        {[](const ServingStudy& q) { return q.scenario.router.queueTokens; },
         [](ServingStudy& q, double to) { q.scenario.router.queueTokens = to; }},
        {}, [](const ServingStudy& q) { return q.scenario.router.id == "splitwise-pools"; }, 0, 1e9);
}

FieldFold* transferSection(const PlanFactsPtr& plan, QWidget* parent);
FieldFold* autoscaleSection(QWidget* parent);
FieldFold* failureSection(QWidget* parent);

std::vector<FieldFold*> fleetSections(const PlanFactsPtr& plan, QWidget* parent) {
    return {lineSection(parent),   speculationSection(plan, parent), powerSection(parent),
            memorySection(parent), transferSection(plan, parent),    autoscaleSection(parent),
            failureSection(parent)};
}

}  // namespace orrery::app
