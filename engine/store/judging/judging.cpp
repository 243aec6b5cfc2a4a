#include "store/judging/judging.h"

#include "base/hash.h"
#include "learning/calibration_hash.h"
#include "methods/among_all.h"
#include "store/judging/imported_results.h"
#include "store/judging/judged_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace orrery {

namespace {

/// A built-in card outlives everything.
std::shared_ptr<const MethodCard> lasting(const MethodCard& card) {
    return {std::shared_ptr<const MethodCard>(), &card};
}

void addMethods(const JudgingQuestion& question, Judged& judged) {
    const auto add = [&](const std::string& asked, const Method& method) {
        JudgedEntry entry;
        entry.asked = asked;
        entry.title = methodTitle(asked);
        entry.card = lasting(method.card);
        judged.entries.push_back(std::move(entry));
    };
    if (question.methods.empty()) {
        for (const Method& method : builtinMethods())
            if (isJudgedUnnamed(method.card)) add(std::string(method.card.id), method);
    }
    for (const std::string& asked : question.methods) {
        if (const Method* method = findMethod(asked)) add(asked, *method);
    }
}

/// Rows of an evaluation that count.
std::vector<std::size_t> placesOf(const Evaluation& evaluation, const std::unordered_set<std::uint64_t>& counts) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < evaluation.rows.size(); ++i) {
        if (counts.contains(rowKey(evaluation.rows.ref[i]))) places.push_back(i);
    }
    return places;
}

void compareMethods(Judged& judged, const EvaluateOptions& asked, const CalibrationSet& calibrations,
                    FactFinder& finder, const std::stop_token& stop) {
    const JudgingQuestion& question = judged.question;
    const auto& tables = *judged.tables;
    std::unordered_set<std::uint64_t> counts;
    for (const RowRef ref : judged.rows) counts.insert(rowKey(ref));
    std::vector<std::size_t> priced;
    for (JudgedEntry& entry : judged.entries) {
        if (stop.stop_requested()) return;
        std::vector<std::size_t> places;
        if (entry.evaluation) {
            places = placesOf(*entry.evaluation, counts);
            entry.own = figuresOf(entry.evaluation->rows, places);
            entry.own.secondsPerAnswer = entry.evaluation->figures.secondsPerAnswer;
            entry.own.secondsLow = entry.evaluation->figures.secondsLow;
            entry.own.secondsHigh = entry.evaluation->figures.secondsHigh;
        }
        priced.push_back(places.size());
        EvaluateOptions options = asked;
        if (const auto choice = methodChoice(entry.asked, builtinMethods())) options.options = choice->options;
        entry.assumptions = assumptionsOf(*entry.card, tables, judged.rows, options);
        entry.facts = finder.facts(entry.asked, *entry.card, entry.evaluation.get(), tables, judged.rows, calibrations,
                                   !entry.importedFrom.empty(), question.leaveDeviceOut);
        entry.fittedRows = fittedAmong(entry.card->id, tables, judged.rows, calibrations);
        if (!entry.importedFrom.empty()) {
            for (Assumption& each : entry.assumptions) each = {"not said", "The file of results does not say"};
        }
    }
    const std::vector<bool> wide = wideEnough(priced);
    std::vector<std::size_t> compared;
    std::vector<const Evaluation*> evaluations;
    std::vector<Assumptions> assumptions;
    for (std::size_t i = 0; i < judged.entries.size(); ++i) {
        JudgedEntry& entry = judged.entries[i];
        const auto chosen = question.compare.find(entry.asked);
        entry.compared = priced[i] > 0 && (chosen == question.compare.end() ? wide[i] : chosen->second);
        if (!entry.compared) continue;
        compared.push_back(i);
        evaluations.push_back(entry.evaluation.get());
    }
    if (evaluations.empty()) return;
    // What they take for granted of the rows on which they are compared.
    const auto shared = pricedByAll(evaluations, judged.rows);
    std::vector<Assumptions> said;
    for (const std::size_t i : compared) {
        if (stop.stop_requested()) return;
        JudgedEntry& entry = judged.entries[i];
        if (entry.importedFrom.empty() && !shared.empty()) {
            EvaluateOptions options = asked;
            if (const auto choice = methodChoice(entry.asked, builtinMethods())) options.options = choice->options;
            entry.assumptions = assumptionsOf(*entry.card, tables, shared, options);
        }
        if (entry.importedFrom.empty()) assumptions.push_back(entry.assumptions);
        said.push_back(entry.assumptions);
    }
    std::vector<std::size_t> groups;
    if (question.equal) groups = equalsOf(said);
    for (const std::size_t group : groups) judged.groups = std::max(judged.groups, group + 1);
    CommonRows common = onCommonRows(evaluations, judged.rows, groups);
    judged.common = std::move(common.rows);
    for (std::size_t i = 0; i < compared.size(); ++i) judged.entries[compared[i]].common = std::move(common.figures[i]);
    // Off, or where nothing is common: each on its own rows.
    if (!question.common || judged.common.empty()) {
        judged.groups = 0;  // nobody is first of anybody
        for (const std::size_t i : compared) judged.entries[i].common = {judged.entries[i].own, 0, 0, 0};
        std::vector<std::size_t> order = compared;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return judged.entries[a].own.errors.mape < judged.entries[b].own.errors.mape;
        });
        judged.ranking = std::move(order);
    } else {
        for (const std::size_t place : common.ranking) judged.ranking.push_back(compared[place]);
    }
    if (!assumptions.empty()) judged.differing = differing(assumptions);
}

