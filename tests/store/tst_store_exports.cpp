#include "evaluation/reference_checks.h"
#include "store/export/exports.h"
#include "support/schema_check.h"
#include "support/store_fixture.h"

#include <QXmlStreamReader>
#include <QtTest/QtTest>

#include <map>

using namespace orrery;
using namespace orrery::test;

namespace {

// RFC 4180, strictly: rows end with CRLF, quotes only around whole cells, inner ones doubled.
std::vector<std::vector<std::string>> csvRows(const std::string& text) {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> row;
    std::string cell;
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == '"') {
            for (++i;; ++i) {
                if (i >= text.size()) return {};
                if (text[i] != '"') {
                    cell += text[i];
                } else if (i + 1 < text.size() && text[i + 1] == '"') {
                    cell += text[++i];
                } else {
                    break;
                }
            }
            ++i;
        } else {
            while (i < text.size() && text[i] != ',' && text[i] != '\r') {
                if (text[i] == '"' || text[i] == '\n') return {};
                cell += text[i++];
            }
        }
        row.push_back(std::exchange(cell, {}));
        if (text.compare(i, 1, ",") == 0) {
            ++i;
        } else if (text.compare(i, 2, "\r\n") == 0) {
            rows.push_back(std::exchange(row, {}));
            i += 2;
        } else {
            return {};
        }
    }
    return rows;
}

std::size_t column(const std::vector<std::vector<std::string>>& rows, const std::string& name) {
    return static_cast<std::size_t>(std::find(rows.at(0).begin(), rows.at(0).end(), name) - rows[0].begin());
}

}  // namespace

