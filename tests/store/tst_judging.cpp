// The comparison page as a file: what is read is written again, the same numbers come twice and on any number of
// threads, results of others stand where their numbers put them, and a benchmark is honest about what was fitted.

#include "base/executor.h"
#include "evaluation/column_mapping.h"
#include "evaluation/survey/survey.h"
#include "hardware/files/catalogue.h"
#include "learning/calibration_hash.h"
#include "methods/adapter/adapter_method.h"
#include "store/judging/growth_figure.h"
#include "store/judging/judged_rows.h"
#include "store/judging/judging_figures.h"
#include "store/judging/judging_report.h"
#include "store/judging/svg_page.h"
#include "support/schema_check.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <map>

using namespace orrery;

namespace {

JudgingQuestion products() {
    JudgingQuestion question;
    question.name = "Products";
    question.where = "kind=gemm, device=h100-sxm|a100-80-sxm";
    question.methods = {"roofline", "tile-wave", "tile-hybrid"};
    return question;
}

Judged answered(const JudgingQuestion& question, int threads) {
    const auto executor = makeThreadExecutor(threads);
    JudgeOptions options;
    options.executor = executor.get();
    auto judged = judge(question, options);
    if (!judged) {
        qWarning("%s", judged.error().message.c_str());
        return {};
    }
    return std::move(*judged);
}

std::string written(const QTemporaryDir& folder, const char* name, const std::string& text) {
    const std::string path = folder.filePath(QString::fromLatin1(name)).toStdString();
    std::ofstream(path) << text;
    return path;
}

const JudgedEntry* entryOf(const Judged& judged, std::string_view method) {
    for (const JudgedEntry& entry : judged.entries)
        if (entry.asked == method) return &entry;
    return nullptr;
}

}  // namespace

class TestJudging : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;

