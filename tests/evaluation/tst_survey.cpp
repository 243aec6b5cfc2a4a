// Coverage tables of methods: is a mark made of its rows and of nothing else, is it gone when its reference is, is a
// claim told from evidence, and does an empty cell say what is missing?

#include "base/executor.h"
#include "evaluation/survey/survey_export.h"
#include "support/schema_check.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <deque>

using namespace orrery;

namespace {

struct Surveyed {
    std::vector<ReferenceTable> tables;
    std::deque<Evaluation> evaluations;
    std::vector<MatrixEntry> entries;
    std::vector<RowRef> rows;
    Survey survey;
};

void surveyTables(Surveyed& made, const std::vector<std::string>& ids) {
    made.rows = selectRows(made.tables);
    const auto executor = makeSerialExecutor();
    EvaluateOptions options;
    options.executor = executor.get();
    for (const std::string& id : ids) {
        const Method* method = findMethod(id);
        auto judged = evaluate(*method, made.tables, made.rows, options);
        if (judged) made.evaluations.push_back(std::move(*judged));
        made.entries.push_back({id, &method->card, judged ? &made.evaluations.back() : nullptr,
                                judged ? std::string() : judged.error().message});
    }
    made.survey = surveyOf(made.entries, made.tables, made.rows, shippedCalibrations().set);
}

std::size_t columnOf(const SurveyTable& table, const std::string& word) {
    return static_cast<std::size_t>(std::find(table.columns.begin(), table.columns.end(), word) -
                                    table.columns.begin());
}

std::size_t marksIn(const SurveyTable& table, std::size_t column) {
    std::size_t marks = 0;
    for (const auto& line : table.cells) marks += line[column].marks.size();
    return marks;
}

const std::vector<std::string> asked{"roofline", "tile-wave", "npu-tile", "systolic-closed-form"};

}  // namespace

class TestSurvey : public QObject {
    Q_OBJECT
private slots:
    void marksAreOfTheirRowsAlone() {
        Surveyed made;
        made.tables = shippedReferences();
        std::vector<std::string> ids;
        for (const std::string& id : asked)
            if (findMethod(id)) ids.push_back(id);
        QVERIFY(ids.size() >= 3);
        surveyTables(made, ids);
        QCOMPARE(made.survey.tables.size(), std::size_t(3));
        std::size_t marks = 0;
        for (const SurveyTable& table : made.survey.tables) {
            std::vector<std::size_t> rowsOfEntry(made.entries.size(), 0);
            for (std::size_t line = 0; line < table.cells.size(); ++line) {
                for (std::size_t c = 0; c < table.columns.size(); ++c) {
                    const SurveyCell& cell = table.cells[line][c];
                    // A cell either has marks or says what is missing.
                    QCOMPARE(cell.marks.empty(), !cell.missing.empty());
                    if (table.rows[c] == 0) QVERIFY(cell.marks.empty());
                    double before = 0;
                    for (const SurveyMark& mark : cell.marks) {
                        ++marks;
                        QVERIFY(made.entries[mark.entry].card->methodology == surveyed()[line]);
                        QVERIFY(!mark.which.empty() && mark.mape >= before);
                        before = mark.mape;
                        std::size_t sum = 0;
                        for (const SurveySource& source : mark.sources) sum += source.rows;
                        QCOMPARE(sum, mark.which.size());
                        rowsOfEntry[mark.entry] += sum;
                        // The error again, from the rows that it names.
                        const EvaluatedRows& all = made.entries[mark.entry].evaluation->rows;
                        double mape = 0;
                        for (const RowRef ref : mark.which) {
                            QCOMPARE(facetOf(table.by, made.tables, ref), table.columns[c]);
                            const auto at = std::find(all.ref.begin(), all.ref.end(), ref) - all.ref.begin();
                            mape += std::fabs(all.error(static_cast<std::size_t>(at)));
                        }
                        mape /= static_cast<double>(mark.which.size());
                        QVERIFY(std::fabs(mape - mark.mape) <= 1e-9 * (1 + mape));
                    }
                }
            }
            for (std::size_t m = 0; m < made.entries.size(); ++m) {
                const Evaluation* evaluation = made.entries[m].evaluation;
                QCOMPARE(rowsOfEntry[m], evaluation ? evaluation->rows.size() : 0);
            }
        }
        QVERIFY(marks > 10);
    }