class TestStoreExports : public QObject {
    Q_OBJECT
    static void verifySchema(const std::string& json, const char* schema) {
        for (const std::string& error : schemaErrors(json, schema)) QFAIL(error.c_str());
    }

private slots:
    void aRunFitsItsSchema() { verifySchema(runJson(awkwardStudy(), {answer(), failure()}), "run"); }
    void aStudyFitsItsSchema() {
        const std::string json = runJson(awkwardStudy(3), {answer(0), failure(1), answer(2)});
        verifySchema(json, "study");
        QCOMPARE(Json::parse(json)["runs"].size(), std::size_t{3});
    }
    void aLargeStudyLeavesItsOperatorsOut() {
        std::vector<StudyResult> results;
        for (std::size_t i = 0; i < 65; ++i) results.push_back(answer(i));
        const std::string json = runJson(awkwardStudy(65), results);
        verifySchema(json, "study");
        const Json last = Json::parse(json)["runs"].back()["estimates"][0];
        QVERIFY(!last.contains("operators") && !last.contains("timeline") && last.contains("latency_s"));
        const Json figures = Json::parse(runJson(awkwardStudy(), {answer()}))["estimates"][0]["figures"];
        QCOMPARE(figures[1]["unit"], "s");
    }
    void anImportFitsItsSchema() { verifySchema(importJson(*awkwardScenario().workload), "import"); }
    void theValidatorCanFail() {
        Json run = Json::parse(runJson(awkwardStudy(), {answer()}));
        Json wrong = run;
        wrong["estimates"][0].erase("latency_s");
        QVERIFY(!schemaErrors(wrong.dump(), "run").empty());
        wrong = run;
        wrong["estimates"][0]["latency_s"] = "3 ms";
        QVERIFY(!schemaErrors(wrong.dump(), "run").empty());
        wrong = run;
        wrong["estimates"][0]["latency"] = 3;
        QVERIFY(!schemaErrors(wrong.dump(), "run").empty());
        wrong = run;
        wrong["estimates"][0]["memory_bytes"] = -1;
        QVERIFY(!schemaErrors(wrong.dump(), "run").empty());
    }
    void whatIsNotPredictedIsAbsentAndNeverZero() {
        const Json estimate = Json::parse(runJson(awkwardStudy(), {answer()}))["estimates"][0];
        QVERIFY(!estimate.contains("energy_j"));
        QVERIFY(!estimate["memory"].contains("capacity_bytes"));
        QVERIFY(!estimate["operators"][0].contains("energy_j"));
        QVERIFY(!estimate["operators"][2].contains("bound"));
        QCOMPARE(estimate["memory_bytes"].get<double>(), 1.005e9);
        Estimate nothing = awkwardEstimate();
        nothing.memory.reset();
        nothing.latency = Seconds(std::numeric_limits<double>::quiet_NaN());
        const Json json = Json::parse(estimateJson(awkwardScenario(), nothing));
        QVERIFY(!json.contains("memory_bytes") && !json.contains("latency_s"));
    }
    void anEstimateComesBackExactly() {
        const Scenario scenario = awkwardScenario();
        const std::string json = estimateJson(scenario, awkwardEstimate());
        const auto read = readEstimateJson(json);
        QVERIFY2(read, read ? "" : toText(read.error()).c_str());
        QCOMPARE(read->estimate.interval.high.value, 0.1 + 0.2);
        QCOMPARE(read->estimate.provenance.seed, 18446744073709551615ull);
        QCOMPARE(read->estimate.timeline.spans.back().startPs, std::int64_t{9'007'199'254'740'993});
        QVERIFY(!read->estimate.energy);
        QCOMPARE(QString::fromStdString(
                     Json::diff(Json::parse(json),
                                Json::parse(estimateJson({scenario.hardware, read->workload}, read->estimate)))
                         .dump()),
                 "[]");
        for (const char* bad : {"", "{}", "[]", "{\"method\": 3}", "null"}) QVERIFY2(!readEstimateJson(bad), bad);
    }
    void csvKeepsAwkwardNames() {
        const auto rows = csvRows(operatorsCsv(awkwardScenario(), awkwardEstimate()));
        QCOMPARE(rows.size(), std::size_t{4});
        for (const auto& row : rows) QCOMPARE(row.size(), rows[0].size());
        QCOMPARE(rows[1][column(rows, "name")], awkward);
        QCOMPARE(rows[1][column(rows, "bound")], std::string("l2"));
        QCOMPARE(rows[1][column(rows, "l2_bytes")], std::string("8000000"));
        double share = 0;
        for (std::size_t i = 1; i < rows.size(); ++i) share += std::stod(rows[i][column(rows, "share_of_time")]);
        QVERIFY(std::fabs(share - 1) < 1e-12);
        const auto table = csvRows(comparisonCsv(awkwardStudy(), {answer(), failure()}));
        QCOMPARE(table.size(), std::size_t{3});
        for (const auto& row : table) QCOMPARE(row.size(), table[0].size());
        QCOMPARE(table[1][column(table, "latency_s")], std::string("0.0033"));
        QCOMPARE(table[1][column(table, "energy_j")], std::string());
        QCOMPARE(table[2][column(table, "failure")], std::string("not a <transformer>"));
    }
    void aTraceIsExactAndItsSpansDoNotOverlap() {
        const Estimate estimate = awkwardEstimate();
        const std::string text = chromeTrace(awkwardScenario(), estimate);
        QVERIFY(text.find("\"ts\":9007199254.740993,\"dur\":0.000007") != std::string::npos);
        const Json trace = Json::parse(text, nullptr, false);
        QVERIFY(!trace.is_discarded());
        std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows;
        std::map<std::pair<int, int>, std::string> names;
        for (const Json& event : trace["traceEvents"]) {
            const std::pair row{event["pid"].get<int>(), event["tid"].get<int>()};
            if (event["ph"] == "X") rows[row].emplace_back(event["ts"], event["dur"]);
            if (event["name"] == "thread_name") names[row] = event["args"]["name"];
        }
        QCOMPARE(rows.size(), std::size_t{2});
        QCOMPARE((names.at({1, 1})), std::string("compute"));
        double sum = 0;
        for (auto& [row, spans] : rows) {
            QVERIFY(names.contains(row));
            std::sort(spans.begin(), spans.end());
            for (std::size_t i = 0; i < spans.size(); ++i) {
                sum += spans[i].second;
                if (i > 0) QVERIFY(spans[i].first >= spans[i - 1].first + spans[i - 1].second - 1e-9);
            }
        }
        QVERIFY(std::fabs(sum - 3300.000001 - 0.000007) < 1e-9);
    }
    void theReportIsOnePageThatFetchesNothingAndEscapesAll() {
        for (const std::size_t scenarios : {1, 3}) {
            const std::string html = reportHtml(awkwardStudy(scenarios), {answer(), failure()});
            QVERIFY(html.find("<script") == std::string::npos);
            QVERIFY(html.find("&lt;script&gt;") != std::string::npos);
            QVERIFY(html.find("http") == std::string::npos);
            for (const char* word : {"prefers-color-scheme: dark", "@media print", "not a &lt;transformer&gt;",
                                     "careful &amp; &lt;slow&gt;", "HBM 2 TB/s", "L2 &lt;5&gt; TB/s"}) {
                QVERIFY2(html.find(word) != std::string::npos, word);
            }
            // Well-formed as XML after its head: every tag is closed and every attribute quoted.
            const auto from = html.find("<main>"), to = html.find("</main>");
            QXmlStreamReader xml(QString::fromStdString(html.substr(from, to + 7 - from)));
            while (!xml.atEnd()) xml.readNext();
            QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
        }
    }
    // Methods across, reasons once, and how far answers are from what was published: on scenarios that all answer.
    void aStudysReportIsAMatrixBesideTheTruth() {
        WorkloadOptions options;
        options.batch = 32;
        options.image = 224;
        options.weights = options.activations = options.kv = DType::F16;
        const auto workload = loadWorkload({"resnet-50", options, {}});
        QVERIFY(workload);
        Study study{"Two devices", {}, {"roofline", "tile-hybrid", "loop-nest"}};
        std::vector<StudyResult> results;
        const auto answerOf = [](double seconds) {
            Estimate made;
            made.latency = Seconds(seconds);
            made.interval = {Seconds(seconds * 0.9), Seconds(seconds * 1.1)};
            return std::make_shared<const Estimate>(made);
        };
        for (const char* id : {"t4", "h100-sxm"}) {
            study.scenarios.push_back({catalogueHardware(id), *workload});
            const std::size_t at = study.scenarios.size() - 1;
            results.push_back({at, "roofline", answerOf(0.0591), std::nullopt});
            results.push_back({at, "tile-hybrid", answerOf(0.031), std::nullopt});
            results.push_back({at, "loop-nest", nullptr, fail("x", "holds no array").value()});
        }
        const std::string html = reportHtml(study, results);
        QVERIFY(html.find("29.5 ms") != std::string::npos);            // as published for T4
        QVERIFY(html.find("+100.1 %, outside") != std::string::npos);  // 59.1 over 29.54 ms
        QVERIFY(html.find("+4.9 %<") != std::string::npos);            // 31 over 29.54 ms, inside
        QVERIFY(html.find("on 1 of 1 measured scenarios") != std::string::npos);
        QVERIFY(html.find("<b>a</b> holds no array (2)") != std::string::npos);
        QCOMPARE(html.find("<b>b</b>"), std::string::npos);
        const auto from = html.find("<main>"), to = html.find("</main>");
        QXmlStreamReader xml(QString::fromStdString(html.substr(from, to + 7 - from)));
        while (!xml.atEnd()) xml.readNext();
        QVERIFY2(!xml.hasError(), qPrintable(xml.errorString()));
    }
    void anEmptyAnswerIsStillAReport() {
        const std::string html = reportHtml(awkwardStudy(), {failure()});
        QVERIFY(html.find("No method could answer") != std::string::npos);
        Estimate bare;
        bare.method = "x";
        const StudyResult result{0, "x", std::make_shared<const Estimate>(bare), std::nullopt};
        QVERIFY(reportHtml(awkwardStudy(), {result}).find("</html>") != std::string::npos);
        QVERIFY(!Json::parse(chromeTrace(awkwardScenario(), bare), nullptr, false).is_discarded());
    }
};

QTEST_GUILESS_MAIN(TestStoreExports)
#include "tst_store_exports.moc"
