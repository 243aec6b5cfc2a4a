// Cases of splitwise-sim and DistServe's simulator, request by request, and their files when they are broken.

#include "methods/system/cases/published_case.h"
#include "base/text/table.h"
#include "methods/system/cases/published_parts.h"
#include "methods/trace/distserve_law.h"
#include "methods/trace/splitwise_table.h"
#include "serving/serving_simulation.h"

#include <QtTest/QtTest>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

using namespace orrery;
namespace fs = std::filesystem;

namespace {

const std::string root = std::string(ORRERY_REFERENCE) + "/serving";

std::map<std::int64_t, std::pair<double, double>> simulated(const PublishedCase& given) {
    const auto fleet = std::make_shared<const FleetSpec>(given.fleet);
    const auto stream = std::make_shared<const RequestStream>(given.requests);
    const auto result = simulate(fleet, stream);
    std::map<std::int64_t, std::pair<double, double>> out;
    if (!result) return out;
    for (RequestIndex r = 0; r < stream->size(); ++r)
        out[stream->id[r]] = {toSeconds(result->requests.firstToken[r]), toSeconds(result->requests.ended[r])};
    return out;
}

std::string write(const QTemporaryDir& folder, const std::string& name, const std::string& text) {
    const std::string path = folder.path().toStdString() + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

const char* const table_head =
    "model,hardware,prompt_size,batch_size,token_size,peak_power,average_power,prompt_time,token_time,e2e_time,"
    "tensor_parallel\n";

IterationPrice priced(const IterationTime& time, std::vector<PromptChunk> prompts, std::vector<std::int32_t> decodes) {
    IterationWork work;
    work.prompts = prompts;
    work.decodes = decodes;
    for (const std::int32_t context : decodes) work.decodeContext += context;
    for (const PromptChunk& chunk : prompts) work.tokens += chunk.tokens;
    work.tokens += static_cast<std::int32_t>(decodes.size());
    return time.price(work);
}

}  // namespace

class TestServingPublished : public QObject {
    Q_OBJECT

private slots:
    void splitwiseCases_data() {
        QTest::addColumn<QString>("name");
        QTest::addRow("three requests, one H100") << "splitwise_test_baseline_h";
        QTest::addRow("2000 Azure conversations, two H100") << "splitwise_conv2000_h100x2_llama_token_jsq";
    }
    void splitwiseCases() {
        QFETCH(QString, name);
        const std::string folder = root + "/cases/" + name.toStdString();
        if (!fs::exists(folder)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto given = readSplitwiseCase(folder, root + "/data/splitwise/perf_model.csv");
        QVERIFY2(given, toText(given ? Diagnostic{} : given.error()).c_str());
        const auto got = simulated(*given);
        const auto nodes =
            readTable(folder + "/request_nodes.csv",
                      {.columns = {{.name = "request_id"}, textColumn("node_type"), {.name = "completion_timestamp"}}});
        QVERIFY(nodes);
        QCOMPARE(nodes->size(), got.size() * 2);
        for (std::size_t i = 0; i < nodes->size(); ++i) {
            const auto id = static_cast<std::int64_t>(nodes->numbers[0][i]);
            const double expected = nodes->numbers[2][i];
            const auto& mine = got.at(id);
            const double time = nodes->texts[1][i] == "PROMPT" ? mine.first : mine.second;
            QVERIFY2(std::abs(time - expected) < 1e-6, std::to_string(id).c_str());
        }
    }

    void splitwiseInputsFromWhatTheRunLeft() {
        const std::string folder = root + "/cases/splitwise_conv2000_h100x2_llama_token_jsq";
        if (!fs::exists(folder)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        QTemporaryDir copy;
        for (const char* file : {"metrics.json", "request_nodes.csv", "detailed/0.csv"}) {
            fs::create_directories(fs::path(copy.path().toStdString() + "/" + file).parent_path());
            fs::copy_file(folder + "/" + file, copy.path().toStdString() + "/" + file);
        }
        const std::string table = root + "/data/splitwise/perf_model.csv";
        const auto whole = readSplitwiseCase(folder, table);
        const auto left = readSplitwiseCase(copy.path().toStdString(), table);
        QVERIFY(whole && left);
        QCOMPARE(left->requests.prompt, whole->requests.prompt);
        QCOMPARE(left->requests.output, whole->requests.output);
        for (std::size_t i = 0; i < whole->requests.size(); ++i)
            QVERIFY(std::abs(toSeconds(left->requests.arrival[i] - whole->requests.arrival[i])) < 1e-9);
    }

    void distServeCase() {
        const std::string folder = root + "/cases/distserve_distserve_opt-13b_tpp2_tpd1_n300";
        if (!fs::exists(folder)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto given = readDistServeCase(folder, root + "/data/distserve");
        QVERIFY2(given, toText(given ? Diagnostic{} : given.error()).c_str());
        const auto got = simulated(*given);
        const auto rows =
            readTable(folder + "/requests.csv",
                      {.columns = numberColumns({"req_id", "start_time_s", "first_token_latency", "total_latency"})});
        QVERIFY(rows);
        QCOMPARE(rows->size(), got.size());
        const auto& columns = rows->numbers;
        for (std::size_t i = 0; i < rows->size(); ++i) {
            const auto& mine = got.at(static_cast<std::int64_t>(columns[0][i]));
            const double start = columns[1][i];
            QVERIFY(std::abs(mine.first - start - columns[2][i] * 1e-3) < 1e-6);
            QVERIFY(std::abs(mine.second - start - columns[3][i] * 1e-3) < 1e-6);
        }
    }

    // Medians printed by the authors' file; between them, a straight line.
    void splitwiseTable() {
        const std::string table = root + "/data/splitwise/perf_model.csv";
        if (!fs::exists(table)) QSKIP("needs the reference data (ORRERY_REFERENCE)");
        const auto time = readSplitwiseTable(table, {"llama2-70b", "h100-80gb", 8, SplitwiseTokens::BySequences});
        QVERIFY(time);
        const double p1024 = priced(**time, {{1024, 0}}, {}).seconds;
        const double p2048 = priced(**time, {{2048, 0}}, {}).seconds;
        QVERIFY(std::abs(priced(**time, {{128, 0}}, {}).seconds - 0.0582) < 5e-4);  // measured at this size alone
        QVERIFY(std::abs(p1024 - 0.0779) < 5e-4);
        QVERIFY(p2048 > 0.1326 && p2048 < 0.1370);  // 4 × 512 and 1 × 2048 tokens
        QVERIFY(std::abs(priced(**time, {{1536, 0}}, {}).seconds - (p1024 + p2048) / 2) < 1e-12);
        QVERIFY(std::abs(priced(**time, {{512, 0}, {1024, 0}}, {}).seconds - (p1024 + p2048) / 2) < 1e-12);
        const double mixed = priced(**time, {{1020, 0}}, {9, 9, 9, 9}).seconds;
        QVERIFY(std::abs(mixed - 1.1 * p1024) < 1e-12);
        const IterationPrice one = priced(**time, {}, {100});
        QVERIFY(one.seconds > 0.028 && one.seconds < 0.033 && one.low <= 1 && one.high >= 1);
        const double many = priced(**time, {}, std::vector<std::int32_t>(64, 100)).seconds;
        QVERIFY(many > 1.3 * one.seconds);
        QCOMPARE(priced(**time, {{100000, 0}}, {}).domain, DomainVerdict::Outside);
    }

    void distServeLaw() {
        DistServeLaw law;
        law.prompt = {10, 0.1, 1e-5};
        law.decodeSmall = {20, 0.001, 0.5};
        law.decodeLarge = {5, 0.001, 0.7};
        const auto time = distServeTime(law);
        const IterationPrice prompt = priced(*time, {{100, 0}, {200, 0}}, {});
        QVERIFY(std::abs(prompt.seconds - (10 + 30 + 0.5 + 1) * 1e-3) < 1e-15);
        QVERIFY(std::abs(prompt.host - (2 + 0.03) * 1e-3) < 1e-15);
        QVERIFY(std::abs(priced(*time, {}, {100, 200}).seconds - (20 + 0.302 + 1) * 1e-3) < 1e-15);
        const double below = priced(*time, {}, std::vector<std::int32_t>(94, 0)).seconds;
        const double above = priced(*time, {}, std::vector<std::int32_t>(95, 0)).seconds;
        QVERIFY(std::abs(below - (20 + 0.094 + 47) * 1e-3) < 1e-12);
        QVERIFY(std::abs(above - (5 + 0.095 + 66.5) * 1e-3) < 1e-12);
        law.pipeline = 2;
        QVERIFY(std::abs(priced(*distServeTime(law), {{100, 0}, {200, 0}}, {}).seconds - (40.5 / 2 + 2) * 1e-3) <
                1e-15);
    }

    void brokenTables_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const QString head = table_head;
        QTest::addRow("empty") << ""
                               << "splitwise.no-column" << 0;
        QTest::addRow("no column") << "model,hardware\na,b\n"
                                   << "splitwise.no-column" << 1;
        QTest::addRow("text") << head + "m,h,512,1,128,1,1,fast,54,1,8\n"
                              << "splitwise.bad-value" << 2;
        QTest::addRow("negative") << head + "m,h,512,1,128,1,1,-3,54,1,8\n"
                                  << "splitwise.bad-value" << 2;
        QTest::addRow("nan") << head + "m,h,512,1,128,1,1,nan,54,1,8\n"
                             << "splitwise.bad-value" << 2;
        QTest::addRow("infinite") << head + "m,h,512,1,128,1,1,inf,54,1,8\n"
                                  << "splitwise.bad-value" << 2;
        QTest::addRow("short") << head + "m,h,512\n"
                               << "splitwise.bad-value" << 2;
        QTest::addRow("one size") << head + "m,h,512,1,128,1,1,30,54,1,8\n"
                                  << "splitwise.no-rows" << 0;
        QTest::addRow("another model") << head + "x,h,512,1,128,1,1,30,54,1,8\n"
                                       << "splitwise.no-rows" << 0;
    }
    void brokenTables() {
        QFETCH(QString, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        QTemporaryDir folder;
        const std::string path = write(folder, "perf_model.csv", text.toStdString());
        const auto read = readSplitwiseTable(path, {"m", "h", 8, SplitwiseTokens::ByBatchTokens});
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().code), code);
        QCOMPARE(read.error().place.file, path);
        if (line > 0) QCOMPARE(read.error().place.line, line);
        QVERIFY(!read.error().expected.empty());
    }

    void brokenCases_data() {
        QTest::addColumn<QString>("metrics");
        QTest::addColumn<QString>("code");
        QTest::addRow("no arguments") << "{}"
                                      << "splitwise.bad-arguments";
        QTest::addRow("too few") << R"({"args": ["a"]})"
                                 << "splitwise.bad-arguments";
        QTest::addRow("no machines") << R"({"args": ["a","t","jsq","baseline","0","0","llama2-70b"]})"
                                     << "splitwise.bad-arguments";
        QTest::addRow("minus machines") << R"({"args": ["a","t","jsq","baseline","-1","2","llama2-70b"]})"
                                        << "splitwise.bad-arguments";
        QTest::addRow("model") << R"({"args": ["a","t","jsq","baseline","0","2","gpt"]})"
                               << "splitwise.no-model";
        QTest::addRow("scheduler") << R"({"args": ["a","t","best","baseline","0","2","llama2-70b"]})"
                                   << "splitwise.no-scheduler";
        QTest::addRow("nothing shipped") << R"({"args": ["a","t","jsq","splitwise_1_1","0","2","m"]})"
                                         << "splitwise.no-model";
        QTest::addRow("parallelism")
            << R"({"args": ["a","t","jsq","baseline","0","2","llama2-70b","start_state.instance.tensor_parallelism=0"]})"
            << "splitwise.bad-arguments";
    }
    void brokenCases() {
        QFETCH(QString, metrics);
        QFETCH(QString, code);
        QTemporaryDir folder;
        write(folder, "metrics.json", metrics.toStdString());
        const std::string table = write(folder, "table.csv", table_head);
        const auto read = readSplitwiseCase(folder.path().toStdString(), table);
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().code), code);
    }