/// Cells stand in columns of other rows than the page: who is whose equal is asked of each anew.
void compareCells(Judged& judged, const EvaluateOptions& asked, const std::stop_token& stop) {
    MethodMatrix& matrix = judged.matrix;
    std::vector<std::vector<std::size_t>> group(matrix.columns.size(), std::vector<std::size_t>(matrix.cells.size()));
    for (std::size_t c = 0; judged.question.equal && c < matrix.columns.size(); ++c) {
        std::vector<std::size_t> entries;
        std::vector<Assumptions> said;
        for (std::size_t m = 0; m < matrix.cells.size(); ++m) {
            if (stop.stop_requested()) return;
            const JudgedEntry& entry = judged.entries[m];
            if (!matrix.cells[m][c].common) continue;
            entries.push_back(m);
            if (!entry.importedFrom.empty()) {
                said.push_back(entry.assumptions);
                continue;
            }
            EvaluateOptions options = asked;
            if (const auto choice = methodChoice(entry.asked, builtinMethods())) options.options = choice->options;
            said.push_back(assumptionsOf(*entry.card, *judged.tables, matrix.cells[m][c].which, options));
        }
        const auto groups = equalsOf(said);
        for (std::size_t i = 0; i < entries.size(); ++i) group[c][entries[i]] = groups[i];
    }
    markLeast(matrix, [&](std::size_t entry, std::size_t column) { return group[column][entry]; });
}

void sayWhatChanged(Judged& judged) {
    const SavedRows& saved = judged.question.saved;
    if (saved.hash.empty()) return;
    const SavedRows now = savedRows(judged);
    const auto say = [&](const char* code, std::string what, const char* hint) {
        judged.warnings.push_back(warning(code, std::move(what), hint));
    };
    std::string causes;
    const auto because = [&](const char* cause) { causes += (causes.empty() ? "" : ", ") + std::string(cause); };
    if (saved.hash != now.hash) {
        because("its rows");
        say("judging.rows-changed",
            fmt::format("the file was saved with {} rows of hash {}; now {} rows of hash {} count", saved.rows,
                        saved.hash, now.rows, now.hash),
            "its references have changed, or a calibration now holds other rows out");
    }
    if (saved.version != now.version) {
        because("the version");
        say("judging.version-changed",
            fmt::format("the file was saved by Orrery {}, this is {}", saved.version, now.version),
            "figures may differ where methods do: their versions stand in the table");
    }
    if (!saved.calibrations.empty() && saved.calibrations != now.calibrations) {
        because("calibrations");
        say("judging.calibrations-changed",
            fmt::format("the file was saved with calibrations of hash {}; these are {}", saved.calibrations,
                        now.calibrations),
            "what learned methods say may differ");
    }
    if (saved.results.empty()) return;
    judged.asSaved = saved.results == now.results;
    if (judged.asSaved) return;
    say("judging.results-changed",
        fmt::format("predictions are not those that the file was saved with; changed: {}",
                    causes.empty() ? "neither rows, version nor calibrations" : causes),
        causes.empty() ? "methods were rebuilt, or this machine rounds otherwise"
                       : "save the file again to keep these");
}

}  // namespace

