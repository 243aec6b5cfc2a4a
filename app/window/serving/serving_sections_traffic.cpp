// What arrives, beyond rates and lengths: bursts and days, conversations, agents.

#include "app/window/serving/serving_sections.h"
#include "widgets/common/text.h"
#include "widgets/common/units_text.h"

#include <QCoreApplication>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingSections", text, note, count);
}

template <class Spec>
struct Part {
    Spec TrafficSpec::*spec;
    FieldRows::Bound<double> number(double Spec::*field) const {
        return {[s = spec, field](const ServingStudy& q) { return q.traffic.*s.*field; },
                [s = spec, field](ServingStudy& q, double to) { q.traffic.*s.*field = to; }};
    }
    FieldRows::Bound<int> whole(std::int32_t Spec::*field) const {
        return {[s = spec, field](const ServingStudy& q) { return q.traffic.*s.*field; },
                [s = spec, field](ServingStudy& q, int to) { q.traffic.*s.*field = to; }};
    }
    FieldRows::Bound<bool> flag(bool Spec::*field) const {
        return {[s = spec, field](const ServingStudy& q) { return q.traffic.*s.*field; },
                [s = spec, field](ServingStudy& q, bool to) { q.traffic.*s.*field = to; }};
    }
};

FieldRows::Bound<int> ofTraffic(std::int32_t TrafficSpec::*field) {
    return {[field](const ServingStudy& q) { return q.traffic.*field; },
            [field](ServingStudy& q, int to) { q.traffic.*field = to; }};
}

FieldFold* shapeSection(QWidget* parent) {
    const auto kindIs = [](ArrivalKind kind) {
        return [kind](const ServingStudy& q) { return q.traffic.arrivals.kind == kind; };
    };
    const auto bursts = kindIs(ArrivalKind::Bursts), days = kindIs(ArrivalKind::Diurnal);
    auto* fold = new FieldFold(
        QStringLiteral("serving.shape"), t("Shape of the arrivals"), t("How high and how long bursts, or days, are"),
        [](const ServingStudy& q) {
            const ArrivalSpec& a = q.traffic.arrivals;
            return a.kind == ArrivalKind::Bursts
                       ? t("× %1 for %2").arg(a.burstFactor).arg(ui::text(a.burstSeconds, Dimension::Time))
                       : t("± %1 over %2").arg(ui::percentText(a.swing), ui::text(a.period, Dimension::Time));
        },
        parent);
    fold->setShownIf([=](const ServingStudy& q) { return bursts(q) || days(q); });
    FieldRows& rows = fold->rows();
    const Part<ArrivalSpec> part{&TrafficSpec::arrivals};
    rows.measure({QStringLiteral("serving.burstFactor"), t("Burst"), t("Rate within a burst ÷ rate outside of it")},
                 Dimension::Number, part.number(&ArrivalSpec::burstFactor), {}, bursts, 1, 1e4);
    rows.measure({QStringLiteral("serving.burstShare"), t("Share of the time"), t("That lies in bursts")},
                 Dimension::Fraction, part.number(&ArrivalSpec::burstShare), {}, bursts, 0.001, 0.999);
    rows.measure({QStringLiteral("serving.burstSeconds"), t("One lasts"), t("Mean length of a burst, seconds")},
                 Dimension::Time, part.number(&ArrivalSpec::burstSeconds), {}, bursts, 1e-3, 1e6);
    rows.measure({QStringLiteral("serving.swing"), t("Swing"), t("Highest rate ÷ mean rate, less one")},
                 Dimension::Fraction, part.number(&ArrivalSpec::swing), {}, days, 0, 1);
    rows.measure({QStringLiteral("serving.period"), t("Period"), t("Seconds of one day of the traffic")},
                 Dimension::Time, part.number(&ArrivalSpec::period), {}, days, 1e-3, 1e8);
    rows.measure({QStringLiteral("serving.phase"), t("Begins at"), t("Part of the period at which the run begins")},
                 Dimension::Fraction, part.number(&ArrivalSpec::phase), {}, days, 0, 1);
    return fold;
}

