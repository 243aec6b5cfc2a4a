// What arrives, beyond a rate and two lengths: bursts and days, conversations, agents, slices.

#include "app/window/serving/serving_sections.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingSections", text, note, count);
}

bool isOpen(const ServingStudy& question) {
    const ArrivalKind kind = question.traffic.arrivals.kind;
    return kind != ArrivalKind::Trace && kind != ArrivalKind::ClosedLoop && kind != ArrivalKind::AllAtOnce;
}
bool readsTrace(const ServingStudy& question) {
    return !question.traffic.trace.file.empty();
}

QString lengthSummary(const LengthSpec& length) {
    const QString kind = ui::qs(toText(length.kind));
    if (length.kind == LengthKind::Trace) return t("of the trace");
    if (length.kind == LengthKind::Fixed) return ui::countText(length.mean);
    if (length.kind == LengthKind::LogNormal) return t("%1 around %2").arg(kind, ui::countText(length.mean));
    return t("%1 to %2").arg(length.least).arg(length.most);
}

FieldFold* shapeSection(QWidget* parent) {
    return plainSection(
        {"shape", t("Shape of the arrivals"), t("Height and length of bursts or days"),
         [](const ServingStudy& q) {
             const ArrivalSpec& a = q.traffic.arrivals;
             if (a.kind == ArrivalKind::Bursts)
                 return t("× %1 for %2").arg(a.burstFactor).arg(ui::text(a.burstSeconds, Dimension::Time));
             if (a.kind == ArrivalKind::Diurnal)
                 return t("± %1 over %2").arg(ui::percentText(a.swing), ui::text(a.period, Dimension::Time));
             return unusualValues(q, "shape", t("as drawn"));
         },
         isOpen},
        parent);
}

FieldFold* lengthSection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.lengths"), t("Lengths in detail"), t("Distribution of prompt and output lengths"),
        [](const ServingStudy& q) {
            const TrafficSpec& now = q.traffic;
            return now.ratio > 0 ? t("%1, split %2 : 1").arg(lengthSummary(now.prompt)).arg(now.ratio, 0, 'g', 3)
                                 : t("%1; %2").arg(lengthSummary(now.prompt), lengthSummary(now.output));
        },
        parent);
    FieldRows& rows = fold->rows();
    for (const char* part : {"traffic/prompt", "traffic/output"}) {
        rows.heading(ui::qs(findField(part)->title), [part](const ServingStudy& q) { return fieldMatters(q, part); });
        for (const FieldSpec& spec : fieldTable<LengthSpec>().fields)
            rows.field(std::string(part) + '/' + std::string(spec.key));
    }
    rows.section("lengths");
    return fold;
}

FieldFold* sessionSection(QWidget* parent) {
    return plainSection({"sessions", t("Conversations"), t("Conversations: each prompt is the history and a new part"),
                         [](const ServingStudy& q) {
                             QStringList said;
                             if (q.traffic.sessions.turns > 1)
                                 said << t("%1 turns").arg(q.traffic.sessions.turns, 0, 'g', 3);
                             if (q.traffic.sharedPrompt > 0) said << t("%1 tokens alike").arg(q.traffic.sharedPrompt);
                             return said.isEmpty() ? t("single questions") : said.join(QStringLiteral(", "));
                         }},
                        parent);
}

FieldFold* agentSection(QWidget* parent) {
    return plainSection({"agents", t("Agents and reasoning"),
                         t("Tool calls within a turn, several answers to one prompt, reasoning tokens"),
                         [](const ServingStudy& q) {
                             const AgentSpec& a = q.traffic.agents;
                             QStringList said;
                             if (a.calls > 0) said << t("%1 calls").arg(a.calls, 0, 'g', 3);
                             if (a.samples > 1) said << t("%1 answers").arg(a.samples);
                             if (a.reasoning > 0) said << t("× %1 thought").arg(a.reasoning, 0, 'g', 3);
                             return said.isEmpty() ? t("none") : said.join(QStringLiteral(", "));
                         }},
                        parent);
}

}  // namespace

FieldFold* tenantSection(QWidget* parent);
FieldFold* adapterSection(QWidget* parent);
FieldFold* stageSection(QWidget* parent);

std::vector<FieldFold*> trafficSections(QWidget* parent) {
    return {
        shapeSection(parent),
        lengthSection(parent),
        sessionSection(parent),
        agentSection(parent),
        plainSection({"slice", t("Slice and scale"), t("Use a part of the traffic, and scale it"),
                      [](const ServingStudy& q) { return unusualValues(q, "slice", t("all of it")); }},
                     parent),
        plainSection({"trace", t("Reading the trace"), t("Columns of the table, and treatment of bad rows"),
                      [](const ServingStudy& q) { return unusualValues(q, "trace", t("by its columns")); }, readsTrace},
                     parent),
        tenantSection(parent),
        adapterSection(parent),
        stageSection(parent),
    };
}

}  // namespace orrery::app