std::vector<MatrixEntry> Judged::matrixEntries() const {
    std::vector<MatrixEntry> all;
    for (const JudgedEntry& entry : entries) {
        all.push_back({entry.asked, entry.card.get(), entry.evaluation.get(),
                       entry.refusal ? entry.refusal->message : std::string()});
    }
    return all;
}

Expected<std::shared_ptr<const std::vector<ReferenceTable>>> judgingTables(const JudgingQuestion& question) {
    auto all = std::make_shared<std::vector<ReferenceTable>>();
    auto filter = parseFilter(question.where);
    if (!filter) return tl::unexpected(std::move(filter.error()));
    std::vector<std::string> files;
    for (const std::string& each : question.references) {
        if (each == "shipped") {
            for (const ReferenceTable& table : shippedReferences()) all->push_back(table);
        } else if (const auto own = question.imports.find(each); own != question.imports.end()) {
            auto description = importOf(own->second);
            if (!description) return tl::unexpected(std::move(description.error()));
            ReadOptions options;
            options.filter = *filter;
            options.mapping = std::make_shared<const ImportDescription>(std::move(*description));
            auto read = readReferences(std::span(&each, 1), options);
            if (!read) return tl::unexpected(std::move(read.error()));
            for (ReferenceTable& table : *read) all->push_back(std::move(table));
        } else {
            files.push_back(each);
        }
    }
    if (!files.empty()) {
        ReadOptions options;
        options.filter = *filter;
        auto read = readReferences(files, options);
        if (!read) return tl::unexpected(std::move(read.error()));
        for (ReferenceTable& table : *read) all->push_back(std::move(table));
    }
    return std::shared_ptr<const std::vector<ReferenceTable>>(std::move(all));
}

Expected<std::vector<JudgedEntry>> importedEntries(std::span<const std::string> files,
                                                   std::span<const ReferenceTable> tables, std::span<const RowRef> rows,
                                                   Diagnostics& warnings) {
    std::vector<JudgedEntry> entries;
    for (const std::string& file : files) {
        auto read = readResults(file, tables, rows);
        if (!read) return tl::unexpected(std::move(read.error()));
        for (ImportedResults& each : *read) {
            if (each.unknown > 0) {
                warnings.push_back(warning("results.other-rows",
                                           fmt::format("{}: {} lines of '{}' are about rows that are not judged here",
                                                       each.file, each.unknown, each.name)));
            }
            JudgedEntry entry;
            entry.asked = entry.title = each.name;
            entry.card = each.card;
            entry.importedFrom = each.file;
            entry.evaluation = std::make_shared<const Evaluation>(std::move(each.evaluation));
            entries.push_back(std::move(entry));
        }
    }
    return entries;
}

Expected<Judged> judgingRows(const JudgingQuestion& question, const CalibrationSet* calibrations) {
    Judged judged;
    judged.question = question;
    auto tables = judgingTables(question);
    if (!tables) return tl::unexpected(std::move(tables.error()));
    judged.tables = std::move(*tables);
    for (const ReferenceTable& table : *judged.tables)
        judged.warnings.insert(judged.warnings.end(), table.warnings.begin(), table.warnings.end());
    auto rows = selectRows(*judged.tables, *parseFilter(question.where));
    if (!question.seen)
        rows = unseen(*judged.tables, std::move(rows), calibrations ? *calibrations : shippedCalibrations().set);
    judged.asked = thinned(std::move(rows), question.most);
    judged.rows = rowsWithout(*judged.tables, judged.asked, question.without);
    judged.hash = rowsHash(*judged.tables, judged.rows);
    if (judged.rows.empty()) {
        return fail("reference.no-rows", fmt::format("no row is left of '{}'", question.name), "at least one row",
                    "leave terms out, or name other references");
    }
    return judged;
}

