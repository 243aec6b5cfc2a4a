#include "evaluation/survey/survey.h"

#include "evaluation/assumptions.h"
#include "methods/method.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace orrery {

namespace {

constexpr std::array methodologies{Methodology::Analytical, Methodology::CycleAccurate, Methodology::TraceDriven,
                                   Methodology::Learned, Methodology::Hybrid};
constexpr std::array surveyFacets{Facet::Platform, Facet::WorkloadClass, Facet::Level};

const ReferenceTable& surveyTableOf(std::span<const ReferenceTable> tables, RowRef ref) {
    return tables[static_cast<std::size_t>(ref.table)];
}

/// What a card says that the method is for. Of classes, where its evidence names them (`convolutions and matrix
/// products` names two); of levels, its own.
bool claims(const MethodCard& card, Facet by, const std::string& word) {
    if (by == Facet::Platform)
        return std::find(card.platforms.begin(), card.platforms.end(), word) != card.platforms.end();
    if (by == Facet::Level) return toText(card.level) == word;
    return std::any_of(card.evidence.begin(), card.evidence.end(),
                       [&](const Evidence& each) { return each.workloadClass.find(word) != std::string_view::npos; });
}

std::vector<SurveySource> sourcesOf(std::span<const ReferenceTable> tables, const std::vector<RowRef>& rows) {
    std::map<std::int32_t, std::size_t> counts;
    for (const RowRef ref : rows) ++counts[ref.table];
    std::vector<SurveySource> sources;
    for (const auto& [table, count] : counts) {
        const ReferenceTable& from = tables[static_cast<std::size_t>(table)];
        sources.push_back({from.name, from.kind, count});
    }
    std::stable_sort(sources.begin(), sources.end(),
                     [](const SurveySource& a, const SurveySource& b) { return a.rows > b.rows; });
    return sources;
}

SurveyMark markOf(std::size_t entry, const Evaluation& evaluation, const std::vector<std::size_t>& places,
                  std::span<const ReferenceTable> tables) {
    const EvaluationFigures figures = figuresOf(evaluation.rows, places);
    SurveyMark mark;
    mark.entry = entry;
    mark.mape = figures.errors.mape;
    mark.median = figures.errors.medianError;
    mark.coverage90 = figures.coverage90;
    for (const std::size_t i : places) mark.which.push_back(evaluation.rows.ref[i]);
    mark.simulated = std::all_of(mark.which.begin(), mark.which.end(), [&](RowRef ref) {
        return surveyTableOf(tables, ref).kind == ReferenceKind::Simulated;
    });
    mark.sources = sourcesOf(tables, mark.which);
    return mark;
}

// Options of a method are paths at times, longer than all that is to be said.
std::string shortName(const std::string& asked) {
    const auto options = asked.find('(');
    return options == std::string::npos ? asked : asked.substr(0, options) + "(…)";
}

std::string listOf(const std::vector<std::string>& names) {
    constexpr std::size_t most = 4;
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i) list += (i ? ", " : "") + names[i];
    return names.size() > most ? list + ", …" : list;
}

/// `unasked`: methods that claim the place and are none of the entries, as they are slow or need a file.
std::string missingOf(const SurveyCell& cell, Methodology methodology, std::span<const MatrixEntry> entries,
                      const std::vector<std::string>& unasked, const std::string& word, std::size_t truth) {
    std::vector<std::string> names;
    for (const std::size_t entry : cell.claimed) names.push_back(shortName(entries[entry].asked));
    if (truth == 0) {
        names.insert(names.end(), unasked.begin(), unasked.end());
        return names.empty()
                   ? fmt::format("no row of {} is loaded, and no {} method claims it", word, toText(methodology))
                   : fmt::format("no row of {} is loaded; claimed without truth by {}", word, listOf(names));
    }
    std::string missing;
    if (!names.empty())
        missing = fmt::format("{} {} of the {} rows", listOf(names),
                              names.size() == 1 ? "claims it and predicts none" : "claim it and predict none", truth);
    if (!unasked.empty())
        missing += fmt::format("{}{} {}", missing.empty() ? "" : "; ", listOf(unasked),
                               unasked.size() == 1 ? "claims it and was not run" : "claim it and were not run");
    if (missing.empty()) return fmt::format("no {} method predicts any of the {} rows", toText(methodology), truth);
    return missing;
}

std::vector<const MethodCard*> cardsNotAmong(std::span<const MatrixEntry> entries) {
    std::vector<const MethodCard*> cards;
    for (const Method& method : builtinMethods()) {
        const bool asked = std::any_of(entries.begin(), entries.end(),
                                       [&](const MatrixEntry& each) { return each.card->id == method.card.id; });
        if (!asked) cards.push_back(&method.card);
    }
    return cards;
}

