#include "app/window/serving/serving_sections.h"

#include "widgets/common/text.h"
#include "workload/models/transformer_source.h"

#include <QCoreApplication>

namespace orrery::app {

namespace {

QString t(const char* text) {
    return QCoreApplication::translate("ServingSections", text);
}

bool isMixture(const ServingStudy& question) {
    const auto config = transformerConfig(question.scenario.model.source);
    return config && config->experts > 0;
}

QString routingSummary(const ServingStudy& question) {
    const PoolSpec& pool = firstPool(question);
    QString said =
        ui::qs(fieldWords(*findField("pools/experts/routing"), fieldValue(question, "pools/experts/routing")));
    if (pool.plan.expert > 1) said += t(", over %1").arg(pool.plan.expert);
    if (pool.experts.waves) said += t(", in step");
    return said;
}

}  // namespace

QString unusualValues(const ServingStudy& question, std::string_view section, const QString& usual) {
    QStringList said;
    for (const ListedField& each : servingFields()) {
        const FieldSpec& spec = *each.spec;
        const std::string_view of = spec.section.empty() ? each.table->section : spec.section;
        if (of != section || !spec.isScalar() || !spec.inForm || !fieldMatters(question, each.path)) continue;
        const FieldValue now = fieldValue(question, each.path);
        if (now == each.usual) continue;
        const QString title = ui::qs(spec.title);
        if (const auto* on = std::get_if<bool>(&now))
            said << (*on ? title.toLower() : t("not: %1").arg(title.toLower()));
        else
            said << title.toLower() + QLatin1Char(' ') + ui::qs(fieldWords(spec, now));
    }
    return said.isEmpty() ? usual : said.join(QStringLiteral(", "));
}

FieldFold* plainSection(const SectionText& text, QWidget* parent) {
    auto summary = text.summary;
    if (!summary) summary = [id = text.id](const ServingStudy& q) { return unusualValues(q, id, t("as usual")); };
    auto* fold =
        new FieldFold(QStringLiteral("serving.") + ui::qs(text.id), text.title, text.tip, std::move(summary), parent);
    if (text.shown) fold->setShownIf(text.shown);
    fold->rows().section(text.id);
    return fold;
}

std::vector<FieldFold*> modelSections(QWidget* parent) {
    return {
        plainSection({"host", t("Activations and host"), t("Number format between layers, and time of the host")},
                     parent),
        plainSection({"law",
                      t("Law of iteration times"),
                      t("Seconds of an iteration as a function of its contents"),
                      {},
                      [](const ServingStudy& q) { return firstPool(q).time.kind == SlotKind::Law; }},
                     parent),
        plainSection({"experts", t("Experts"), t("How tokens choose experts, and which devices have them"),
                      routingSummary, isMixture},
                     parent),
    };
}

}  // namespace orrery::app