Expected<Judged> judge(const JudgingQuestion& question, const JudgeOptions& options) {
    auto begun = judgingRows(question, options.calibrations);
    if (!begun) return begun;
    Judged judged = std::move(*begun);
    const CalibrationSet& calibrations = options.calibrations ? *options.calibrations : shippedCalibrations().set;
    // Before anybody is asked: a file that cannot be read, or speaks of other rows, costs nothing.
    auto imported = importedEntries(question.results, *judged.tables, judged.asked, judged.warnings);
    if (!imported) return tl::unexpected(std::move(imported.error()));
    EvaluateOptions asked;
    asked.executor = options.executor;
    asked.stop = options.stop;
    asked.calibrations = options.calibrations;
    asked.leaveDeviceOut = question.leaveDeviceOut;
    asked.asMeasured = question.equal;
    addMethods(question, judged);
    if (options.progress) options.progress->setTotal(judged.entries.size());
    for (JudgedEntry& entry : judged.entries) {
        EvaluateOptions own = asked;
        if (const auto choice = methodChoice(entry.asked, builtinMethods())) own.options = choice->options;
        auto answer = evaluate(*findMethod(entry.asked), *judged.tables, judged.asked, own);
        if (options.stop.stop_requested())
            return fail("study.cancelled", "the comparison was stopped before it was done");
        if (answer) {
            entry.evaluation = std::make_shared<const Evaluation>(std::move(*answer));
        } else {
            entry.refusal = std::move(answer.error());
        }
        if (options.progress) options.progress->advance(1);
    }
    judged.entries.insert(judged.entries.end(), std::make_move_iterator(imported->begin()),
                          std::make_move_iterator(imported->end()));
    FactFinder fresh;
    compareJudged(judged, calibrations, options.facts ? *options.facts : fresh, options.stop);
    if (options.stop.stop_requested()) return fail("study.cancelled", "the comparison was stopped before it was done");
    return judged;
}

void compareJudged(Judged& judged, const CalibrationSet& calibrations, FactFinder& facts, const std::stop_token& stop) {
    judged.rows = rowsWithout(*judged.tables, judged.asked, judged.question.without);
    judged.hash = rowsHash(*judged.tables, judged.rows);
    judged.calibrations = calibrations;
    judged.asSaved = false;
    judged.common.clear();
    judged.ranking.clear();
    judged.differing.clear();
    judged.groups = 0;
    EvaluateOptions asked;
    asked.calibrations = &calibrations;
    asked.leaveDeviceOut = judged.question.leaveDeviceOut;
    asked.asMeasured = judged.question.equal;
    compareMethods(judged, asked, calibrations, facts, stop);
    FacetsOff others = judged.question.without;
    others.erase(judged.question.by);
    judged.matrix =
        methodMatrix(judged.matrixEntries(), *judged.tables, rowsWithout(*judged.tables, judged.asked, others),
                     judged.question.by, judged.question.common);
    compareCells(judged, asked, stop);
    sayWhatChanged(judged);
}

bool onSameRows(const Judged& judged) {
    return judged.question.common && !judged.common.empty();
}

std::vector<std::vector<std::size_t>> answerFronts(const Judged& judged) {
    if (!onSameRows(judged)) return {};
    std::vector<CostedError> methods;
    for (const JudgedEntry& entry : judged.entries) {
        const EvaluationFigures& figures = entry.figures();
        // Results of others need not say what they cost.
        methods.push_back({figures.secondsPerAnswer, figures.errors.mape, entry.common.group,
                           !entry.compared || !(figures.secondsPerAnswer > 0)});
    }
    return frontsOf(methods);
}

SavedRows savedRows(const Judged& judged) {
    return {ORRERY_VERSION, judged.rows.size(), judged.hash, calibrationsHash(judged.calibrations),
            resultsHash(judged)};
}

std::string resultsHash(const Judged& judged) {
    Hash hash;
    hash.add(judged.hash);
    for (const JudgedEntry& entry : judged.entries) {
        hash.add(entry.asked).add(entry.card->version);
        if (!entry.evaluation) continue;
        const EvaluatedRows& rows = entry.evaluation->rows;
        for (std::size_t i = 0; i < rows.size(); ++i)
            hash.add(rowId(*judged.tables, rows.ref[i])).add(rows.predicted[i]).add(rows.low[i]).add(rows.high[i]);
    }
    return hash.hex();
}

}  // namespace orrery
