#include "store/export/comparison_exports.h"

#include "store/export/csv_row.h"
#include "store/export/json_parts.h"

#include <cmath>

namespace orrery {

namespace {

using store::Json;

Json rangedJson(const Ranged& ranged) {
    Json json = Json::object();
    store::put(json, "value", ranged.value);
    store::put(json, "low", ranged.low);
    store::put(json, "high", ranged.high);
    return json;
}

Json caseJson(const AnsweredCase& each, const AnsweredCase& baseline) {
    const Scenario& scenario = each.asked.scenario;
    Json json{
        {"name", each.asked.name},       {"hardware", scenario.hardware->name}, {"workload", scenario.workload->name},
        {"plan", toText(scenario.plan)}, {"task", toText(scenario.task)},       {"method", each.method}};
    if (!each.reason.empty()) json["reason"] = each.reason;
    if (!each.rateUnit.empty()) json["rate_unit"] = each.rateUnit;
    if (each.failure) json["failure"] = store::diagnosticJson(*each.failure);
    Json values = Json::object(), ratios = Json::object();
    const auto columns = caseQuantities();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (!each.values[i]) continue;
        const std::string name(columns[i].name);
        values[name] = rangedJson(*each.values[i]);
        const auto found = againstBaseline(baseline, each, i);
        if (!found) continue;
        Json ratio = Json::object();
        store::put(ratio, "ratio", found->ratio);
        store::put(ratio, "low", found->low);
        store::put(ratio, "high", found->high);
        ratio["says"] = toText(found->says);
        ratios[name] = std::move(ratio);
    }
    json["values"] = std::move(values);
    json["against_baseline"] = std::move(ratios);
    return json;
}

Json differenceJson(const TimeDifference& difference) {
    Json terms = Json::array();
    for (const DifferenceTerm& term : difference.terms) {
        Json json{{"label", term.label},
                  {"before", store::number(term.before)},
                  {"after", store::number(term.after)},
                  {"delta", store::number(term.delta())}};
        json["kind"] = term.of == DifferenceTerm::Of::Work   ? "work"
                       : term.of == DifferenceTerm::Of::Rest ? "rest"
                                                             : "overlap";
        if (!term.inBefore || !term.inAfter) json["only_in"] = term.inBefore ? "before" : "after";
        terms.push_back(std::move(json));
    }
    return {{"by", toText(difference.by)},
            {"before", store::number(difference.before)},
            {"after", store::number(difference.after)},
            {"terms", std::move(terms)},
            {"notes", difference.notes}};
}

Json changesJson(const ChangeEffects& effects) {
    Json changes = Json::array();
    for (const ChangeEffect& each : effects.changes) {
        Json json{{"part", each.path}, {"change", each.text}};
        if (!each.difference.attribute.empty()) json["attribute"] = each.difference.attribute;
        if (!each.difference.from.empty()) json["from"] = each.difference.from;
        if (!each.difference.to.empty()) json["to"] = each.difference.to;
        if (each.alone) json["alone"] = rangedJson(*each.alone);
        if (!each.why.empty()) json["why"] = each.why;
        changes.push_back(std::move(json));
    }
    return {{"before", rangedJson(effects.before)}, {"after", rangedJson(effects.after)}, {"changes", changes}};
}

Json breakEvenJson(const BreakEven& found, const std::string& of) {
    Json crossings = Json::array(), points = Json::array();
    for (const Crossing& each : found.crossings) {
        crossings.push_back({{"value", store::number(each.at)},
                             {"text", each.text},
                             {"low", store::number(each.low)},
                             {"high", store::number(each.high)},
                             {"open_low", each.openLow},
                             {"open_high", each.openHigh},
                             {"rising", each.rising}});
    }
    for (const BreakEvenPoint& each : found.points) {
        Json json = rangedJson(each.value);
        json["at"] = store::number(each.at);
        if (!each.refusal.empty()) json["refusal"] = each.refusal;
        points.push_back(std::move(json));
    }
    Json json{{"of", of},
              {"path", found.path},
              {"quantity", found.quantity},
              {"from", store::number(found.from)},
              {"to", store::number(found.to)},
              {"goal", rangedJson(found.goal)},
              {"crossings", std::move(crossings)},
              {"points", std::move(points)}};
    store::put(json, "drawn", found.drawn);
    if (!found.none.empty()) json["none"] = found.none;
    return json;
}

}  // namespace

std::string comparisonJson(const CaseComparison& comparison, const std::vector<CaseFindings>& findings) {
    Json cases = Json::array(), found = Json::array();
    for (const AnsweredCase& each : comparison.cases) cases.push_back(caseJson(each, comparison.base()));
    for (const CaseFindings& each : findings) {
        Json json{{"case", comparison.cases[each.other].asked.name}};
        if (each.difference) json["difference"] = differenceJson(*each.difference);
        if (each.changes) json["changes"] = changesJson(*each.changes);
        if (each.breakEven) json["break_even"] = breakEvenJson(*each.breakEven, each.breakEvenOf);
        found.push_back(std::move(json));
    }
    return store::dumped({{"format", "orrery-comparison"},
                          {"version", 1},
                          {"baseline", comparison.base().asked.name},
                          {"one_method", comparison.oneMethod},
                          {"cases", std::move(cases)},
                          {"findings", std::move(found)}});
}

std::string comparisonCsv(const CaseComparison& comparison) {
    store::CsvRow heads;
    for (const char* head : {"case", "hardware", "workload", "plan", "task", "method", "rate_unit"})
        heads.add(std::string_view(head));
    for (const CaseQuantity& column : caseQuantities()) {
        const std::string name(column.name);
        for (const char* part : {"", "_low", "_high", "_ratio", "_says"}) heads.add(name + part);
    }
    std::string csv = heads.add(std::string_view("failure")).line();
    for (const AnsweredCase& each : comparison.cases) {
        const Scenario& scenario = each.asked.scenario;
        store::CsvRow row;
        row.add(each.asked.name).add(scenario.hardware->name).add(scenario.workload->name).add(toText(scenario.plan));
        row.add(toText(scenario.task)).add(each.method).add(each.rateUnit);
        const auto columns = caseQuantities();
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (!each.values[i]) {
                for (int skipped = 0; skipped < 5; ++skipped) row.skip();
                continue;
            }
            row.add(each.values[i]->value).add(each.values[i]->low).add(each.values[i]->high);
            const auto found = againstBaseline(comparison.base(), each, i);
            if (found)
                row.add(found->ratio).add(std::string(toText(found->says)));
            else
                row.skip().skip();
        }
        csv += row.add(each.failure ? each.failure->message : std::string()).line();
    }
    return csv;
}

std::string timeDifferenceCsv(const TimeDifference& difference) {
    store::CsvRow heads;
    for (const char* head : {"term", "before_s", "after_s", "delta_s", "sum_s"}) heads.add(std::string_view(head));
    std::string csv = heads.line();
    double sum = 0;
    for (const DifferenceTerm& term : difference.terms) {
        sum += term.delta();
        csv += store::CsvRow().add(term.label).add(term.before).add(term.after).add(term.delta()).add(sum).line();
    }
    return csv + store::CsvRow()
                     .add(std::string("total"))
                     .add(difference.before)
                     .add(difference.after)
                     .add(difference.after - difference.before)
                     .add(difference.after - difference.before)
                     .line();
}

}  // namespace orrery