SurveyTable surveyTableBy(Facet by, std::span<const MatrixEntry> entries, std::span<const ReferenceTable> tables,
                          std::span<const RowRef> rows) {
    SurveyTable table;
    table.by = by;
    std::map<std::string, std::size_t> columns;
    const auto columnOf = [&](const std::string& word, std::size_t truth) {
        const auto [found, fresh] = columns.emplace(word, table.columns.size());
        if (fresh) {
            table.columns.push_back(word);
            table.rows.push_back(truth);
        }
        return found->second;
    };
    for (const FacetCount& each : facetCounts(by, tables, rows)) columnOf(each.word, each.rows);
    // Places that cards speak of stand also where no row does: an empty column says what is missing.
    for (const MatrixEntry& entry : entries) {
        if (by == Facet::Platform)
            for (const std::string_view platform : entry.card->platforms) columnOf(std::string(platform), 0);
        if (by == Facet::Level) columnOf(std::string(toText(entry.card->level)), 0);
    }
    std::map<std::uint64_t, std::size_t> ofRow;
    for (const RowRef ref : rows) ofRow.emplace(rowKey(ref), columns.at(facetOf(by, tables, ref)));
    table.cells.assign(methodologies.size(), std::vector<SurveyCell>(table.columns.size()));
    for (std::size_t m = 0; m < entries.size(); ++m) {
        const auto line = static_cast<std::size_t>(
            std::find(methodologies.begin(), methodologies.end(), entries[m].card->methodology) -
            methodologies.begin());
        if (line == methodologies.size()) continue;  // results of others whose file does not say
        std::vector<std::vector<std::size_t>> places(table.columns.size());
        if (const Evaluation* evaluation = entries[m].evaluation) {
            for (std::size_t i = 0; i < evaluation->rows.size(); ++i) {
                const auto found = ofRow.find(rowKey(evaluation->rows.ref[i]));
                if (found != ofRow.end()) places[found->second].push_back(i);
            }
        }
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            SurveyCell& cell = table.cells[line][c];
            if (!places[c].empty()) {
                cell.marks.push_back(markOf(m, *entries[m].evaluation, places[c], tables));
            } else if (claims(*entries[m].card, by, table.columns[c])) {
                cell.claimed.push_back(m);
            }
        }
    }
    const auto others = cardsNotAmong(entries);
    for (std::size_t line = 0; line < methodologies.size(); ++line) {
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            SurveyCell& cell = table.cells[line][c];
            std::stable_sort(cell.marks.begin(), cell.marks.end(),
                             [](const SurveyMark& a, const SurveyMark& b) { return a.mape < b.mape; });
            if (!cell.marks.empty()) continue;
            std::vector<std::string> unasked;
            for (const MethodCard* card : others)
                if (card->methodology == methodologies[line] && claims(*card, by, table.columns[c]))
                    unasked.emplace_back(card->id);
            cell.missing = missingOf(cell, methodologies[line], entries, unasked, table.columns[c], table.rows[c]);
        }
    }
    return table;
}

/// Among classes with at least three rows, if there is one: a single row is no class.
SurveyWorst worstOf(const Evaluation& evaluation, std::span<const ReferenceTable> tables) {
    std::map<std::string, std::vector<std::size_t>> classes;
    for (std::size_t i = 0; i < evaluation.rows.size(); ++i)
        classes[facetOf(Facet::WorkloadClass, tables, evaluation.rows.ref[i])].push_back(i);
    const bool broad =
        std::any_of(classes.begin(), classes.end(), [](const auto& each) { return each.second.size() >= 3; });
    SurveyWorst worst;
    for (const auto& [word, places] : classes) {
        if (broad && places.size() < 3) continue;
        const double mape = figuresOf(evaluation.rows, places).errors.mape;
        if (worst.workloadClass.empty() || mape > worst.mape) worst = {word, mape, places.size()};
    }
    return worst;
}

}  // namespace

std::span<const Methodology> surveyed() {
    return methodologies;
}

Survey surveyOf(std::span<const MatrixEntry> entries, std::span<const ReferenceTable> tables,
                std::span<const RowRef> rows, const CalibrationSet& calibrations) {
    Survey survey;
    for (const Facet by : surveyFacets) survey.tables.push_back(surveyTableBy(by, entries, tables, rows));
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return entries[a].card->methodology < entries[b].card->methodology;
    });
    for (const std::size_t m : order) {
        const MethodCard& card = *entries[m].card;
        SurveyLine line;
        line.entry = m;
        const CostModel& cost = card.cost;
        const bool said = cost.fixed + cost.perOperator + cost.perKernel + cost.perCycle + cost.perRequest > 0;
        line.speed = said ? toText(cost) : std::string();
        if (said && cost.perCycle <= 0 && cost.perRequest <= 0)
            line.oneKernel = cost.fixed + cost.perOperator + cost.perKernel;
        for (const std::string_view need : card.needs) line.needs.emplace_back(need);
        line.samples = samplesBehindAll(card, entries[m].asked, tables, rows, calibrations);
        line.failureMode = card.failureMode;
        if (entries[m].evaluation) {
            line.rows = entries[m].evaluation->rows.size();
            line.worst = worstOf(*entries[m].evaluation, tables);
        }
        readPrice(line, entries[m], tables, calibrations);
        survey.lines.push_back(std::move(line));
    }
    return survey;
}

}  // namespace orrery