    void brokenRequests_data() {
        QTest::addColumn<QString>("rows");
        QTest::addColumn<QString>("code");
        QTest::addRow("none") << ""
                              << "splitwise.empty";
        QTest::addRow("negative arrival") << "0,2,0,-1,1,10,10\n"
                                          << "splitwise.bad-number";
        QTest::addRow("nan") << "0,2,0,nan,1,10,10\n"
                             << "splitwise.bad-number";
        QTest::addRow("no prompt") << "0,2,0,1,1,0,10\n"
                                   << "splitwise.bad-number";
        QTest::addRow("huge") << "0,2,0,1,1,99999999999,10\n"
                              << "splitwise.bad-number";
        QTest::addRow("short") << "0,2,0,1\n"
                               << "splitwise.short-row";
    }
    void brokenRequests() {
        QFETCH(QString, rows);
        QFETCH(QString, code);
        QTemporaryDir folder;
        write(folder, "metrics.json", R"({"args": ["a","t","jsq","baseline","0","1","llama2-70b"]})");
        write(folder, "trace.csv",
              "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n" +
                  rows.toStdString());
        const std::string table =
            write(folder, "table.csv",
                  std::string(table_head) +
                      "llama2-70b,h100-80gb,512,1,128,1,1,50,30,1,8\nllama2-70b,h100-80gb,1024,1,128,1,1,80,31,1,8\n");
        const auto read = readSplitwiseCase(folder.path().toStdString(), table);
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().code), code);
        QVERIFY(!read.error().place.file.empty());
    }

    void brokenProfiles_data() {
        QTest::addColumn<QString>("profile");
        QTest::addColumn<QString>("code");
        QTest::addRow("no model") << "{}"
                                  << "distserve.no-rows";
        QTest::addRow("no degree") << R"({"facebook/opt-13b": {"4": {}}})"
                                   << "distserve.no-rows";
        QTest::addRow("no coefficients") << R"({"facebook/opt-13b": {"1": {"prefill": [1, 2]}}})"
                                         << "distserve.bad-value";
        QTest::addRow("text")
            << R"({"facebook/opt-13b": {"1": {"prefill": [1, "b", 2], "decoding_smallbs": [1,1,1], "decoding_largebs": [1,1,1]}}})"
            << "distserve.bad-value";
    }
    void brokenProfiles() {
        QFETCH(QString, profile);
        QFETCH(QString, code);
        QTemporaryDir folder;
        const std::string path = write(folder, "profile.json", profile.toStdString());
        const auto read = readDistServeLaw(path, "facebook/opt-13b", 1, 1);
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().code), code);
        QCOMPARE(read.error().place.file, path);
    }
};

QTEST_GUILESS_MAIN(TestServingPublished)
#include "tst_serving_published.moc"