FieldFold* sessionSection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.sessions"), t("Conversations"),
        t("Turns of one user: each prompt is all that was said before, and something new"),
        [](const ServingStudy& q) {
            QStringList said;
            if (q.traffic.sessions.turns > 1) said << t("%1 turns").arg(q.traffic.sessions.turns, 0, 'g', 3);
            if (q.traffic.sharedPrompt > 0) said << t("%1 tokens alike").arg(q.traffic.sharedPrompt);
            return said.isEmpty() ? t("single questions") : said.join(QStringLiteral(", "));
        },
        parent);
    FieldRows& rows = fold->rows();
    const Part<SessionSpec> part{&TrafficSpec::sessions};
    const auto on = [](const ServingStudy& q) { return q.traffic.sessions.turns > 1; };
    rows.measure({QStringLiteral("serving.turns"), t("Turns"),
                  t("Mean number of questions in a conversation; 1: none. Rates are then of conversations")},
                 Dimension::Number, part.number(&SessionSpec::turns), {}, {}, 1, 1000);
    rows.flag({QStringLiteral("serving.turns.geometric"), t("Some longer, some shorter"),
               t("Geometric number of turns; off: every conversation has as many")},
              part.flag(&SessionSpec::geometric), on);
    rows.measure({QStringLiteral("serving.think"), t("Thinking"),
                  t("Mean seconds between an answer and the next question, exponential")},
                 Dimension::Time, part.number(&SessionSpec::think), t("none"), on, 0, 1e6);
    rows.whole({QStringLiteral("serving.context"), t("Ends at"), t("Tokens of text at which a conversation ends")}, 0,
               10000000, part.whole(&SessionSpec::context), on, t("no limit"));
    rows.whole({QStringLiteral("serving.sharedPrompt"), t("Alike at first"),
                t("Tokens that the prompts of a group begin with: instructions, documents. A prefix cache finds them")},
               0, 1000000, ofTraffic(&TrafficSpec::sharedPrompt), {}, t("nothing"));
    rows.whole({QStringLiteral("serving.promptGroups"), t("Different ones"), t("Groups of prompts that begin alike")},
               1, 100000, ofTraffic(&TrafficSpec::promptGroups),
               [](const ServingStudy& q) { return q.traffic.sharedPrompt > 0; });
    return fold;
}

FieldFold* agentSection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.agents"), t("Agents and reasoning"),
        t("Loops of tool calls within a turn, several answers to one prompt, tokens of thought"),
        [](const ServingStudy& q) {
            const AgentSpec& a = q.traffic.agents;
            QStringList said;
            if (a.calls > 0) said << t("%1 calls").arg(a.calls, 0, 'g', 3);
            if (a.samples > 1) said << t("%1 answers").arg(a.samples);
            if (a.reasoning > 0) said << t("× %1 thought").arg(a.reasoning, 0, 'g', 3);
            return said.isEmpty() ? t("none") : said.join(QStringLiteral(", "));
        },
        parent);
    FieldRows& rows = fold->rows();
    const Part<AgentSpec> part{&TrafficSpec::agents};
    const auto calling = [](const ServingStudy& q) { return q.traffic.agents.calls > 0; };
    rows.measure(
        {QStringLiteral("serving.calls"), t("Tool calls"), t("Mean number per turn; each is a request of its own")},
        Dimension::Number, part.number(&AgentSpec::calls), t("none"), {}, 0, 1000);
    rows.measure({QStringLiteral("serving.toolSeconds"), t("A tool takes"), t("Mean seconds, exponential")},
                 Dimension::Time, part.number(&AgentSpec::toolSeconds), t("no time"), calling, 0, 1e6);
    rows.whole(
        {QStringLiteral("serving.toolTokens"), t("A result has"), t("Mean tokens that a result adds to the prompt")}, 0,
        1000000, part.whole(&AgentSpec::toolTokens), calling);
    rows.whole({QStringLiteral("serving.callTokens"), t("A call has"), t("Tokens of output that make a call")}, 1,
               100000, part.whole(&AgentSpec::callTokens), calling);
    rows.whole({QStringLiteral("serving.samples"), t("Answers"),
                t("Side by side to one prompt (test-time scaling); what follows waits for the longest")},
               1, 1024, part.whole(&AgentSpec::samples));
    rows.measure({QStringLiteral("serving.reasoning"), t("Thought"),
                  t("Tokens of thought per token of answer; they are written first and dropped from the history")},
                 Dimension::Number, part.number(&AgentSpec::reasoning), t("none"), {}, 0, 1000);
    return fold;
}

}  // namespace

FieldFold* tenantSection(QWidget* parent);
FieldFold* adapterSection(QWidget* parent);
FieldFold* stageSection(QWidget* parent);

std::vector<FieldFold*> trafficSections(QWidget* parent) {
    return {shapeSection(parent),  sessionSection(parent), agentSection(parent),
            tenantSection(parent), adapterSection(parent), stageSection(parent)};
}

}  // namespace orrery::app