    // Without the tables of TPUs nothing of TPUs is left but what cards claim.
    void withoutItsReferenceAMarkIsGone() {
        Surveyed all, less;
        all.tables = shippedReferences();
        const auto isTpu = [](const ReferenceTable& table) {
            return std::any_of(table.devices.begin(), table.devices.end(),
                               [](const ReferenceDevice& device) { return device.catalogue.starts_with("tpu"); });
        };
        for (const ReferenceTable& table : all.tables)
            if (!isTpu(table)) less.tables.push_back(table);
        QVERIFY(less.tables.size() < all.tables.size());
        surveyTables(all, {"roofline", "npu-tile"});
        surveyTables(less, {"roofline", "npu-tile"});
        const SurveyTable &before = all.survey.tables[0], &after = less.survey.tables[0];
        QVERIFY(marksIn(before, columnOf(before, "TPU")) >= 2);
        const std::size_t column = columnOf(after, "TPU");
        QVERIFY2(column < after.columns.size(), "cards claim TPUs, so that the empty column stands");
        QCOMPARE(after.rows[column], std::size_t(0));
        QCOMPARE(marksIn(after, column), std::size_t(0));
        bool claimed = false;
        for (const auto& line : after.cells) {
            QVERIFY(line[column].missing.find("no row of TPU is loaded") != std::string::npos);
            claimed = claimed || !line[column].claimed.empty();
        }
        QVERIFY(claimed);
        // What stands elsewhere stays as it was.
        const std::size_t gpu = columnOf(before, "GPU"), again = columnOf(after, "GPU");
        QCOMPARE(marksIn(before, gpu), marksIn(after, again));
        QCOMPARE(before.rows[gpu], after.rows[again]);
    }

    // Methods that were not run are no methods that price nothing: cycle by cycle GPUs are simulated, slowly.
    void whoWasNotAskedIsNamed() {
        Surveyed made;
        made.tables = shippedReferences();
        surveyTables(made, {"roofline", "npu-tile"});
        const SurveyTable& table = made.survey.tables[0];
        const auto line = static_cast<std::size_t>(
            std::find(surveyed().begin(), surveyed().end(), Methodology::CycleAccurate) - surveyed().begin());
        const std::string& gpu = table.cells[line][columnOf(table, "GPU")].missing;
        QVERIFY2(gpu.find("gpu-cycle") != std::string::npos && gpu.find("not run") != std::string::npos, gpu.c_str());
        const std::size_t cpu = columnOf(table, "CPU");
        QVERIFY(cpu < table.columns.size());
        const std::string& cores = table.cells[line][cpu].missing;
        QVERIFY2(cores.find("claimed without truth by") != std::string::npos &&
                     cores.find("core-cycle") != std::string::npos,
                 cores.c_str());
    }

    void linesSayWhatMethodsTakeAndSay() {
        Surveyed made;
        made.tables = shippedReferences();
        surveyTables(made, {"roofline", "tile-wave", "tile-hybrid"});
        for (const SurveyLine& line : made.survey.lines) {
            const MethodCard& card = *made.entries[line.entry].card;
            QCOMPARE(line.needs.size(), card.needs.size());
            QCOMPARE(line.failureMode, std::string(card.failureMode));
            QVERIFY(!line.readingWhy.empty() && !line.worst.workloadClass.empty() && line.worst.rows > 0);
            QVERIFY(!line.speed.empty() && line.oneKernel > 0);
        }
        const auto lineOf = [&](std::string_view id) {
            return *std::find_if(made.survey.lines.begin(), made.survey.lines.end(),
                                 [&](const SurveyLine& line) { return made.entries[line.entry].asked == id; });
        };
        // A tile model tells its price term by term; a roofline says what limits.
        QCOMPARE(lineOf("tile-wave").reading, std::string("terms"));
        QVERIFY(lineOf("tile-wave").terms >= 3);
        QCOMPARE(lineOf("roofline").reading, std::string("limits"));
        QVERIFY(lineOf("tile-hybrid").samples > 1000 && lineOf("roofline").samples == 0);
    }

    void filesKeepTheirForm() {
        Surveyed made;
        made.tables = shippedReferences();
        surveyTables(made, {"roofline", "npu-tile"});
        const std::string json = surveyJson(made.survey, made.entries);
        const auto problems = test::schemaErrors(json, "survey");
        QVERIFY2(problems.empty(), problems.empty() ? "" : problems.front().c_str());
        std::size_t lines = 1;
        for (const SurveyTable& table : made.survey.tables)
            for (const auto& line : table.cells)
                for (const SurveyCell& cell : line) lines += std::max<std::size_t>(cell.marks.size(), 1);
        const std::string csv = surveyCsv(made.survey, made.entries);
        QCOMPARE(std::count(csv.begin(), csv.end(), '\n'), static_cast<std::ptrdiff_t>(lines));
        const std::string methods = surveyMethodsCsv(made.survey, made.entries);
        QCOMPARE(std::count(methods.begin(), methods.end(), '\n'), std::ptrdiff_t(3));
        const std::string markdown = surveyMarkdown(made.survey, made.entries);
        QVERIFY(markdown.find("## Methodology by level") != std::string::npos);
        // The same rows give the same bytes.
        Surveyed again;
        again.tables = shippedReferences();
        surveyTables(again, {"roofline", "npu-tile"});
        QCOMPARE(surveyJson(again.survey, again.entries), json);
    }
};

QTEST_GUILESS_MAIN(TestSurvey)
#include "tst_survey.moc"