private slots:
    void aFileSaysAgainWhatWasRead() {
        JudgingQuestion question = products();
        question.without[Facet::Platform] = {"TPU"};
        question.compare = {{"roofline", false}};
        question.by = Facet::WorkloadClass;
        question.published = true;
        question.common = false;
        question.meaning = "What: a meaning with a colon";
        question.leaveDeviceOut = question.seen = true;
        question.saved = {"0.1.0", 12, "0123456789abcdef", "fedcba9876543210", "00112233445566ff"};
        const std::string text = writeJudging(question);
        QCOMPARE(judgingKind(text), std::string("judging"));
        const auto read = readJudging(text, "/tmp/page.yaml");
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(writeJudging(*read), text);
        QCOMPARE(read->saved.hash, question.saved.hash);
        QCOMPARE(read->saved.calibrations, question.saved.calibrations);
        QCOMPARE(read->saved.results, question.saved.results);
        QVERIFY(read->leaveDeviceOut && read->seen);
        QCOMPARE(read->meaning, question.meaning);
        // Every facet may stand across.
        for (const Facet facet : facets) {
            question.by = facet;
            QCOMPARE(readJudging(writeJudging(question), "/tmp/page.yaml")->by, facet);
        }
    }
    // A table of one's own whose columns a person mapped: the file says how, so that it opens where nobody maps again.
    void aMappedTableIsReadFromTheFileAlone() {
        const QString table = folder_.filePath("mine.csv");
        {
            QFile file(table);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write("rows_of_a,cols_of_b,inner,took\n512,512,512,12.5\n1024,1024,512,22.5\n");
        }
        ColumnMapping mapping;
        QVERIFY(
            setMappedTerms(mapping, "kind=gemm, dtype=bf16, m=rows_of_a, n=cols_of_b, k=inner, time=took, unit=us"));
        mapping.device = "h100-sxm";
        const auto description = describe(mapping);
        QVERIFY2(description, description ? "" : description.error().message.c_str());
        JudgingQuestion question;
        question.references = {table.toStdString()};
        QVERIFY(!judgingTables(question));  // nothing knows such columns
        question.imports[table.toStdString()] = description->text;
        const std::string page = folder_.filePath("page.yaml").toStdString();
        const std::string text = writeJudging(question, folder_.path().toStdString());
        QVERIFY2(text.find("imports: {mine.csv: ") != std::string::npos, text.c_str());
        const auto read = readJudging(text, page);
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        const auto tables = judgingTables(*read);
        QVERIFY2(tables, tables ? "" : tables.error().message.c_str());
        QCOMPARE((*tables)->size(), std::size_t{1});
        const ReferenceTable& mine = (*tables)->front();
        QCOMPARE(mine.rows.size(), std::size_t{2});
        QCOMPARE(mine.rows[1].seconds, 22.5e-6);
        QCOMPARE(mine.rows[1].kernel.n, std::int64_t{1024});
        QCOMPARE(mine.devices.front().catalogue, std::string("h100-sxm"));
        QCOMPARE(mine.import, description->text);
        // As it is wrong, it is refused where it stands.
        for (const char* wrong : {"references: [mine.csv]\nimports: {other.csv: 'orrery: import/1'}\n",
                                  "references: [mine.csv]\nimports: {mine.csv: 'time: {value: 1 +}'}\n",
                                  "references: [mine.csv]\nimports: [mine.csv]\n"}) {
            const auto refused = readJudging(std::string("orrery: judging/1\n") + wrong, page);
            QVERIFY2(!refused && refused.error().place.line == 3, wrong);
            QVERIFY(!refused.error().expected.empty());
        }
    }
    void mistakesAreNamedWithTheirLine() {
        const std::pair<const char*, int> wrong[] = {{"orrery: judging/1\nwhere: kind=gemm, colour=red\n", 2},
                                                     {"orrery: judging/1\nby: colour\n", 2},
                                                     {"orrery: judging/1\nmethods: [rooflin]\n", 2},
                                                     {"orrery: judging/1\nmost: many\n", 2},
                                                     {"orrery: judging/1\nreferences: [shipped]\nfoo: 1\n", 3},
                                                     {"orrery: judging/9\n", 1},
                                                     {"orrery: judging/1\nwithout: {colour: [red]}\n", 2}};
        for (const auto& [text, line] : wrong) {
            const auto read = readJudging(text, "page.yaml");
            QVERIFY2(!read, text);
            QVERIFY2(read.error().code.starts_with("judging."), read.error().code.c_str());
            QVERIFY2(read.error().place.line == line, text);
            QVERIFY(!read.error().expected.empty());
        }
    }
    void theSameNumbersOnOneThreadAndTwoAndTwice() {
        const std::string one = judgedJson(answered(products(), 1), false);
        QCOMPARE(judgedJson(answered(products(), 2), false), one);
        QCOMPARE(judgedJson(answered(products(), 2), false), one);
        // Another row set has another hash: the equality above is of something.
        JudgingQuestion other = products();
        other.where = "kind=gemm, device=h100-sxm";
        QVERIFY(answered(other, 1).hash != answered(products(), 1).hash);
        const auto errors = test::schemaErrors(one, "judging");
        QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
    }
    void rowsThatChangedAreSaid() {
        JudgingQuestion question = products();
        const Judged first = answered(question, 1);
        question.saved = savedRows(first);
        QVERIFY(answered(question, 1).warnings.size() == first.warnings.size());
        question.where = "kind=gemm, device=h100-sxm";
        const Judged later = answered(question, 1);
        QVERIFY(std::any_of(later.warnings.begin(), later.warnings.end(),
                            [](const Diagnostic& each) { return each.code == "judging.rows-changed"; }));
    }
    // Opened later, a page has the same numbers or says why not: rows, version, calibrations, or none of these.
    void whatChangedSinceIsSaid() {
        JudgingQuestion question = products();
        const Judged first = answered(question, 1);
        question.saved = savedRows(first);
        QVERIFY(!question.saved.calibrations.empty() && !question.saved.results.empty());
        const Judged same = answered(question, 2);
        QVERIFY(same.asSaved);
        const auto said = [](const Judged& judged, const char* code) {
            return std::any_of(judged.warnings.begin(), judged.warnings.end(),
                               [&](const Diagnostic& each) { return each.code == code; });
        };
        // Without what was learned, the learned method says something else on the same rows.
        const CalibrationSet none;
        const auto executor = makeSerialExecutor();
        JudgeOptions options;
        options.executor = executor.get();
        options.calibrations = &none;
        question.seen = true;  // else other rows would be held out
        question.saved = savedRows(answered(question, 1));
        const auto bare = judge(question, options);
        QVERIFY2(bare, bare ? "" : bare.error().message.c_str());
        QVERIFY(!bare->asSaved && said(*bare, "judging.calibrations-changed") &&
                said(*bare, "judging.results-changed"));
        QVERIFY(!said(*bare, "judging.rows-changed") && !said(*bare, "judging.version-changed"));
        // A version is named, and where nothing is known to have changed, that is said too.
        question.saved.version = "0.0.1";
        QVERIFY(said(answered(question, 1), "judging.version-changed"));
        question.saved = savedRows(answered(question, 1));
        question.saved.results = "0000000000000000";
        const Judged other = answered(question, 1);
        QVERIFY(!other.asSaved && said(other, "judging.results-changed"));
        QVERIFY(!said(other, "judging.calibrations-changed"));
    }
    // Results of others are read before any method is asked: what is wrong with them costs nothing.
    void wrongResultsAreSaidBeforeAnybodyIsAsked() {
        JudgingQuestion question = products();
        question.results = {written(folder_, "wrong.csv", "method,row,predicted_s\nx,0,-1\n")};
        const auto executor = makeSerialExecutor();
        Progress progress;
        JudgeOptions options;
        options.executor = executor.get();
        options.progress = &progress;
        const auto judged = judge(question, options);
        QVERIFY(!judged);
        QCOMPARE(judged.error().code, std::string("results.time"));
        QCOMPARE(progress.done(), std::uint64_t{0});
    }
    // A tool that is right everywhere, and one that is twice too long on half of the rows.
    void resultsOfOthersStandWhereTheirNumbersPutThem() {
        JudgingQuestion question = products();
        const Judged before = answered(question, 1);
        std::string csv = "method,row,predicted_s,methodology,seconds\n";
        std::size_t at = 0;
        for (const RowRef ref : before.rows) {
            const ReferenceRow& row =
                (*before.tables)[static_cast<std::size_t>(ref.table)].rows[static_cast<std::size_t>(ref.row)];
            const std::string id = rowId(*before.tables, ref);
            csv += fmt::format("oracle,{},{:.17g},cycle-accurate,2\n", id, row.seconds);
            if (at++ % 2 == 0) csv += fmt::format("half,{},{:.17g},,\n", id, 2 * row.seconds);
        }
        csv += "oracle,ffffffffffff,1,,\n";
        question.results = {written(folder_, "theirs.csv", csv)};
        const Judged judged = answered(question, 1);
        const JudgedEntry* oracle = entryOf(judged, "oracle");
        QVERIFY(oracle && oracle->evaluation);
        QCOMPARE(oracle->figures().errors.mape, 0.0);
        QCOMPARE(oracle->own.secondsPerAnswer, 2.0);
        QCOMPARE(judged.entries[judged.ranking.front()].asked, std::string("oracle"));
        QCOMPARE(oracle->card->methodology, Methodology::CycleAccurate);
        const JudgedEntry* half = entryOf(judged, "half");
        QVERIFY(half && std::fabs(half->own.errors.mape - 1) < 1e-12);
        // Its lines do not say a methodology, and no file says what a tool needs.
        QCOMPARE(std::string(toText(half->card->methodology)), std::string("not stated"));
        QCOMPARE(half->facts.difficulty, std::string("not stated"));
        const auto errors = test::schemaErrors(judgedJson(judged, false), "judging");
        QVERIFY2(errors.empty(), errors.empty() ? "" : errors.front().c_str());
        // The legend and the column of those who do not say their cost; the set-up of both tools is not known.
        QVERIFY(planeSvg(judged, columnWidth).find(">half") != std::string::npos);
        const auto count = [](const std::string& svg) {
            std::size_t found = 0;
            for (std::size_t place = svg.find(">not stated<"); place != std::string::npos;
                 place = svg.find(">not stated<", place + 1))
                ++found;
            return found;
        };
        QCOMPARE(count(planeSvg(judged, columnWidth)), std::size_t{2});
        QCOMPARE(count(setUpSvg(judged, columnWidth)), std::size_t{2});
        QVERIFY(!oracle->facts.samples && !half->facts.samples);
        const auto fronts = answerFronts(judged);
        for (const auto& front : fronts)
            for (const std::size_t i : front) QVERIFY(judged.entries[i].asked != "half");
        const Survey survey = surveyOf(judged.matrixEntries(), *judged.tables, judged.rows, shippedCalibrations().set);
        for (const SurveyTable& table : survey.tables)
            for (const auto& line : table.cells)
                for (const SurveyCell& cell : line)
                    for (const SurveyMark& mark : cell.marks) QVERIFY(judged.entries[mark.entry].asked != "half");
        QCOMPARE(half->own.errors.rows, (before.rows.size() + 1) / 2);
        QVERIFY(std::any_of(judged.warnings.begin(), judged.warnings.end(),
                            [](const Diagnostic& each) { return each.code == "results.other-rows"; }));
        // Ours are what they were.
        QCOMPARE(entryOf(judged, "roofline")->own.errors.mape, entryOf(before, "roofline")->own.errors.mape);
        // And the report names the file.
        QVERIFY(judgedJson(judged, false).find("theirs.csv") != std::string::npos);
    }
    void badResultsAreRefusedWithTheirLine() {
        const std::tuple<const char*, const char*, int> wrong[] = {
            {"method,row\nx,0\n", "results.columns", 1},
            {"method,row,predicted_s\nx,0,-1\n", "results.time", 2},
            {"method,row,predicted_s\nroofline,0,1\n", "results.name", 2},
            {"method,row,predicted_s,methodology\nx,0,1,guess\n", "results.methodology", 2},
            {"method,row,predicted_s,low_s\nx,0,1,2\n", "results.interval", 2},
            {"method,row,predicted_s\nx,0,1\n", "results.no-rows", 0}};
        for (const auto& [text, code, line] : wrong) {
            JudgingQuestion question = products();
            question.methods = {"roofline"};
            question.results = {written(folder_, "bad.csv", text)};
            const auto executor = makeSerialExecutor();
            JudgeOptions options;
            options.executor = executor.get();
            const auto judged = judge(question, options);
            QVERIFY2(!judged, text);
            QCOMPARE(judged.error().code, std::string(code));
            QCOMPARE(judged.error().place.line, line);
        }
    }
    void factsAreFoundOut() {
        JudgingQuestion question = products();
        const Judged judged = answered(question, 1);
        const JudgedEntry *roofline = entryOf(judged, "roofline"), *hybrid = entryOf(judged, "tile-hybrid");
        QCOMPARE(roofline->facts.difficulty, std::string("drawing"));
        QCOMPARE(roofline->facts.samples.value_or(-1), std::int64_t{0});
        QCOMPARE(hybrid->facts.difficulty, std::string("fitted"));
        QVERIFY(hybrid->facts.samples.value_or(0) > 0);
        for (const JudgedEntry& entry : judged.entries) {
            QCOMPARE(entry.facts.reproducibility.size(), reproducibilityPoints.size());
            for (const ReproducibilityPoint& point : entry.facts.reproducibility) QVERIFY(!point.why.empty());
        }
        QVERIFY(hybrid->facts.reproducibility.back().given);
        // What was fitted takes time to fit, and its tables do not ship; the roofline learned nothing.
        QVERIFY(roofline->facts.fitting && roofline->facts.fitting->value == 0);
        QVERIFY(hybrid->facts.fitting && hybrid->facts.fitting->value > 1);
        const auto given = [](const MethodFacts& facts, std::string_view name) {
            const auto point = std::ranges::find(facts.reproducibility, name, &ReproducibilityPoint::name);
            return point != facts.reproducibility.end() && point->given;
        };
        QVERIFY(given(roofline->facts, "training data ships") && !given(hybrid->facts, "training data ships"));
        QVERIFY(given(hybrid->facts, "training data named") && given(hybrid->facts, "fit can be repeated"));
        // Both devices are among those that it was fitted to; asked without what it learned there they are new to it.
        QVERIFY(given(roofline->facts, "unseen device") && !given(hybrid->facts, "unseen device"));
        FactFinder anew;
        const auto without = anew.facts("tile-hybrid", *hybrid->card, hybrid->evaluation.get(), *judged.tables,
                                        judged.rows, shippedCalibrations().set, false, true);
        QVERIFY(given(without, "unseen device"));
        QVERIFY(roofline->facts.points() != hybrid->facts.points());
        // Without calibrations nothing was fitted: the facts follow what is there.
        const CalibrationSet none;
        FactFinder finder;
        const auto bare = finder.facts("tile-hybrid", *hybrid->card, nullptr, *judged.tables, judged.rows, none);
        QCOMPARE(bare.difficulty, std::string("drawing"));
        QCOMPARE(bare.samples.value_or(-1), std::int64_t{0});
        QVERIFY(bare.points() < hybrid->facts.points());
        // A finder that is kept does not say of new calibrations what it found of the old.
        const auto learned = finder.facts("tile-hybrid", *hybrid->card, hybrid->evaluation.get(), *judged.tables,
                                          judged.rows, shippedCalibrations().set);
        const auto again =
            finder.facts("tile-hybrid", *hybrid->card, hybrid->evaluation.get(), *judged.tables, judged.rows, none);
        QVERIFY(learned.reproducibility.back().given);
        QVERIFY2(again.reproducibility.back().why != learned.reproducibility.back().why ||
                     calibrationsHash(none) != calibrationsHash(shippedCalibrations().set),
                 again.reproducibility.back().why.c_str());
    }
    // Of another program nothing proves that it was fitted to nothing.
    void whatAnotherProgramWasFittedToIsNotKnown() {
        const auto& adapters = shippedAdapters().all;
        QVERIFY(!adapters.empty());
        const Judged judged = answered(products(), 1);
        FactFinder finder;
        for (const AdapterPtr& adapter : adapters) {
            const Method* method = findMethod(adapter->id);
            if (!method) continue;
            const MethodFacts facts = finder.facts(adapter->id, method->card, nullptr, *judged.tables, judged.rows,
                                                   shippedCalibrations().set);
            QVERIFY(!facts.samples && !facts.fitting);
            for (const ReproducibilityPoint& point : facts.reproducibility) {
                if (!point.name.starts_with("training data") && point.name != "fit can be repeated") continue;
                QVERIFY(!point.given);
                QCOMPARE(point.why, std::string("not known"));
            }
        }
    }
    // Errors of different rows make no front.
    void withoutCommonRowsThereIsNoFront() {
        JudgingQuestion question = products();
        const Judged same = answered(question, 1);
        QVERIFY(onSameRows(same) && !answerFronts(same).empty());
        QVERIFY(planeSvg(same, pageWidth).find("No front") == std::string::npos);
        question.common = false;
        const Judged own = answered(question, 1);
        QVERIFY(!onSameRows(own) && answerFronts(own).empty());
        const std::string plane = planeSvg(own, pageWidth);
        QVERIFY(plane.find("No front: every method uses its own rows") != std::string::npos);
        QVERIFY(plane.find("stroke-dasharray=\"4 3\"") == std::string::npos);
        const std::string report = judgingReportHtml({"Own", "", "", {own}, 0});
        QVERIFY(report.find("No line joins the best") != std::string::npos);
    }
    // Who has stopped waits for no comparison.
    void aComparisonThatIsStoppedEnds() {
        Judged judged = answered(products(), 1);
        std::stop_source stop;
        stop.request_stop();
        FactFinder finder;
        compareJudged(judged, shippedCalibrations().set, finder, stop.get_token());
        QVERIFY(judged.ranking.empty() && judged.common.empty());
        for (const auto& line : judged.matrix.cells)
            for (const MatrixCell& cell : line) QVERIFY(!cell.least);
        compareJudged(judged, shippedCalibrations().set, finder);
        QCOMPARE(judged.ranking.size(), std::size_t{3});
    }
    // What was fitted holds a clock and a software and cannot be asked otherwise: first is who is first of its equals.
    void otherClocksAndStacksAreToldApart() {
        JudgingQuestion question = products();
        question.methods = {"roofline", "hierarchical-roofline", "tile-wave", "tile-hybrid"};
        const Judged judged = answered(question, 1);
        QVERIFY(judged.groups >= 2);
        const JudgedEntry *roofline = entryOf(judged, "roofline"), *levels = entryOf(judged, "hierarchical-roofline"),
                          *hybrid = entryOf(judged, "tile-hybrid");
        QVERIFY(roofline->compared && levels->compared && hybrid->compared);
        QCOMPARE(roofline->common.group, levels->common.group);
        QVERIFY(roofline->common.group != hybrid->common.group);
        std::map<std::size_t, double> shares;
        std::map<std::size_t, std::size_t> members;
        for (const JudgedEntry& entry : judged.entries) {
            shares[entry.common.group] += entry.common.firstShare;
            ++members[entry.common.group];
        }
        QCOMPARE(shares.size(), judged.groups);
        for (const auto& [group, share] : shares) QVERIFY(std::fabs(share - 1) < 1e-9);
        for (const JudgedEntry& entry : judged.entries) QCOMPARE(entry.common.equals, members[entry.common.group]);
        // Nobody is on a front for beating another of other terms, and every group has its own.
        const auto fronts = answerFronts(judged);
        QCOMPARE(fronts.size(), judged.groups);
        for (std::size_t group = 0; group < fronts.size(); ++group) {
            QVERIFY(!fronts[group].empty());
            for (const std::size_t i : fronts[group]) QCOMPARE(judged.entries[i].common.group, group);
        }
        // In a cell the two rooflines are set against each other alone, and one of them errs least.
        QCOMPARE(judged.matrix.columns.size() > 0, true);
        for (std::size_t c = 0; c < judged.matrix.columns.size(); ++c) {
            std::size_t least = 0;
            for (std::size_t m = 0; m < judged.entries.size(); ++m) {
                const MatrixCell& cell = judged.matrix.cells[m][c];
                if (!cell.common) continue;
                const bool bound = &judged.entries[m] == roofline || &judged.entries[m] == levels;
                if (bound) QCOMPARE(cell.equals, std::size_t{2});
                least += bound && cell.least ? 1 : 0;
                QVERIFY(!cell.least || cell.equals > 1);
            }
            if (judged.matrix.columns[c].common > 0) QCOMPARE(least, std::size_t{1});
        }
        QVERIFY(judgedTex(judged).find("mathbf") != std::string::npos);
        const std::string csv = judgedCsv(judged), json = judgedJson(judged);
        QVERIFY(csv.find(",first_share,equals,") != std::string::npos &&
                csv.find("the design's,none") != std::string::npos);
        QVERIFY(json.find("\"equals\": 2") != std::string::npos);
        // Asked for, it is one list as before.
        question.equal = false;
        const Judged one = answered(question, 1);
        QCOMPARE(one.groups, std::size_t(0));
        double all = 0;
        for (const JudgedEntry& entry : one.entries) all += entry.common.firstShare;
        QVERIFY(std::fabs(all - 1) < 1e-9);
    }
    // What the handbook says of the suite's parts is what they are.
    void theHandbookCountsTheRowsOfTheSuite() {
        std::ifstream page(std::string(ORRERY_SOURCE) + "/resources/handbook/benchmark.md");
        QVERIFY(page.good());
        std::map<std::string, std::size_t> stated;
        const QRegularExpression line("^\\| `([a-z-]+)` \\| ([0-9,]+) \\|");
        for (std::string text; std::getline(page, text);) {
            const auto found = line.match(QString::fromStdString(text));
            if (found.hasMatch()) stated[found.captured(1).toStdString()] = found.captured(2).remove(',').toULongLong();
        }
        const auto suite = readBenchmarkFile(shippedBenchmark());
        QVERIFY2(suite, suite ? "" : suite.error().message.c_str());
        QCOMPARE(stated.size(), suite->parts.size());
        for (const JudgingQuestion& part : suite->parts) {
            const auto rows = judgingRows(part, nullptr);
            QVERIFY2(rows, rows ? "" : rows.error().message.c_str());
            QVERIFY2(stated.at(part.id) == rows->rows.size(),
                     fmt::format("{}: {} rows, the handbook says {}", part.id, rows->rows.size(), stated.at(part.id))
                         .c_str());
        }
    }
    // Who prices other rows than those that are compared is on the plane, pale and with a star.
    void narrowMethodsStandOnThePlaneOnTheirOwnRows() {
        JudgingQuestion question;
        question.name = "GPUs and a TPU";
        question.where = "kind=gemm, device=h100-sxm|tpu-v3-core";
        question.methods = {"roofline", "tile-wave", "systolic-closed-form"};
        question.published = true;
        const Judged judged = answered(question, 1);
        const JudgedEntry* narrow = entryOf(judged, "systolic-closed-form");
        QVERIFY(narrow && narrow->evaluation && !narrow->compared);
        const std::string plane = planeSvg(judged, pageWidth);
        QVERIFY(plane.find(narrow->title + ": mean error") != std::string::npos);
        QVERIFY(plane.find(">systolic-closed-form *<") != std::string::npos);
        QVERIFY(plane.find("on its own rows") != std::string::npos);
        // Each published claim says which tool it is of, and who says so.
        QVERIFY(plane.find("Timeloop: 60.1 %") != std::string::npos);
        // A name with a path among its options gives way: it runs into no cell and no picture loses its label.
        Judged longer = judged;
        const std::string name = "recorded(trace=" + std::string(90, 'x') + ".csv)";
        for (JudgedEntry& each : longer.entries)
            if (each.asked == "tile-wave") each.asked = name;
        for (const std::string& svg : {matrixSvg(longer, columnWidth), matrixSvg(longer, pageWidth),
                                       planeSvg(longer, columnWidth), residualsSvg(longer, columnWidth)}) {
            const std::size_t end = svg.find("…<");
            QVERIFY2(end != std::string::npos, svg.c_str());
            const std::string shown = svg.substr(svg.rfind('>', end) + 1, end - svg.rfind('>', end) - 1);
            QVERIFY2(shown.starts_with("recorded(") && shown.size() < name.size(), shown.c_str());
            QVERIFY2(store::textWidth(shown, 8.5) <= 0.42 * pageWidth, shown.c_str());
        }
        // Compared, it has no star.
        question.compare = {{"systolic-closed-form", true}};
        QVERIFY(planeSvg(answered(question, 1), pageWidth).find("systolic-closed-form *") == std::string::npos);
    }
    // Words of the legend and of the axes in the figure of a column, with many kinds of points over many decades.
    void wordsOfTheNarrowPlaneStandApart() {
        JudgingQuestion question = products();
        question.published = true;
        Judged judged = answered(question, 1);
        QCOMPARE(judged.entries.size(), std::size_t{3});
        const std::array levels{MethodLevel::Kernel, MethodLevel::Model, MethodLevel::System};
        const std::array kinds{Methodology::Analytical, Methodology::CycleAccurate, Methodology::Hybrid};
        for (const double dearest : {1e-4, 1e-2, 0.1, 1.0, 10.0, 100.0}) {
            for (std::size_t i = 0; i < judged.entries.size(); ++i) {
                JudgedEntry& entry = judged.entries[i];
                auto card = std::make_shared<MethodCard>(*entry.card);
                card->level = levels[i], card->methodology = kinds[i];
                entry.card = card;
                entry.compared = i > 0;
                for (EvaluationFigures* figures : {&entry.own, &entry.common.figures}) {
                    figures->secondsPerAnswer = figures->secondsLow = figures->secondsHigh = i == 0 ? 2e-7 : dearest;
                    figures->coverage90 = 0.5;
                    figures->errors.p90Error = i == 0 ? 50 : 0.2;
                }
            }
            struct Words {
                QRectF box;
                QString text;
            };
            std::vector<Words> all;
            // Names of methods lie on a ground of their own, wherever there is room.
            static const QRegularExpression element(
                "<text x=\"([\\d.-]+)\" y=\"([\\d.-]+)\" font-size=\"([\\d.]+)\" fill=\"[^\"]*\"(?: "
                "text-anchor=\"(\\w+)\")?>([^<]*)<"),
                tick("^[\\d.e+]+ (%|ns|µs|ms|s|ks)$");
            const QStringList legend{"analytical",
                                     "cycle-accurate",
                                     "hybrid",
                                     "kernel",
                                     "model",
                                     "system",
                                     "inside 90 % too rarely",
                                     "* on its own rows, not compared",
                                     "published by others, other rows"};
            auto found = element.globalMatch(QString::fromStdString(planeSvg(judged, columnWidth)));
            while (found.hasNext()) {
                const auto match = found.next();
                const QString text = match.captured(5);
                if (!legend.contains(text) && !tick.match(text).hasMatch()) continue;
                const double size = match.captured(3).toDouble(), wide = store::textWidth(text.toStdString(), size);
                const QString anchor = match.captured(4);
                const double left = match.captured(1).toDouble() - (anchor == "end"      ? wide
                                                                    : anchor == "middle" ? wide / 2
                                                                                         : 0);
                all.push_back({QRectF(left, match.captured(2).toDouble() - 0.75 * size, wide, 0.9 * size), text});
            }
            QVERIFY(all.size() > std::size_t(legend.size()) + 4);
            for (std::size_t i = 0; i < all.size(); ++i) {
                QVERIFY2(all[i].box.left() >= 0 && all[i].box.right() <= columnWidth, qPrintable(all[i].text));
                for (std::size_t k = 0; k < i; ++k)
                    QVERIFY2(!all[i].box.intersects(all[k].box),
                             qPrintable(QString("%1 over %2").arg(all[i].text, all[k].text)));
            }
        }
    }
    void whatAMethodWasFittedToIsMarked() {
        JudgingQuestion question;
        question.name = "Steps";
        question.where = "class=training steps";
        question.methods = {"closed-form-step", "learned-step"};
        const Judged judged = answered(question, 2);
        QVERIFY(judged.rows.size() >= 8);
        QCOMPARE(entryOf(judged, "learned-step")->fittedRows, judged.rows.size());
        QCOMPARE(entryOf(judged, "closed-form-step")->fittedRows, std::size_t{0});
        // It prices kernels by a method that was fitted, so that it stands on the same samples.
        QCOMPARE(entryOf(judged, "closed-form-step")->facts.difficulty, std::string("fitted"));
        QVERIFY(entryOf(judged, "closed-form-step")->facts.samples > 0);
        QVERIFY(judgedCsv(judged).find("learned-step") != std::string::npos);
        // The survey says of each the same.
        const auto entries = judged.matrixEntries();
        const Survey survey = surveyOf(entries, *judged.tables, judged.rows, judged.calibrations);
        for (const SurveyLine& line : survey.lines) QCOMPARE(line.samples, judged.entries[line.entry].facts.samples);
    }
    void theShippedSuiteIsReadAndItsPartsHaveRows() {
        const auto suite = readBenchmarkFile(shippedBenchmark());
        QVERIFY2(suite, suite ? "" : suite.error().message.c_str());
        QVERIFY(suite->parts.size() >= 5);
        for (JudgingQuestion part : suite->parts) {
            part.methods = {"roofline", "closed-form-step", "tile-wave"};
            part.most = 20;
            const Judged judged = answered(part, 1);
            QVERIFY2(!judged.ranking.empty(), part.id.c_str());
        }
    }
    // From kernels on to systems: what was measured whole stands in levels of its own, and in no sum of kernels.
    void errorsGoOnToSystems() {
        JudgingQuestion question;
        question.name = "All that ships";
        question.references = {"shipped", presetsFolder() + "/serving/published-offline.yaml"};
        question.methods = {"roofline", "tile-hybrid"};
        question.seen = true;
        const Judged judged = answered(question, 1);
        const auto all = growthsOf(judged);
        QCOMPARE(all.size(), std::size_t{2});
        for (const MethodGrowth& each : all) {
            const EvaluatedRows& rows = judged.entries[each.entry].evaluation->rows;
            std::map<TaskKind, std::pair<std::size_t, double>> whole;
            std::size_t kernels = 0;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const ReferenceTable& table = (*judged.tables)[static_cast<std::size_t>(rows.ref[i].table)];
                if (table.models.empty()) {
                    ++kernels;
                    continue;
                }
                auto& [number, squares] = whole[kindOf(table.models[static_cast<std::size_t>(rows.ref[i].row)].task)];
                number += 1;
                squares += rows.error(i) * rows.error(i);
            }
            QVERIFY(each.growth.rows > 0 && each.growth.rows <= kernels);
            // The roofline answers passes alone.
            QCOMPARE(each.growth.levels.size(), whole.size());
            QCOMPARE(whole.size(), judged.entries[each.entry].asked == "roofline" ? std::size_t{1} : std::size_t{3});
            for (const LevelPoint& level : each.growth.levels) {
                const auto& [number, squares] = whole.at(level.task);
                QCOMPARE(level.rows, number);
                QVERIFY(std::fabs(level.measured - std::sqrt(squares / static_cast<double>(number))) < 1e-12);
                QVERIFY(level.median > 0 && level.coverage >= 0 && level.coverage <= 1);
            }
            const std::string svg = growthSvg(each.growth, "method", pageWidth);
            for (const LevelPoint& level : each.growth.levels)
                QVERIFY(svg.find(fmt::format("{}: {} rows", levelName(level.task), level.rows)) != std::string::npos);
        }
        QVERIFY(growthCsv(judged, all).find("tile-hybrid,serving-run,") != std::string::npos);
    }
    void aPageLeavesEverything() {
        const Judged judged = answered(products(), 1);
        const BenchmarkRun run{"Products", {}, {}, {judged}, 0};
        const auto files = judgingFiles(run);
        const auto textOf = [&](const std::string& name) {
            for (const NamedFile& file : files)
                if (file.name == name) return file.content;
            return std::string();
        };
        for (const char* name :
             {"report.html", "plane.svg", "plane-column.svg", "setup.svg", "matrix.svg", "errors.svg", "figures.csv",
              "matrix.csv", "table.tex", "rows.csv", "questions.csv", "lineage.bib", "figures.json", "judging.yaml",
              "survey-platform.svg", "survey-class-column.svg", "survey-level.svg", "growth.svg", "growth.csv"})
            QVERIFY2(!textOf(name).empty(), name);
        // The page stands alone, and holds what a reader needs.
        const std::string page = textOf("report.html");
        for (const char* part :
             {"Error against cost", "By scenario", "Errors of the rows", "Truth", "Assumptions", "Survey",
              "From kernels to systems", "Set-up and reproducibility", "Provenance", "<svg"})
            QVERIFY2(page.find(part) != std::string::npos, part);
        QVERIFY(page.find("<script") == std::string::npos && page.find("http-equiv") == std::string::npos);
        QVERIFY(page.find("src=") == std::string::npos && page.find("href=") == std::string::npos);
        QVERIFY(page.find(judged.hash) != std::string::npos);
        // Every compared method has its dot.
        for (const std::size_t i : judged.ranking)
            QVERIFY(textOf("plane.svg").find(judged.entries[i].title + ": mean error") != std::string::npos);
        // The survey has a mark for each method, the growth lies between its limits.
        for (const JudgedEntry& entry : judged.entries)
            QVERIFY(textOf("survey-platform.svg").find(entry.asked + ", ") != std::string::npos);
        for (const MethodGrowth& each : growthsOf(judged)) {
            QVERIFY(each.growth.points.size() > 3);
            for (const GrowthPoint& point : each.growth.points) {
                QVERIFY(point.independent <= point.common + 1e-12);
                QVERIFY(point.measured <= point.common + 1e-12);
            }
        }
        // The file that is left asks the same.
        const auto again = readJudging(textOf("judging.yaml"), "/tmp/judging.yaml");
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        QCOMPARE(resultsHash(answered(*again, 1)), resultsHash(judged));
    }
};

QTEST_GUILESS_MAIN(TestJudging)
#include "tst_judging.moc"
