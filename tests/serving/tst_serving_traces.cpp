#include "base/random.h"
#include "serving/metrics.h"
#include "serving/traffic/traces.h"

#include <QtTest/QtTest>

#include <chrono>
#include <filesystem>
#include <string>
#include <unordered_set>

using namespace orrery;

namespace {

const std::string azure = "TIMESTAMP,ContextTokens,GeneratedTokens\n";

Expected<RequestStream> read(std::string_view text, std::string kind = "auto") {
    TraceSpec trace;
    trace.file = "t.csv";
    trace.kind = std::move(kind);
    return readTraceText(text, trace);
}

std::string traceFile(const char* name) {
    return std::string(ORRERY_REFERENCE "/serving/data/") + name;
}

}  // namespace

class TestServingTraces : public QObject {
    Q_OBJECT
private slots:
    // Counts, means and percentiles that were taken of these files with numpy, independently of this reader.
    void statisticsOfPublishedTraces_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<qsizetype>("requests");
        QTest::addColumn<double>("span");
        QTest::addColumn<QList<double>>("figures");  // prompt mean, p50, p99; output mean, p50, p99
        QTest::newRow("Azure code") << "traces/AzureLLMInferenceTrace_code_2023.csv" << qsizetype{8819} << 3436.0
                                    << QList<double>{2047.8, 1469, 7436, 27.9, 13, 251};
        QTest::newRow("Azure conversations") << "traces/AzureLLMInferenceTrace_conv_2023.csv" << qsizetype{19366}
                                             << 3502.0 << QList<double>{1154.7, 1020, 4142, 211.1, 129, 601};
        QTest::newRow("Splitwise code") << "traces/splitwise_code.csv" << qsizetype{8819} << 3436.0
                                        << QList<double>{2047.8, 1469, 7436, 27.9, 13, 251};
        QTest::newRow("Splitwise conversations") << "traces/splitwise_conv.csv" << qsizetype{19366} << 3502.0
                                                 << QList<double>{1154.7, 1020, 4142, 211.1, 129, 601};
        QTest::newRow("arXiv") << "traces/arxiv_summarization_stats_llama2_tokenizer_filtered_v2.csv"
                               << qsizetype{28257} << 0.0 << QList<double>{2588, 2730, -1, 291, 167, -1};
        QTest::newRow("Mooncake conversation") << "traces/mooncake_conversation_trace.jsonl" << qsizetype{12031}
                                               << 3537.0 << QList<double>{12035, 6909, 85400, 343, 350, 1119};
        QTest::newRow("Mooncake synthetic") << "traces/mooncake_synthetic_trace.jsonl" << qsizetype{3993} << 1022.0
                                            << QList<double>{15326, 11587, -1, 149, 69, -1};
        QTest::newRow("ShareGPT") << "llmservingsim/sharegpt-llama-3.1-8b-300-sps10.csv" << qsizetype{300} << 29.2
                                  << QList<double>{257239.0 / 300, -1, -1, 195753.0 / 300, -1, -1};
    }
    void statisticsOfPublishedTraces() {
        QFETCH(QString, file);
        QFETCH(qsizetype, requests);
        QFETCH(double, span);
        QFETCH(QList<double>, figures);
        TraceSpec trace;
        trace.file = traceFile(file.toUtf8().constData());
        if (!std::filesystem::exists(trace.file)) QSKIP("the reference data is not there");
        const auto stream = readTrace(trace);
        QVERIFY2(stream.has_value(), stream ? "" : toText(stream.error()).c_str());
        QCOMPARE(static_cast<qsizetype>(stream->size()), requests);
        QVERIFY(std::abs(toSeconds(stream->arrival.back()) - span) < 1);
        const Spread prompt = spread({stream->prompt.begin(), stream->prompt.end()});
        const Spread output = spread({stream->output.begin(), stream->output.end()});
        const QList<double> found{prompt.mean, prompt.p50, prompt.p99, output.mean, output.p50, output.p99};
        for (qsizetype i = 0; i < figures.size(); ++i) {
            if (figures[i] >= 0)
                QVERIFY2(std::abs(found[i] - figures[i]) <= 0.55, qPrintable(QString::number(found[i])));
        }
    }
    // Two publications of one trace: dates with seven digits after the point, and seconds since the first.
    void azureAsDatesAndAsSecondsAgree() {
        TraceSpec dates, seconds;
        dates.file = traceFile("traces/AzureLLMInferenceTrace_conv_2023.csv");
        seconds.file = traceFile("traces/splitwise_conv.csv");
        if (!std::filesystem::exists(dates.file)) QSKIP("the reference data is not there");
        const auto a = readTrace(dates), b = readTrace(seconds);
        QVERIFY(a && b);
        QCOMPARE(a->prompt, b->prompt);
        QCOMPARE(a->output, b->output);
        for (std::size_t i = 0; i < a->size(); ++i) {
            QVERIFY(std::abs(a->arrival[i] - b->arrival[i]) <= 1'000'000);  // a microsecond: their digits
        }
    }
    // An infinite cache would find this share of all blocks: notes on the published files.
    void mooncakeBlocksRepeatAsMeasured() {
        for (const auto& [file, share] : {std::pair{"traces/mooncake_conversation_trace.jsonl", 0.366},
                                          std::pair{"traces/mooncake_synthetic_trace.jsonl", 0.640}}) {
            TraceSpec trace;
            trace.file = traceFile(file);
            if (!std::filesystem::exists(trace.file)) QSKIP("the reference data is not there");
            const auto stream = readTrace(trace);
            QVERIFY(stream.has_value());
            QCOMPARE(stream->hashTokens, 512);
            std::unordered_set<std::uint64_t> seen;
            std::size_t hits = 0;
            for (const auto hash : stream->hashes) hits += seen.insert(hash).second ? 0 : 1;
            QVERIFY(std::abs(static_cast<double>(hits) / static_cast<double>(stream->hashes.size()) - share) < 0.0006);
        }
    }
    void timesAreExact() {
        const auto stream = read(
            "arrived_at,num_prefill_tokens,num_decode_tokens\n0.1700100478791335,119,31\n"
            "0.2,1,1\n3e-1,2.0,2\n");
        QVERIFY2(stream.has_value(), stream ? "" : toText(stream.error()).c_str());
        QCOMPARE(stream->arrival, (std::vector<SimTime>{170010047879, 200000000000, 300000000000}));
        const auto dates = read(azure +
                                "2024-02-29 23:59:59.9999999,1,1\n2024-03-01T00:00:00Z,1,1\n"
                                "2024-03-01 02:00:01.5+01:00,1,1\n");
        QVERIFY2(dates.has_value(), dates ? "" : toText(dates.error()).c_str());
        QCOMPARE(dates->arrival, (std::vector<SimTime>{0, 100000, 3601500000100000}));
    }
    void everyKindIsRecognised() {
        QCOMPARE(QString::fromStdString(read("Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,"
                                             "Total tokens,Log Type\n5,1,0.5,GPT-4,472,18,490,Conversation log\n")
                                            ->name),
                 QString("BurstGPT"));
        QCOMPARE(read("arrival_s;prompt_tokens;output_tokens\n1;2;3\n")->arrival[0], SimTime{1'000'000'000'000});
        QCOMPARE(read("prompt_tokens\toutput_tokens\n2\t3\n")->output[0], 3);
        const auto plain = read("arrival,prompt,output\n0.5,7,2\n1.5,8,3\n");
        QVERIFY2(plain.has_value(), plain ? "" : toText(plain.error()).c_str());
        QCOMPARE(plain->arrival[1], SimTime{1'500'000'000'000});
        QCOMPARE(std::pair(plain->prompt[1], plain->output[1]), std::pair(8, 3));
        QCOMPARE(read("request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
                      "0,2,0,1,1,4096,32\n")
                     ->prompt[0],
                 4096);
        // Windows' line ends, a byte-order mark, quotes, blanks.
        const auto windows = read(
            "\xEF\xBB\xBF\"TIMESTAMP\", ContextTokens ,GeneratedTokens\r\n"
            "2023-11-16 18:17:03, 7,\"8\"\r\n\r\n");
        QVERIFY(windows.has_value());
        QCOMPARE(windows->prompt[0], 7);
        QCOMPARE(windows->output[0], 8);
    }
    // Headers as published: BurstGPT v1.1 (two files of two months) and v2.0 (with sessions; its clock goes on from the
    // third release's first day, 19,440,110 s), and Azure's weeks of May 2024 (time zone in every cell).
    void headersAsPublished() {
        const auto first = read(
            "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
            "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,230,1317,Conversation log\n");
        QVERIFY2(first, first ? "" : toText(first.error()).c_str());
        QCOMPARE(QString::fromStdString(first->name), QString("BurstGPT"));
        QCOMPARE(toSeconds(first->arrival[1]), 45.0);
        QCOMPARE(first->prompt[1], 1087);
        QCOMPARE(first->output[1], 230);
        const std::string third =
            "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
            "19440110.0,1722ac82-0a46-4bf0-aa08-89794e7a2b3f,43,GPT-4,906,446,1352,Conversation log\n"
            "19440161.0,d5983bf9-4b48-497b-892b-a58995247443,2,ChatGPT,36,29,65,Conversation log\n";
        const auto sessions = read(third);
        QVERIFY2(sessions, sessions ? "" : toText(sessions.error()).c_str());
        QCOMPARE(sessions->arrival[0], SimTime{0});
        QCOMPARE(toSeconds(sessions->arrival[1]), 51.0);
        QCOMPARE(sessions->prompt[0], 906);
        QCOMPARE(sessions->output[0], 446);
        // It lasts 110 days; the clock shows 100.
        const std::string whole =
            third + "28943983.0,x,1,ChatGPT,10,0,10,API log\n28943983.0,x,1,ChatGPT,10,1,11,API log\n";
        QCOMPARE(QString::fromStdString(read(whole).error().code), QString("trace.range"));
        TraceSpec lenient;
        lenient.file = "BurstGPT_3.csv";
        lenient.lenient = true;
        const auto part = readTraceText(whole, lenient);
        QVERIFY2(part, part ? "" : toText(part.error()).c_str());
        QCOMPARE(part->size(), std::size_t{2});
        const auto week = read(azure + "2024-05-12 00:00:00+00:00,100,10\n2024-05-12 00:00:10.500000+00:00,200,20\n");
        QVERIFY2(week, week ? "" : toText(week.error()).c_str());
        QVERIFY(QString::fromStdString(week->name).contains("2024"));
        QCOMPARE(toSeconds(week->arrival[1]), 10.5);
        QCOMPARE(week->prompt[1], 200);
    }
    void columnsOfAnyTable() {
        TraceSpec trace;
        trace.file = "mine.csv";
        trace.kind = "columns";
        trace.arrival = "when";
        trace.prompt = "in";
        trace.output = "out";
        trace.tenant = "customer";
        trace.priority = "rank";
        trace.id = "number";
        trace.unit = "ms";
        const auto stream =
            readTraceText("number,customer,rank,out,in,when\n7,b,1,3,4,10\n9,a,0,5,6,20.5\n5,b,2,1,1,30\n", trace);
        QVERIFY2(stream.has_value(), stream ? "" : toText(stream.error()).c_str());
        QCOMPARE(stream->arrival[1], SimTime{20'500'000'000});
        QCOMPARE(stream->prompt[1], 6);
        QCOMPARE(stream->id, (std::vector<std::int64_t>{7, 9, 5}));
        QCOMPARE(stream->tenant, (std::vector<std::int32_t>{0, 1, 0}));
        QCOMPARE(stream->priority, (std::vector<std::int32_t>{1, 0, 2}));
    }
    void sortedAndLenientOnRequest() {
        TraceSpec trace;
        trace.file = "t.csv";
        trace.sort = true;
        trace.lenient = true;
        const auto stream = readTraceText("arrival_s,prompt_tokens,output_tokens\n3,1,1\n1,2,2\n2,3,0\n1,4,4\n", trace);
        QVERIFY2(stream.has_value(), stream ? "" : toText(stream.error()).c_str());
        QCOMPARE(stream->prompt, (std::vector<std::int32_t>{2, 4, 1}));
    }
    void badFiles_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QString>("code");
        QTest::addColumn<int>("line");
        const QByteArray head = azure.c_str();
        const QByteArray own = "arrival_s,prompt_tokens,output_tokens\n";
        QTest::newRow("empty") << QByteArray() << "trace.empty" << 0;
        QTest::newRow("header only") << head << "trace.empty" << 0;
        QTest::newRow("blank lines only") << QByteArray("\n\r\n  \n") << "trace.empty" << 0;
        QTest::newRow("unsorted") << head + "2023-11-16 18:17:04,1,1\n2023-11-16 18:17:03,1,1\n"
                                  << "trace.unsorted" << 3;
        QTest::newRow("negative time") << own + "0,1,1\n-1,1,1\n"
                                       << "trace.negative" << 3;
        QTest::newRow("negative prompt") << own + "0,-5,1\n"
                                         << "trace.negative" << 2;
        QTest::newRow("negative output") << own + "0,5,-1\n"
                                         << "trace.negative" << 2;
        QTest::newRow("NaN") << own + "0,nan,1\n"
                             << "trace.number" << 2;
        QTest::newRow("NaN time") << own + "nan,1,1\n"
                                  << "trace.number" << 2;
        QTest::newRow("infinite") << own + "inf,1,1\n"
                                  << "trace.number" << 2;
        QTest::newRow("a word") << own + "0,many,1\n"
                                << "trace.number" << 2;
        QTest::newRow("short line") << own + "0,1\n"
                                    << "trace.number" << 2;
        QTest::newRow("empty cell") << own + "0,,1\n"
                                    << "trace.number" << 2;
        QTest::newRow("bad date") << head + "2023-02-30 18:17:03,1,1\n"
                                  << "trace.number" << 2;
        QTest::newRow("no date") << head + "yesterday,1,1\n"
                                 << "trace.number" << 2;
        QTest::newRow("missing column") << QByteArray("TIMESTAMP,ContextTokens\n2023-11-16 18:17:03,1\n")
                                        << "trace.kind" << 1;
        QTest::newRow("no output tokens") << own + "0,5,0\n"
                                          << "trace.range" << 2;
        QTest::newRow("huge prompt") << own + "0,99999999999,1\n"
                                     << "trace.range" << 2;
        QTest::newRow("part of a token") << own + "0,1.5,1\n"
                                         << "trace.range" << 2;
        QTest::newRow("huge time") << own + "0,1,1\n9999999999,1,1\n"
                                   << "trace.range" << 0;
        QTest::newRow("time beyond numbers") << own + "99999999999999999999999999,1,1\n"
                                             << "trace.number" << 2;
        QTest::newRow("not UTF-8 header")
            << QByteArray("arrival_s,prompt_tokens,output_tokens,\xFF\xFE\n0,1,1,1\n") << "trace.text" << 1;
        QTest::newRow("not UTF-8 cell") << own + "0,\xC3\x28,1\n"
                                        << "trace.text" << 2;
        QTest::newRow("zero byte") << own + QByteArray("0,1\0,1\n", 7) << "trace.unreadable" << 2;
        QTest::newRow("endless line") << own + QByteArray(3 << 20, '1') << "trace.unreadable" << 2;
        QTest::newRow("JSON cut short") << QByteArray("{\"timestamp\": 0, \"input_length\": 5") << "trace.text" << 1;
        QTest::newRow("JSON list") << QByteArray(
                                          "{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5}\n[1, 2]\n")
                                   << "trace.text" << 2;
        QTest::newRow("JSON text for a number")
            << QByteArray("{\"timestamp\": \"now\", \"input_length\": 5, \"output_length\": 5}") << "trace.text" << 1;
        QTest::newRow("JSON without output")
            << QByteArray("{\"timestamp\": 0, \"input_length\": 5}") << "trace.column" << 1;
        QTest::newRow("JSON with too many hashes")
            << QByteArray("{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5, \"hash_ids\": [1,2,3]}")
            << "trace.range" << 1;
        QTest::newRow("JSON unsorted") << QByteArray(
                                              "{\"timestamp\": 9, \"input_length\": 5, \"output_length\": "
                                              "5}\n{\"timestamp\": 8, \"input_length\": 5, \"output_length\": 5}\n")
                                       << "trace.unsorted" << 2;
        QTest::newRow("nested JSON") << "{\"timestamp\": 0, \"x\": " + QByteArray(100000, '[') << "trace.text" << 1;
    }
    void badFiles() {
        QFETCH(QByteArray, text);
        QFETCH(QString, code);
        QFETCH(int, line);
        const auto stream = read({text.data(), static_cast<std::size_t>(text.size())});
        QVERIFY(!stream.has_value());
        const Diagnostic& problem = stream.error();
        QCOMPARE(QString::fromStdString(problem.code), code);
        QCOMPARE(QString::fromStdString(problem.place.file), QString("t.csv"));
        QCOMPARE(problem.place.line, line);
        QVERIFY(!problem.expected.empty());
        QVERIFY(!problem.hint.empty());
        QVERIFY(problem.message.size() < 1200);
    }
    void badSpecs() {
        TraceSpec trace;
        trace.file = "/nowhere/at/all.csv";
        QCOMPARE(QString::fromStdString(readTrace(trace).error().code), QString("trace.unreadable"));
        trace.file = "/tmp";
        QCOMPARE(QString::fromStdString(readTrace(trace).error().code), QString("trace.unreadable"));
        QCOMPARE(QString::fromStdString(read("a,b\n1,2\n", "martian").error().code), QString("trace.kind"));
        QCOMPARE(QString::fromStdString(read("a,b\n1,2\n", "azure").error().code), QString("trace.column"));
        QCOMPARE(QString::fromStdString(read("a,b\n1,2\n", "mooncake").error().code), QString("trace.text"));
        trace.file = "t.csv";
        trace.prompt = "b";
        trace.output = "c";
        QCOMPARE(QString::fromStdString(readTraceText("a,b\n1,2\n", trace).error().code), QString("trace.column"));
        trace.output = "a";
        trace.unit = "fortnights";
        QCOMPARE(QString::fromStdString(readTraceText("a,b\n1,2\n", trace).error().code), QString("trace.unit"));
    }
    // Any bytes at all: an answer or a diagnostic, never a crash.
    void noise() {
        const std::string base = azure + "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n";
        const std::string json =
            "{\"timestamp\": 0, \"input_length\": 6758, \"output_length\": 500, \"hash_ids\": [0, 1]}\n";
        RandomStream random(7);
        for (int round = 0; round < 4000; ++round) {
            std::string text = round % 2 ? base : json + json;
            const auto edits = 1 + random.below(4);
            for (std::uint64_t i = 0; i < edits; ++i)
                text[random.below(text.size())] = static_cast<char>(random.below(256));
            if (random.below(4) == 0) text.resize(random.below(text.size()));
            const auto stream = read(text);
            if (stream)
                QVERIFY(stream->check().has_value());
            else
                QVERIFY(!stream.error().code.empty());
        }
    }
    void aQuarterOfAMillionRowsQuickly() {
        std::string text = "arrival_s,prompt_tokens,output_tokens\n";
        for (int i = 0; i < 250000; ++i) text += std::to_string(i) + ".25," + std::to_string(1 + i % 4000) + ",17\n";
        const auto begin = std::chrono::steady_clock::now();
        const auto stream = read(text);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        QVERIFY(stream.has_value());
        QCOMPARE(stream->size(), std::size_t{250000});
        QVERIFY2(seconds < 10, qPrintable(QString::number(seconds)));  // 0.2 s optimised; not quadratic
    }
};

QTEST_APPLESS_MAIN(TestServingTraces)
#include "tst_serving_traces.moc"
