// Who comes next: the line in front of a scheduler.

#include "app/window/serving/serving_sections.h"

#include <QCoreApplication>

namespace orrery::app {

namespace {

QString t(const char* text, const char* note = nullptr, int count = -1) {
    return QCoreApplication::translate("ServingSections", text, note, count);
}

QString nameOf(AdmissionOrder order) {
    switch (order) {
        case AdmissionOrder::Arrival:
            return t("first come, first served");
        case AdmissionOrder::Priority:
            return t("by priority");
        case AdmissionOrder::Shortest:
            return t("shortest prompt first");
        case AdmissionOrder::Fair:
            return t("fair between tenants");
        case AdmissionOrder::Deadline:
            return t("earliest deadline first");
    }
    return {};
}

}  // namespace

FieldFold* lineSection(QWidget* parent) {
    auto* fold = new FieldFold(
        QStringLiteral("serving.line"), t("Waiting line"), t("Who comes next, how many may wait, who is refused"),
        [](const ServingStudy& q) {
            const AdmissionSpec& now = firstPool(q).admission;
            QString said = nameOf(now.order);
            if (now.queue > 0) said += t(", at most %1").arg(now.queue);
            if (now.dropLate) said += t(", not the late");
            return said;
        },
        parent);
    FieldRows& rows = fold->rows();
    std::vector<std::pair<QString, QVariant>> entries;
    for (const AdmissionOrder order : {AdmissionOrder::Arrival, AdmissionOrder::Priority, AdmissionOrder::Shortest,
                                       AdmissionOrder::Fair, AdmissionOrder::Deadline})
        entries.emplace_back(nameOf(order), static_cast<int>(order));
    rows.choice(
        {QStringLiteral("serving.line.order"), t("Order"),
         t("Fair: the tenant that was given least, counted in prompt tokens and twice the tokens written (virtual "
           "token "
           "counters, OSDI 2024). Deadline: arrival and the promised time to the first token. Priority: of the trace")},
        entries,
        {[](const ServingStudy& q) { return QVariant(static_cast<int>(firstPool(q).admission.order)); },
         [](ServingStudy& q, const QVariant& to) {
             eachPool(q, [&](PoolSpec& p) { p.admission.order = static_cast<AdmissionOrder>(to.toInt()); });
         }});
    rows.whole({QStringLiteral("serving.line.queue"), t("May wait"),
                t("Requests in the line of one replica; more are refused at once")},
               0, 1000000,
               {[](const ServingStudy& q) { return firstPool(q).admission.queue; },
                [](ServingStudy& q, int to) { eachPool(q, [&](PoolSpec& p) { p.admission.queue = to; }); }},
               {}, t("any number"));
    rows.flag({QStringLiteral("serving.line.late"), t("Refuse who is late"),
               t("Whose promised first token is overdue when the turn comes is refused, so that others are in time")},
              {[](const ServingStudy& q) { return firstPool(q).admission.dropLate; },
               [](ServingStudy& q, bool to) { eachPool(q, [&](PoolSpec& p) { p.admission.dropLate = to; }); }});
    return fold;
}

}  // namespace orrery::app
